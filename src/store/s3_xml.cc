#include "store/s3_xml.h"

#include <expat.h>

#include <ctime>
#include <functional>
#include <memory>

#include "base/strings.h"

namespace cofferdam::store {
namespace {

constexpr std::size_t kDeepest = 8;
constexpr std::size_t kLongestText = 8192;

struct ParserFreer {
  void operator()(XML_Parser parser) const { XML_ParserFree(parser); }
};
using Parser = std::unique_ptr<std::remove_pointer_t<XML_Parser>, ParserFreer>;

// Calls `on_text` with the path of every element that ends ("ListBucketResult/Contents/Key") and its own text.
using OnElement = std::function<void(const std::string& path, const std::string& text)>;

struct Walk {
  XML_Parser parser = nullptr;
  OnElement on_element;
  std::vector<std::string> names;
  std::string text;
};

void stop(Walk& walk) {
  XML_StopParser(walk.parser, XML_FALSE);
}

void begin_element(void* context, const XML_Char* name, const XML_Char**) {
  auto& walk = *static_cast<Walk*>(context);
  if (walk.names.size() == kDeepest) return stop(walk);
  walk.names.emplace_back(name);
  walk.text.clear();
}

void end_element(void* context, const XML_Char*) {
  auto& walk = *static_cast<Walk*>(context);
  walk.on_element(join(walk.names, "/"), walk.text);
  walk.names.pop_back();
  walk.text.clear();
}

void add_text(void* context, const XML_Char* text, int length) {
  auto& walk = *static_cast<Walk*>(context);
  const auto size = static_cast<std::size_t>(length);
  if (size > kLongestText - walk.text.size()) return stop(walk);
  walk.text.append(text, size);
}

void refuse_document_type(void* context, const XML_Char*, const XML_Char*, const XML_Char*, int) {
  stop(*static_cast<Walk*>(context));
}

Status walk_xml(std::string_view xml, OnElement on_element) {
  const Parser parser(XML_ParserCreate("UTF-8"));
  if (parser == nullptr) return Error(ErrorCode::kResourceExhausted, "no memory for an XML parser");
  Walk walk{.parser = parser.get(), .on_element = std::move(on_element)};
  XML_SetUserData(parser.get(), &walk);
  XML_SetElementHandler(parser.get(), &begin_element, &end_element);
  XML_SetCharacterDataHandler(parser.get(), &add_text);
  XML_SetStartDoctypeDeclHandler(parser.get(), &refuse_document_type);
  if (XML_Parse(parser.get(), xml.data(), static_cast<int>(xml.size()), XML_TRUE) == XML_STATUS_OK) return {};
  return Error(ErrorCode::kDataLoss, std::string("the storage's answer is no XML that can be read: ") +
                                         XML_ErrorString(XML_GetErrorCode(parser.get())));
}

}  // namespace

std::int64_t parse_xml_time(const std::string& text) {
  std::tm parts{};
  const char* const end = ::strptime(text.c_str(), "%Y-%m-%dT%H:%M:%S", &parts);
  return end == nullptr ? 0 : std::int64_t{::timegm(&parts)};
}

Result<S3ListPage> parse_list_page(std::string_view xml) {
  S3ListPage page;
  ObjectInfo object;
  bool is_list = false;
  bool sizes_read = true;
  const auto take = [&](const std::string& path, const std::string& text) {
    if (path == "ListBucketResult/Contents/Key") object.key = text;
    if (path == "ListBucketResult/Contents/LastModified") object.modified_s = parse_xml_time(text);
    if (path == "ListBucketResult/Contents/Size") {
      const auto size = parse_decimal(text);
      sizes_read = sizes_read && size.has_value();
      object.size = size.value_or(0);
    }
    if (path == "ListBucketResult/Contents") page.objects.push_back(std::exchange(object, {}));
    if (path == "ListBucketResult/IsTruncated") page.truncated = text == "true";
    if (path == "ListBucketResult/NextContinuationToken") page.continuation = text;
    if (path == "ListBucketResult") is_list = true;
  };
  RETURN_IF_ERROR(walk_xml(xml, take));
  if (is_list && sizes_read && (!page.truncated || !page.continuation.empty())) return page;
  return Error(ErrorCode::kDataLoss, "the storage's answer is no list of objects");
}

std::string parse_error_code(std::string_view xml) {
  std::string code;
  const Status walked = walk_xml(xml, [&](const std::string& path, const std::string& text) {
    if (path == "Error/Code") code = text;
  });
  return walked ? code : "";
}

Result<std::string> parse_upload_id(std::string_view xml) {
  std::string id;
  RETURN_IF_ERROR(walk_xml(xml, [&](const std::string& path, const std::string& text) {
    // The name of the element around it differs between storages.
    if (path.starts_with("InitiateMultipartUpload") && path.ends_with("/UploadId")) id = text;
  }));
  if (!id.empty()) return id;
  return Error(ErrorCode::kDataLoss, "the storage's answer names no upload");
}

}  // namespace cofferdam::store
