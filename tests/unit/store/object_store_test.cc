// What every place for objects promises, asked of each of them.
#include "store/object_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "object_places.h"

namespace cofferdam::store {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class ObjectStoreTest : public testing::TestWithParam<PlaceKind> {
 protected:
  void SetUp() override {
    place_ = ObjectPlace::make(GetParam());
    if (!place_->missing().empty()) GTEST_SKIP() << place_->missing();
    store_ = place_->open();
    ASSERT_NE(store_, nullptr);
  }

  void put(const std::string& key, std::string_view bytes) { ASSERT_TRUE(put_object(*store_, key, bytes)); }

  std::vector<std::string> keys(const std::string& prefix, const std::string& after, std::size_t limit) {
    std::vector<std::string> keys;
    const auto listed = store_->list(prefix, after, limit);
    EXPECT_TRUE(listed) << listed.error().to_string();
    if (!listed) return keys;
    for (const ObjectInfo& info : *listed) keys.push_back(info.key);
    return keys;
  }

  std::unique_ptr<ObjectPlace> place_;
  std::unique_ptr<ObjectStore> store_;
};

TEST_P(ObjectStoreTest, GivesBackWhatWasStored) {
  put("packs/ab/one", "the content");
  EXPECT_EQ(store_->read("packs/ab/one", 0, 11).value_or(""), "the content");
  EXPECT_EQ(store_->read("packs/ab/one", 4, 3).value_or(""), "con");
  EXPECT_EQ(store_->read("packs/ab/one", 11, 0).value_or("-"), "");
  EXPECT_EQ(store_->size("packs/ab/one").value_or(0), 11U);
}

TEST_P(ObjectStoreTest, AnEmptyObjectIsOne) {
  put("empty", "");
  EXPECT_EQ(store_->size("empty").value_or(1), 0U);
  EXPECT_EQ(store_->read("empty", 0, 0).value_or("-"), "");
}

TEST_P(ObjectStoreTest, KeepsBytesOfALargeObjectInManyPieces) {
  std::string content;
  for (std::size_t i = 0; content.size() < 20'000'000; ++i) content += std::to_string(i * 7919) + '\0';
  auto writer = store_->create("large");
  ASSERT_TRUE(writer) << writer.error().to_string();
  for (std::size_t at = 0; at < content.size(); at += 777'777) {
    ASSERT_TRUE((*writer)->append(std::string_view(content).substr(at, 777'777)));
  }
  const Status committed = (*writer)->commit();
  ASSERT_TRUE(committed) << committed.error().to_string();
  EXPECT_EQ(store_->size("large").value_or(0), content.size());
  EXPECT_TRUE(store_->read("large", 0, content.size()).value_or("") == content);
  EXPECT_TRUE(store_->read("large", 8 * 1024 * 1024 - 5, 10).value_or("") == content.substr(8 * 1024 * 1024 - 5, 10));
}

TEST_P(ObjectStoreTest, NothingIsVisibleBeforeCommit) {
  auto writer = store_->create("packs/later");
  ASSERT_TRUE(writer);
  ASSERT_TRUE((*writer)->append(std::string(9 * 1024 * 1024, 'x')));
  EXPECT_EQ(store_->size("packs/later").error().code(), ErrorCode::kNotFound);
  EXPECT_THAT(keys("", "", 10), IsEmpty());
  writer->reset();
  EXPECT_EQ(store_->read("packs/later", 0, 1).error().code(), ErrorCode::kNotFound);
}

TEST_P(ObjectStoreTest, NeverReplacesAnObject) {
  put("taken", "first");
  const Status second = put_object(*store_, "taken", "second");
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code(), ErrorCode::kAlreadyExists) << second.error().to_string();
  EXPECT_EQ(store_->read("taken", 0, 5).value_or(""), "first");
}

TEST_P(ObjectStoreTest, SaysWhatIsAbsentAndWhatIsTooShort) {
  put("short", "12345");
  const auto absent = store_->read("absent", 0, 1);
  EXPECT_EQ(absent.error().code(), ErrorCode::kNotFound);
  EXPECT_THAT(absent.error().to_string(), HasSubstr("absent"));
  for (const auto& [offset, length] : std::vector<std::pair<std::uint64_t, std::uint64_t>>{
           {0, 6}, {3, 3}, {5, 1}, {9, 1}, {0, std::uint64_t{1} << 62}, {~std::uint64_t{0}, 2}}) {
    const auto beyond = store_->read("short", offset, length);
    ASSERT_FALSE(beyond) << offset << "+" << length;
    EXPECT_EQ(beyond.error().code(), ErrorCode::kDataLoss) << beyond.error().to_string();
    EXPECT_THAT(beyond.error().to_string(), HasSubstr("short"));
  }
}

TEST_P(ObjectStoreTest, RemovesAnObjectAndTakesAnAbsentOneForRemoved) {
  put("packs/gone", "x");
  EXPECT_TRUE(store_->remove("packs/gone"));
  EXPECT_EQ(store_->size("packs/gone").error().code(), ErrorCode::kNotFound);
  EXPECT_TRUE(store_->remove("packs/gone"));
  EXPECT_TRUE(store_->remove("never/was"));
  put("packs/gone", "again");
}

TEST_P(ObjectStoreTest, ListsInTheOrderOfKeysInPieces) {
  for (const char* key : {"b/2", "a0", "a/b/c", "a-b", "a/a", "b/1", "c"}) put(key, key);
  EXPECT_THAT(keys("", "", 100), ElementsAre("a-b", "a/a", "a/b/c", "a0", "b/1", "b/2", "c"));
  EXPECT_THAT(keys("", "", 3), ElementsAre("a-b", "a/a", "a/b/c"));
  EXPECT_THAT(keys("", "a/b/c", 3), ElementsAre("a0", "b/1", "b/2"));
  EXPECT_THAT(keys("", "a/b", 1), ElementsAre("a/b/c"));
  EXPECT_THAT(keys("b/", "", 100), ElementsAre("b/1", "b/2"));
  EXPECT_THAT(keys("a/", "a/a", 100), ElementsAre("a/b/c"));
  EXPECT_THAT(keys("a", "", 100), ElementsAre("a-b", "a/a", "a/b/c", "a0"));
  EXPECT_THAT(keys("nothing", "", 100), IsEmpty());
  EXPECT_THAT(keys("", "c", 100), IsEmpty());
  EXPECT_THAT(keys("", "", 0), IsEmpty());
}

TEST_P(ObjectStoreTest, ListsSizeAndTime) {
  put("sized", "12345678");
  const auto listed = store_->list("", "", 10);
  ASSERT_TRUE(listed);
  ASSERT_EQ(listed->size(), 1U);
  EXPECT_EQ(listed->front().size, 8U);
  EXPECT_GT(listed->front().modified_s, 1'577'836'800);  // 2020
}

TEST_P(ObjectStoreTest, RefusesNamesOutsideItsRules) {
  for (const std::string& key : {std::string(""), std::string("/a"), std::string("a/"), std::string("a//b"),
                                 std::string("../a"), std::string("a/./b"), std::string("A"), std::string("a b"),
                                 std::string("a\0b", 3), std::string(513, 'a'), std::string(201, 'a')}) {
    EXPECT_EQ(store_->create(key).error().code(), ErrorCode::kInvalidArgument) << key;
    EXPECT_EQ(store_->read(key, 0, 1).error().code(), ErrorCode::kInvalidArgument) << key;
    EXPECT_EQ(store_->size(key).error().code(), ErrorCode::kInvalidArgument) << key;
    EXPECT_EQ(store_->remove(key).error().code(), ErrorCode::kInvalidArgument) << key;
  }
  put(std::string(200, 'a') + "/" + std::string(100, 'b'), "the longest piece is allowed");
}

INSTANTIATE_TEST_SUITE_P(Places, ObjectStoreTest, testing::ValuesIn(place_kinds()),
                         [](const auto& info) { return std::string(name_of(info.param)); });

}  // namespace
}  // namespace cofferdam::store
