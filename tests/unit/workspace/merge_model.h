// What a merge plan should lead to, computed on trees of values.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tree_model.h"
#include "workspace/merge_plan.h"

namespace cofferdam::workspace {

inline bool has_child(const Tree& tree, const std::string& path) {
  return std::ranges::any_of(tree, [&](const auto& item) { return is_below(item.first, path); });
}

inline bool has_directory_above(const Tree& tree, const std::string& path) {
  if (!path.contains('/')) return true;
  const auto parent = tree.find(parent_of(path));
  return parent != tree.end() && parent->second.kind == EntryKind::kDirectory;
}

inline Thing landed(const MergeAction& action, const Tree& theirs, const Tree& ours) {
  Thing thing = theirs.contains(action.path) ? theirs.at(action.path) : ours.at(action.path);
  thing.mode = action.after->mode;
  return thing;
}

inline void move_tree(Tree& tree, const std::string& from, const std::string& to) {
  Tree moved;
  for (const auto& [path, thing] : tree) {
    const bool inside = path == from || is_below(path, from);
    moved[inside ? to + path.substr(from.size()) : path] = thing;
  }
  tree = std::move(moved);
}

// Carries out one action on a tree of values, and expects that it is possible there.
inline void carry_out(Tree& tree, const MergeAction& action, const Tree& theirs, const Tree& ours) {
  switch (action.verb) {
    case MergeVerb::kDelete:
    case MergeVerb::kRemoveDirectory:
      EXPECT_FALSE(has_child(tree, action.path)) << action.path;
      EXPECT_EQ(tree.erase(action.path), 1U) << action.path;
      return;
    case MergeVerb::kMoveAside:
      EXPECT_FALSE(tree.contains(action.copy_path)) << action.copy_path;
      return move_tree(tree, action.path, action.copy_path);
    case MergeVerb::kMakeDirectory:
      EXPECT_FALSE(tree.contains(action.path)) << action.path;
      EXPECT_TRUE(has_directory_above(tree, action.path)) << action.path;
      tree[action.path] = folder(action.after->mode);
      return;
    case MergeVerb::kAdd:
      EXPECT_FALSE(tree.contains(action.path)) << action.path;
      EXPECT_TRUE(has_directory_above(tree, action.path)) << action.path;
      tree[action.path] = landed(action, theirs, ours);
      return;
    case MergeVerb::kUpdate:
      EXPECT_FALSE(has_child(tree, action.path)) << action.path;
      EXPECT_TRUE(tree.contains(action.path)) << action.path;
      tree[action.path] = landed(action, theirs, ours);
      return;
    case MergeVerb::kSetMode:
      tree[action.path].mode = action.after->mode;
      return;
    case MergeVerb::kKeep:
      return;
  }
}

inline Tree carried_out(const MergePlan& plan, const Tree& theirs, const Tree& ours) {
  Tree tree = ours;
  for (const MergeAction& action : plan.actions) carry_out(tree, action, theirs, ours);
  return tree;
}

inline std::vector<std::string> contents_of(const Tree& tree) {
  std::vector<std::string> contents;
  for (const auto& [path, thing] : tree) {
    if (thing.kind != EntryKind::kDirectory) contents.push_back(thing.text);
  }
  return contents;
}

inline void expect_nothing_lost(const Tree& base, const Tree& ours, const Tree& result) {
  const std::vector<std::string> contents = contents_of(result);
  for (const auto& [path, thing] : ours) {
    if (thing.kind == EntryKind::kDirectory) continue;
    const auto sent = base.find(path);
    const bool was_sent = sent != base.end() && sent->second.kind == thing.kind && sent->second.text == thing.text;
    if (!was_sent) EXPECT_THAT(contents, ::testing::Contains(thing.text)) << "lost " << path;
  }
}

}  // namespace cofferdam::workspace
