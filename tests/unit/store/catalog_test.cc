// What the catalog promises, on each database.
#include "store/catalog.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "databases.h"

namespace cofferdam::store {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr std::int64_t kNow = 1'800'000'000'000;
constexpr std::int64_t kLease = 60'000;
const std::string kAnyBytes("\0\xff\x80'\n", 5);

SnapshotRecord snapshot_named(const std::string& id, std::int64_t created_ms = kNow) {
  return {.id = id,
          .company = "acme",
          .workspace = "path:/home/\xff/work",
          .label = "a label",
          .created_ms = created_ms,
          .key_id = "0011223344556677",
          .wrapped_key = kAnyBytes,
          .summary = "{}",
          .writer = "host:1:2"};
}

PackRecord pack_named(const std::string& id) {
  return {.id = id,
          .company = "acme",
          .object = "packs/" + id,
          .size = std::uint64_t{1} << 40,
          .digest = std::string(32, '\x80'),
          .key_id = "0011223344556677",
          .index = kAnyBytes,
          .created_ms = kNow};
}

CompanyKeyRecord key_named(const std::string& id, const std::string& company = "acme") {
  return {.company = company, .id = id, .master_key_id = "master-1", .wrapped = kAnyBytes + id, .created_ms = kNow};
}

template <class T>
ErrorCode code_of(const Result<T>& result) {
  EXPECT_FALSE(result);
  return result ? ErrorCode::kInternal : result.error().code();
}

class CatalogTest : public testing::TestWithParam<DatabaseKind> {
 protected:
  void SetUp() override {
    place_ = TestDatabase::make(GetParam());
    if (!place_->missing().empty()) GTEST_SKIP() << place_->missing();
    catalog_ = open();
    ASSERT_NE(catalog_, nullptr);
  }

  void TearDown() override {
    if (catalog_ != nullptr) must(catalog_->check());
  }

  std::unique_ptr<Catalog> open() {
    auto catalog = open_catalog(place_->url());
    EXPECT_TRUE(catalog) << catalog.error().to_string();
    return catalog ? std::move(*catalog) : nullptr;
  }

  static void must(const Status& status) { ASSERT_TRUE(status) << status.error().to_string(); }

  WriterLease begin(const std::string& id) {
    const auto lease = catalog_->begin_snapshot(snapshot_named(id), kNow, kLease);
    EXPECT_TRUE(lease) << lease.error().to_string();
    return lease.value_or(WriterLease{});
  }

  void seal(const WriterLease& lease) {
    must(catalog_->seal(lease, "manifests/" + lease.snapshot, 77, std::string(32, '\xee'), "{\"files\":1}"));
  }

  // A committed snapshot that uses `packs`, which it adds.
  void save(const std::string& id, const std::vector<std::string>& packs) {
    const WriterLease lease = begin(id);
    for (const std::string& pack : packs) must(catalog_->add_pack(lease, pack_named(pack)));
    seal(lease);
    must(catalog_->commit(lease, kNow + 5));
  }

  SnapshotState state_of(const std::string& id) {
    const auto record = catalog_->snapshot(id);
    EXPECT_TRUE(record && *record) << id;
    return (*record)->state;
  }

  static std::vector<std::string> ids(const Result<std::vector<PackRecord>>& packs) {
    std::vector<std::string> ids;
    EXPECT_TRUE(packs) << packs.error().to_string();
    for (const PackRecord& pack : packs.value_or(std::vector<PackRecord>{})) ids.push_back(pack.id);
    return ids;
  }

  std::vector<std::string> live() { return ids(catalog_->packs("acme")); }

  std::unique_ptr<TestDatabase> place_;
  std::unique_ptr<Catalog> catalog_;
};

// --- keys

TEST_P(CatalogTest, TheNewestKeyIsTheCurrentOne) {
  EXPECT_THAT(*catalog_->company_keys("acme"), IsEmpty());
  must(catalog_->add_company_key(key_named("k1"), ""));
  must(catalog_->add_company_key(key_named("k2"), "k1"));
  must(catalog_->add_company_key(key_named("x1", "other"), ""));
  const auto keys = *catalog_->company_keys("acme");
  ASSERT_THAT(keys, SizeIs(2));
  EXPECT_FALSE(keys[0].current);
  EXPECT_TRUE(keys[1].current);
  EXPECT_EQ(keys[1].wrapped, kAnyBytes + "k2");
  EXPECT_EQ(keys[1].master_key_id, "master-1");
  EXPECT_THAT(*catalog_->companies(), ElementsAre("acme", "other"));
}

TEST_P(CatalogTest, WhoIsSecondToAddAKeyIsTold) {
  must(catalog_->add_company_key(key_named("k1"), ""));
  EXPECT_EQ(code_of(catalog_->add_company_key(key_named("k2"), "")), ErrorCode::kAlreadyExists);
  EXPECT_EQ(code_of(catalog_->add_company_key(key_named("k2"), "k0")), ErrorCode::kAlreadyExists);
  must(catalog_->add_company_key(key_named("k1"), ""));  // the same call again
  EXPECT_THAT(*catalog_->company_keys("acme"), SizeIs(1));
}

TEST_P(CatalogTest, OneOfManyFirstKeysWins) {
  std::atomic<int> won = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      const auto own = open();
      const Status added = own->add_company_key(key_named("k" + std::to_string(t)), "");
      if (added) ++won;
      if (!added) EXPECT_EQ(added.error().code(), ErrorCode::kAlreadyExists) << added.error().to_string();
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(won, 1);
}

TEST_P(CatalogTest, RewrapsAllKeysOrNone) {
  must(catalog_->add_company_key(key_named("k1"), ""));
  must(catalog_->add_company_key(key_named("k2"), "k1"));
  auto keys = *catalog_->company_keys("acme");
  for (auto& key : keys) key.master_key_id = "master-2", key.wrapped = "again " + key.id;
  auto with_unknown = keys;
  with_unknown.push_back(key_named("unknown"));
  EXPECT_EQ(code_of(catalog_->rewrap_company_keys(with_unknown)), ErrorCode::kFailedPrecondition);
  EXPECT_EQ((*catalog_->company_keys("acme"))[0].master_key_id, "master-1");
  must(catalog_->rewrap_company_keys(keys));
  EXPECT_EQ((*catalog_->company_keys("acme"))[0].master_key_id, "master-2");
  EXPECT_EQ((*catalog_->company_keys("acme"))[1].wrapped, "again k2");
  EXPECT_TRUE((*catalog_->company_keys("acme"))[1].current);
}

TEST_P(CatalogTest, AnErasedCompanyHasNoKeyMaterialAndNothingBringsItBack) {
  must(catalog_->add_company_key(key_named("k1"), ""));
  const auto before = *catalog_->company_keys("acme");
  must(catalog_->erase_company("acme"));
  must(catalog_->erase_company("acme"));
  const auto keys = *catalog_->company_keys("acme");
  ASSERT_THAT(keys, SizeIs(1));
  EXPECT_TRUE(keys[0].erased);
  EXPECT_FALSE(keys[0].current);
  EXPECT_EQ(keys[0].wrapped, "");
  EXPECT_EQ(code_of(catalog_->rewrap_company_keys(before)), ErrorCode::kFailedPrecondition);
  EXPECT_EQ(code_of(catalog_->add_company_key(key_named("k1"), "")), ErrorCode::kAlreadyExists);
  must(catalog_->add_company_key(key_named("k2"), ""));
}

// --- states

TEST_P(CatalogTest, ASnapshotGoesThroughItsStates) {
  const WriterLease lease = begin("snap-1");
  const auto writing = **catalog_->snapshot("snap-1");
  EXPECT_EQ(writing.state, SnapshotState::kWriting);
  EXPECT_EQ(writing.workspace, "path:/home/\xff/work");
  EXPECT_EQ(writing.wrapped_key, kAnyBytes);
  EXPECT_EQ(writing.lease_expires_ms, kNow + kLease);
  EXPECT_EQ(writing.writer, "host:1:2");
  must(catalog_->add_pack(lease, pack_named("p1")));
  seal(lease);
  EXPECT_EQ(state_of("snap-1"), SnapshotState::kSealed);
  must(catalog_->commit(lease, kNow + 9));
  const auto committed = **catalog_->snapshot("snap-1");
  EXPECT_EQ(committed.state, SnapshotState::kCommitted);
  EXPECT_EQ(committed.committed_ms, kNow + 9);
  EXPECT_EQ(committed.manifest_object, "manifests/snap-1");
  EXPECT_EQ(committed.manifest_size, 77U);
  EXPECT_EQ(committed.manifest_digest, std::string(32, '\xee'));
  EXPECT_EQ(committed.summary, "{\"files\":1}");
  EXPECT_EQ(committed.writer, "");
  EXPECT_EQ(committed.lease_expires_ms, 0);
  EXPECT_THAT(*catalog_->packs_of("snap-1"), ElementsAre("p1"));
  EXPECT_FALSE(*catalog_->snapshot("snap-2"));
}

TEST_P(CatalogTest, StatesCannotBeSkippedOrLeftTwice) {
  const WriterLease lease = begin("snap-1");
  EXPECT_EQ(code_of(catalog_->commit(lease, kNow)), ErrorCode::kFailedPrecondition);
  EXPECT_EQ(code_of(catalog_->delete_snapshot("snap-1")), ErrorCode::kNotFound);
  EXPECT_EQ(code_of(catalog_->forget_snapshot("snap-1")), ErrorCode::kFailedPrecondition);
  seal(lease);
  EXPECT_EQ(code_of(catalog_->add_pack(lease, pack_named("p1"))), ErrorCode::kFailedPrecondition);
  EXPECT_EQ(code_of(catalog_->use_packs(lease, {})), ErrorCode::kFailedPrecondition);
  EXPECT_EQ(code_of(catalog_->seal(lease, "manifests/other", 1, std::string(32, 'x'), "")),
            ErrorCode::kFailedPrecondition);
  must(catalog_->commit(lease, kNow));
  EXPECT_EQ(code_of(catalog_->abandon(lease)), ErrorCode::kFailedPrecondition);
  EXPECT_EQ(code_of(catalog_->renew(lease, kNow, kLease)), ErrorCode::kFailedPrecondition);
  EXPECT_EQ(code_of(catalog_->forget_snapshot("snap-1")), ErrorCode::kFailedPrecondition);
  EXPECT_EQ(state_of("snap-1"), SnapshotState::kCommitted);
}

TEST_P(CatalogTest, EveryCallOfAWriterMayBeRepeated) {
  WriterLease lease = begin("snap-1");
  lease = begin("snap-1");  // the same writer, whose first call was answered by nobody
  must(catalog_->add_pack(lease, pack_named("p1")));
  must(catalog_->add_pack(lease, pack_named("p1")));
  must(catalog_->use_packs(lease, {"p1", "p1"}));
  must(catalog_->use_packs(lease, {"p1"}));
  seal(lease);
  seal(lease);
  must(catalog_->commit(lease, kNow));
  must(catalog_->commit(lease, kNow));
  must(catalog_->delete_snapshot("snap-1"));
  must(catalog_->delete_snapshot("snap-1"));
  must(catalog_->forget_snapshot("snap-1"));
  must(catalog_->forget_snapshot("snap-1"));
  const WriterLease second = begin("snap-2");
  must(catalog_->abandon(second));
  must(catalog_->abandon(second));
  must(catalog_->forget_pack("p-unknown"));
}

TEST_P(CatalogTest, AnotherWriterCannotTakeASnapshotsName) {
  begin("snap-1");
  SnapshotRecord other = snapshot_named("snap-1");
  other.writer = "host:3:4";
  EXPECT_EQ(code_of(catalog_->begin_snapshot(other, kNow, kLease)), ErrorCode::kAlreadyExists);
}

// --- fencing

TEST_P(CatalogTest, AWriterOfAnOlderGenerationWritesNothing) {
  const WriterLease stale = begin("snap-1");
  const WriterLease fresh = begin("snap-1");
  ASSERT_LT(stale.generation, fresh.generation);
  for (const Status& refused : {catalog_->renew(stale, kNow, kLease), catalog_->add_pack(stale, pack_named("p1")),
                                catalog_->use_packs(stale, {}), catalog_->seal(stale, "m", 1, std::string(32, 'x'), ""),
                                catalog_->commit(stale, kNow), catalog_->abandon(stale)}) {
    EXPECT_EQ(code_of(refused), ErrorCode::kFailedPrecondition);
    EXPECT_THAT(refused.error().to_string(), HasSubstr("writer_conflict"));
  }
  EXPECT_THAT(live(), IsEmpty());
  seal(fresh);
  EXPECT_EQ(code_of(catalog_->commit(stale, kNow)), ErrorCode::kFailedPrecondition);
  must(catalog_->commit(fresh, kNow));
}

TEST_P(CatalogTest, AnAbandonedWriterWritesNothingAndARenewedOneIsKept) {
  const WriterLease paused = begin("snap-1");
  const WriterLease sealed = begin("snap-2");
  seal(sealed);
  const WriterLease alive = begin("snap-3");
  save("snap-4", {});
  must(catalog_->renew(alive, kNow + 100'000, kLease));
  EXPECT_EQ(*catalog_->abandon_expired(kNow + kLease + 1000, 1000), 0U);
  EXPECT_EQ(*catalog_->abandon_expired(kNow + kLease + 1001, 1000), 2U);
  EXPECT_EQ(*catalog_->abandon_expired(kNow + kLease + 1001, 1000), 0U);
  EXPECT_EQ(code_of(catalog_->renew(paused, kNow, kLease)), ErrorCode::kFailedPrecondition);
  EXPECT_EQ(code_of(catalog_->add_pack(paused, pack_named("p1"))), ErrorCode::kFailedPrecondition);
  EXPECT_EQ(code_of(catalog_->commit(sealed, kNow)), ErrorCode::kFailedPrecondition);
  EXPECT_EQ(state_of("snap-3"), SnapshotState::kWriting);
  EXPECT_EQ(state_of("snap-4"), SnapshotState::kCommitted);
  const auto removable = *catalog_->removable_snapshots();
  ASSERT_THAT(removable, SizeIs(2));
  EXPECT_EQ(removable[1].manifest_object, "manifests/snap-2");
  must(catalog_->forget_snapshot("snap-1"));
  must(catalog_->forget_snapshot("snap-2"));
  EXPECT_THAT(*catalog_->removable_snapshots(), IsEmpty());
}

// --- packs

TEST_P(CatalogTest, PacksComeBackWholeAndOnlyToTheirCompany) {
  save("snap-1", {"p1", "p2"});
  const auto packs = *catalog_->packs("acme");
  ASSERT_THAT(packs, SizeIs(2));
  EXPECT_EQ(packs[0].id, "p1");
  EXPECT_EQ(packs[0].object, "packs/p1");
  EXPECT_EQ(packs[0].size, std::uint64_t{1} << 40);
  EXPECT_EQ(packs[0].digest, std::string(32, '\x80'));
  EXPECT_EQ(packs[0].index, kAnyBytes);
  EXPECT_EQ(packs[0].state, PackState::kLive);
  EXPECT_THAT(*catalog_->packs("other"), IsEmpty());
}

TEST_P(CatalogTest, APackOfAnotherCompanyOrWithAnotherContentIsRefused) {
  save("snap-1", {"p1"});
  const WriterLease lease = begin("snap-2");
  PackRecord foreign = pack_named("p2");
  foreign.company = "other";
  EXPECT_EQ(code_of(catalog_->add_pack(lease, foreign)), ErrorCode::kInvalidArgument);
  PackRecord changed = pack_named("p1");
  changed.digest = std::string(32, 'y');
  EXPECT_EQ(code_of(catalog_->add_pack(lease, changed)), ErrorCode::kAlreadyExists);
  SnapshotRecord others = snapshot_named("snap-3");
  others.company = "other";
  const auto other_lease = catalog_->begin_snapshot(others, kNow, kLease);
  EXPECT_EQ(code_of(catalog_->use_packs(*other_lease, {"p1"})), ErrorCode::kFailedPrecondition);
}

TEST_P(CatalogTest, PinsPacksInAnyNumberAllOrNone) {
  const WriterLease first = begin("snap-1");
  std::vector<std::string> names;
  for (int i = 0; i < 450; ++i) names.push_back("p" + std::to_string(1000 + i));
  for (const std::string& name : names) must(catalog_->add_pack(first, pack_named(name)));
  const WriterLease second = begin("snap-2");
  auto with_unknown = names;
  with_unknown.emplace_back("p9999");
  EXPECT_EQ(code_of(catalog_->use_packs(second, with_unknown)), ErrorCode::kFailedPrecondition);
  EXPECT_THAT(*catalog_->packs_of("snap-2"), IsEmpty());
  must(catalog_->use_packs(second, names));
  EXPECT_EQ(*catalog_->packs_of("snap-2"), names);
}

TEST_P(CatalogTest, OnlyPacksThatNobodyUsesAreCondemned) {
  save("committed", {"p-committed"});
  save("deleted", {"p-deleted"});
  must(catalog_->add_pack(begin("writing"), pack_named("p-writing")));
  const WriterLease sealed = begin("sealed");
  must(catalog_->add_pack(sealed, pack_named("p-sealed")));
  seal(sealed);
  const WriterLease given_up = begin("given-up");
  must(catalog_->add_pack(given_up, pack_named("p-given-up")));
  must(catalog_->abandon(given_up));
  must(catalog_->delete_snapshot("deleted"));
  EXPECT_THAT(ids(catalog_->condemn_unused_packs("other")), IsEmpty());
  EXPECT_THAT(ids(catalog_->condemn_unused_packs("acme")), ElementsAre("p-deleted", "p-given-up"));
  EXPECT_THAT(live(), ElementsAre("p-committed", "p-sealed", "p-writing"));
  // Until its object is gone, a condemned pack is told again.
  EXPECT_THAT(ids(catalog_->condemn_unused_packs("acme")), ElementsAre("p-deleted", "p-given-up"));
  EXPECT_EQ(code_of(catalog_->forget_pack("p-committed")), ErrorCode::kFailedPrecondition);
  must(catalog_->forget_pack("p-deleted"));
  EXPECT_THAT(ids(catalog_->condemn_unused_packs("acme")), ElementsAre("p-given-up"));
}

TEST_P(CatalogTest, ACondemnedPackCannotBeUsedAgain) {
  save("snap-1", {"p1"});
  must(catalog_->delete_snapshot("snap-1"));
  must(catalog_->forget_snapshot("snap-1"));
  EXPECT_THAT(ids(catalog_->condemn_unused_packs("acme")), ElementsAre("p1"));
  const WriterLease lease = begin("snap-2");
  EXPECT_EQ(code_of(catalog_->use_packs(lease, {"p1"})), ErrorCode::kFailedPrecondition);
  EXPECT_EQ(code_of(catalog_->add_pack(lease, pack_named("p1"))), ErrorCode::kFailedPrecondition);
}

TEST_P(CatalogTest, UsingAPackAndCondemningItAtOnceLetsOneOfThemHappen) {
  constexpr int kRounds = 25;
  const auto other = open();
  int used = 0;
  for (int round = 0; round < kRounds; ++round) {
    const std::string name = std::to_string(100 + round);
    save("old-" + name, {"p" + name});
    must(catalog_->delete_snapshot("old-" + name));
    const WriterLease lease = begin("new-" + name);
    Status using_it;
    std::thread user([&] {
      using_it = other->use_packs(lease, {"p" + name});
      if (round % 3 == 0) std::this_thread::yield();
    });
    const auto condemned = catalog_->condemn_unused_packs("acme");
    user.join();
    ASSERT_TRUE(condemned) << condemned.error().to_string();
    const bool is_condemned = std::ranges::any_of(*condemned, [&](const PackRecord& p) { return p.id == "p" + name; });
    EXPECT_NE(using_it.has_value(), is_condemned) << (using_it ? "used" : using_it.error().to_string());
    if (using_it) {
      ++used;
      seal(lease);
      must(catalog_->commit(lease, kNow));
    }
    for (const PackRecord& pack : *condemned) must(catalog_->forget_pack(pack.id));
    must(catalog_->check());
  }
  RecordProperty("used", used);
}

// Writers and a collector in processes of their own.
TEST_P(CatalogTest, ProcessesAtOnceLoseNothing) {
  constexpr int kProcesses = 3;
  constexpr int kSnapshots = 8;
  catalog_.reset();  // a child that closed a connection it inherited would end it for all
  std::vector<pid_t> children;
  for (int p = 0; p < kProcesses; ++p) {
    children.push_back(::fork());
    if (children.back() == 0) {
      catalog_ = open();
      for (int i = 0; i < kSnapshots; ++i) {
        const std::string name = std::to_string(p) + "-" + std::to_string(i);
        save("snap-" + name, {"p" + name});
      }
      ::_exit(HasFailure() ? 1 : 0);
    }
  }
  catalog_ = open();
  for (int i = 0; i < 10; ++i) EXPECT_THAT(ids(catalog_->condemn_unused_packs("acme")), IsEmpty());
  for (const pid_t child : children) {
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
  EXPECT_THAT(live(), SizeIs(kProcesses * kSnapshots));
  EXPECT_THAT(*catalog_->snapshots({.company = "acme"}), SizeIs(kProcesses * kSnapshots));
}

// --- lists

TEST_P(CatalogTest, ListsTheNewestFirst) {
  for (int i = 1; i <= 3; ++i) {
    SnapshotRecord record = snapshot_named("snap-" + std::to_string(i), kNow + i);
    record.workspace = i == 2 ? "path:/other" : "path:/work";
    const auto lease = catalog_->begin_snapshot(record, kNow, kLease);
    ASSERT_TRUE(lease);
    if (i == 3) continue;
    seal(*lease);
    must(catalog_->commit(*lease, kNow));
  }
  const auto listed = [&](const SnapshotQuery& query) {
    std::vector<std::string> found;
    for (const SnapshotRecord& record : *catalog_->snapshots(query)) found.push_back(record.id);
    return found;
  };
  EXPECT_THAT(listed({.company = "acme"}), ElementsAre("snap-2", "snap-1"));
  EXPECT_THAT(listed({.company = "acme", .only_committed = false}), ElementsAre("snap-3", "snap-2", "snap-1"));
  EXPECT_THAT(listed({.company = "acme", .only_committed = false, .limit = 2}), ElementsAre("snap-3", "snap-2"));
  EXPECT_THAT(listed({.company = "acme", .workspace = "path:/other"}), ElementsAre("snap-2"));
  EXPECT_THAT(listed({.company = "other"}), IsEmpty());
}

TEST_P(CatalogTest, FindsSnapshotsByTheBeginningOfTheirNames) {
  save("snap-ab1", {});
  save("snap-ab2", {});
  save("snap-a_1", {});
  EXPECT_THAT(*catalog_->snapshots_like("acme", "snap-ab", 10), ElementsAre("snap-ab1", "snap-ab2"));
  EXPECT_THAT(*catalog_->snapshots_like("acme", "snap-a_", 10), ElementsAre("snap-a_1"));
  EXPECT_THAT(*catalog_->snapshots_like("acme", "SNAP", 10), IsEmpty());
  EXPECT_THAT(*catalog_->snapshots_like("acme", "%", 10), IsEmpty());
  EXPECT_THAT(*catalog_->snapshots_like("acme", "", 2), SizeIs(2));
  EXPECT_THAT(*catalog_->snapshots_like("other", "snap", 10), IsEmpty());
  must(catalog_->delete_snapshot("snap-ab1"));
  EXPECT_THAT(*catalog_->snapshots_like("acme", "snap-ab", 10), ElementsAre("snap-ab2"));
}

TEST_P(CatalogTest, IsStillThereWhenItIsOpenedAgain) {
  save("snap-1", {"p1"});
  catalog_ = open();
  EXPECT_EQ(state_of("snap-1"), SnapshotState::kCommitted);
}

INSTANTIATE_TEST_SUITE_P(Databases, CatalogTest, testing::ValuesIn(database_kinds()),
                         [](const auto& info) { return std::string(name_of(info.param)); });

TEST(OpenCatalogTest, AnUnknownKindOfUrlIsRefusedWithoutRepeatingIt) {
  const auto refused = open_catalog("mysql://user:pass@host/db");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(refused.error().to_string().find("pass"), std::string::npos);
}

}  // namespace
}  // namespace cofferdam::store
