// A host made of a few entries, for tests of planning.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "confinement/host_view.h"
#include "domain/path.h"

namespace cofferdam::confinement {

class FakeHost final : public HostView {
 public:
  FakeHost() {
    facts_.init_program = "/opt/cofferdam/cofferdam-init";
    facts_.euid = facts_.egid = kUser;
    facts_.environment = {{"HOME", "/home/ada"}, {"PATH", "/usr/bin:/bin"}};
    for (const char* directory : {"/", "/usr", "/usr/bin", "/etc", "/opt", "/opt/cofferdam", "/home", "/proc/sys"}) {
      add(directory, PathFact::Type::kDirectory, 0);
    }
    link("/bin", "usr/bin", 0);
    file("/usr/bin/bwrap", "ELF", 0);
    file("/usr/bin/true", "ELF", 0);
    file("/opt/cofferdam/cofferdam-init", "ELF", 0);
    directory("/home/ada");
    directory("/home/ada/work");
  }

  // Parents are made as they are needed.
  FakeHost& directory(const std::string& path, uid_t owner = kUser) {
    if (entries_.contains(path)) return *this;
    if (path != "/") directory(domain::parent_of(path), owner);
    add(path, PathFact::Type::kDirectory, owner);
    return *this;
  }
  FakeHost& file(const std::string& path, const std::string& content = "", uid_t owner = kUser, mode_t mode = 0755) {
    directory(domain::parent_of(path), owner);
    add(path, PathFact::Type::kFile, owner).fact.mode = mode;
    entries_[path].content = content;
    return *this;
  }
  FakeHost& link(const std::string& path, const std::string& text, uid_t owner = kUser) {
    directory(domain::parent_of(path), owner);
    add(path, PathFact::Type::kSymlink, owner).content = text;
    return *this;
  }
  FakeHost& special(const std::string& path, PathFact::Type type) {
    directory(domain::parent_of(path));
    add(path, type, kUser);
    return *this;
  }
  FakeHost& mode(const std::string& path, mode_t mode) {
    entries_.at(path).fact.mode = mode;
    return *this;
  }
  HostFacts& change_facts() { return facts_; }

  const HostFacts& facts() const override { return facts_; }
  std::optional<PathFact> inspect(const std::string& path) const override {
    const auto place = real_path(domain::parent_of(path));
    return place ? fact_at(path == "/" ? path : domain::joined(*place, domain::name_of(path))) : std::nullopt;
  }
  std::optional<PathFact> follow(const std::string& path) const override {
    const auto place = real_path(path);
    return place ? fact_at(*place) : std::nullopt;
  }
  std::optional<PathFact> inspect_without_links(const std::string& path) const override {
    return real_path(path) == path ? fact_at(path) : std::nullopt;
  }
  std::optional<std::string> real_path(const std::string& path) const override {
    std::string rest = path;
    for (int links = 0; links < 40; ++links) {
      const auto next = without_first_link(rest);
      if (!next) return entries_.contains(rest) ? std::optional(rest) : std::nullopt;
      rest = *next;
    }
    return std::nullopt;
  }
  std::optional<std::string> read_link(const std::string& path) const override {
    const auto found = entries_.find(path);
    return found == entries_.end() ? std::nullopt : std::optional(found->second.content);
  }
  std::vector<std::string> list(const std::string& directory, std::size_t limit) const override {
    std::vector<std::string> names;
    for (const auto& [path, entry] : entries_) {
      if (path != "/" && domain::parent_of(path) == directory && names.size() < limit)
        names.emplace_back(domain::name_of(path));
    }
    return names;
  }
  std::optional<std::string> read_file(const std::string& path, std::size_t limit) const override {
    const auto found = entries_.find(path);
    if (found == entries_.end() || found->second.fact.type != PathFact::Type::kFile) return std::nullopt;
    return found->second.content.substr(0, limit);
  }
  std::optional<AccountFact> account(uid_t uid) const override {
    if (uid != kUser) return std::nullopt;
    return AccountFact{.name = "ada", .home = "/home/ada"};
  }

  static constexpr uid_t kUser = 1234;

 private:
  struct Entry {
    PathFact fact;
    std::string content;
  };

  Entry& add(const std::string& path, PathFact::Type type, uid_t owner) {
    Entry& entry = entries_[path];
    entry.fact = {
        .type = type, .identity = {.device = 1, .inode = entries_.size()}, .uid = owner, .gid = owner, .mode = 0755};
    return entry;
  }
  std::optional<PathFact> fact_at(const std::string& path) const {
    const auto found = entries_.find(path);
    return found == entries_.end() ? std::nullopt : std::optional(found->second.fact);
  }
  std::optional<std::string> without_first_link(const std::string& path) const {
    std::string prefix;
    const auto parts = domain::components(path);
    for (std::size_t index = 0; index < parts.size(); ++index) {
      const std::string parent = prefix.empty() ? "/" : prefix;
      prefix = domain::joined(parent, parts[index]);
      const auto found = entries_.find(prefix);
      if (found == entries_.end() || found->second.fact.type != PathFact::Type::kSymlink) continue;
      const std::string& text = found->second.content;
      std::string target = text.starts_with('/') ? text : domain::joined(parent, text);
      for (++index; index < parts.size(); ++index) target = domain::joined(target, parts[index]);
      return domain::normalized_absolute(target);
    }
    return std::nullopt;
  }

  HostFacts facts_;
  std::map<std::string, Entry> entries_;
};

}  // namespace cofferdam::confinement
