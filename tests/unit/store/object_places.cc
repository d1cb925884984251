#include "object_places.h"

#include <gtest/gtest.h>

#include "s3_peers.h"
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

class S3Place final : public ObjectPlace {
 public:
  explicit S3Place(std::unique_ptr<S3Peer> peer) : peer_(std::move(peer)) {}
  std::unique_ptr<ObjectStore> open() override { return peer_ == nullptr ? nullptr : peer_->open(); }

 private:
  std::unique_ptr<S3Peer> peer_;
};

}  // namespace

std::vector<PlaceKind> place_kinds() {
  return {PlaceKind::kDirectory, PlaceKind::kRclone, PlaceKind::kMoto, PlaceKind::kTrouble};
}

const char* name_of(PlaceKind kind) {
  switch (kind) {
    case PlaceKind::kDirectory:
      return "Directory";
    case PlaceKind::kRclone:
      return "Rclone";
    case PlaceKind::kMoto:
      return "Moto";
    case PlaceKind::kTrouble:
      return "OwnPeer";
  }
  return "";
}

std::string missing(PlaceKind kind) {
  if (kind == PlaceKind::kRclone) return S3Peer::missing("rclone");
  if (kind == PlaceKind::kMoto) return S3Peer::missing("moto");
  return "";
}

std::unique_ptr<ObjectPlace> ObjectPlace::make(PlaceKind kind) {
  switch (kind) {
    case PlaceKind::kDirectory:
      return std::make_unique<DirectoryPlace>();
    case PlaceKind::kRclone:
      return std::make_unique<S3Place>(S3Peer::start_rclone());
    case PlaceKind::kMoto:
      return std::make_unique<S3Place>(S3Peer::start_moto());
    case PlaceKind::kTrouble:
      return std::make_unique<S3Place>(S3Peer::start_trouble({}));
  }
  return nullptr;
}

Status put_object(ObjectStore& store, const std::string& key, std::string_view bytes) {
  ASSIGN_OR_RETURN(const std::unique_ptr<ObjectWriter> writer, store.create(key));
  RETURN_IF_ERROR(writer->append(bytes));
  return writer->commit();
}

}  // namespace cofferdam::store
