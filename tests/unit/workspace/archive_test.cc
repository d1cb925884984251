#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <functional>

#include "programs.h"
#include "tar_builder.h"
#include "tree_model.h"
#include "workspace/archive_writer.h"
#include "workspace/extract.h"

namespace cofferdam::workspace {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

system::TemporaryDirectory scratch() {
  return scratch_directory("archive-");
}

struct Packed {
  Result<ArchiveReport> report = ArchiveReport();
  std::string bytes;
};

Packed packed(int root, const ArchiveOptions& options = {}) {
  Packed result;
  result.report = write_archive(root, options, [&](std::string_view bytes) -> Status {
    result.bytes += bytes;
    return {};
  });
  return result;
}

// Unpacks into a fresh directory, gone when this goes.
struct Unpacked {
  explicit Unpacked(std::string_view archive, const ExtractOptions& options = {})
      : extracted(extract_archive(source_of(archive), directory.fd(), options)) {}
  system::TemporaryDirectory directory = scratch();
  Result<Extracted> extracted;
  Tree tree() const { return read_tree(directory.path()); }
};

void expect_same(const std::vector<Entry>& left, const std::vector<Entry>& right) {
  ASSERT_EQ(left.size(), right.size());
  for (std::size_t at = 0; at < left.size(); ++at) {
    EXPECT_TRUE(left[at].same_content(right[at])) << printable(left[at].path) << " and " << printable(right[at].path);
  }
}

std::string deep_path(int depth) {
  std::string path = "deep";
  for (int count = 0; count < depth; ++count) path += "/directory-" + std::to_string(count);
  return path;
}

void add_with_parents(Tree& tree, const std::string& path, Thing thing) {
  for (std::size_t slash = path.find('/'); slash != std::string::npos; slash = path.find('/', slash + 1)) {
    tree.try_emplace(path.substr(0, slash), folder());
  }
  tree[path] = std::move(thing);
}

// Every name and kind that has ever been lost on the way.
Tree odd_tree() {
  Tree tree = {{"._apple", file("a")},
               {"-dash", file("d")},
               {"*", file("glob")},
               {"new\nline", file("n")},
               {"\xff\xfe not utf-8", file("b")},
               {"e\xcc\x81-decomposed", file("nfd")},
               {"\xc3\xa9-composed", file("nfc")},
               {std::string(255, 'l'), file("long")},
               {std::string(100, 'h'), file("hundred")},
               {std::string(101, 'i'), file("hundred and one")},
               {" blanks ", file("")},
               {"back\\slash", file("s", 0600)},
               {"run", file("#!", 0755)},
               {"secret", file("s", 0400)},
               {"empty", folder(0700)},
               {"link", symlink_to("run")},
               {"dangling", symlink_to("not/there")},
               {"long-link", symlink_to(std::string(150, 't') + "/" + std::string(200, '\xfd'))},
               {"readonly", folder(0555)},
               {"readonly/inside", file("i")},
               {"big", file(std::string(700'000, 'B'))},
               {"at-the-bound", file(std::string(128 << 10, 'A'))},
               {"beyond-the-bound", file(std::string((128 << 10) + 1, 'C'))},
               {"block", file(std::string(512, 'D'))}};
  add_with_parents(tree, deep_path(20) + "/end", file("deep"));
  add_with_parents(tree, std::string(90, 'a') + "/" + std::string(90, 'b') + "/x", file("fits a prefix"));
  add_with_parents(tree, std::string(200, '\xfc') + "/" + std::string(200, 'b') + "/" + std::string(255, 'c'),
                   file("y"));
  for (int count = 0; count < 50; ++count) tree["many-" + std::to_string(count)] = file(std::to_string(count));
  return tree;
}

TEST(ArchiveTest, OddTreesComeBackAsTheyWere) {
  const Tree tree = odd_tree();
  const auto source = scratch();
  write_tree(source.path(), tree);
  for (const std::optional<int> level : {std::optional<int>(), std::optional<int>(1)}) {
    const Packed archive = packed(source.fd(), {.zstd_level = level});
    ASSERT_TRUE(archive.report) << archive.report.error().to_string();
    EXPECT_THAT(archive.report->problems, IsEmpty());
    EXPECT_EQ(archive.report->bytes, archive.bytes.size());
    expect_same(archive.report->sent.entries, entries_of(tree));
    const Unpacked back(archive.bytes);
    ASSERT_TRUE(back.extracted) << back.extracted.error().to_string();
    EXPECT_EQ(to_text(back.tree()), to_text(tree));
    expect_same(back.extracted->inventory.entries, entries_of(tree));
  }
}

TEST(ArchiveTest, OtherProgramsUnpackOurs) {
  const Tree tree = odd_tree();
  const auto source = scratch();
  write_tree(source.path(), tree);
  const Packed archive = packed(source.fd());
  for (const std::string& tool : {"tar", "bsdtar"}) {
    if (program(tool).empty()) GTEST_SKIP() << tool << " is not installed";
    const auto target = scratch();
    EXPECT_EQ(run_program(target.path(), {tool, "-x", "-p", "-f", "-"}, archive.bytes).exit_code, 0) << tool;
    EXPECT_EQ(to_text(read_tree(target.path())), to_text(tree)) << tool;
  }
}

TEST(ArchiveTest, WeUnpackWhatOtherProgramsPack) {
  const Tree tree = odd_tree();
  const auto source = scratch();
  write_tree(source.path(), tree);
  const std::vector<std::vector<std::string>> ways = {
      {"tar", "-c", "-f", "-", "."},
      {"tar", "--format=ustar", "-c", "-f", "-", "many-1", "link", "big"},
      {"tar", "--format=pax", "-c", "-f", "-", "."},
      {"bsdtar", "-c", "-f", "-", "."},
      {"tar", "--zstd", "-c", "-f", "-", "."}};
  for (const auto& way : ways) {
    if (program(way[0]).empty()) GTEST_SKIP() << way[0] << " is not installed";
    const Ran made = run_program(source.path(), way);
    ASSERT_EQ(made.exit_code, 0) << way[0];
    const Unpacked back(made.out);
    ASSERT_TRUE(back.extracted) << way[0] << " " << way[1] << ": " << back.extracted.error().to_string();
    if (way.back() == ".") EXPECT_EQ(to_text(back.tree()), to_text(tree)) << way[0] << " " << way[1];
  }
}

TEST(ArchiveTest, HardLinksOfOtherProgramsStayInside) {
  const auto source = scratch();
  write_tree(source.path(), {{"a", file("content")}});
  ASSERT_EQ(::link((source.path() + "/a").c_str(), (source.path() + "/b").c_str()), 0);
  for (const std::string& tool : {"tar", "bsdtar"}) {
    if (program(tool).empty()) GTEST_SKIP() << tool << " is not installed";
    const Unpacked back(run_program(source.path(), {tool, "-c", "-f", "-", "a", "b"}).out);
    ASSERT_TRUE(back.extracted) << back.extracted.error().to_string();
    EXPECT_EQ(to_text(back.tree()), to_text({{"a", file("content")}, {"b", file("content")}}));
    EXPECT_EQ(back.extracted->inventory.entries[1].size, 7U);
  }
}

TEST(ArchiveTest, AnEmptyTreeIsTwoBlocksOfZeros) {
  const auto source = scratch();
  EXPECT_EQ(packed(source.fd()).bytes, std::string(1024, '\0'));
  EXPECT_TRUE(Unpacked(std::string(1024, '\0')).extracted);
  EXPECT_TRUE(Unpacked(std::string(512, '\0')).extracted) << "one block is what a careless writer of nothing leaves";
  EXPECT_TRUE(Unpacked(std::string(10240, '\0')).extracted);
}

TEST(ArchiveTest, MembersAreSortedAndTheRootIsNone) {
  const auto source = scratch();
  write_tree(source.path(), {{"b", folder()}, {"b/x", file("")}, {"a", file("")}, {"c", folder()}, {"z", file("")}});
  const Ran listed = run_program("/", {"tar", "-t", "-f", "-"}, packed(source.fd()).bytes);
  EXPECT_EQ(listed.out, "a\nz\nb/\nb/x\nc/\n");
  const std::string again = packed(source.fd(), {.threads = 7}).bytes;
  EXPECT_EQ(again, packed(source.fd(), {.threads = 1}).bytes);
}

TEST(ArchiveTest, LeavesOutWhatIsExcludedAndWhatCannotTravel) {
  const auto source = scratch();
  write_tree(source.path(),
             {{"keep", file("")}, {"run.sock", file("")}, {"sub", folder()}, {"sub/run.sock", file("")}});
  ASSERT_EQ(::mkfifo((source.path() + "/fifo").c_str(), 0600), 0);
  const UniqueFd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
  std::snprintf(address.sun_path, sizeof address.sun_path, "%s/socket", source.path().c_str());
  ASSERT_EQ(::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  ArchiveOptions options;
  options.exclude.add_literal("run.sock");
  const Packed archive = packed(source.fd(), options);
  ASSERT_TRUE(archive.report);
  EXPECT_THAT(archive.report->sent.omissions,
              ElementsAre(Omission{"fifo", OmissionReason::kFifo}, Omission{"run.sock", OmissionReason::kExcluded},
                          Omission{"socket", OmissionReason::kSocket}));
  EXPECT_EQ(to_text(Unpacked(archive.bytes).tree()),
            to_text({{"keep", file("")}, {"sub", folder()}, {"sub/run.sock", file("")}}));
}

TEST(ArchiveTest, SpecialModesAreToldOrRefused) {
  const auto source = scratch();
  write_tree(source.path(), {{"a", file("", 04755)}, {"d", folder(02755)}});
  const Packed archive = packed(source.fd());
  ASSERT_TRUE(archive.report);
  EXPECT_THAT(archive.report->sent.stripped_modes, ElementsAre("a", "d"));
  EXPECT_EQ(to_text(Unpacked(archive.bytes).tree()), to_text({{"a", file("", 0755)}, {"d", folder(0755)}}));
  EXPECT_FALSE(packed(source.fd(), {.refuse_special_modes = true}).report);
}

TEST(ArchiveTest, AnUnreadableSourceGivesAWellFormedArchiveAndAReport) {
  if (::geteuid() == 0) GTEST_SKIP() << "root can read everything";
  const auto source = scratch();
  write_tree(source.path(), {{"a", file("", 0)}, {"b", file("b")}, {"d", folder(0)}});
  const Packed archive = packed(source.fd());
  ASSERT_TRUE(archive.report);
  EXPECT_THAT(archive.report->problems,
              ElementsAre(Field(&ArchiveProblem::path, "a"), Field(&ArchiveProblem::path, "d")));
  EXPECT_EQ(to_text(Unpacked(archive.bytes).tree()), to_text({{"b", file("b")}, {"d", folder(0)}}));
}

// A sink that disturbs the source when the first bytes of the large file go by.
Packed packed_while(const std::string& root, const std::function<void()>& disturb) {
  Packed result;
  const auto directory = system::open_directory(root);
  bool disturbed = false;
  result.report = write_archive(directory->get(), {}, [&](std::string_view bytes) -> Status {
    result.bytes += bytes;
    if (!disturbed && result.bytes.size() > (1 << 20)) {
      disturbed = true;
      disturb();
    }
    return {};
  });
  return result;
}

class ChangingSourceTest : public ::testing::TestWithParam<ProblemKind> {};

TEST_P(ChangingSourceTest, GivesAWellFormedArchiveAndAReport) {
  const auto source = scratch();
  const std::string large = source.path() + "/large";
  write_tree(source.path(), {{"large", file(std::string(8 << 20, 'x'))}, {"z", folder()}, {"z/last", file("last")}});
  const Packed archive = packed_while(source.path(), [&] {
    const UniqueFd out(::open(large.c_str(), O_WRONLY | O_CLOEXEC));
    const ProblemKind kind = GetParam();
    if (kind == ProblemKind::kChanged) {
      ASSERT_EQ(::pwrite(out.get(), "yyy", 3, (8 << 20) - 3), 3);
    } else {
      ASSERT_EQ(::ftruncate(out.get(), kind == ProblemKind::kShrank ? 5 << 20 : 9 << 20), 0);
    }
  });
  ASSERT_TRUE(archive.report) << archive.report.error().to_string();
  EXPECT_THAT(archive.report->problems, ElementsAre(Field(&ArchiveProblem::kind, GetParam())));
  const Unpacked back(archive.bytes);
  ASSERT_TRUE(back.extracted) << back.extracted.error().to_string();
  expect_same(back.extracted->inventory.entries, archive.report->sent.entries);
  EXPECT_EQ(back.tree().at("large").text.size(), std::size_t{8} << 20);
  EXPECT_EQ(back.tree().at("z/last").text, "last");
}

INSTANTIATE_TEST_SUITE_P(EveryWay, ChangingSourceTest,
                         ::testing::Values(ProblemKind::kShrank, ProblemKind::kGrew, ProblemKind::kChanged));

TEST(ArchiveTest, AVanishingDirectoryIsToldAndLeavesTheRestWhole) {
  const auto source = scratch();
  write_tree(source.path(), {{"large", file(std::string(8 << 20, 'x'))}});
  for (int count = 0; count < 400; ++count) {
    const std::string name = "z" + std::to_string(count);
    write_tree(source.path(), {{name, folder()}, {name + "/f", file("f")}});
  }
  const Packed archive = packed_while(source.path(), [&] { EXPECT_TRUE(system::remove_tree_at(source.fd(), "z99")); });
  ASSERT_TRUE(archive.report);
  EXPECT_THAT(archive.report->problems, Contains(Field(&ArchiveProblem::kind, ProblemKind::kVanished)));
  const Unpacked back(archive.bytes);
  ASSERT_TRUE(back.extracted);
  expect_same(back.extracted->inventory.entries, archive.report->sent.entries);
}

TEST(ArchiveTest, AFailingSinkEndsTheWork) {
  const auto source = scratch();
  for (int count = 0; count < 300; ++count) write_tree(source.path(), {{std::to_string(count), file("f")}});
  const auto directory = system::open_directory(source.path());
  const auto report = write_archive(directory->get(), {}, [](std::string_view) {
    return Status(Error(ErrorCode::kResourceExhausted, "no space left"));
  });
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().message(), "no space left");
}

TEST(ArchiveTest, SizesBeyondOctalTravel) {
  const auto source = scratch();
  const UniqueFd big(::open((source.path() + "/big").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644));
  constexpr std::uint64_t kSize = (std::uint64_t{8} << 30) + 5;
  if (::ftruncate(big.get(), static_cast<off_t>(kSize)) != 0) GTEST_SKIP() << "no file of 8 GiB here";
  Entry entry = entry_of("big", file(""));
  entry.size = kSize;
  ArchiveRules rules;
  rules.bounds.bytes = rules.bounds.file_bytes = kSize;
  // Only the header: the reader announces the size before it asks for content.
  const std::string header = tar_header(entry);
  ArchiveReader reader(source_of(header), rules);
  const auto member = reader.next();
  ASSERT_TRUE(member);
  EXPECT_EQ((*member)->size, kSize);
  EXPECT_THAT(run_program("/", {"tar", "-t", "-v", "-f", "-"}, header).out, HasSubstr(std::to_string(kSize)));
  // The same as other programs write it.
  RawMember gnu{.name = "big"};
  gnu.size = std::string("\x80\0\0\0\0\0\0\x02\0\0\0\x05", 12);
  const std::string other = TarBuilder().add(gnu).bytes();
  ArchiveReader gnu_reader(source_of(other), rules);
  const auto gnu_member = gnu_reader.next();
  ASSERT_TRUE(gnu_member) << gnu_member.error().to_string();
  EXPECT_EQ((*gnu_member)->size, kSize);
}

TEST(ArchiveTest, ARestrictiveUmaskChangesNoMode) {
  const std::string archive = TarBuilder().directory("d").add({.name = "d/a", .content = "x", .mode = 0666}).end();
  const mode_t before = ::umask(0077);
  const Unpacked back(archive);
  ::umask(before);
  EXPECT_EQ(to_text(back.tree()), to_text({{"d", folder(0755)}, {"d/a", file("x", 0666)}}));
}

TEST(ArchiveTest, TimesAreKeptToTheSecond) {
  const auto source = scratch();
  write_tree(source.path(), {{"a", file("x")}});
  const timespec times[2] = {{.tv_sec = 1'000'000'000, .tv_nsec = 0}, {.tv_sec = 1'000'000'000, .tv_nsec = 0}};
  ASSERT_EQ(::utimensat(AT_FDCWD, (source.path() + "/a").c_str(), times, 0), 0);
  const Unpacked back(packed(source.fd()).bytes);
  struct stat status{};
  ASSERT_EQ(::stat((back.directory.path() + "/a").c_str(), &status), 0);
  EXPECT_EQ(status.st_mtim.tv_sec, 1'000'000'000);
}

TEST(ArchiveTest, TimesThatNobodyCanCountAreBrought) {
  for (const std::string& time :
       {std::string("777777777777"), std::string("\x80\0\0\0\x7f\xff\xff\xff\xff\xff\xff\xff", 12),
        std::string("\xff\xff\xff\xff\x80\0\0\0\0\0\0\0", 12)}) {
    const Unpacked back(TarBuilder().add({.name = "a", .content = "x", .time = time}).end());
    EXPECT_TRUE(back.extracted) << back.extracted.error().to_string();
  }
}

TEST(ArchiveTest, AFullDiskFailsTheUnpackingAndSaysSo) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can mount a small file system";
  const auto mount = scratch();
  if (::mount("tmpfs", mount.path().c_str(), "tmpfs", 0, "size=256k") != 0) GTEST_SKIP() << "mounting is not allowed";
  const std::string archive = TarBuilder().file("big", std::string(1 << 20, 'x')).end();
  auto target = system::open_directory(mount.path());
  const auto failed = extract_archive(source_of(archive), target->get(), {});
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code(), ErrorCode::kResourceExhausted) << failed.error().to_string();
  target->reset();
  ::umount(mount.path().c_str());
}

TEST(ArchiveTest, UnpackingNeedsAnEmptyDirectory) {
  const auto target = scratch();
  write_tree(target.path(), {{"a", file("x")}});
  const std::string archive = TarBuilder().file("b").end();
  const auto refused = extract_archive(source_of(archive), target.fd(), {});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), ErrorCode::kAlreadyExists);
}

}  // namespace
}  // namespace cofferdam::workspace
