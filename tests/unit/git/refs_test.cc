#include "git/refs.h"

#include <gmock/gmock.h>

#include "git/bundle_header.h"

namespace cofferdam::git {
namespace {

const std::string kId(40, 'a');
const std::string kOther(40, 'b');

TEST(RefNames, FollowCheckRefFormat) {
  for (const char* name :
       {"refs/heads/main", "refs/heads/a/b", "refs/x", "refs/heads/@", "refs/heads/-x", "refs/heads/sp\xC3\xA9"}) {
    EXPECT_TRUE(is_ref_name(name)) << name;
  }
  for (const char* name : {"",
                           "HEAD",
                           "heads/x",
                           "refs/",
                           "refs/heads/",
                           "refs/heads//x",
                           "refs/heads/.x",
                           "refs/heads/x.lock",
                           "refs/heads/x.lock/y",
                           "refs/heads/a..b",
                           "refs/heads/x.",
                           "refs/heads/a b",
                           "refs/heads/a~",
                           "refs/heads/a^",
                           "refs/heads/a:",
                           "refs/heads/a?",
                           "refs/heads/a*",
                           "refs/heads/a[",
                           "refs/heads/a\\",
                           "refs/heads/a@{b",
                           "refs/heads/a\n",
                           "refs/heads/a\x7F",
                           "refs/../x"}) {
    EXPECT_FALSE(is_ref_name(name)) << name;
  }
  EXPECT_TRUE(is_ref_name("refs/" + std::string(1'019, 'x')));
  EXPECT_FALSE(is_ref_name("refs/" + std::string(1'020, 'x')));
}

TEST(ObjectIds, AreWholeAndLowerCase) {
  EXPECT_TRUE(is_object_id(kId, ObjectFormat::kSha1));
  EXPECT_FALSE(is_object_id(kId, ObjectFormat::kSha256));
  EXPECT_TRUE(is_object_id(std::string(64, '0'), ObjectFormat::kSha256));
  EXPECT_FALSE(is_object_id(std::string(40, 'A'), ObjectFormat::kSha1));
}

TEST(PackedRefs, LeaveOutWhatIsNone) {
  const auto refs = parse_packed_refs("# pack-refs with: peeled fully-peeled sorted \n" + kId + " refs/heads/main\n^" +
                                          kOther + "\nnonsense\n" + kId + " ../evil\n" + kOther + " refs/tags/v1\n",
                                      ObjectFormat::kSha1);
  EXPECT_THAT(refs, testing::ElementsAre(Ref{"refs/heads/main", kId}, Ref{"refs/tags/v1", kOther}));
  EXPECT_EQ(parse_packed_refs(render_packed_refs(refs), ObjectFormat::kSha1), refs);
}

TEST(BundleHeader, IsReadUpToThePack) {
  const auto header =
      parse_bundle_header("# v2 git bundle\n-" + kOther + " subject\n" + kId + " refs/heads/x\n\nPACK...", 10);
  ASSERT_TRUE(header);
  EXPECT_THAT(header->prerequisites, testing::ElementsAre(kOther));
  EXPECT_THAT(header->refs, testing::ElementsAre(Ref{"refs/heads/x", kId}));
  EXPECT_EQ(header->size, 16U + 50U + 54U + 1U);
  const auto newer =
      parse_bundle_header("# v3 git bundle\n@object-format=sha256\n" + std::string(64, 'c') + " HEAD\n\n", 10);
  ASSERT_TRUE(newer);
  EXPECT_EQ(newer->format, ObjectFormat::kSha256);
}

TEST(BundleHeader, RefusesClaimsThatAreNone) {
  for (const std::string& text :
       {std::string(), std::string("PACK"), std::string("# v4 git bundle\n\n"), "# v2 git bundle\n" + kId + " refs/x\n",
        "# v2 git bundle\n" + kId + " ../x\n\n", std::string("# v2 git bundle\nshort refs/x\n\n"),
        std::string("# v3 git bundle\n@filter=blob:none\n\n"), std::string("# v3 git bundle\n@object-format=md5\n\n"),
        "# v2 git bundle\n" + kId + " -option\n\n", "# v3 git bundle\n" + kId + " HEAD\n@object-format=sha256\n\n",
        "# v3 git bundle\n-" + kId + " subject\n@object-format=sha256\n\n"}) {
    EXPECT_EQ(parse_bundle_header(text, 10).error().code(), ErrorCode::kInvalidArgument) << text;
  }
  const std::string two = "# v2 git bundle\n" + kId + " refs/a\n" + kId + " refs/b\n\n";
  EXPECT_TRUE(parse_bundle_header(two, 2));
  EXPECT_EQ(parse_bundle_header(two, 1).error().code(), ErrorCode::kResourceExhausted);
  EXPECT_EQ(parse_bundle_header("# v2 git bundle\n" + std::string(kBundleHeaderBytes, 'x'), 2).error().code(),
            ErrorCode::kResourceExhausted);
}

}  // namespace
}  // namespace cofferdam::git
