#include "git/bundle_header.h"

#include <optional>

#include "base/strings.h"

namespace cofferdam::git {
namespace {

constexpr std::string_view kVersion2 = "# v2 git bundle";
constexpr std::string_view kVersion3 = "# v3 git bundle";
constexpr std::string_view kFormat = "@object-format=";

Error bad(const std::string& why) {
  return Error(ErrorCode::kInvalidArgument, "The bundle is not valid: " + why);
}

class Lines {
 public:
  explicit Lines(std::string_view text) : text_(text) {}
  std::optional<std::string_view> next() {
    const std::size_t end = text_.find('\n', at_);
    if (end == std::string_view::npos) return std::nullopt;
    const std::string_view line = text_.substr(at_, end - at_);
    at_ = end + 1;
    return line;
  }
  std::size_t position() const { return at_; }

 private:
  std::string_view text_;
  std::size_t at_ = 0;
};

Status add_line(BundleHeader& header, std::string_view line) {
  if (line.starts_with('@')) {
    // Names judged by one format must not be read by another.
    if (!header.refs.empty() || !header.prerequisites.empty()) return bad("it asks for something behind its names");
    if (!line.starts_with(kFormat)) return bad("it asks for " + printable(line));
    const std::string_view name = line.substr(kFormat.size());
    if (name != "sha1" && name != "sha256") return bad("it has the unknown object format " + printable(name));
    header.format = name == "sha1" ? ObjectFormat::kSha1 : ObjectFormat::kSha256;
    return {};
  }
  const bool is_prerequisite = line.starts_with('-');
  if (is_prerequisite) line.remove_prefix(1);
  const std::size_t space = line.find(' ');
  const std::string_view id = line.substr(0, space);
  if (!is_object_id(id, header.format)) return bad("a line holds no object name");
  if (is_prerequisite) {
    header.prerequisites.emplace_back(id);
    return {};
  }
  const std::string_view name = space == std::string_view::npos ? "" : line.substr(space + 1);
  if (name != "HEAD" && !is_ref_name(name)) return bad("it names " + printable(name));
  header.refs.push_back({std::string(name), std::string(id)});
  return {};
}

}  // namespace

Result<BundleHeader> parse_bundle_header(std::string_view start, std::size_t most_refs) {
  Lines lines(start);
  const auto first = lines.next();
  if (first != kVersion2 && first != kVersion3) return bad("it does not begin as one of version 2 or 3");
  BundleHeader header;
  while (const auto line = lines.next()) {
    if (line->empty()) {
      header.size = lines.position();
      return header;
    }
    RETURN_IF_ERROR(add_line(header, *line));
    if (header.refs.size() > most_refs || header.prerequisites.size() > most_refs) {
      return Error(ErrorCode::kResourceExhausted,
                   "The bundle names more than " + std::to_string(most_refs) + " references");
    }
  }
  if (start.size() >= kBundleHeaderBytes) {
    return Error(ErrorCode::kResourceExhausted,
                 "The header of the bundle is longer than " + std::to_string(kBundleHeaderBytes) + " bytes");
  }
  return bad("it ends in its header");
}

}  // namespace cofferdam::git
