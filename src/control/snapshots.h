// What the snapshot and key verbs do, behind one interface: the command line and the daemon call the same thing.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "crypto/secret.h"
#include "recovery/recover.h"
#include "snapshot/capture.h"
#include "snapshot/difference.h"
#include "snapshot/manifest.h"
#include "snapshot/removal.h"
#include "snapshot/restore.h"
#include "snapshot/verify.h"
#include "store/records.h"
#include "workspace/progress.h"

namespace cofferdam::control {

// Whose snapshots are meant when nobody says.
inline constexpr const char* kUsualCompany = "default";

struct SaveRequest {
  std::string company;
  std::string directory;  // absolute
  std::string label;
  std::vector<std::string> exclude;  // literal paths below the directory
  bool with_dependencies = false;    // node_modules and Python environments too
  bool must_hold_still = false;
  int level = 3;
  workspace::Progress* progress = nullptr;
};

struct SaveReport {
  snapshot::CaptureReport capture;
  std::string key_origin;   // where the master key lies
  bool key_is_new = false;  // made by this save: without a backup of it the save is lost
};

// Saving a workspace out of a sandbox, also when its disk is full.
struct RecoverRequest {
  std::string company;
  std::string workspace;  // names what is saved; empty: of the sandbox's directory and how it is reached
  std::string label;
  std::string directory;             // absolute, in the sandbox
  std::vector<std::string> prefix;   // the program that runs a command in the sandbox, with its words
  std::vector<std::string> exclude;  // literal paths below the directory
  bool with_dependencies = false;    // node_modules and Python environments too
  recovery::CaptureLimits limits = {};
  int level = 3;
  workspace::Progress* progress = nullptr;
};

struct RecoverReport {
  recovery::Recovered recovered;
  std::string workspace;
  std::string key_origin;  // as of SaveReport
  bool key_is_new = false;
};

struct RemovalReport {
  std::vector<store::SnapshotRecord> kept;
  std::vector<store::SnapshotRecord> removed;
  snapshot::CollectReport collected;
};

// Thread-safe. Errors are those of the parts.
class Snapshots {
 public:
  virtual ~Snapshots() = default;

  virtual Result<SaveReport> save(const SaveRequest& request) = 0;
  // From a sandbox that a command reaches.
  virtual Result<RecoverReport> recover(const RecoverRequest& request) = 0;
  // The same for whoever has a source of his own: the life cycles of leases. `request.directory` and `prefix` only name
  // the workspace then. A source may be released when this has returned with success, never before.
  virtual Result<RecoverReport> recover_from(recovery::Source& source, const RecoverRequest& request) = 0;
  virtual Result<std::vector<store::SnapshotRecord>> list(const std::string& company, const std::string& workspace) = 0;
  // `name`: an id, the beginning of one, or "latest".
  virtual Result<snapshot::Manifest> manifest(const std::string& company, const std::string& name) = 0;
  virtual Result<store::SnapshotRecord> find(const std::string& company, const std::string& name) = 0;
  virtual Result<snapshot::RestoreReport> restore(const std::string& company, const std::string& name,
                                                  const snapshot::RestoreRequest& request) = 0;
  // `request.snapshot` may be any name that find() takes.
  virtual Result<snapshot::VerifyReport> verify(snapshot::VerifyRequest request) = 0;
  virtual Result<RemovalReport> remove(const std::string& company, const std::vector<std::string>& names) = 0;
  // `dry_run`: only says what it would take.
  virtual Result<RemovalReport> prune(const std::string& company, const std::string& workspace,
                                      const snapshot::RetentionPolicy& policy, bool dry_run) = 0;

  // --- keys
  virtual Result<std::vector<store::CompanyKeyRecord>> keys(const std::string& company) = 0;
  // Fingerprints of the master keys that are known here, the one in use first, and where they lie.
  struct MasterKeyNames {
    std::vector<std::string> fingerprints;
    std::string origin;
  };
  virtual Result<MasterKeyNames> master_keys() = 0;
  virtual Result<store::CompanyKeyRecord> rotate_company_key(const std::string& company) = 0;
  // A new master key in the key file; every company key is wrapped under it. Returns how many.
  virtual Result<std::size_t> rotate_master_key() = 0;
  virtual Result<crypto::SecretString> export_master_keys() = 0;
  // Adds the keys of a backup to the key file; returns their fingerprints.
  virtual Result<std::vector<std::string>> import_master_keys(const crypto::SecretString& text) = 0;
  virtual Status erase_company(const std::string& company) = 0;
};

// The store that the environment names (COFFERDAM_STORE_URL and its kin), opened when it is first needed.
std::unique_ptr<Snapshots> make_snapshots(std::map<std::string, std::string, std::less<>> environment);

}  // namespace cofferdam::control
