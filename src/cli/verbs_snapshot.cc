// The verbs of saved workspaces, of the keys that seal them, and of merging.
#include <array>

#include "cli/verb.h"

namespace cofferdam::cli {
namespace {

constexpr std::string_view kGeneral = "General";
constexpr std::string_view kKeep = "What to keep (at least one)";

constexpr OptionSpec kOutput{"output",    'o',
                             "text|json", Completion::kWords,
                             kGeneral,    "How to print: text for people (default) or json for programs."};
constexpr OptionSpec kQuiet{"quiet", 'q', "", Completion::kNone, kGeneral, "No progress; only the result and errors."};
constexpr OptionSpec kCompany{
    "company", 0,
    "NAME",    Completion::kNone,
    kGeneral,  "The company (tenant) whose snapshots are meant (default: $COFFERDAM_COMPANY, else \"default\")."};
constexpr OptionSpec kLabel{"label", 'l', "TEXT", Completion::kNone, kGeneral, "A remark that lists show."};
constexpr OptionSpec kExclude{"exclude", 0,
                              "PATH",    Completion::kPath,
                              kGeneral,  "Leave out PATH, relative to the directory, and everything below. Repeatable.",
                              true};
constexpr OptionSpec kWithDependencies{
    "with-dependencies",
    0,
    "",
    Completion::kNone,
    kGeneral,
    "Save untracked node_modules and Python environments too, which are left out otherwise."};
constexpr OptionSpec kStill{
    "still",
    0,
    "",
    Completion::kNone,
    kGeneral,
    "Fail when anything changes while it is saved; otherwise such files are read again and named if they go on."};
constexpr OptionSpec kLevel{"level", 0, "1-19", Completion::kNone, kGeneral, "How hard to compress (default: 3)."};
constexpr OptionSpec kWorkspace{
    "workspace", 'w', "DIR", Completion::kDirectory, kGeneral, "Only the snapshots of this directory."};
constexpr OptionSpec kPath{
    "path", 0, "PATH", Completion::kNone, kGeneral, "Only this file or directory of the snapshot; it becomes DIR."};
constexpr OptionSpec kTrust{
    "trust",
    0,
    "",
    Completion::kNone,
    kGeneral,
    "Bring back also what could run programs or lead outside: Git hooks and settings, links to other places."};
constexpr OptionSpec kDryRun{"dry-run", 'n', "", Completion::kNone, kGeneral, "Only say what would go."};
constexpr OptionSpec kMaster{"master",          0,        "",
                             Completion::kNone, kGeneral, "Rotate the master key instead of the company's."};

constexpr std::array kSaveOptions = {kLabel, kExclude, kWithDependencies, kStill, kLevel, kCompany, kQuiet, kOutput};
constexpr OptionSpec kNamed{"workspace", 'w',
                            "NAME",      Completion::kNone,
                            kGeneral,    "The name under which snapshots of this sandbox follow each other."};
constexpr std::array kRecoverOptions = {kLabel, kNamed, kExclude, kWithDependencies, kLevel, kCompany, kQuiet, kOutput};
constexpr std::array kListOptions = {kWorkspace, kCompany, kOutput};
constexpr std::array kCommonOptions = {kCompany, kOutput};
constexpr std::array kVerifyOptions = {kCompany, kQuiet, kOutput};
constexpr std::array kRestoreOptions = {kPath, kTrust, kCompany, kQuiet, kOutput};
constexpr OptionSpec keep(std::string_view name, std::string_view help) {
  return {name, 0, "N", Completion::kNone, kKeep, help};
}
constexpr std::array kPruneOptions = {keep("keep-last", "The N newest of each workspace."),
                                      keep("keep-hourly", "The newest of each of the last N hours that have one."),
                                      keep("keep-daily", "The newest of each of the last N days that have one (UTC)."),
                                      keep("keep-weekly", "The newest of each of the last N weeks that have one."),
                                      keep("keep-monthly", "The newest of each of the last N months that have one."),
                                      keep("keep-yearly", "The newest of each of the last N years that have one."),
                                      kWorkspace,
                                      kDryRun,
                                      kCompany,
                                      kOutput};
constexpr std::array kRotateOptions = {kMaster, kCompany, kOutput};
constexpr std::array kOnlyOutput = {kOutput};

constexpr PositionalSpec kId{"ID", "", "A snapshot: its id, an unambiguous beginning of it, or \"latest\".", true};
constexpr std::array kDirectory = {PositionalSpec{"DIR", "", "The directory to save (default: the current one).", false,
                                                  false, Completion::kDirectory}};
constexpr std::array kSandboxDirectory = {
    PositionalSpec{"DIR", "", "The directory to save: an absolute path in the sandbox.", true}};
constexpr std::array kOneId = {kId};
constexpr std::array kIdAndPath = {
    kId, PositionalSpec{"PATH", "", "Only this path of the snapshot and what is below it.", false}};
constexpr std::array kTwoIds = {PositionalSpec{"A", "", "The older snapshot.", true},
                                PositionalSpec{"B", "", "The newer snapshot.", true}};
constexpr std::array kMaybeId = {
    PositionalSpec{"ID", "", "Only what this snapshot needs (default: everything that is stored).", false}};
constexpr std::array kIdAndTarget = {
    kId, PositionalSpec{"DIR", "", "Where to: an absent or empty directory.", true, false, Completion::kDirectory}};
constexpr std::array kManyIds = {PositionalSpec{"ID", "", "Snapshots to delete.", true, true}};
constexpr std::array kKeyFile = {PositionalSpec{
    "FILE", "", "A file that \"key export\" wrote; \"-\" is standard input.", true, false, Completion::kFile}};

constexpr OptionSpec kBase{"base",         0,
                           "SNAPSHOT|DIR", Completion::kDirectory,
                           kGeneral,       "What A began as: a directory, or a snapshot's id. Required."};
constexpr OptionSpec kPrefer{
    "prefer",           0,        "both|sandbox|host",
    Completion::kWords, kGeneral, "Where both sides changed a file: keep both (default), A's version, or B's."};
constexpr std::array kSyncOptions = {kBase, kPrefer, kCompany, kOutput};
constexpr std::array kFromAndInto = {
    PositionalSpec{"A", "", "The directory whose changes would be merged.", true, false, Completion::kDirectory},
    PositionalSpec{"B", "", "The directory they would be merged into.", true, false, Completion::kDirectory}};

constexpr std::string_view kUsual = "0  done\n1  it failed\n2  the command line is wrong";

constexpr std::array kVerbs = {
    Verb{
        .name = "snapshot save",
        .summary = "Save a directory, encrypted",
        .synopsis = "[FLAGS] [DIR]",
        .description =
            "Saves everything below DIR, its Git repository included, into the encrypted store, and prints the "
            "snapshot's id, what it holds and what was left out. Only content that is not stored yet is written. "
            "When it returns with success the save is complete and on disk.\n\n"
            "Left out: untracked node_modules and Python environments, sockets, FIFOs, devices, other file systems.\n\n"
            "The first save makes a key. Without that key nothing can be read: keep a copy elsewhere (cofferdam key "
            "export).",
        .examples = "cofferdam snapshot save\n    The current directory.\n"
                    "cofferdam snapshot save --label 'before the upgrade' ~/project\n    With a remark.",
        .options = kSaveOptions,
        .policy_options = false,
        .takes_command = false,
        .positionals = kDirectory,
        .exit_codes = kUsual,
        .run = run_snapshot_save,
        .needs_engine = true},
    Verb{.name = "snapshot recover",
         .summary = "Save a directory out of a sandbox, also when its disk is full",
         .synopsis = "[FLAGS] DIR -- COMMAND…",
         .description =
             "Saves DIR of a sandbox into the encrypted store. COMMAND… is the program that runs a command there, with "
             "its first words: the words of each command are appended, and no shell is between them. The sandbox "
             "needs sh, dd, GNU find and GNU tar.\n\n"
             "An archive is made in the sandbox first. When its disk is full, and only then, the files are read over "
             "the command's output instead, once: nothing is written in the sandbox, everything is compared before and "
             "after it is sealed, and any doubt means no snapshot. The sandbox keeps its files in every case.",
         .examples = "cofferdam snapshot recover /workspace -- docker exec -i box\n    A container.\n"
                     "cofferdam snapshot recover /work -- kubectl exec -i pod -- \n    A pod.",
         .options = kRecoverOptions,
         .policy_options = false,
         .takes_command = true,
         .positionals = kSandboxDirectory,
         .exit_codes = kUsual,
         .run = run_snapshot_recover,
         .needs_engine = true},
    Verb{.name = "snapshot list",
         .summary = "List the snapshots",
         .synopsis = "[FLAGS]",
         .description = "Lists committed snapshots, newest first.",
         .examples = "cofferdam snapshot list -w .\n    Those of this directory.",
         .options = kListOptions,
         .policy_options = false,
         .takes_command = false,
         .positionals = {},
         .exit_codes = kUsual,
         .run = run_snapshot_list,
         .needs_engine = true},
    Verb{.name = "snapshot show",
         .summary = "Show what a snapshot is and what it left out",
         .synopsis = "ID",
         .description = "Prints where a snapshot comes from, when it was made, its counts and fingerprint, and "
                        "everything that was left out with the reason.",
         .examples = "cofferdam snapshot show latest",
         .options = kCommonOptions,
         .policy_options = false,
         .takes_command = false,
         .positionals = kOneId,
         .exit_codes = kUsual,
         .run = run_snapshot_show,
         .needs_engine = true},
    Verb{.name = "snapshot ls",
         .summary = "List the files in a snapshot",
         .synopsis = "ID [PATH]",
         .description = "Lists mode, size, time and path of everything in a snapshot, or below PATH.",
         .examples = "cofferdam snapshot ls latest src\n    What is below src.",
         .options = kCommonOptions,
         .policy_options = false,
         .takes_command = false,
         .positionals = kIdAndPath,
         .exit_codes = kUsual,
         .run = run_snapshot_ls,
         .needs_engine = true},
    Verb{.name = "snapshot diff",
         .summary = "Show what changed between two snapshots",
         .synopsis = "A B",
         .description =
             "Lists what B has (+), lost (-) and changed (content ~, mode m, kind k) against A. Times do not "
             "count.",
         .examples = "cofferdam snapshot diff 01kb latest",
         .options = kCommonOptions,
         .policy_options = false,
         .takes_command = false,
         .positionals = kTwoIds,
         .exit_codes = kUsual,
         .run = run_snapshot_diff,
         .needs_engine = true},
    Verb{.name = "snapshot verify",
         .summary = "Read everything back and check it",
         .synopsis = "[ID]",
         .description = "Reads every stored byte, opens every sealed piece and hashes every chunk. What is damaged is "
                        "named with the snapshots and files it belongs to.",
         .examples = "cofferdam snapshot verify\n    Everything.",
         .options = kVerifyOptions,
         .policy_options = false,
         .takes_command = false,
         .positionals = kMaybeId,
         .exit_codes = "0  everything is whole\n1  something is damaged, or could not be read\n"
                       "2  the command line is wrong",
         .run = run_snapshot_verify,
         .needs_engine = true},
    Verb{.name = "snapshot restore",
         .summary = "Bring a snapshot back",
         .synopsis = "[FLAGS] ID DIR",
         .description =
             "Writes a snapshot, or one path of it, to DIR, which must be absent or empty. DIR appears only when "
             "everything is there and proven. A repository comes back with its history, its index and its branches: "
             "staged stays staged.\n\n"
             "What Git would execute (hooks, settings that name programs) and links that lead outside are left out "
             "and named, unless --trust is given.",
         .examples = "cofferdam snapshot restore latest /tmp/back\n    Everything.\n"
                     "cofferdam snapshot restore latest --path src/main.c /tmp/main.c\n    One file.",
         .options = kRestoreOptions,
         .policy_options = false,
         .takes_command = false,
         .positionals = kIdAndTarget,
         .exit_codes = kUsual,
         .run = run_snapshot_restore,
         .needs_engine = true},
    Verb{.name = "snapshot delete",
         .summary = "Delete snapshots",
         .synopsis = "ID…",
         .description = "Deletes snapshots and frees what no other snapshot needs.",
         .examples = "cofferdam snapshot delete 01kb3",
         .options = kCommonOptions,
         .policy_options = false,
         .takes_command = false,
         .positionals = kManyIds,
         .exit_codes = kUsual,
         .run = run_snapshot_delete,
         .needs_engine = true},
    Verb{.name = "snapshot prune",
         .summary = "Keep some snapshots and delete the rest",
         .synopsis = "--keep-last N [FLAGS]",
         .description =
             "Applies the rules to each workspace by itself, deletes what none of them keeps, and frees what "
             "no snapshot needs.",
         .examples = "cofferdam snapshot prune --keep-last 3 --keep-daily 7 --keep-weekly 4 -n\n"
                     "    What would go.",
         .options = kPruneOptions,
         .policy_options = false,
         .takes_command = false,
         .positionals = {},
         .exit_codes = kUsual,
         .run = run_snapshot_prune,
         .needs_engine = true},
    Verb{.name = "key list",
         .summary = "List the keys that seal the store",
         .synopsis = "[FLAGS]",
         .description = "Names the master keys known here (by fingerprint) and the company's keys. Never prints a key.",
         .examples = "cofferdam key list",
         .options = kCommonOptions,
         .policy_options = false,
         .takes_command = false,
         .positionals = {},
         .exit_codes = kUsual,
         .run = run_key_list,
         .needs_engine = true},
    Verb{.name = "key rotate",
         .summary = "Seal with a new key from now on",
         .synopsis = "[--master] [FLAGS]",
         .description = "Makes a new company key, which new saves use; old snapshots stay readable with the old ones. "
                        "With --master: a new master key at the head of the key file, under which every company key is "
                        "wrapped anew. Nothing that is stored is rewritten.",
         .examples = "cofferdam key rotate --master",
         .options = kRotateOptions,
         .policy_options = false,
         .takes_command = false,
         .positionals = {},
         .exit_codes = kUsual,
         .run = run_key_rotate,
         .needs_engine = true},
    Verb{.name = "key export",
         .summary = "Print the master keys for a backup",
         .synopsis = "",
         .description = "Prints the master keys, one a line. Whoever has them and the store can read everything.",
         .examples = "cofferdam key export > /media/safe/cofferdam.key",
         .options = {},
         .policy_options = false,
         .takes_command = false,
         .positionals = {},
         .exit_codes = kUsual,
         .run = run_key_export,
         .needs_engine = true},
    Verb{.name = "key import",
         .summary = "Add master keys from a backup",
         .synopsis = "FILE",
         .description = "Adds the keys of a backup to the key file. They open what they sealed; the key in use stays.",
         .examples = "cofferdam key import /media/safe/cofferdam.key",
         .options = kOnlyOutput,
         .policy_options = false,
         .takes_command = false,
         .positionals = kKeyFile,
         .exit_codes = kUsual,
         .run = run_key_import,
         .needs_engine = true},
    Verb{.name = "sync plan",
         .summary = "Show what a merge of A into B would do",
         .synopsis = "--base SNAPSHOT|DIR A B",
         .description =
             "Compares A and B with what A began as, and prints every action of a three-way merge of A into B with its "
             "reason: add, update, delete, keep, conflict. Nothing is changed. It is the merge that \"cofferdam run "
             "--copy\" carries out when the command has ended; .git at the top is not part of it.",
         .examples = "cofferdam sync plan --base latest ./result ./project\n    Against the newest snapshot.",
         .options = kSyncOptions,
         .policy_options = false,
         .takes_command = false,
         .positionals = kFromAndInto,
         .exit_codes = kUsual,
         .run = run_sync_plan,
         .needs_engine = true},
};

}  // namespace

std::span<const Verb> snapshot_verbs() {
  return kVerbs;
}

}  // namespace cofferdam::cli
