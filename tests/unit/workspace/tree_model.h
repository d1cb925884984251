// Trees for the tests of the merge: as values, on the disk, and drawn at random.
#pragma once

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "base/strings.h"
#include "crypto/sha256.h"
#include "system/file.h"
#include "system/tree.h"
#include "workspace/entry.h"

namespace cofferdam::workspace {

// In memory where there is such a file system: these tests make thousands of files and synchronise often.
inline std::string scratch_parent() {
  return ::access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
}
inline system::TemporaryDirectory scratch_directory(const char* prefix) {
  return system::TemporaryDirectory::create(scratch_parent(), prefix).value();
}

// What is at one path. `text` is the content of a file or the target of a link.
struct Thing {
  EntryKind kind = EntryKind::kFile;
  std::string text;
  std::uint32_t mode = 0644;
  bool operator==(const Thing&) const = default;
};
using Tree = std::map<std::string, Thing>;

inline Thing file(std::string text, std::uint32_t mode = 0644) {
  return {EntryKind::kFile, std::move(text), mode};
}
inline Thing folder(std::uint32_t mode = 0755) {
  return {EntryKind::kDirectory, "", mode};
}
inline Thing symlink_to(std::string target) {
  return {EntryKind::kSymlink, std::move(target), 0777};
}

inline Entry entry_of(const std::string& path, const Thing& thing) {
  Entry entry{.path = path, .kind = thing.kind, .mode = thing.mode};
  if (thing.kind == EntryKind::kFile) {
    entry.size = thing.text.size();
    entry.digest = crypto::sha256(thing.text);
  }
  if (thing.kind == EntryKind::kSymlink) entry.target = thing.text;
  return entry;
}

inline std::vector<Entry> entries_of(const Tree& tree) {
  std::vector<Entry> entries;
  for (const auto& [path, thing] : tree) entries.push_back(entry_of(path, thing));
  return entries;
}

inline std::string parent_of(const std::string& path) {
  return std::string(system::parent_path(path));
}
inline bool is_below(const std::string& path, const std::string& directory) {
  return path.starts_with(directory + "/");
}

inline void write_tree(const std::string& root, const Tree& tree) {
  for (const auto& [path, thing] : tree) {
    const std::string full = root + "/" + path;
    if (thing.kind == EntryKind::kDirectory) ::mkdir(full.c_str(), 0700);
    if (thing.kind == EntryKind::kSymlink) (void)!::symlink(thing.text.c_str(), full.c_str());
    if (thing.kind == EntryKind::kFile) {
      const UniqueFd out(::open(full.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
      (void)system::write_all(out.get(), thing.text, "a file");
      ::fchmod(out.get(), thing.mode);
    }
  }
  for (auto place = tree.rbegin(); place != tree.rend(); ++place) {
    if (place->second.kind == EntryKind::kDirectory) ::chmod((root + "/" + place->first).c_str(), place->second.mode);
  }
}

inline void read_tree_into(Tree& tree, const std::string& root, const std::string& prefix) {
  const UniqueFd directory(::open((root + "/" + prefix).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  for (const std::string& name : system::names_in(directory.get()).value_or(std::vector<std::string>())) {
    const std::string path = prefix.empty() ? name : prefix + "/" + name;
    const std::string full = root + "/" + path;
    struct stat status{};
    if (::lstat(full.c_str(), &status) != 0) continue;
    const std::uint32_t mode = status.st_mode & 07777;
    if (S_ISDIR(status.st_mode)) {
      tree[path] = folder(mode);
      read_tree_into(tree, root, path);
    } else if (S_ISLNK(status.st_mode)) {
      tree[path] = symlink_to(system::read_link_at(AT_FDCWD, full).value_or("?"));
    } else if (S_ISREG(status.st_mode)) {
      tree[path] = file(system::read_file(full, 1 << 24).value_or("?"), mode);
    }
  }
}

// The whole tree on the disk; special files are left out.
inline Tree read_tree(const std::string& root) {
  Tree tree;
  read_tree_into(tree, root, "");
  return tree;
}

inline std::string to_text(const Tree& tree) {
  std::string text;
  for (const auto& [path, thing] : tree) {
    const char* kind = thing.kind == EntryKind::kDirectory ? "d " : thing.kind == EntryKind::kFile ? "f " : "l ";
    char mode[8];
    std::snprintf(mode, sizeof mode, "%04o ", thing.mode);
    text += kind + std::string(mode) + printable(path) + " [" + printable(thing.text.substr(0, 40)) + "]\n";
  }
  return text;
}

// Draws trees whose paths, kinds and contents often meet.
class TreeDraw {
 public:
  explicit TreeDraw(std::uint32_t seed) : random_(seed) {}

  Tree tree() {
    Tree drawn;
    const int size = number(14);
    for (int count = 0; count < size; ++count) put(drawn, path());
    return drawn;
  }

  // `tree` after somebody worked on it.
  Tree changed(Tree tree) {
    const int changes = number(8);
    for (int count = 0; count < changes; ++count) change(tree);
    return tree;
  }

  int number(int below) { return static_cast<int>(random_() % static_cast<unsigned>(below)); }

 private:
  std::string path() {
    static const std::vector<std::string> kNames = {"a", "b", "a-", "a.txt"};
    std::string drawn = kNames[static_cast<std::size_t>(number(4))];
    while (number(2) == 0 && drawn.size() < 8) drawn += "/" + kNames[static_cast<std::size_t>(number(4))];
    return drawn;
  }

  Thing thing() {
    switch (number(6)) {
      case 0:
        return folder(number(2) == 0 ? 0755 : 0700);
      case 1:
        return symlink_to(number(2) == 0 ? "a" : "b/a");
      default:
        return file("text " + std::to_string(number(1000)), number(3) == 0 ? 0755 : 0644);
    }
  }

  // With the directories that it needs; what is in the way goes.
  void put(Tree& tree, const std::string& at) {
    for (std::size_t slash = at.find('/'); slash != std::string::npos; slash = at.find('/', slash + 1)) {
      const std::string above = at.substr(0, slash);
      const auto found = tree.find(above);
      if (found == tree.end() || found->second.kind != EntryKind::kDirectory) tree[above] = folder();
    }
    remove(tree, at);
    tree[at] = thing();
  }

  static void remove(Tree& tree, const std::string& at) {
    std::erase_if(tree, [&](const auto& item) { return item.first == at || is_below(item.first, at); });
  }

  void change(Tree& tree) {
    if (tree.empty() || number(3) == 0) return put(tree, path());
    auto place = tree.begin();
    std::advance(place, number(static_cast<int>(tree.size())));
    switch (number(4)) {
      case 0:
        return remove(tree, std::string(place->first));
      case 1:
        if (place->second.kind != EntryKind::kSymlink) place->second.mode = number(2) == 0 ? 0755 : 0700;
        return;
      default:
        return put(tree, std::string(place->first));
    }
  }

  std::mt19937 random_;
};

}  // namespace cofferdam::workspace
