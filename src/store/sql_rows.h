// Rows of the catalog as records. The list of columns and the reading of them stand together.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "store/database.h"
#include "store/records.h"

namespace cofferdam::store {

// What every query for these records selects, in the order that the reading function expects.
extern const char* const kKeyColumns;
extern const char* const kSnapshotColumns;
extern const char* const kPackColumns;

CompanyKeyRecord key_record(const Row& row);
SnapshotRecord snapshot_record(const Row& row);
PackRecord pack_record(const Row& row);

template <class Read>
auto records(const std::vector<Row>& rows, Read read) {
  std::vector<decltype(read(rows.front()))> out;
  out.reserve(rows.size());
  for (const Row& row : rows) out.push_back(read(row));
  return out;
}

inline std::string first_text(const Row& row) {
  return row.text(0);
}

}  // namespace cofferdam::store
