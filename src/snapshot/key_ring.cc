#include "snapshot/key_ring.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/strings.h"
#include "crypto/seal.h"

namespace cofferdam::snapshot {
namespace {

using crypto::SecretKey;
using store::CompanyKeyRecord;

constexpr std::size_t kKeyIdBytes = 8;

std::string company_context(const std::string& company, const std::string& key_id) {
  return "cofferdam company key 1\n" + company + "\n" + key_id;
}

std::string snapshot_context(const std::string& company, const std::string& snapshot) {
  return "cofferdam snapshot key 1\n" + company + "\n" + snapshot;
}

std::string known_masters(const MasterKeys& masters) {
  std::vector<std::string> names;
  for (const SecretKey& key : masters.keys) names.push_back(key.fingerprint());
  return names.empty() ? "none" : join(names, ", ");
}

Result<SecretKey> unwrap(const CompanyKeyRecord& record, const MasterKeys& masters) {
  for (const SecretKey& master : masters.keys) {
    if (master.fingerprint() != record.master_key_id) continue;
    auto raw = crypto::open(master, record.wrapped, company_context(record.company, record.id));
    if (!raw) return std::move(raw.error()).with_context("opening key " + record.id);
    if (raw->size() != SecretKey::kSize) {
      return Error(ErrorCode::kDataLoss, "key " + record.id + " has a wrong length");
    }
    SecretKey key = SecretKey::from_bytes(*raw);
    crypto::wipe(raw->data(), raw->size());
    return key;
  }
  return Error(ErrorCode::kFailedPrecondition, "the store is sealed under master key " + record.master_key_id +
                                                   "; known here: " + known_masters(masters))
      .with_hint(
          "Give the right key with COFFERDAM_MASTER_KEY or COFFERDAM_MASTER_KEY_FILE, or import its backup: "
          "cofferdam key import FILE");
}

CompanyKeyRecord wrap(const SecretKey& key, std::string company, std::string id, const SecretKey& master,
                      std::int64_t created_ms) {
  std::string wrapped = crypto::seal(master, key.view(), company_context(company, id));
  return {.company = std::move(company),
          .id = std::move(id),
          .master_key_id = master.fingerprint(),
          .wrapped = std::move(wrapped),
          .created_ms = created_ms,
          .current = true,
          .erased = false};
}

std::string current_of(const std::vector<CompanyKeyRecord>& records) {
  const auto found = std::ranges::find(records, true, &CompanyKeyRecord::current);
  return found == records.end() ? std::string() : found->id;
}

Status make_key(store::Catalog& catalog, const std::string& company, const MasterKeys& masters,
                const std::string& expected_current, std::int64_t now_ms) {
  if (masters.keys.empty()) return Error(ErrorCode::kFailedPrecondition, "there is no master key");
  const CompanyKeyRecord record =
      wrap(SecretKey::random(), company, crypto::random_hex(kKeyIdBytes), masters.keys.front(), now_ms);
  Status added = catalog.add_company_key(record, expected_current);
  // Somebody else was first: his key is as good.
  if (!added && added.error().code() == ErrorCode::kAlreadyExists) return {};
  return added;
}

Status require_not_erased(const std::vector<CompanyKeyRecord>& records, const std::string& company) {
  if (std::ranges::none_of(records, &CompanyKeyRecord::erased)) return {};
  return Error(ErrorCode::kFailedPrecondition,
               "company " + printable(company) + " was erased: what it saved cannot be read and nothing new is sealed");
}

// Oldest first.
Result<std::vector<CompanyKeyRecord>> load(store::Catalog& catalog, const std::string& company) {
  ASSIGN_OR_RETURN(std::vector<CompanyKeyRecord> records, catalog.company_keys(company));
  RETURN_IF_ERROR(require_not_erased(records, company));
  std::ranges::sort(records, {},
                    [](const CompanyKeyRecord& record) { return std::pair(record.created_ms, record.id); });
  return records;
}

}  // namespace

Result<KeyRing> KeyRing::open(store::Catalog& catalog, const std::string& company, const MasterKeys& masters,
                              std::int64_t now_ms) {
  ASSIGN_OR_RETURN(std::vector<CompanyKeyRecord> records, load(catalog, company));
  if (records.empty()) {
    RETURN_IF_ERROR(make_key(catalog, company, masters, "", now_ms));
    ASSIGN_OR_RETURN(records, load(catalog, company));
  }
  std::optional<KeyRing> ring;
  for (const CompanyKeyRecord& record : records) {
    ASSIGN_OR_RETURN(const SecretKey key, unwrap(record, masters));
    // Names and cuts stay those of the first key, or nothing saved before a rotation would be found again.
    if (!ring) ring = KeyRing(company, key.derive("chunk names"), key.derive("chunk cuts"));
    ring->keys_.emplace(record.id, Opened{.content = key.derive("content"), .wrapping = key.derive("snapshot keys")});
  }
  if (!ring) return Error(ErrorCode::kInternal, "a company without a key after one was made");
  ring->current_ = current_of(records);
  return std::move(*ring);
}

Result<const SecretKey*> KeyRing::content_key(const std::string& key_id) const {
  const auto found = keys_.find(key_id);
  if (found == keys_.end()) return Error(ErrorCode::kDataLoss, "the company has no key " + printable(key_id));
  return &found->second.content;
}

std::string KeyRing::wrap_snapshot_key(const SecretKey& key, const std::string& snapshot) const {
  return crypto::seal(keys_.at(current_).wrapping, key.view(), snapshot_context(company_, snapshot));
}

Result<SecretKey> KeyRing::unwrap_snapshot_key(const store::SnapshotRecord& snapshot) const {
  const auto found = keys_.find(snapshot.key_id);
  if (found == keys_.end()) return Error(ErrorCode::kDataLoss, "the company has no key " + printable(snapshot.key_id));
  ASSIGN_OR_RETURN(std::string raw,
                   crypto::open(found->second.wrapping, snapshot.wrapped_key, snapshot_context(company_, snapshot.id)));
  if (raw.size() != SecretKey::kSize) return Error(ErrorCode::kDataLoss, "the snapshot's key has a wrong length");
  SecretKey key = SecretKey::from_bytes(raw);
  crypto::wipe(raw.data(), raw.size());
  return key;
}

Result<CompanyKeyRecord> rotate_company_key(store::Catalog& catalog, const std::string& company,
                                            const MasterKeys& masters, std::int64_t now_ms) {
  ASSIGN_OR_RETURN(const std::vector<CompanyKeyRecord> before, load(catalog, company));
  RETURN_IF_ERROR(make_key(catalog, company, masters, current_of(before), now_ms));
  ASSIGN_OR_RETURN(const std::vector<CompanyKeyRecord> after, load(catalog, company));
  const auto current = std::ranges::find(after, true, &CompanyKeyRecord::current);
  if (current == after.end()) return Error(ErrorCode::kInternal, "no current key after a rotation");
  return *current;
}

Result<std::size_t> rewrap_company_keys(store::Catalog& catalog, const std::string& company,
                                        const MasterKeys& masters) {
  if (masters.keys.empty()) return Error(ErrorCode::kFailedPrecondition, "there is no master key");
  const SecretKey& target = masters.keys.front();
  ASSIGN_OR_RETURN(const std::vector<CompanyKeyRecord> records, load(catalog, company));
  std::vector<CompanyKeyRecord> rewrapped;
  for (const CompanyKeyRecord& record : records) {
    if (record.master_key_id == target.fingerprint()) continue;
    ASSIGN_OR_RETURN(const SecretKey key, unwrap(record, masters));
    CompanyKeyRecord renewed = wrap(key, record.company, record.id, target, record.created_ms);
    renewed.current = record.current;
    rewrapped.push_back(std::move(renewed));
  }
  if (!rewrapped.empty()) RETURN_IF_ERROR(catalog.rewrap_company_keys(rewrapped));
  return rewrapped.size();
}

}  // namespace cofferdam::snapshot
