// The providers that this program has.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "provider/provider.h"

namespace cofferdam::provider {

// Owns the providers; filled once at the start (providers/builtin.cc), read only afterwards.
class Registry {
 public:
  // Keys and short names must not collide: a bug otherwise.
  void add(std::unique_ptr<Provider> provider);
  // By key or short name. kNotFound names what there is.
  Result<Provider*> find(std::string_view name) const;
  const std::vector<std::unique_ptr<Provider>>& all() const { return providers_; }

 private:
  std::vector<std::unique_ptr<Provider>> providers_;
};

}  // namespace cofferdam::provider
