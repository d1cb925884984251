#include "snapshot/master_key.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <optional>

#include "base/hex.h"
#include "base/strings.h"
#include "crypto/encoding.h"
#include "system/file.h"
#include "system/tree.h"

namespace cofferdam::snapshot {
namespace {

using crypto::SecretKey;

constexpr std::size_t kLargestKeyFile = 64 * 1024;
constexpr unsigned kPrivateFile = 0600;
constexpr unsigned kOthersBits = 077;

struct Source {
  std::string_view key_variable;
  std::string_view file_variable;
};
constexpr Source kSources[] = {{"COFFERDAM_MASTER_KEY", "COFFERDAM_MASTER_KEY_FILE"},
                               {"PAPERCLIP_SECRETS_MASTER_KEY", "PAPERCLIP_SECRETS_MASTER_KEY_FILE"}};

std::string value_of(const Environment& environment, std::string_view name) {
  const auto found = environment.find(name);
  return found == environment.end() ? std::string() : found->second;
}

Status require_private(int file, const std::string& path) {
  struct stat status{};
  if (::fstat(file, &status) != 0) return Error::from_errno(errno, "look at the key file " + path);
  if (!S_ISREG(status.st_mode)) return Error(ErrorCode::kFailedPrecondition, "the key file " + path + " is no file");
  if (status.st_uid != ::geteuid() && status.st_uid != 0) {
    return Error(ErrorCode::kPermissionDenied, "the key file " + path + " belongs to another user");
  }
  if ((status.st_mode & kOthersBits) == 0) return {};
  return Error(ErrorCode::kPermissionDenied, "the key file " + path + " can be read by others")
      .with_hint("Close it: chmod 600 " + shell_quoted(path));
}

Result<std::vector<SecretKey>> parse_key_lines(std::string_view content, const std::string& path) {
  std::vector<SecretKey> keys;
  for (const std::string_view line : split(content, '\n')) {
    const std::string_view text = trimmed(line);
    if (text.empty() || text.starts_with('#')) continue;
    ASSIGN_OR_RETURN(SecretKey key, in_context(parse_master_key(text), "key file " + path));
    keys.push_back(std::move(key));
  }
  if (keys.empty()) return Error(ErrorCode::kFailedPrecondition, "the key file " + path + " holds no key");
  return keys;
}

Result<std::vector<SecretKey>> read_key_file(const std::string& path) {
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file) return Error::from_errno(errno, "open the key file " + path);
  RETURN_IF_ERROR(require_private(file.get(), path));
  ASSIGN_OR_RETURN(std::string content, in_context(system::read_up_to(file.get(), kLargestKeyFile), path));
  auto keys = parse_key_lines(content, path);
  crypto::wipe(content.data(), content.size());
  return keys;
}

std::string line_of(const SecretKey& key) {
  return crypto::to_base64(key.view()) + "\n";
}

std::string lines_of(const std::vector<SecretKey>& keys) {
  std::string text;
  for (const SecretKey& key : keys) text += line_of(key);
  return text;
}

// The first writer wins: a second process must not seal with a key that is then lost.
Status make_key_file(const std::string& path) {
  RETURN_IF_ERROR(system::make_private_directories(std::string(system::parent_path(path))));
  std::string text =
      "# Cofferdam's master key. Without it nothing that was saved can be read: keep a copy elsewhere.\n" +
      line_of(SecretKey::random());
  const std::string temporary = path + ".new-" + std::to_string(::getpid());
  Status written = system::replace_file(temporary, text, kPrivateFile);
  crypto::wipe(text.data(), text.size());
  RETURN_IF_ERROR(std::move(written));
  const bool linked = ::link(temporary.c_str(), path.c_str()) == 0;
  const int error_number = errno;
  ::unlink(temporary.c_str());
  if (!linked && error_number != EEXIST) return Error::from_errno(error_number, "make the key file " + path);
  ASSIGN_OR_RETURN(const UniqueFd directory, system::open_directory(std::string(system::parent_path(path))));
  return system::synchronise(directory.get(), "the directory of " + path);
}

// None when there is no such file; its directory is made then.
Result<std::vector<SecretKey>> keys_in(const std::string& file) {
  if (::access(file.c_str(), F_OK) != 0) {
    RETURN_IF_ERROR(system::make_private_directories(std::string(system::parent_path(file))));
    return std::vector<SecretKey>();
  }
  return read_key_file(file);
}

Status write_key_file(const std::string& file, const std::vector<SecretKey>& keys) {
  std::string text = lines_of(keys);
  Status written = system::replace_file(file, text, kPrivateFile);
  crypto::wipe(text.data(), text.size());
  return written;
}

Result<std::optional<MasterKeys>> from_environment(const Environment& environment) {
  for (const Source& source : kSources) {
    if (const std::string text = value_of(environment, source.key_variable); !text.empty()) {
      ASSIGN_OR_RETURN(SecretKey key, in_context(parse_master_key(text), std::string(source.key_variable)));
      MasterKeys masters{.keys = {}, .origin = std::string(source.key_variable)};
      masters.keys.push_back(std::move(key));
      return std::optional(std::move(masters));
    }
    if (const std::string path = value_of(environment, source.file_variable); !path.empty()) {
      ASSIGN_OR_RETURN(std::vector<SecretKey> keys, in_context(read_key_file(path), std::string(source.file_variable)));
      return std::optional(MasterKeys{.keys = std::move(keys), .origin = path, .is_file = true});
    }
  }
  return std::optional<MasterKeys>();
}

}  // namespace

Result<SecretKey> parse_master_key(std::string_view text) {
  std::optional<std::string> raw;
  if (text.size() == 2 * SecretKey::kSize) raw = from_hex(text);
  if (!raw && text.size() == SecretKey::kSize) raw = std::string(text);
  if (!raw) raw = crypto::from_base64(text);
  if (!raw || raw->size() != SecretKey::kSize) {
    return Error(ErrorCode::kInvalidArgument,
                 "a master key is 32 bytes: base64, 64 hexadecimal digits or 32 characters");
  }
  SecretKey key = SecretKey::from_bytes(*raw);
  crypto::wipe(raw->data(), raw->size());
  return key;
}

Result<MasterKeys> load_master_keys(const Environment& environment, const std::string& default_file, bool may_make) {
  ASSIGN_OR_RETURN(std::optional<MasterKeys> given, from_environment(environment));
  if (given) return std::move(*given);
  bool made = false;
  if (::access(default_file.c_str(), F_OK) != 0 && errno == ENOENT) {
    if (!may_make) {
      return Error(ErrorCode::kFailedPrecondition, "there is no master key in " + default_file)
          .with_hint(
              "The first \"cofferdam snapshot save\" into an empty store makes one; for a store that was used "
              "before, bring its backup: cofferdam key import FILE");
    }
    RETURN_IF_ERROR(make_key_file(default_file));
    made = true;
  }
  ASSIGN_OR_RETURN(std::vector<SecretKey> keys, read_key_file(default_file));
  return MasterKeys{.keys = std::move(keys), .origin = default_file, .is_file = true, .made_now = made};
}

std::string master_key_file(const Environment& environment, const std::string& default_file) {
  for (const Source& source : kSources) {
    if (std::string path = value_of(environment, source.file_variable); !path.empty()) return path;
  }
  return default_file;
}

Status add_master_key(const std::string& file, const SecretKey& key) {
  ASSIGN_OR_RETURN(std::vector<SecretKey> keys, keys_in(file));
  std::erase_if(keys, [&](const SecretKey& known) { return known.fingerprint() == key.fingerprint(); });
  keys.insert(keys.begin(), key.clone());
  return write_key_file(file, keys);
}

Status append_master_key(const std::string& file, const SecretKey& key) {
  ASSIGN_OR_RETURN(std::vector<SecretKey> keys, keys_in(file));
  if (std::ranges::find(keys, key.fingerprint(), &SecretKey::fingerprint) != keys.end()) return {};
  keys.push_back(key.clone());
  return write_key_file(file, keys);
}

crypto::SecretString export_master_keys(const MasterKeys& masters) {
  return crypto::SecretString(lines_of(masters.keys));
}

}  // namespace cofferdam::snapshot
