#include "object_places.h"

#include <gtest/gtest.h>

#include "system/tree.h"

namespace cofferdam::store {
namespace {

class DirectoryPlace final : public ObjectPlace {
 public:
  DirectoryPlace() : directory_(system::TemporaryDirectory::create(testing::TempDir(), "store-")) {}

  std::unique_ptr<ObjectStore> open() override {
    if (!directory_) return nullptr;
    auto store = open_directory_store(directory_->path() + "/objects");
    EXPECT_TRUE(store) << store.error().to_string();
    return store ? std::move(*store) : nullptr;
  }

 private:
  Result<system::TemporaryDirectory> directory_;
};

}  // namespace

std::vector<PlaceKind> place_kinds() {
  return {PlaceKind::kDirectory};
}

const char* name_of(PlaceKind kind) {
  switch (kind) {
    case PlaceKind::kDirectory:
      return "Directory";
  }
  return "";
}

std::unique_ptr<ObjectPlace> ObjectPlace::make(PlaceKind kind) {
  switch (kind) {
    case PlaceKind::kDirectory:
      return std::make_unique<DirectoryPlace>();
  }
  return nullptr;
}

Status put_object(ObjectStore& store, const std::string& key, std::string_view bytes) {
  ASSIGN_OR_RETURN(const std::unique_ptr<ObjectWriter> writer, store.create(key));
  RETURN_IF_ERROR(writer->append(bytes));
  return writer->commit();
}

}  // namespace cofferdam::store
