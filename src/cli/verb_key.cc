// The verbs of the keys that seal the store.
#include <unistd.h>

#include "base/strings.h"
#include "cli/json_text.h"
#include "cli/snapshot_text.h"
#include "cli/table.h"
#include "cli/text_file.h"
#include "cli/verb.h"
#include "system/file.h"

namespace cofferdam::cli {
namespace {

constexpr std::size_t kLargestKeyFile = 64 * 1024;

boost::json::object key_json(const store::CompanyKeyRecord& key) {
  return {{"id", key.id},
          {"company", key.company},
          {"masterKey", key.master_key_id},
          {"createdMs", key.created_ms},
          {"current", key.current},
          {"erased", key.erased}};
}

const char* state_text(const store::CompanyKeyRecord& key) {
  if (key.erased) return "erased";
  return key.current ? "current" : "opens old";
}

Result<crypto::SecretString> read_secret(const std::string& file) {
  if (file == "-") {
    ASSIGN_OR_RETURN(std::string text, system::read_up_to(STDIN_FILENO, kLargestKeyFile));
    return crypto::SecretString(std::move(text));
  }
  ASSIGN_OR_RETURN(std::string text, system::read_file(file, kLargestKeyFile));
  return crypto::SecretString(std::move(text));
}

}  // namespace

int run_key_list(const Invocation& invocation) {
  const Arguments& arguments = invocation.arguments;
  control::Snapshots& snapshots = *invocation.program.services.snapshots;
  const auto masters = snapshots.master_keys();
  if (!masters) return failed(invocation, masters.error());
  const auto keys = snapshots.keys(company_of(arguments));
  if (!keys) return failed(invocation, keys.error());
  if (wants_json(arguments)) {
    boost::json::array rows;
    for (const store::CompanyKeyRecord& key : *keys) rows.push_back(key_json(key));
    boost::json::array fingerprints;
    for (const std::string& name : masters->fingerprints) fingerprints.push_back(boost::json::string(name));
    invocation.console.out(pretty(boost::json::object{
        {"masterKeys", std::move(fingerprints)}, {"origin", masters->origin}, {"companyKeys", std::move(rows)}}));
    return kExitSuccess;
  }
  std::string out = "master keys from " + printable(masters->origin) + ": " + join(masters->fingerprints, ", ") + "\n";
  std::vector<std::vector<std::string>> rows = {{"COMPANY KEY", "STATE", "WRAPPED BY", "MADE (UTC)"}};
  for (const store::CompanyKeyRecord& key : *keys) {
    rows.push_back({key.id, state_text(key), key.master_key_id, time_text(key.created_ms)});
  }
  invocation.console.out(out + table(rows));
  return kExitSuccess;
}

int run_key_rotate(const Invocation& invocation) {
  const Arguments& arguments = invocation.arguments;
  control::Snapshots& snapshots = *invocation.program.services.snapshots;
  if (arguments.has("master")) {
    const auto wrapped = snapshots.rotate_master_key();
    if (!wrapped) return failed(invocation, wrapped.error());
    invocation.console.out(wants_json(arguments) ? pretty(boost::json::object{{"rewrapped", *wrapped}})
                                                 : "a new master key is in use; company keys wrapped anew: " +
                                                       std::to_string(*wrapped) + "\n");
    invocation.console.err("cofferdam: make a new backup of the keys: cofferdam key export > FILE\n");
    return kExitSuccess;
  }
  const auto key = snapshots.rotate_company_key(company_of(arguments));
  if (!key) return failed(invocation, key.error());
  invocation.console.out(wants_json(arguments) ? pretty(key_json(*key))
                                               : "new saves are sealed with " + key->id + "\n");
  return kExitSuccess;
}

int run_key_export(const Invocation& invocation) {
  const auto keys = invocation.program.services.snapshots->export_master_keys();
  if (!keys) return failed(invocation, keys.error());
  invocation.console.out(keys->reveal());
  return kExitSuccess;
}

int run_key_import(const Invocation& invocation) {
  const auto text = read_secret(invocation.arguments.positionals.front());
  if (!text) return failed(invocation, text.error());
  const auto fingerprints = invocation.program.services.snapshots->import_master_keys(*text);
  if (!fingerprints) return failed(invocation, fingerprints.error());
  boost::json::array json;
  std::string lines;
  for (const std::string& name : *fingerprints) {
    json.push_back(boost::json::string(name));
    lines += "known now: " + name + "\n";
  }
  invocation.console.out(wants_json(invocation.arguments) ? pretty(json) : lines);
  return kExitSuccess;
}

}  // namespace cofferdam::cli
