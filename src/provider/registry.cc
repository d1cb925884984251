#include "provider/registry.h"

#include <cassert>
#include <string>

#include "domain/suggestion.h"

namespace cofferdam::provider {
namespace {

std::vector<std::string_view> names_of(const Provider& provider) {
  const Description& description = provider.describe();
  std::vector<std::string_view> names = {description.key};
  names.insert(names.end(), description.short_names.begin(), description.short_names.end());
  return names;
}

bool is_named(const Provider& provider, std::string_view name) {
  for (const std::string_view known : names_of(provider)) {
    if (known == name) return true;
  }
  return false;
}

}  // namespace

void Registry::add(std::unique_ptr<Provider> provider) {
  for (const std::string_view name : names_of(*provider)) assert(!find(name));
  providers_.push_back(std::move(provider));
}

Result<Provider*> Registry::find(std::string_view name) const {
  std::vector<std::string_view> known;
  std::string keys;
  for (const auto& provider : providers_) {
    if (is_named(*provider, name)) return provider.get();
    for (const std::string_view one : names_of(*provider)) known.push_back(one);
    keys += (keys.empty() ? "" : ", ") + provider->describe().key;
  }
  Error error(ErrorCode::kNotFound, "There is no provider \"" + std::string(name) + "\"; there are: " + keys);
  const std::string suggestion = domain::suggestion_for(name, known);
  if (suggestion.empty()) return error;
  return std::move(error).with_hint(suggestion);
}

}  // namespace cofferdam::provider
