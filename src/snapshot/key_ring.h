// The keys of one company, opened.
//
//   master key (outside the store) ── wraps ──► company keys ── derive ──► content, naming, chunking, wrapping
//   snapshot key (random) ◄── wrapped by the company key's wrapping key
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "crypto/secret.h"
#include "store/catalog.h"
#include "store/records.h"

namespace cofferdam::snapshot {

// Where master keys come from. The first one wraps what is new; all of them open what is old.
struct MasterKeys {
  std::vector<crypto::SecretKey> keys;
  std::string origin;     // "COFFERDAM_MASTER_KEY" or the file's path, for messages
  bool is_file = false;   // `origin` is a key file, which rotation may add to
  bool made_now = false;  // the key file was made by this call: its owner must be told to back it up
};

// Immutable once opened; thread-safe.
class KeyRing {
 public:
  // Opens the company's keys, making the first one when there is none. kDataLoss with a hint when no master key here
  // opens them; kFailedPrecondition when the company was erased.
  static Result<KeyRing> open(store::Catalog& catalog, const std::string& company, const MasterKeys& masters,
                              std::int64_t now_ms);

  const std::string& company() const { return company_; }
  const std::string& current_id() const { return current_; }

  // Seals the segments and indexes of packs; by the key id in the pack's record.
  Result<const crypto::SecretKey*> content_key(const std::string& key_id) const;
  // The same for every key of the company, so that chunks are found again after a rotation.
  const crypto::SecretKey& naming_key() const { return naming_; }
  const crypto::SecretKey& chunking_key() const { return chunking_; }

  // A snapshot's own key, under the current company key and back.
  std::string wrap_snapshot_key(const crypto::SecretKey& key, const std::string& snapshot) const;
  Result<crypto::SecretKey> unwrap_snapshot_key(const store::SnapshotRecord& snapshot) const;

 private:
  struct Opened {
    crypto::SecretKey content;
    crypto::SecretKey wrapping;
  };
  KeyRing(std::string company, crypto::SecretKey naming, crypto::SecretKey chunking)
      : company_(std::move(company)), naming_(std::move(naming)), chunking_(std::move(chunking)) {}

  std::string company_;
  std::string current_;
  std::map<std::string, Opened> keys_;
  crypto::SecretKey naming_;
  crypto::SecretKey chunking_;
};

// Makes a new company key the current one; packs and snapshots from now on use it. Old ones stay readable.
Result<store::CompanyKeyRecord> rotate_company_key(store::Catalog& catalog, const std::string& company,
                                                   const MasterKeys& masters, std::int64_t now_ms);

// Wraps every company key under the first of `masters`; returns how many were wrapped anew.
Result<std::size_t> rewrap_company_keys(store::Catalog& catalog, const std::string& company, const MasterKeys& masters);

}  // namespace cofferdam::snapshot
