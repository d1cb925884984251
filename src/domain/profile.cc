#include "domain/profile.h"

#include <array>
#include <vector>

#include "base/strings.h"
#include "domain/suggestion.h"

namespace cofferdam::domain {
namespace {

using Guarded = Profile::Guarded;
using HomeDirectory = Profile::HomeDirectory;
using Setting = Profile::Setting;
using Words = std::string_view;

constexpr std::array kNodeCa = {Words{"NODE_EXTRA_CA_CERTS"}};
constexpr std::array kEitherCa = {Words{"NODE_EXTRA_CA_CERTS"}, Words{"SSL_CERT_FILE"}};

// Claude Code -------------------------------------------------------------------------------------------------------
constexpr std::array kClaudeHosts = {Words{"api.anthropic.com"}, Words{"claude.com"}, Words{"platform.claude.com"},
                                     Words{"claude.ai"}, Words{"console.anthropic.com"}};
constexpr std::array kClaudePass = {Words{"ANTHROPIC_API_KEY"}, Words{"ANTHROPIC_AUTH_TOKEN"},
                                    Words{"ANTHROPIC_BASE_URL"}, Words{"ANTHROPIC_MODEL"},
                                    Words{"CLAUDE_CODE_OAUTH_TOKEN"}};
constexpr std::array kClaudeSet = {Setting{"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"},
                                   Setting{"DISABLE_AUTOUPDATER", "1"}};
// `local` holds an installation of the program itself.
constexpr std::array kClaudeGuarded = {
    Guarded{"settings.json"},
    Guarded{"settings.local.json"},
    Guarded{"CLAUDE.md"},
    Guarded{"keybindings.json"},
    Guarded{"hooks", true},
    Guarded{"agents", true},
    Guarded{"commands", true},
    Guarded{"skills", true},
    Guarded{"rules", true},
    Guarded{"plugins", true},
    Guarded{"output-styles", true},
    Guarded{"local", true},
    // Where it is, it is read instead of ~/.claude.json; an empty one is an error.
    Guarded{.path = ".config.json", .stays_absent = true},
};
constexpr std::array kClaudeDirectories = {HomeDirectory{".claude", "CLAUDE_CONFIG_DIR", kClaudeGuarded}};
constexpr std::array kClaudeFiles = {Words{".claude.json"}};

// Codex -------------------------------------------------------------------------------------------------------------
constexpr std::array kCodexHosts = {Words{"api.openai.com"}, Words{"auth.openai.com"}, Words{"chatgpt.com"},
                                    Words{"platform.openai.com"}, Words{"oaistatic.com"}};
constexpr std::array kCodexPass = {Words{"OPENAI_API_KEY"}, Words{"CODEX_API_KEY"}};
constexpr std::array kCodexCa = {Words{"SSL_CERT_FILE"}, Words{"CODEX_CA_CERTIFICATE"}};
constexpr std::array kCodexGuarded = {
    Guarded{"config.toml"},  Guarded{"managed_config.toml"}, Guarded{"AGENTS.md"},     Guarded{"AGENTS.override.md"},
    Guarded{"hooks.json"},   Guarded{"hooks", true},         Guarded{"rules", true},   Guarded{"prompts", true},
    Guarded{"skills", true}, Guarded{"agents", true},        Guarded{"plugins", true},
};
constexpr std::array kCodexDirectories = {HomeDirectory{".codex", "CODEX_HOME", kCodexGuarded}};

// The environment has no switch for these. The user's own settings win over them.
constexpr std::array kCodexSystem = {Profile::SystemFile{
    "/etc/codex/config.toml", "check_for_update_on_startup = false\n\n[analytics]\nenabled = false\n"}};

// Gemini ------------------------------------------------------------------------------------------------------------
constexpr std::array kGeminiHosts = {Words{"generativelanguage.googleapis.com"}, Words{"oauth2.googleapis.com"},
                                     Words{"sts.googleapis.com"}};
constexpr std::array kGeminiPass = {Words{"GOOGLE_API_KEY"}, Words{"GEMINI_API_KEY"}, Words{"GOOGLE_GEMINI_BASE_URL"},
                                    Words{"GEMINI_MODEL"}};
// One Node process and 100 MB less; the relaunch only raises the heap limit.
constexpr std::array kGeminiSet = {Setting{"GEMINI_CLI_NO_RELAUNCH", "true"}};
constexpr std::array kGeminiGuarded = {
    Guarded{"settings.json"},       Guarded{".env"},         Guarded{"GEMINI.md"},      Guarded{"system.md"},
    Guarded{"trustedFolders.json"}, Guarded{"hooks", true},  Guarded{"commands", true}, Guarded{"extensions", true},
    Guarded{"skills", true},        Guarded{"agents", true}, Guarded{"policies", true},
};
constexpr std::array kGeminiDirectories = {HomeDirectory{".gemini", "GEMINI_CLI_HOME", kGeminiGuarded, ".gemini"}};

// Cursor ------------------------------------------------------------------------------------------------------------
constexpr std::array kCursorHosts = {Words{"api.anthropic.com"}, Words{"api.openai.com"}, Words{"cursor.com"},
                                     Words{"api2.cursor.sh"}};
constexpr std::array kCursorPass = {Words{"CURSOR_API_KEY"}, Words{"ANTHROPIC_API_KEY"}, Words{"OPENAI_API_KEY"}};
constexpr std::array kCursorGuarded = {
    Guarded{"cli-config.json"}, Guarded{"mcp.json"},      Guarded{"permissions.json"}, Guarded{"hooks.json"},
    Guarded{"hooks", true},     Guarded{"rules", true},   Guarded{"commands", true},   Guarded{"skills", true},
    Guarded{"agents", true},    Guarded{"plugins", true}, Guarded{"extensions", true},
};
constexpr std::array kCursorConfigGuarded = {Guarded{"cli-config.json"}, Guarded{"mcp.json"}, Guarded{"hooks.json"}};
constexpr std::array kCursorDirectories = {
    HomeDirectory{".cursor", "", kCursorGuarded},
    HomeDirectory{".config/cursor", "XDG_CONFIG_HOME", kCursorConfigGuarded, "cursor"}};

// OpenCode ----------------------------------------------------------------------------------------------------------
constexpr std::array kOpencodeHosts = {Words{"api.anthropic.com"}, Words{"api.openai.com"}, Words{"openrouter.ai"}};
constexpr std::array kOpencodePass = {Words{"ANTHROPIC_API_KEY"}, Words{"OPENAI_API_KEY"}, Words{"OPENROUTER_API_KEY"}};
constexpr std::array kOpencodeSet = {Setting{"OPENCODE_DISABLE_MODELS_FETCH", "1"}};
// Modules beside the configuration are code that the agent loads as plugins.
constexpr std::array kOpencodeConfigGuarded = {
    Guarded{"opencode.json"},  Guarded{"opencode.jsonc"},     Guarded{"config.json"},   Guarded{"AGENTS.md"},
    Guarded{"package.json"},   Guarded{"agent", true},        Guarded{"agents", true},  Guarded{"command", true},
    Guarded{"commands", true}, Guarded{"plugin", true},       Guarded{"plugins", true}, Guarded{"tool", true},
    Guarded{"tools", true},    Guarded{"skill", true},        Guarded{"skills", true},  Guarded{"modes", true},
    Guarded{"themes", true},   Guarded{"node_modules", true},
};
constexpr std::array kOpencodeDataGuarded = {Guarded{"bin", true}};  // language servers that it downloads and runs
constexpr std::array kOpencodeDirectories = {
    HomeDirectory{".config/opencode", "XDG_CONFIG_HOME", kOpencodeConfigGuarded, "opencode"},
    HomeDirectory{".local/share/opencode", "XDG_DATA_HOME", kOpencodeDataGuarded, "opencode"}};

// Pi ----------------------------------------------------------------------------------------------------------------
constexpr std::array kPiHosts = {Words{"api.anthropic.com"}};
constexpr std::array kPiPass = {Words{"ANTHROPIC_API_KEY"}};
constexpr std::array kPiSet = {Setting{"PI_OFFLINE", "1"}, Setting{"PI_SKIP_VERSION_CHECK", "1"},
                               Setting{"PI_TELEMETRY", "0"}};
constexpr std::array kPiGuarded = {
    Guarded{"settings.json"},    Guarded{"models.json"},      Guarded{"AGENTS.md"},    Guarded{"SYSTEM.md"},
    Guarded{"APPEND_SYSTEM.md"}, Guarded{"extensions", true}, Guarded{"skills", true}, Guarded{"prompts", true},
    Guarded{"tools", true},      Guarded{"hooks", true},      Guarded{"bin", true},    Guarded{"npm", true},
    Guarded{"git", true},
};
constexpr std::array kPiDirectories = {HomeDirectory{".pi/agent", "PI_CODING_AGENT_DIR", kPiGuarded},
                                       HomeDirectory{".pi", "", {}}};

constexpr std::array kProfiles = {
    Profile{.name = "claude_local",
            .title = "Claude",
            .hosts = kClaudeHosts,
            .pass = kClaudePass,
            .ca_variables = kEitherCa,
            .set = kClaudeSet,
            .directories = kClaudeDirectories,
            .copied_files = kClaudeFiles,
            .refuses_root = true},
    Profile{.name = "codex_local",
            .title = "Codex",
            .hosts = kCodexHosts,
            .pass = kCodexPass,
            .ca_variables = kCodexCa,
            .set = {},
            .directories = kCodexDirectories,
            .copied_files = {},
            .system_files = kCodexSystem,
            .nested_sandboxes = true},
    Profile{.name = "gemini_local",
            .title = "Gemini",
            .hosts = kGeminiHosts,
            .pass = kGeminiPass,
            .ca_variables = kNodeCa,
            .set = kGeminiSet,
            .directories = kGeminiDirectories,
            .copied_files = {}},
    Profile{.name = "cursor_local",
            .title = "Cursor",
            .hosts = kCursorHosts,
            .pass = kCursorPass,
            .ca_variables = kNodeCa,
            .set = {},
            .directories = kCursorDirectories,
            .copied_files = {}},
    Profile{.name = "opencode_local",
            .title = "OpenCode",
            .hosts = kOpencodeHosts,
            .pass = kOpencodePass,
            .ca_variables = kEitherCa,
            .set = kOpencodeSet,
            .directories = kOpencodeDirectories,
            .copied_files = {}},
    Profile{.name = "pi_local",
            .title = "Pi",
            .hosts = kPiHosts,
            .pass = kPiPass,
            .ca_variables = kNodeCa,
            .set = kPiSet,
            .directories = kPiDirectories,
            .copied_files = {}},
};

}  // namespace

std::span<const Profile> profiles() {
  return kProfiles;
}

Result<const Profile*> find_profile(std::string_view name) {
  std::vector<std::string_view> names;
  for (const Profile& profile : kProfiles) {
    if (profile.name == name) return &profile;
    names.push_back(profile.name);
  }
  std::string known;
  for (const std::string_view each : names) known += (known.empty() ? "" : ", ") + std::string(each);
  Error error(ErrorCode::kInvalidArgument, "\"" + printable(name) + "\" is not a profile; there are " + known);
  const std::string suggestion = suggestion_for(name, names);
  return suggestion.empty() ? std::move(error) : std::move(error).with_hint(suggestion);
}

}  // namespace cofferdam::domain
