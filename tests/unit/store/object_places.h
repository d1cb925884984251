// The places for objects that the tests of their common promises run on.
#pragma once

#include <memory>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "store/object_store.h"

namespace cofferdam::store {

enum class PlaceKind { kDirectory, kRclone, kMoto, kTrouble };

std::vector<PlaceKind> place_kinds();
const char* name_of(PlaceKind kind);
// For GoogleTest's lists.
inline void PrintTo(PlaceKind kind, std::ostream* out) {
  *out << name_of(kind);
}

// Why this machine has no such place; empty when it has.
std::string missing(PlaceKind kind);

// One empty place, gone with its owner.
class ObjectPlace {
 public:
  static std::unique_ptr<ObjectPlace> make(PlaceKind kind);
  virtual ~ObjectPlace() = default;
  // Null, and the test has failed, when it cannot be opened.
  virtual std::unique_ptr<ObjectStore> open() = 0;
};

Status put_object(ObjectStore& store, const std::string& key, std::string_view bytes);

}  // namespace cofferdam::store
