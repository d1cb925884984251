// The places for objects that the tests of their common promises run on.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "store/object_store.h"

namespace cofferdam::store {

enum class PlaceKind { kDirectory };

std::vector<PlaceKind> place_kinds();
const char* name_of(PlaceKind kind);

// One empty place, gone with its owner.
class ObjectPlace {
 public:
  static std::unique_ptr<ObjectPlace> make(PlaceKind kind);
  virtual ~ObjectPlace() = default;
  // Why this machine has no such place; empty when it has.
  virtual std::string missing() const { return ""; }
  // Null, and the test has failed, when it cannot be opened.
  virtual std::unique_ptr<ObjectStore> open() = 0;
};

Status put_object(ObjectStore& store, const std::string& key, std::string_view bytes);

}  // namespace cofferdam::store
