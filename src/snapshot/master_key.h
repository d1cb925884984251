// Finding the master keys, making the first one, and moving them.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "base/result.h"
#include "snapshot/key_ring.h"

namespace cofferdam::snapshot {

using Environment = std::map<std::string, std::string, std::less<>>;

// A 32-byte key as it is written: base64 (standard or URL alphabet), 64 hexadecimal digits, or 32 characters.
Result<crypto::SecretKey> parse_master_key(std::string_view text);

// In this order: COFFERDAM_MASTER_KEY, COFFERDAM_MASTER_KEY_FILE, PAPERCLIP_SECRETS_MASTER_KEY,
// PAPERCLIP_SECRETS_MASTER_KEY_FILE, else `default_file`, which is made (mode 0600) when it is absent. A key file holds
// a key a line, the newest first; it must be a regular file of ours that nobody else can read. `may_make` is false for
// what only reads: then an absent default file is kFailedPrecondition.
Result<MasterKeys> load_master_keys(const Environment& environment, const std::string& default_file, bool may_make);

// The key file in force: one that the environment names, else `default_file`.
std::string master_key_file(const Environment& environment, const std::string& default_file);

// Puts `key` before those in `file`: it seals what is new. With append, after them: it only opens. What was sealed with
// the others stays readable.
Status add_master_key(const std::string& file, const crypto::SecretKey& key);
Status append_master_key(const std::string& file, const crypto::SecretKey& key);

// Keys as text, one a line, for a backup.
crypto::SecretString export_master_keys(const MasterKeys& masters);

}  // namespace cofferdam::snapshot
