// Archives that a sandbox could send to get out: each is refused, and nothing of it lands anywhere but in the fresh
// directory.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tar_builder.h"
#include "tree_model.h"
#include "workspace/byte_stream.h"
#include "workspace/extract.h"

namespace cofferdam::workspace {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class HostileArchiveTest : public ::testing::Test {
 protected:
  // Unpacks into <scratch>/in; <scratch>/out is what an attack would like to reach.
  HostileArchiveTest() : scratch_(scratch_directory("hostile-")) {
    ::mkdir((scratch_.path() + "/in").c_str(), 0700);
    ::mkdir((scratch_.path() + "/out").c_str(), 0700);
    EXPECT_TRUE(system::replace_file(scratch_.path() + "/out/victim", "victim", 0644));
  }
  ~HostileArchiveTest() override {
    Tree outside;
    for (const auto& [path, thing] : read_tree(scratch_.path())) {
      if (!path.starts_with("in/")) outside[path] = thing;
    }
    EXPECT_EQ(to_text(outside), to_text({{"in", folder(0700)}, {"out", folder(0700)}, {"out/victim", file("victim")}}));
  }

  Result<Extracted> unpack(std::string_view archive, const ExtractOptions& options = {}) {
    const auto in = system::open_directory(scratch_.path() + "/in");
    for (const std::string& name : *system::names_in(in->get())) EXPECT_TRUE(system::remove_tree_at(in->get(), name));
    const auto inspected = inspect_archive(source_of(archive), options.rules);
    auto extracted = extract_archive(source_of(archive), in->get(), options);
    EXPECT_EQ(inspected.has_value(), extracted.has_value()) << "both look with the same rules";
    return extracted;
  }

  void expect_refused(const TarBuilder& archive, const std::string& text,
                      ErrorCode code = ErrorCode::kPermissionDenied) {
    expect_refused(archive.end(), text, code);
  }
  void expect_refused(const std::string& archive, const std::string& text,
                      ErrorCode code = ErrorCode::kPermissionDenied) {
    const auto refused = unpack(archive);
    ASSERT_FALSE(refused) << text;
    EXPECT_EQ(refused.error().code(), code) << refused.error().to_string();
    EXPECT_THAT(refused.error().message(), HasSubstr(text));
  }

  system::TemporaryDirectory scratch_;
};

std::string path_record(const std::string& path) {
  return TarBuilder::record("path", path);
}

TEST_F(HostileArchiveTest, NamesThatLeadOut) {
  for (const char* name : {"../out/x", "/tmp/x", "a/../../out/x", "..", "a/..", "./../out/x", "//x", ".//../x"}) {
    expect_refused(TarBuilder().file(name), "refusing tarball member that escapes the extraction dir");
    expect_refused(TarBuilder().pax(path_record(name)).file("innocent"), "escapes the extraction dir");
    expect_refused(TarBuilder().add({.type = 'L', .name = "long", .content = name}).file("innocent"),
                   "escapes the extraction dir");
  }
  for (const char* name : {"a//b", "a/./b", "a/."}) expect_refused(TarBuilder().file(name), "unclear name");
}

TEST_F(HostileArchiveTest, AUstarPrefixThatLeadsOut) {
  TarBuilder archive;
  archive.file("out/x");
  std::string bytes = archive.end();
  bytes.replace(345, 2, "..");
  unsigned sum = 0;
  std::fill_n(bytes.begin() + 148, 8, ' ');
  for (int at = 0; at < 512; ++at) sum += static_cast<unsigned char>(bytes[static_cast<std::size_t>(at)]);
  char text[8];
  std::snprintf(text, sizeof text, "%06o", sum);
  bytes.replace(148, 6, text);
  bytes[154] = '\0';
  expect_refused(bytes, "escapes the extraction dir");
}

TEST_F(HostileArchiveTest, LinksThatLeadOut) {
  for (const char* target : {"/etc/passwd", "../out/victim", "a/../../out", "..", ""}) {
    expect_refused(TarBuilder().symlink("l", target),
                   "refusing tarball link whose target escapes the extraction dir: l -> ");
  }
  expect_refused(TarBuilder().pax(TarBuilder::record("linkpath", "/etc")).symlink("l", "inside"), "l -> /etc");
  expect_refused(TarBuilder().add({.type = 'K', .name = "long", .content = "/etc"}).symlink("l", "inside"),
                 "l -> /etc");
}

TEST_F(HostileArchiveTest, LinksThatLeadOutCanBeRecordedInstead) {
  ExtractOptions options;
  options.rules.unconfined_links = LinkPolicy::kRecord;
  const auto extracted = unpack(TarBuilder().symlink("l", "/etc/passwd").file("a").end(), options);
  ASSERT_TRUE(extracted);
  EXPECT_THAT(extracted->recorded_links, ElementsAre("l"));
  EXPECT_EQ(extracted->inventory.entries.at(1).target, "/etc/passwd");
  EXPECT_EQ(read_tree(scratch_.path()).count("in/l"), 0U);
  EXPECT_FALSE(unpack(TarBuilder().symlink("l", "../out").file("l/x").end(), options)) << "not through it either";
}

TEST_F(HostileArchiveTest, WritingThroughALink) {
  expect_refused(TarBuilder().symlink("l", "d").directory("d").file("l/x"), "below something that is no directory");
  expect_refused(TarBuilder().directory("d").symlink("d/l", ".").file("d/l/x"), "below something that is no directory");
  expect_refused(TarBuilder().symlink("l", "x").file("l"), "occurs twice");
  expect_refused(TarBuilder().file("f").file("f/x"), "below something that is no directory");
  expect_refused(TarBuilder().file("f").symlink("s", "f").hardlink("s/y", "f"), "below something that is no directory");
}

TEST_F(HostileArchiveTest, HardLinksToAnythingButAnEarlierFile) {
  for (const char* target : {"/etc/passwd", "../out/victim", "d/../../out/victim"}) {
    expect_refused(TarBuilder().hardlink("h", target), "escapes the extraction dir: h -> ");
  }
  expect_refused(TarBuilder().hardlink("h", "later").file("later"), "no earlier file");
  expect_refused(TarBuilder().hardlink("h", "h"), "no earlier file");
  expect_refused(TarBuilder().symlink("s", "f").hardlink("h", "s"), "no earlier file");
  expect_refused(TarBuilder().directory("d").hardlink("h", "d"), "no earlier file");
  const auto good = unpack(TarBuilder().file("f", "text").hardlink("h", "./f").hardlink("i", "h").end());
  ASSERT_TRUE(good) << good.error().to_string();
  EXPECT_EQ(read_tree(scratch_.path()).at("in/i").text, "text");
}

TEST_F(HostileArchiveTest, MembersThatOccurTwice) {
  expect_refused(TarBuilder().file("a").file("a"), "occurs twice: a");
  expect_refused(TarBuilder().file("a").file("./a"), "occurs twice");
  expect_refused(TarBuilder().directory("a").directory("a/"), "occurs twice");
  expect_refused(TarBuilder().directory("a").symlink("a", "b"), "occurs twice");
  expect_refused(TarBuilder().file("a/b").symlink("a", "c"), "occurs twice");
  EXPECT_TRUE(unpack(TarBuilder().file("a/b").directory("a").end())) << "a directory after what is in it";
}

TEST_F(HostileArchiveTest, KindsThatHaveNoPlaceInAWorkspace) {
  for (const char type : {'3', '4', '6', 'S', 'D', 'M', 'V', 'N', 'A', 'Z', '8'}) {
    expect_refused(TarBuilder().add({.type = type, .name = "special"}), "refusing tarball member that is");
  }
  expect_refused(TarBuilder().pax(TarBuilder::record("GNU.sparse.major", "1")).file("f"), "sparse");
}

TEST_F(HostileArchiveTest, SpecialModesAreRefusedOrMasked) {
  for (const unsigned mode : {04755U, 02755U, 01777U}) {
    TarBuilder archive;
    archive.add({.name = "f", .content = "x", .mode = mode});
    expect_refused(archive, "set-user-id");
    ExtractOptions options;
    options.rules.mask_special_modes = true;
    const auto masked = unpack(archive.end(), options);
    ASSERT_TRUE(masked);
    EXPECT_THAT(masked->inventory.stripped_modes, ElementsAre("f"));
    EXPECT_EQ(read_tree(scratch_.path()).at("in/f").mode, mode & 0777);
  }
}

TEST_F(HostileArchiveTest, PaxTricks) {
  const auto record = TarBuilder::record;
  expect_refused(TarBuilder().pax(record("path", "../out/x"), 'g').file("a"), "global header");
  expect_refused(TarBuilder().pax(record("path", "a") + record("path", "../x")).file("a"), "twice",
                 ErrorCode::kDataLoss);
  expect_refused(TarBuilder().pax(record("path", "a")).pax(record("path", "b")).file("c"), "two extended headers");
  expect_refused(TarBuilder().pax(record("path", "a")).add({.type = 'L', .name = "l", .content = "b"}).file("c"),
                 "named twice");
  expect_refused(TarBuilder().pax(record("path", std::string("a\0b", 3))).file("c"), "NUL byte");
  expect_refused(TarBuilder().pax(record("size", "100")).file("a", "x"), "two different sizes");
  expect_refused(TarBuilder().pax(record("size", "-1")).file("a", ""), "bad size", ErrorCode::kDataLoss);
  for (const char* bad : {"5 a=b\n", "x path=a\n", "9999 path=a\n", "8 path a\n", "0 a=b\n", "8 path=a", "7 =abc\n",
                          "99999999999999999999 path=a\n"}) {
    expect_refused(TarBuilder().pax(bad).file("a"), "pax header", ErrorCode::kDataLoss);
  }
  expect_refused(TarBuilder().pax(std::string(2 << 20, 'x')).file("a"), "bytes in a header",
                 ErrorCode::kResourceExhausted);
  EXPECT_TRUE(unpack(TarBuilder().pax(record("comment", "of git archive"), 'g').file("a").end()));
  EXPECT_TRUE(unpack(TarBuilder().pax(record("SCHILY.xattr.user.x", "y") + record("uid", "0")).file("a").end()));
}

TEST_F(HostileArchiveTest, HeadersThatLie) {
  TarBuilder bad_sum;
  bad_sum.add({.name = "a", .content = "x", .bad_checksum = true});
  expect_refused(bad_sum, "checksum", ErrorCode::kDataLoss);
  expect_refused(TarBuilder().add({.name = "a", .size = "0000000zz00"}), "bad size", ErrorCode::kDataLoss);
  expect_refused(
      TarBuilder().add({.name = "a", .size = std::string("\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", 12)}),
      "bad size", ErrorCode::kDataLoss);
  expect_refused(
      TarBuilder().add({.name = "a", .size = std::string("\x80\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", 12)}),
      "bad size", ErrorCode::kDataLoss);
  // More than there is: the next header would be content.
  expect_refused(TarBuilder().add({.name = "a", .content = "x", .size = "00000010000"}), "cut off",
                 ErrorCode::kDataLoss);
  expect_refused(TarBuilder().add({.type = '5', .name = "d", .content = "hidden"}), "content that it cannot have");
  expect_refused(TarBuilder().add({.type = '2', .name = "l", .content = "hidden", .link = "x"}),
                 "content that it cannot have");
}

TEST_F(HostileArchiveTest, EndsThatAreNone) {
  const TarBuilder one = TarBuilder().file("a", std::string(1000, 'x'));
  for (std::size_t size = 1; size < one.bytes().size() + 1024; size += 37) {
    const std::string cut = one.end().substr(0, size);
    const auto refused = unpack(cut);
    ASSERT_FALSE(refused) << size;
    EXPECT_EQ(refused.error().code(), ErrorCode::kDataLoss) << size;
  }
  EXPECT_FALSE(unpack(""));
  expect_refused(one.bytes() + std::string(512, '\0'), "half an end", ErrorCode::kDataLoss);
  expect_refused(one.bytes() + std::string(512, '\0') + one.bytes(), "follows the end", ErrorCode::kDataLoss);
  expect_refused(one.end() + "x", "follows the end", ErrorCode::kDataLoss);
  expect_refused(one.end() + one.end(), "follows the end", ErrorCode::kDataLoss);
  expect_refused(one.end() + std::string(2 << 20, '\0'), "follows the end", ErrorCode::kDataLoss);
  expect_refused(TarBuilder().pax(path_record("a")).end(), "ends after a header", ErrorCode::kDataLoss);
  EXPECT_TRUE(unpack(one.end() + std::string(9 << 10, '\0'))) << "what tar fills its last record with";
}

TEST_F(HostileArchiveTest, BoundsHoldAtTheBound) {
  const auto bounded = [&](const TarBuilder& archive, ArchiveBounds bounds) {
    ExtractOptions options;
    options.rules.bounds = bounds;
    const auto result = unpack(archive.end(), options);
    if (!result) EXPECT_EQ(result.error().code(), ErrorCode::kResourceExhausted) << result.error().to_string();
    return result.has_value();
  };
  TarBuilder many;
  for (int count = 0; count < 100; ++count) many.file("f" + std::to_string(count), "");
  EXPECT_TRUE(bounded(many, {.entries = 100}));
  EXPECT_FALSE(bounded(many, {.entries = 99}));
  EXPECT_FALSE(bounded(TarBuilder().file("a/b/c/d"), {.entries = 3})) << "directories that are implied count";
  const TarBuilder two = TarBuilder().file("a", std::string(600, 'x')).file("b", std::string(400, 'x'));
  EXPECT_TRUE(bounded(two, {.bytes = 1000, .file_bytes = 600}));
  EXPECT_FALSE(bounded(two, {.bytes = 999}));
  EXPECT_FALSE(bounded(two, {.file_bytes = 599}));
  const TarBuilder links = TarBuilder().file("a", std::string(600, 'x')).hardlink("b", "a");
  EXPECT_TRUE(bounded(links, {.bytes = 1200}));
  EXPECT_FALSE(bounded(links, {.bytes = 1199})) << "hard links count as content";
  EXPECT_TRUE(bounded(TarBuilder().file("a/b/c"), {.depth = 3}));
  EXPECT_FALSE(bounded(TarBuilder().file("a/b/c/d"), {.depth = 3}));
  EXPECT_TRUE(bounded(TarBuilder().pax(path_record(std::string(255, 'n'))).file("a"), {}));
  EXPECT_FALSE(bounded(TarBuilder().pax(path_record(std::string(256, 'n'))).file("a"), {}));
  std::string path = "n";
  while (path.size() < 4095) path += "/" + std::string(std::min<std::size_t>(200, 4094 - path.size()), 'n');
  EXPECT_EQ(path.size(), 4095U);
  EXPECT_FALSE(bounded(TarBuilder().pax(path_record(path + "n")).file("a"), {}));
}

TEST_F(HostileArchiveTest, AMillionTinyEntriesStopAtTheBound) {
  std::string block = TarBuilder().file("f", "").bytes();
  std::uint64_t made = 0;
  ExtractOptions options;
  options.rules.bounds.entries = 20'000;
  // Names that differ, made while they are read: the archive itself needs no memory.
  const ByteSource source = [&](char* buffer, std::size_t size) -> Result<std::size_t> {
    EXPECT_LE(made, 21'000U) << "read on beyond the bound";
    if (size < 512 || made > 1'000'000) return std::size_t{0};
    const std::string one = TarBuilder().file("f" + std::to_string(made++), "").bytes();
    return one.copy(buffer, size);
  };
  const auto refused = inspect_archive(source, options.rules);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message(), "the archive has more than 20000 entries");
}

std::string compressed(std::string_view bytes) {
  std::string out;
  Compressor compressor(
      [&](std::string_view piece) -> Status {
        out += piece;
        return {};
      },
      3);
  EXPECT_TRUE(compressor.write(bytes));
  EXPECT_TRUE(compressor.finish());
  return out;
}

TEST_F(HostileArchiveTest, CompressionBombs) {
  const std::string bomb = compressed(TarBuilder().file("zeros", std::string(96 << 20, '\0')).end());
  ASSERT_LT(bomb.size(), 64U << 10);
  ExtractOptions options;
  options.rules.bounds.ratio = 100;
  const auto refused = unpack(bomb, options);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message(), HasSubstr("100 times its size"));
}

TEST_F(HostileArchiveTest, DamagedCompression) {
  const std::string good = compressed(TarBuilder().file("a", std::string(5000, 'x')).end());
  EXPECT_TRUE(unpack(good));
  EXPECT_FALSE(unpack(good.substr(0, good.size() - 1)));
  EXPECT_FALSE(unpack(good + "x"));
  EXPECT_FALSE(unpack(good + good));
  std::string flipped = good;
  flipped[good.size() / 2] = static_cast<char>(flipped[good.size() / 2] ^ 4);
  EXPECT_FALSE(unpack(flipped));
  EXPECT_FALSE(unpack("\x28\xb5\x2f\xfd"));
}

}  // namespace
}  // namespace cofferdam::workspace
