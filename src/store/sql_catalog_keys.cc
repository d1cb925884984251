// Company keys.
#include "store/sql_catalog.h"
#include "store/sql_rows.h"

namespace cofferdam::store {
namespace {

Result<std::vector<CompanyKeyRecord>> keys_of(Transaction& transaction, const std::string& company) {
  ASSIGN_OR_RETURN(const std::vector<Row> rows,
                   transaction.run(std::string("SELECT ") + kKeyColumns +
                                       " FROM store_company_keys WHERE company = $1 ORDER BY created_ms, id",
                                   {company}));
  return records(rows, key_record);
}

// What the caller saw must still hold. An earlier try of the same call may have done it already.
Result<bool> is_added_already(Transaction& transaction, const CompanyKeyRecord& key,
                              const std::string& expected_current) {
  ASSIGN_OR_RETURN(const std::vector<CompanyKeyRecord> known, keys_of(transaction, key.company));
  std::string current;
  for (const CompanyKeyRecord& one : known) {
    if (one.id == key.id && one.current && one.wrapped == key.wrapped) return true;
    if (one.current) current = one.id;
    if (one.id == key.id) return Error(ErrorCode::kAlreadyExists, "the company key " + key.id + " exists");
  }
  if (current == expected_current) return false;
  return Error(ErrorCode::kAlreadyExists,
               "company " + key.company + " has got another current key: " + (current.empty() ? "none" : current));
}

Status insert_current(Transaction& transaction, const CompanyKeyRecord& key) {
  RETURN_IF_ERROR(transaction.run("UPDATE store_company_keys SET is_current = 0 WHERE company = $1 AND is_current = 1",
                                  {key.company}));
  RETURN_IF_ERROR(transaction.run(
      std::string("INSERT INTO store_company_keys (") + kKeyColumns + ") VALUES ($1, $2, $3, $4, $5, 1, 0)",
      {key.company, key.id, key.master_key_id, Bytes{key.wrapped}, key.created_ms}));
  return {};
}

// Never brings an erased key back.
Status rewrap(Transaction& transaction, const CompanyKeyRecord& key) {
  ASSIGN_OR_RETURN(const std::vector<Row> changed,
                   transaction.run("UPDATE store_company_keys SET master_key_id = $3, wrapped = $4 "
                                   "WHERE company = $1 AND id = $2 AND is_erased = 0 RETURNING id",
                                   {key.company, key.id, key.master_key_id, Bytes{key.wrapped}}));
  if (!changed.empty()) return {};
  return Error(ErrorCode::kFailedPrecondition,
               "the key " + key.id + " of company " + key.company + " was erased or is not there");
}

}  // namespace

Result<std::vector<CompanyKeyRecord>> SqlCatalog::company_keys(const std::string& company) {
  std::vector<CompanyKeyRecord> keys;
  RETURN_IF_ERROR(database_->transact(Access::kRead, [&](Transaction& transaction) -> Status {
    ASSIGN_OR_RETURN(keys, keys_of(transaction, company));
    return {};
  }));
  return keys;
}

Result<std::vector<std::string>> SqlCatalog::companies() {
  ASSIGN_OR_RETURN(const std::vector<Row> rows,
                   query("SELECT DISTINCT company FROM store_company_keys ORDER BY company"));
  return records(rows, first_text);
}

Status SqlCatalog::add_company_key(const CompanyKeyRecord& key, const std::string& expected_current) {
  return write([&](Transaction& transaction) -> Status {
    ASSIGN_OR_RETURN(const bool done, is_added_already(transaction, key, expected_current));
    return done ? Status() : insert_current(transaction, key);
  });
}

Status SqlCatalog::rewrap_company_keys(const std::vector<CompanyKeyRecord>& keys) {
  RETURN_IF_ERROR(write([&](Transaction& transaction) -> Status {
    for (const CompanyKeyRecord& key : keys) RETURN_IF_ERROR(rewrap(transaction, key));
    return {};
  }));
  return database_->scrub();
}

Status SqlCatalog::erase_company(const std::string& company) {
  RETURN_IF_ERROR(write([&](Transaction& transaction) -> Status {
    RETURN_IF_ERROR(
        transaction.run("UPDATE store_company_keys SET wrapped = $2, is_current = 0, is_erased = 1 "
                        "WHERE company = $1",
                        {company, Bytes{}}));
    return {};
  }));
  return database_->scrub();
}

}  // namespace cofferdam::store
