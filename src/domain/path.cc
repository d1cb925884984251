#include "domain/path.h"

#include <algorithm>

#include "base/strings.h"

namespace cofferdam::domain {

std::optional<std::string> normalized_absolute(std::string_view path) {
  if (path.empty() || path.front() != '/' || path.contains('\0')) return std::nullopt;
  std::vector<std::string_view> kept;
  for (const std::string_view component : split(path, '/')) {
    if (component.empty() || component == ".") continue;
    if (component != "..") {
      kept.push_back(component);
    } else if (!kept.empty()) {
      kept.pop_back();
    }
  }
  std::string out;
  for (const std::string_view component : kept) {
    out += '/';
    out += component;
  }
  return out.empty() ? "/" : out;
}

bool is_inside(std::string_view path, std::string_view directory) {
  if (directory == "/") return path.starts_with('/');
  return path.starts_with(directory) && (path.size() == directory.size() || path[directory.size()] == '/');
}

std::vector<std::string_view> components(std::string_view path) {
  std::vector<std::string_view> out = split(path, '/');
  std::erase(out, std::string_view());
  return out;
}

std::string parent_of(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  if (slash == 0 || slash == std::string_view::npos) return "/";
  return std::string(path.substr(0, slash));
}

std::string_view name_of(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

std::string joined(std::string_view directory, std::string_view relative) {
  std::string out(directory);
  if (!out.ends_with('/')) out += '/';
  return out + std::string(relative);
}

}  // namespace cofferdam::domain
