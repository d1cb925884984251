// The few XML answers of S3 that matter here, read with bounds: no document types (so no entities of their own), eight
// levels, and texts of known elements only.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "store/object_store.h"

namespace cofferdam::store {

struct S3ListPage {
  std::vector<ObjectInfo> objects;  // keys as the storage has them
  bool truncated = false;
  std::string continuation;  // of the next page
};

// kDataLoss when it is no such answer.
Result<S3ListPage> parse_list_page(std::string_view xml);

// The text of <Code> in an error answer; empty when this is none.
std::string parse_error_code(std::string_view xml);

// The text of <UploadId>; kDataLoss when there is none.
Result<std::string> parse_upload_id(std::string_view xml);

// Seconds since the epoch of "2013-05-24T00:00:00.000Z"; 0 when it is no such time.
std::int64_t parse_xml_time(const std::string& text);

}  // namespace cofferdam::store
