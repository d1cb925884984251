#include "store/store_config.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/strings.h"

namespace cofferdam::store {
namespace {

constexpr std::string_view kS3Scheme = "s3://";
constexpr std::string_view kFileScheme = "file:";
constexpr const char* kOurFolder = "cofferdam";
constexpr const char* kDefaultBucket = "paperclip";
constexpr const char* kDefaultRegion = "us-east-1";

std::string value_of(const Environment& environment, std::string_view name) {
  const auto found = environment.find(name);
  return found == environment.end() ? "" : found->second;
}

std::string first_of(std::initializer_list<std::string> candidates) {
  for (const std::string& candidate : candidates) {
    if (!candidate.empty()) return candidate;
  }
  return "";
}

Error invalid(const std::string& variable, const std::string& why) {
  return {ErrorCode::kInvalidArgument, variable + " " + why};
}

// A setting of S3 by its last words, and the variable that it came from.
NameValue s3_setting(const Environment& environment, const std::string& name) {
  const std::string ours = "COFFERDAM_STORE_S3_" + name;
  const std::string paperclips = "PAPERCLIP_STORAGE_S3_" + name;
  const std::string value = value_of(environment, ours);
  return value.empty() ? NameValue(paperclips, value_of(environment, paperclips)) : NameValue(ours, value);
}

Result<bool> parse_switch(const NameValue& setting) {
  const std::string value = ascii_lower(trimmed(setting.second));
  if (value.empty() || value == "false" || value == "0") return false;
  if (value == "true" || value == "1") return true;
  return invalid(setting.first, "must be true or false");
}

// "https://host[:port]" without anything behind.
Result<std::string> parse_endpoint(const NameValue& setting) {
  std::string endpoint = setting.second;
  while (endpoint.ends_with('/')) endpoint.pop_back();
  const std::size_t scheme_end = endpoint.find("://");
  const std::string scheme = scheme_end == std::string::npos ? "" : endpoint.substr(0, scheme_end);
  const std::string host = scheme.empty() ? "" : endpoint.substr(scheme_end + 3);
  const bool plain = host.find_first_of("/?#@ ") == std::string::npos;
  if ((scheme == "https" || scheme == "http") && !host.empty() && plain) return endpoint;
  return invalid(setting.first, "must be https://HOST or https://HOST:PORT");
}

bool is_bucket_name(std::string_view name) {
  return name.size() >= 3 && name.size() <= 63 && std::ranges::all_of(name, [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.';
         });
}

std::string as_prefix(std::string_view text) {
  while (text.starts_with('/')) text.remove_prefix(1);
  while (text.ends_with('/')) text.remove_suffix(1);
  return text.empty() ? "" : std::string(text) + "/";
}

// A certificate for *.s3.… does not cover a bucket with a dot, and an address has no names below it.
bool needs_path_style(const std::string& endpoint, const std::string& bucket) {
  const std::string host = endpoint.substr(endpoint.find("://") + 3);
  const bool is_address = host.starts_with('[') || host.find_first_not_of("0123456789.:") == std::string::npos;
  return is_address || host.starts_with("localhost") || bucket.find('.') != std::string::npos;
}

Result<S3Location> s3_location(const Environment& environment, const NameValue& bucket, const std::string& prefix) {
  if (!is_bucket_name(bucket.second)) return invalid(bucket.first, "names no bucket");
  S3Location location{.region = first_of({s3_setting(environment, "REGION").second, kDefaultRegion}),
                      .bucket = bucket.second,
                      .prefix = as_prefix(prefix)};
  NameValue endpoint = s3_setting(environment, "ENDPOINT");
  if (endpoint.second.empty()) endpoint.second = "https://s3." + location.region + ".amazonaws.com";
  ASSIGN_OR_RETURN(location.endpoint, parse_endpoint(endpoint));
  ASSIGN_OR_RETURN(const bool forced, parse_switch(s3_setting(environment, "FORCE_PATH_STYLE")));
  location.path_style = forced || needs_path_style(location.endpoint, location.bucket);
  return location;
}

using Location = std::variant<DirectoryLocation, S3Location>;

Result<Location> location_of_url(const Environment& environment, const NameValue& url) {
  const std::string& text = url.second;
  if (text.starts_with(kS3Scheme)) {
    const std::string rest = text.substr(kS3Scheme.size());
    const std::size_t slash = std::min(rest.find('/'), rest.size());
    ASSIGN_OR_RETURN(S3Location location,
                     s3_location(environment, {url.first, rest.substr(0, slash)}, rest.substr(slash)));
    return location;
  }
  std::string path = text;
  if (text.starts_with(kFileScheme)) path = text.substr(kFileScheme.size());
  if (path.starts_with("///")) path = path.substr(2);
  if (path.starts_with("//") || path.find("://") != std::string::npos) {
    return invalid(url.first, "must be a path, file:PATH or s3://BUCKET/PREFIX");
  }
  return DirectoryLocation{path};
}

Result<std::optional<Location>> paperclip_location(const Environment& environment) {
  constexpr const char* kProvider = "PAPERCLIP_STORAGE_PROVIDER";
  const std::string provider = value_of(environment, kProvider);
  const std::string directory = value_of(environment, "PAPERCLIP_STORAGE_LOCAL_DIR");
  if (provider == "s3") {
    const std::string bucket = first_of({value_of(environment, "PAPERCLIP_STORAGE_S3_BUCKET"), kDefaultBucket});
    const std::string prefix = as_prefix(value_of(environment, "PAPERCLIP_STORAGE_S3_PREFIX")) + kOurFolder;
    ASSIGN_OR_RETURN(S3Location location, s3_location(environment, {"PAPERCLIP_STORAGE_S3_BUCKET", bucket}, prefix));
    return std::optional<Location>(std::move(location));
  }
  if (!provider.empty() && provider != "local_disk") return invalid(kProvider, "must be local_disk or s3");
  if (directory.empty()) return std::optional<Location>();
  return std::optional<Location>(DirectoryLocation{directory + "/" + kOurFolder});
}

Result<Location> objects_location(const Environment& environment, const StoreFlags& flags,
                                  const std::string& state_directory) {
  if (!flags.store_url.empty()) return location_of_url(environment, {"the store's URL", flags.store_url});
  const std::string ours = value_of(environment, "COFFERDAM_STORE_URL");
  if (!ours.empty()) return location_of_url(environment, {"COFFERDAM_STORE_URL", ours});
  ASSIGN_OR_RETURN(std::optional<Location> paperclips, paperclip_location(environment));
  if (paperclips) return std::move(*paperclips);
  return DirectoryLocation{state_directory + "/store/objects"};
}

}  // namespace

Result<StoreConfig> resolve_store_config(const Environment& environment, const StoreFlags& flags,
                                         const std::string& state_directory) {
  StoreConfig config;
  ASSIGN_OR_RETURN(config.objects, objects_location(environment, flags, state_directory));
  config.catalog_url = first_of(
      {flags.catalog_url, value_of(environment, "COFFERDAM_CATALOG_URL"), state_directory + "/store/catalog.sqlite"});
  return config;
}

Result<S3Credentials> s3_credentials(const Environment& environment) {
  S3Credentials credentials{.access_key_id = value_of(environment, "AWS_ACCESS_KEY_ID"),
                            .secret_access_key = crypto::SecretString(value_of(environment, "AWS_SECRET_ACCESS_KEY")),
                            .session_token = crypto::SecretString(value_of(environment, "AWS_SESSION_TOKEN"))};
  if (!credentials.access_key_id.empty() && !credentials.secret_access_key.empty()) return credentials;
  return Error(ErrorCode::kFailedPrecondition, "the store is in S3, and there are no credentials for it")
      .with_hint("Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY (and AWS_SESSION_TOKEN for a session).");
}

Result<std::unique_ptr<ObjectStore>> open_object_store(const StoreConfig& config, const Environment& environment) {
  if (const auto* const directory = std::get_if<DirectoryLocation>(&config.objects)) {
    return open_directory_store(directory->path);
  }
  ASSIGN_OR_RETURN(S3Credentials credentials, s3_credentials(environment));
  return open_s3_store(std::get<S3Location>(config.objects), std::move(credentials));
}

}  // namespace cofferdam::store
