#include "git/staged.h"

#include <gmock/gmock.h>

namespace cofferdam::git {
namespace {

PathEntries blob(const std::string& id) {
  return id.empty() ? PathEntries() : PathEntries{{.mode = "100644", .id = id}};
}

// One path "p": what each side has staged over what its HEAD has ("head>index"), and where the host's HEAD went.
struct Case {
  const char* what;
  const char* base;  // "-": nothing staged
  const char* sandbox;
  const char* host;
  const char* moved;     // "-": not
  bool differs;          // the new HEAD has the path otherwise than the sandbox's HEAD
  const char* expected;  // the entry written; "-": left alone; "": removed
  bool conflict;
};

void add(StagedPaths& side, const std::string& text) {
  if (text == "-") return;
  const std::size_t arrow = text.find('>');
  side["p"] = {.in_head = blob(text.substr(0, arrow)), .in_index = blob(text.substr(arrow + 1))};
}

TEST(MergeIndexes, FollowsTheRule) {
  const Case cases[] = {
      {"nobody staged, history came", "-", "-", "-", "2", false, "2", false},
      {"nobody staged, history removed", "-", "-", "-", "", false, "", false},
      {"nothing at all", "-", "-", "-", "-", false, "-", false},
      {"host staged before, agent left it", "1>s", "1>s", "1>s", "-", false, "-", false},
      {"agent committed it", "1>s", "-", "1>s", "s", false, "s", false},
      {"agent took it back", "1>s", "-", "1>s", "-", false, "1", false},
      {"host staged meanwhile", "-", "-", "1>h", "-", false, "-", false},
      {"host staged meanwhile, history changed it", "-", "-", "1>h", "2", false, "-", false},
      {"host staged more meanwhile", "1>s", "1>s", "1>t", "-", false, "-", false},
      {"host took it back, agent left it", "1>s", "1>s", "-", "-", false, "-", false},
      {"host took it back, agent left it, history came", "1>s", "1>s", "-", "2", true, "2", false},
      {"agent staged", "-", "1>a", "-", "-", false, "a", false},
      {"agent staged a removal", "-", "1>", "-", "-", false, "", false},
      {"agent staged on its own commit", "-", "2>a", "-", "2", false, "a", false},
      {"agent staged, host's history changed it", "-", "1>a", "-", "-", true, "-", true},
      {"agent staged on its commit, merged with the host's", "-", "2>a", "-", "3", true, "3", true},
      {"agent staged more", "1>s", "1>a", "1>s", "-", false, "a", false},
      {"both staged the same", "-", "1>x", "1>x", "-", false, "-", false},
      {"both staged differently", "-", "1>a", "1>h", "-", false, "-", true},
      {"both staged more, differently", "1>s", "1>a", "1>h", "-", false, "-", true},
  };
  for (const Case& row : cases) {
    IndexMergeInput input;
    add(input.base, row.base);
    add(input.sandbox, row.sandbox);
    add(input.host, row.host);
    if (std::string(row.moved) != "-") input.moved["p"] = blob(row.moved);
    if (row.differs) input.differs_from_sandbox.insert("p");
    const IndexMerge merged = merge_indexes(input);
    EXPECT_EQ(merged.conflicts.size(), row.conflict ? 1U : 0U) << row.what;
    if (std::string(row.expected) == "-") {
      EXPECT_TRUE(merged.changes.empty()) << row.what;
    } else {
      ASSERT_EQ(merged.changes.size(), 1U) << row.what;
      EXPECT_EQ(merged.changes.at("p"), blob(row.expected)) << row.what;
    }
  }
}

TEST(RawChanges, KeepNamesByteForByte) {
  const std::string a(40, 'a');
  const std::string zero(40, '0');
  const std::string output = ":100644 000000 " + a + " " + zero + " D" + '\0' + " padded\n" + '\0' + ":000000 120000 " +
                             zero + " " + a + " A" + '\0' + "-x\xFF" + '\0';
  const auto changes = parse_raw_changes(output);
  ASSERT_TRUE(changes);
  EXPECT_EQ(changes->at(" padded\n"), (StagedPath{.in_head = blob(a), .in_index = {}}));
  EXPECT_EQ(changes->at("-x\xFF").in_index.front().mode, "120000");
  for (const std::string_view bad : {std::string_view("x\0", 2), std::string_view(":1 2 3 4 A\0", 11),
                                     std::string_view(":1 2 3 4 A\0path", 15), std::string_view(":1 2 3 A\0p\0", 11)}) {
    EXPECT_EQ(parse_raw_changes(bad).error().code(), ErrorCode::kDataLoss);
  }
}

}  // namespace
}  // namespace cofferdam::git
