#include "control/snapshots.h"

#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

#include <cerrno>
#include <mutex>
#include <optional>
#include <utility>

#include "base/strings.h"
#include "control/confined_git.h"
#include "control/real_path.h"
#include "control/saved_history.h"
#include "control/workspace_copy.h"
#include "control/workspace_name.h"
#include "crypto/sha256.h"
#include "recovery/command_source.h"
#include "recovery/process_transport.h"
#include "snapshot/master_key.h"
#include "snapshot/pack_writer.h"
#include "snapshot/snapshot_store.h"
#include "snapshot/ulid.h"
#include "store/catalog.h"
#include "store/object_store.h"
#include "store/store_config.h"
#include "system/file.h"
#include "system/state_dir.h"

namespace cofferdam::control {
namespace {

using snapshot::SnapshotStore;
using store::SnapshotRecord;

constexpr std::size_t kCacheNameDigits = 32;

std::string writer_name() {
  char host[HOST_NAME_MAX + 1] = {};
  ::gethostname(host, HOST_NAME_MAX);
  return std::string(host) + " pid " + std::to_string(::getpid());
}

// Where things lie below the state directory.
struct Places {
  std::string state;
  std::string key_file;
  std::string caches;
};

Result<Places> places() {
  ASSIGN_OR_RETURN(const std::string state, system::state_directory());
  return Places{.state = state, .key_file = state + "/keys/master.key", .caches = state + "/cache/stat"};
}

class StoredSnapshots : public Snapshots {
 public:
  explicit StoredSnapshots(snapshot::Environment environment) : environment_(std::move(environment)) {}

  Result<SaveReport> save(const SaveRequest& request) override {
    ASSIGN_OR_RETURN(SnapshotStore* const store, store_for(Purpose::kWrite));
    ASSIGN_OR_RETURN(const std::string workspace, workspace_name(request.directory));
    RETURN_IF_ERROR(finish_interrupted_merge(workspace.substr(workspace.find(':') + 1)));
    ASSIGN_OR_RETURN(workspace::StatCache cache, cache_for(workspace));
    snapshot::CaptureRequest capture{.directory = request.directory,
                                     .company = request.company,
                                     .workspace = workspace,
                                     .label = request.label,
                                     .writer = writer_name(),
                                     .walk = {},
                                     .must_hold_still = request.must_hold_still,
                                     .cache = &cache,
                                     .progress = request.progress,
                                     .level = request.level,
                                     .on_step = {}};
    capture.walk.exclude = workspace::PathSet(request.exclude);
    ASSIGN_OR_RETURN(const Places where, places());
    // The store must not be saved into itself.
    if (const auto inside = path_below(where.state, request.directory)) capture.walk.exclude.add(*inside);
    capture.walk.leave_out_dependencies = !request.with_dependencies;
    const auto git = confined_git();
    ASSIGN_OR_RETURN(const SavedHistory history, SavedHistory::of(request.directory, git));
    capture.walk.is_tracked = [&history](const std::string& path) { return history.tracks(path); };
    capture.git_directory = history.standalone();
    ASSIGN_OR_RETURN(snapshot::CaptureReport report, snapshot::capture(*store, capture));
    (void)cache.store();  // a cache that cannot be written costs time at the next save, nothing else
    return SaveReport{.capture = std::move(report),
                      .key_origin = store->masters().origin,
                      .key_is_new = std::exchange(key_is_new_, false)};
  }

  Result<RecoverReport> recover(const RecoverRequest& request) override {
    recovery::ProcessTransport transport(request.prefix, environment_words());
    recovery::CommandSource source(transport, request.directory);
    return recover_from(source, request);
  }

  Result<RecoverReport> recover_from(recovery::Source& source, const RecoverRequest& request) override {
    ASSIGN_OR_RETURN(SnapshotStore* const store, store_for(Purpose::kWrite));
    const std::string workspace = request.workspace.empty() ? sandbox_name(request) : request.workspace;
    ASSIGN_OR_RETURN(const Places where, places());
    const std::string scratch = where.state + "/scratch";
    RETURN_IF_ERROR(system::make_private_directories(scratch));
    const recovery::Seal seal = [&](const recovery::SealRequest& copy) {
      return snapshot::capture(*store, {.directory = copy.directory,
                                        .company = request.company,
                                        .workspace = workspace,
                                        .label = request.label,
                                        .writer = writer_name(),
                                        .must_hold_still = true,
                                        .progress = request.progress,
                                        .level = request.level,
                                        .omitted_before = copy.omissions,
                                        .before_commit = copy.before_commit});
    };
    const recovery::RecoveryRequest recovery{.exclude = workspace::PathSet(request.exclude),
                                             .with_dependencies = request.with_dependencies,
                                             .limits = request.limits,
                                             .scratch = scratch,
                                             .name = snapshot::new_ulid(snapshot::now_ms())};
    ASSIGN_OR_RETURN(recovery::Recovered recovered,
                     recovery::save_from_sandbox(source, confined_git(), seal, recovery));
    return RecoverReport{.recovered = std::move(recovered),
                         .workspace = workspace,
                         .key_origin = store->masters().origin,
                         .key_is_new = std::exchange(key_is_new_, false)};
  }

  Result<std::vector<SnapshotRecord>> list(const std::string& company, const std::string& workspace) override {
    ASSIGN_OR_RETURN(SnapshotStore* const store, store_for(Purpose::kList));
    return store->catalog().snapshots({.company = company, .workspace = workspace});
  }

  Result<SnapshotRecord> find(const std::string& company, const std::string& name) override {
    ASSIGN_OR_RETURN(SnapshotStore* const store, store_for(Purpose::kList));
    return store->find(company, name);
  }

  Result<snapshot::Manifest> manifest(const std::string& company, const std::string& name) override {
    ASSIGN_OR_RETURN(SnapshotStore* const store, store_for(Purpose::kRead));
    ASSIGN_OR_RETURN(const SnapshotRecord record, store->find(company, name));
    ASSIGN_OR_RETURN(const snapshot::KeyRing keys, store->keys_of(company));
    return store->manifest_of(record, keys);
  }

  Result<snapshot::RestoreReport> restore(const std::string& company, const std::string& name,
                                          const snapshot::RestoreRequest& request) override {
    ASSIGN_OR_RETURN(SnapshotStore* const store, store_for(Purpose::kRead));
    ASSIGN_OR_RETURN(const SnapshotRecord record, store->find(company, name));
    return snapshot::restore(*store, record, request);
  }

  Result<snapshot::VerifyReport> verify(snapshot::VerifyRequest request) override {
    ASSIGN_OR_RETURN(SnapshotStore* const store, store_for(Purpose::kRead));
    if (!request.snapshot.empty()) {
      ASSIGN_OR_RETURN(const SnapshotRecord record, store->find(request.company, request.snapshot));
      request.snapshot = record.id;
    }
    return snapshot::verify(*store, request);
  }

  Result<RemovalReport> remove(const std::string& company, const std::vector<std::string>& names) override {
    ASSIGN_OR_RETURN(SnapshotStore* const store, store_for(Purpose::kList));
    RemovalReport report;
    for (const std::string& name : names) {
      ASSIGN_OR_RETURN(SnapshotRecord record, store->find(company, name));
      report.removed.push_back(std::move(record));
    }
    return carry_out(*store, company, std::move(report));
  }

  Result<RemovalReport> prune(const std::string& company, const std::string& workspace,
                              const snapshot::RetentionPolicy& policy, bool dry_run) override {
    ASSIGN_OR_RETURN(SnapshotStore* const store, store_for(Purpose::kList));
    ASSIGN_OR_RETURN(snapshot::RetentionPlan plan, snapshot::plan_retention(*store, company, workspace, policy));
    RemovalReport report{.kept = std::move(plan.kept), .removed = std::move(plan.removed), .collected = {}};
    if (dry_run) return report;
    return carry_out(*store, company, std::move(report));
  }

  Result<std::vector<store::CompanyKeyRecord>> keys(const std::string& company) override {
    ASSIGN_OR_RETURN(SnapshotStore* const store, store_for(Purpose::kList));
    return store->catalog().company_keys(company);
  }

  Result<MasterKeyNames> master_keys() override {
    ASSIGN_OR_RETURN(const snapshot::MasterKeys masters, load_masters(false));
    MasterKeyNames names{.fingerprints = {}, .origin = masters.origin};
    for (const crypto::SecretKey& key : masters.keys) names.fingerprints.push_back(key.fingerprint());
    return names;
  }

  Result<store::CompanyKeyRecord> rotate_company_key(const std::string& company) override {
    ASSIGN_OR_RETURN(SnapshotStore* const store, store_for(Purpose::kRead));
    return snapshot::rotate_company_key(store->catalog(), company, store->masters(), snapshot::now_ms());
  }

  Result<std::size_t> rotate_master_key() override {
    ASSIGN_OR_RETURN(const snapshot::MasterKeys before, load_masters(false));
    if (!before.is_file) {
      return Error(ErrorCode::kFailedPrecondition, "the master key comes from " + before.origin + ", not from a file")
          .with_hint(
              "Put the new key first and the old one second in a file, name it with COFFERDAM_MASTER_KEY_FILE, "
              "and rotate then.");
    }
    // The new key is durable beside the old one before anything is sealed with it.
    RETURN_IF_ERROR(snapshot::add_master_key(before.origin, crypto::SecretKey::random()));
    ASSIGN_OR_RETURN(const snapshot::MasterKeys after, load_masters(false));
    ASSIGN_OR_RETURN(SnapshotStore* const store, store_for(Purpose::kList));
    ASSIGN_OR_RETURN(const std::vector<std::string> companies, store->catalog().companies());
    std::size_t wrapped = 0;
    for (const std::string& company : companies) {
      ASSIGN_OR_RETURN(const std::size_t count, snapshot::rewrap_company_keys(store->catalog(), company, after));
      wrapped += count;
    }
    return wrapped;
  }

  Result<crypto::SecretString> export_master_keys() override {
    ASSIGN_OR_RETURN(const snapshot::MasterKeys masters, load_masters(false));
    return snapshot::export_master_keys(masters);
  }

  Result<std::vector<std::string>> import_master_keys(const crypto::SecretString& text) override {
    ASSIGN_OR_RETURN(const Places where, places());
    std::vector<std::string> fingerprints;
    for (const std::string_view line : split(text.reveal(), '\n')) {
      if (trimmed(line).empty() || trimmed(line).starts_with('#')) continue;
      ASSIGN_OR_RETURN(const crypto::SecretKey key, snapshot::parse_master_key(trimmed(line)));
      RETURN_IF_ERROR(snapshot::append_master_key(snapshot::master_key_file(environment_, where.key_file), key));
      fingerprints.push_back(key.fingerprint());
    }
    if (fingerprints.empty())
      return Error(ErrorCode::kInvalidArgument, "there is no key in it")
          .with_hint("It takes what \"cofferdam key export\" prints: a key a line.");
    return fingerprints;
  }

  Status erase_company(const std::string& company) override {
    ASSIGN_OR_RETURN(SnapshotStore* const store, store_for(Purpose::kList));
    return store->catalog().erase_company(company);
  }

 private:
  // What the program that reaches a sandbox may need, without what opens the store.
  std::vector<std::string> environment_words() const {
    std::vector<std::string> words;
    for (const auto& [name, value] : environment_) {
      if (name.starts_with("COFFERDAM_") || name.starts_with("PAPERCLIP_SECRETS_")) continue;
      words.push_back(name + "=" + value);
    }
    return words;
  }

  static std::string sandbox_name(const RecoverRequest& request) {
    return "sandbox:" + join(request.prefix, " ") + ":" + request.directory;
  }

  // What the keys are needed for: a list needs none, reading needs those there are, writing makes the first one.
  enum class Purpose : std::uint8_t { kList, kRead, kWrite };

  Result<snapshot::MasterKeys> load_masters(bool may_make) const {
    ASSIGN_OR_RETURN(const Places where, places());
    return snapshot::load_master_keys(environment_, where.key_file, may_make);
  }

  Result<SnapshotStore*> store_for(Purpose purpose) {
    const std::lock_guard lock(mutex_);
    if (store_ && opened_for_ >= purpose) return &*store_;
    ASSIGN_OR_RETURN(const Places where, places());
    ASSIGN_OR_RETURN(const store::StoreConfig config, store::resolve_store_config(environment_, {}, where.state));
    ASSIGN_OR_RETURN(std::unique_ptr<store::ObjectStore> objects, store::open_object_store(config, environment_));
    ASSIGN_OR_RETURN(std::unique_ptr<store::Catalog> catalog, store::open_catalog(config.catalog_url));
    snapshot::MasterKeys masters;
    if (purpose != Purpose::kList) {
      // A new key opens nothing that is there: it is made only for a store that nothing was sealed in.
      ASSIGN_OR_RETURN(const std::vector<std::string> companies, catalog->companies());
      ASSIGN_OR_RETURN(masters, load_masters(purpose == Purpose::kWrite && companies.empty()));
    }
    key_is_new_ = key_is_new_ || masters.made_now;
    store_.emplace(std::move(objects), std::move(catalog), std::move(masters));
    opened_for_ = purpose;
    return &*store_;
  }

  static Result<workspace::StatCache> cache_for(const std::string& workspace) {
    ASSIGN_OR_RETURN(const Places where, places());
    RETURN_IF_ERROR(system::make_private_directories(where.caches));
    return workspace::StatCache::load(where.caches + "/" + crypto::sha256(workspace).hex().substr(0, kCacheNameDigits));
  }

  static Result<RemovalReport> carry_out(const SnapshotStore& store, const std::string& company, RemovalReport report) {
    for (const SnapshotRecord& record : report.removed) {
      RETURN_IF_ERROR(store.catalog().delete_snapshot(record.id));
    }
    ASSIGN_OR_RETURN(report.collected, snapshot::collect(store, company, snapshot::now_ms()));
    return report;
  }

  const snapshot::Environment environment_;
  std::mutex mutex_;
  std::optional<SnapshotStore> store_;
  Purpose opened_for_ = Purpose::kList;
  bool key_is_new_ = false;  // and nobody was told
};

}  // namespace

std::unique_ptr<Snapshots> make_snapshots(std::map<std::string, std::string, std::less<>> environment) {
  return std::make_unique<StoredSnapshots>(std::move(environment));
}

}  // namespace cofferdam::control
