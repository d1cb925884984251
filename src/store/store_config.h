// Where the store lies: computed from flags and environment, without looking at anything.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <variant>

#include "base/result.h"
#include "store/object_store.h"
#include "store/s3_signature.h"

namespace cofferdam::store {

// Variables by name; an empty value counts as absent.
using Environment = std::map<std::string, std::string, std::less<>>;

struct DirectoryLocation {
  std::string path;
  bool operator==(const DirectoryLocation&) const = default;
};

struct S3Location {
  std::string endpoint;  // "https://host[:port]"
  std::string region;
  std::string bucket;
  std::string prefix;       // before every key; "" or ending with '/'
  bool path_style = false;  // endpoint/bucket/key instead of bucket.endpoint/key
  bool operator==(const S3Location&) const = default;
};

struct StoreConfig {
  std::variant<DirectoryLocation, S3Location> objects;
  std::string catalog_url;  // as open_catalog takes it; may hold a password
};

// What the user gave on the command line; empty: nothing.
struct StoreFlags {
  std::string store_url;
  std::string catalog_url;
};

// A flag wins over COFFERDAM_*, that over PAPERCLIP_*, that over the defaults below `state_directory`:
//
//   objects    COFFERDAM_STORE_URL: a path, "file:PATH" or "s3://BUCKET[/PREFIX]"; else PAPERCLIP_STORAGE_PROVIDER:
//              "local_disk" (PAPERCLIP_STORAGE_LOCAL_DIR) or "s3" (…_S3_BUCKET, …_S3_PREFIX), where what is ours lies
//              in a folder "cofferdam" of its own; else <state>/store/objects
//   S3         COFFERDAM_STORE_S3_REGION, …_ENDPOINT, …_FORCE_PATH_STYLE, else the same with PAPERCLIP_STORAGE_S3_
//   catalog    COFFERDAM_CATALOG_URL, else <state>/store/catalog.sqlite
//
// kInvalidArgument names the variable that is wrong, never a URL's content.
Result<StoreConfig> resolve_store_config(const Environment& environment, const StoreFlags& flags,
                                         const std::string& state_directory);

// AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN; kFailedPrecondition when the first two are not there.
Result<S3Credentials> s3_credentials(const Environment& environment);

// How often a request is sent at most, and how long between: a random time up to a bound that doubles.
struct RetryPolicy {
  int attempts = 7;
  int first_pause_ms = 200;
  int longest_pause_ms = 10'000;
};

// Storage that speaks S3. Where it has conditional requests they keep a name from being taken twice; elsewhere a look
// before the upload does, which is enough for names that nobody else makes. An upload that a dead process left
// unfinished is invisible; the bucket's life-cycle rule for incomplete uploads removes it. Nothing is asked of the
// storage here.
Result<std::unique_ptr<ObjectStore>> open_s3_store(const S3Location& location, S3Credentials credentials,
                                                   const RetryPolicy& retry = {});

// Either kind; credentials from the environment.
Result<std::unique_ptr<ObjectStore>> open_object_store(const StoreConfig& config, const Environment& environment);

}  // namespace cofferdam::store
