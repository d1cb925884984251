// The verbs that look at what was saved.
#include "base/strings.h"
#include "cli/json_text.h"
#include "cli/paths.h"
#include "cli/progress.h"
#include "cli/snapshot_text.h"
#include "cli/table.h"
#include "cli/verb.h"
#include "control/workspace_name.h"

namespace cofferdam::cli {
namespace {

using workspace::Entry;
using workspace::EntryKind;

const char* kind_text(EntryKind kind) {
  switch (kind) {
    case EntryKind::kDirectory:
      return "directory";
    case EntryKind::kFile:
      return "file";
    case EntryKind::kSymlink:
      return "link";
  }
  return "unknown";
}

std::string mode_text(const Entry& entry) {
  constexpr std::string_view kLetters = "rwxrwxrwx";
  std::string out(1, entry.kind == EntryKind::kDirectory ? 'd' : entry.kind == EntryKind::kSymlink ? 'l' : '-');
  for (std::size_t i = 0; i < kLetters.size(); ++i) {
    out += (entry.mode >> (kLetters.size() - 1 - i) & 1) != 0 ? kLetters[i] : '-';
  }
  return out;
}

std::string list_text(const std::vector<store::SnapshotRecord>& records) {
  std::vector<std::vector<std::string>> rows = {{"ID", "SAVED (UTC)", "FILES", "SIZE", "WORKSPACE", "LABEL"}};
  for (const store::SnapshotRecord& record : records) {
    const boost::json::object json = snapshot_json(record);
    const auto& summary = json.at("summary");
    const auto number = [&](const char* name) {
      const auto* value = summary.is_object() ? summary.get_object().if_contains(name) : nullptr;
      return value != nullptr && value->is_int64() ? static_cast<std::uint64_t>(value->get_int64()) : 0;
    };
    rows.push_back({record.id, time_text(record.created_ms), std::to_string(number("files")),
                    size_text(number("bytes")), printable(record.workspace), printable(record.label)});
  }
  return table(rows);
}

boost::json::object entry_json(const Entry& entry) {
  boost::json::object out{{"path", path_json(entry.path)},
                          {"kind", kind_text(entry.kind)},
                          {"mode", entry.mode},
                          {"mtimeNs", entry.mtime_ns}};
  if (entry.kind == EntryKind::kFile) {
    out["size"] = entry.size;
    out["sha256"] = entry.digest.hex();
  }
  if (entry.kind == EntryKind::kSymlink) out["target"] = path_json(entry.target);
  return out;
}

std::string entry_text(const Entry& entry) {
  constexpr std::int64_t kNanosecondsPerMs = 1'000'000;
  std::string line = mode_text(entry) + " " + std::string(entry.kind == EntryKind::kFile ? "" : "-");
  if (entry.kind == EntryKind::kFile) line += std::to_string(entry.size);
  line.resize(std::max<std::size_t>(line.size(), 24), ' ');
  line += " " + time_text(entry.mtime_ns / kNanosecondsPerMs) + " " + printable(entry.path);
  if (entry.kind == EntryKind::kSymlink) line += " -> " + printable(entry.target);
  return line + "\n";
}

bool is_at_or_below(std::string_view path, std::string_view directory) {
  return directory.empty() || path == directory || (path.starts_with(directory) && path[directory.size()] == '/');
}

std::vector<Entry> entries_of(const snapshot::Manifest& manifest) {
  std::vector<Entry> entries;
  for (const snapshot::SavedEntry& saved : manifest.entries) entries.push_back(saved.entry);
  return entries;
}

char change_mark(snapshot::ChangeKind kind) {
  switch (kind) {
    case snapshot::ChangeKind::kAdded:
      return '+';
    case snapshot::ChangeKind::kRemoved:
      return '-';
    case snapshot::ChangeKind::kContent:
      return '~';
    case snapshot::ChangeKind::kMode:
      return 'm';
    case snapshot::ChangeKind::kKind:
      return 'k';
  }
  return '?';
}

std::string verify_text(const snapshot::VerifyReport& report) {
  std::string out = std::to_string(report.snapshots) + " snapshots, " + std::to_string(report.packs) + " packs, " +
                    std::to_string(report.chunks) + " chunks: " + size_text(report.bytes) + " read back\n";
  for (const snapshot::Damage& damage : report.damage) {
    out += "damaged: " + printable(damage.object) + ": " + printable(damage.problem) + "\n";
  }
  for (const snapshot::DamagedSnapshot& damaged : report.damaged_snapshots) {
    out += "not whole: " + damaged.id + (damaged.problem.empty() ? "" : ": " + printable(damaged.problem)) + "\n";
    for (const std::string& path : damaged.paths) out += "  " + printable(path) + "\n";
  }
  return out + (report.whole() ? "everything is whole\n" : "");
}

boost::json::object verify_json(const snapshot::VerifyReport& report) {
  boost::json::array damage;
  for (const snapshot::Damage& one : report.damage) {
    damage.push_back(boost::json::object{{"object", one.object}, {"problem", path_json(one.problem)}});
  }
  boost::json::array snapshots;
  for (const snapshot::DamagedSnapshot& one : report.damaged_snapshots) {
    boost::json::array paths;
    for (const std::string& path : one.paths) paths.push_back(path_json(path));
    snapshots.push_back(
        boost::json::object{{"id", one.id}, {"problem", path_json(one.problem)}, {"paths", std::move(paths)}});
  }
  return {{"whole", report.whole()},
          {"snapshots", report.snapshots},
          {"packs", report.packs},
          {"chunks", report.chunks},
          {"bytes", report.bytes},
          {"damage", std::move(damage)},
          {"damagedSnapshots", std::move(snapshots)}};
}

std::string normal_entry_path(std::string_view written) {
  std::string path(written);
  while (path.starts_with("./")) path.erase(0, 2);
  while (path.ends_with('/')) path.pop_back();
  return path == "." ? "" : path;
}

}  // namespace

int run_snapshot_list(const Invocation& invocation) {
  const Arguments& arguments = invocation.arguments;
  std::string workspace;
  if (arguments.has("workspace")) {
    auto name = control::workspace_name(std::string(arguments.value("workspace")));
    if (!name) return failed(invocation, name.error());
    workspace = std::move(*name);
  }
  const auto records = invocation.program.services.snapshots->list(company_of(arguments), workspace);
  if (!records) return failed(invocation, records.error());
  if (wants_json(arguments)) {
    boost::json::array out;
    for (const store::SnapshotRecord& record : *records) out.push_back(snapshot_json(record));
    invocation.console.out(pretty(out));
  } else if (records->empty()) {
    invocation.console.err("cofferdam: nothing is saved\n");
  } else {
    invocation.console.out(list_text(*records));
  }
  return kExitSuccess;
}

int run_snapshot_show(const Invocation& invocation) {
  const Arguments& arguments = invocation.arguments;
  control::Snapshots& snapshots = *invocation.program.services.snapshots;
  const auto record = snapshots.find(company_of(arguments), arguments.positionals.front());
  if (!record) return failed(invocation, record.error());
  const auto manifest = snapshots.manifest(company_of(arguments), record->id);
  if (!manifest) return failed(invocation, manifest.error());
  boost::json::object json = snapshot_json(*record);
  json["fingerprint"] = manifest->fingerprint.hex();
  json["entries"] = manifest->entries.size();
  json["omitted"] = omissions_json(manifest->omissions);
  if (wants_json(arguments)) {
    invocation.console.out(pretty(json));
    return kExitSuccess;
  }
  invocation.console.out("snapshot:    " + record->id + "\nworkspace:   " + printable(record->workspace) +
                         "\nlabel:       " + printable(record->label) + "\nsaved:       " +
                         time_text(record->created_ms) + " UTC\ncommitted:   " + time_text(record->committed_ms) +
                         " UTC\nentries:     " + std::to_string(manifest->entries.size()) +
                         "\nfingerprint: " + manifest->fingerprint.hex() + "\nsealed with: key " + record->key_id +
                         "\n" + omissions_text(manifest->omissions));
  return kExitSuccess;
}

int run_snapshot_ls(const Invocation& invocation) {
  const Arguments& arguments = invocation.arguments;
  const auto manifest =
      invocation.program.services.snapshots->manifest(company_of(arguments), arguments.positionals.front());
  if (!manifest) return failed(invocation, manifest.error());
  const std::string below = arguments.positionals.size() < 2 ? "" : normal_entry_path(arguments.positionals[1]);
  boost::json::array json;
  std::string text;
  bool found = below.empty();
  for (const snapshot::SavedEntry& saved : manifest->entries) {
    if (!is_at_or_below(saved.entry.path, below)) continue;
    found = true;
    if (wants_json(arguments)) {
      json.push_back(entry_json(saved.entry));
    } else {
      text += entry_text(saved.entry);
    }
  }
  if (!found)
    return failed(invocation, Error(ErrorCode::kNotFound, "the snapshot has no " + printable(below))
                                  .with_hint("Without PATH everything it has is listed."));
  invocation.console.out(wants_json(arguments) ? pretty(json) : text);
  return kExitSuccess;
}

int run_snapshot_diff(const Invocation& invocation) {
  const Arguments& arguments = invocation.arguments;
  control::Snapshots& snapshots = *invocation.program.services.snapshots;
  const auto before = snapshots.manifest(company_of(arguments), arguments.positionals[0]);
  if (!before) return failed(invocation, before.error());
  const auto after = snapshots.manifest(company_of(arguments), arguments.positionals[1]);
  if (!after) return failed(invocation, after.error());
  boost::json::array json;
  std::string text;
  for (const snapshot::Change& change : snapshot::difference(entries_of(*before), entries_of(*after))) {
    json.push_back(boost::json::object{{"path", path_json(change.path)}, {"change", snapshot::to_string(change.kind)}});
    text += std::string(1, change_mark(change.kind)) + " " + printable(change.path) + "\n";
  }
  invocation.console.out(wants_json(arguments) ? pretty(json) : text);
  return kExitSuccess;
}

int run_snapshot_verify(const Invocation& invocation) {
  const Arguments& arguments = invocation.arguments;
  ConsoleProgress progress(invocation.console, errors_go_to_terminal(), arguments.has("quiet"), "from store");
  const auto report = invocation.program.services.snapshots->verify(
      {.company = company_of(arguments),
       .snapshot = arguments.positionals.empty() ? "" : arguments.positionals.front(),
       .progress = &progress});
  if (!report) return failed(invocation, report.error());
  invocation.console.out(wants_json(arguments) ? pretty(verify_json(*report)) : verify_text(*report));
  return report->whole() ? kExitSuccess : kExitFailure;
}

int run_snapshot_restore(const Invocation& invocation) {
  const Arguments& arguments = invocation.arguments;
  auto target = absolute_path(arguments.positionals[1]);
  if (!target) return failed(invocation, target.error());
  ConsoleProgress progress(invocation.console, errors_go_to_terminal(), arguments.has("quiet"), "from store");
  const snapshot::RestoreRequest request{.target = std::move(*target),
                                         .path = normal_entry_path(arguments.value("path")),
                                         .trust = arguments.has("trust"),
                                         .progress = &progress,
                                         .on_step = {}};
  const auto report =
      invocation.program.services.snapshots->restore(company_of(arguments), arguments.positionals.front(), request);
  if (!report) return failed(invocation, report.error());
  boost::json::array left_out;
  for (const std::string& path : report->left_out) {
    left_out.push_back(path_json(path));
    invocation.console.err("cofferdam: left out: " + printable(path) + " (--trust brings it back)\n");
  }
  if (wants_json(arguments)) {
    invocation.console.out(pretty(boost::json::object{{"files", report->files},
                                                      {"directories", report->directories},
                                                      {"links", report->links},
                                                      {"bytes", report->bytes},
                                                      {"leftOut", std::move(left_out)}}));
  } else {
    invocation.console.out(std::to_string(report->files) + " files, " + std::to_string(report->directories) +
                           " directories, " + std::to_string(report->links) + " links: " + size_text(report->bytes) +
                           " in " + printable(request.target) + "\n");
  }
  return kExitSuccess;
}

}  // namespace cofferdam::cli
