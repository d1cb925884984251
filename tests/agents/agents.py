"""The agents of the test bed, one row each: what it is started with and what it must find beforehand.

A row holds only facts about the agent. `bed.py` prepares the world around it, `run_row` runs and judges it.
To add an agent: pin its package in packages/package.json, add a row here, name it in CMakeLists.txt.
"""

import dataclasses
import json
import platform
import typing

ARCHITECTURE = {"x86_64": "x64", "aarch64": "arm64"}.get(platform.machine(), platform.machine())
PROMPT = "Build the project, set the notes to final, and tell me what you found."


@dataclasses.dataclass(frozen=True)
class Place:
    """Where things are for one run."""

    packages: str  # the installed npm packages
    model: str  # base URL of the stand-in model, without a trailing slash

    @property
    def modules(self):
        return f"{self.packages}/node_modules"

    @property
    def names(self):
        """The folder on PATH in which npm puts the agents' names."""
        return f"{self.modules}/.bin"

    @property
    def node(self):
        return f"{self.modules}/node-linux-{ARCHITECTURE}/bin/node"


@dataclasses.dataclass(frozen=True)
class Agent:
    profile: str
    program: str  # a file that says whether it is installed, below node_modules
    command: typing.Callable[[Place], list]
    files: typing.Callable[[Place], dict] = lambda place: {}  # settings, relative to the home directory
    # What its user exports, and the profile passes on.
    variables: typing.Callable[[Place], dict] = lambda place: {}
    # What the profile sets by itself, so only an unconfined run is given it.
    profiled: dict = dataclasses.field(default_factory=dict)
    # Below the home directory: where it keeps its sessions (kept after a run), and a file from which it would take
    # orders the next time (must not be plantable).
    sessions: str = ""
    orders: str = ""
    # It runs its tools in a sandbox of its own, and this is in the result of the first step because of that.
    own_sandbox: str = ""
    copied: str = ""  # a file in the home directory itself that must be there afterwards
    quiet: bool = False  # its profile switches off every background call, so nothing but the script's is refused
    acp: bool = False  # driven by the ACP client instead of a prompt


def _json(value):
    return json.dumps(value, indent=2) + "\n"


# ---- Claude Code ----

_CLAUDE = f"@anthropic-ai/claude-code-linux-{ARCHITECTURE}/claude"
_CLAUDE_PROFILED = {"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "DISABLE_AUTOUPDATER": "1", "IS_SANDBOX": "1"}


def _claude_settings(_):
    return {".claude/settings.json": "{}\n"}


def _claude_variables(place):
    return {"ANTHROPIC_API_KEY": "stand-in-key", "ANTHROPIC_BASE_URL": place.model}


_CLAUDE_HOME = {"sessions": ".claude/projects", "orders": ".claude/hooks/planted.sh",
                "copied": ".claude.json"}  # fmt: skip


def _claude_sandboxed(place):
    return [*_claude_command(place), "--settings", json.dumps({"sandbox": {"enabled": True}})]


def _claude_command(place):
    # The name `claude` exists only where npm may run install scripts.
    return [f"{place.modules}/{_CLAUDE}", "-p", PROMPT, "--output-format", "stream-json", "--verbose",
            "--dangerously-skip-permissions"]  # fmt: skip


# ---- Codex ----


def _codex_settings(place):
    # An unknown model name gets the plain tool set (exec_command), which is what the script drives.
    return {
        ".codex/config.toml": f"""\
model = "stand-in"
model_provider = "standin"

[model_providers.standin]
name = "stand-in"
base_url = "{place.model}/v1"
wire_api = "responses"
env_key = "OPENAI_API_KEY"

[features]
plugins = false
"""
    }


def _codex(*flags):
    def command(place):
        return ["codex", "exec", "--json", "--skip-git-repo-check", *flags, PROMPT]

    return command


def _codex_variables(_):
    return {"OPENAI_API_KEY": "stand-in-key"}


_CODEX_HOME = {"sessions": ".codex/sessions", "orders": ".codex/hooks.json"}

# ---- Gemini ----

_GEMINI = "@google/gemini-cli/bundle/gemini.js"


def _gemini_settings(_):
    settings = {
        "security": {"auth": {"selectedType": "gemini-api-key"}, "folderTrust": {"enabled": False}},
        "privacy": {"usageStatisticsEnabled": False},
        "general": {"enableAutoUpdate": False},
    }
    return {".gemini/settings.json": _json(settings)}


def _gemini_variables(place):
    return {"GEMINI_API_KEY": "stand-in-key", "GOOGLE_GEMINI_BASE_URL": place.model}


_GEMINI_HOME = {"sessions": ".gemini/tmp", "orders": ".gemini/extensions/planted.json"}

# ---- opencode, pi ----


def _opencode_settings(place):
    provider = {
        "npm": "@ai-sdk/openai-compatible",
        "options": {"baseURL": f"{place.model}/v1", "apiKey": "stand-in-key"},
        "models": {"m1": {}},
    }
    settings = {
        "provider": {"standin": provider},
        "model": "standin/m1",
        "small_model": "standin/m1",
        "autoupdate": False,
        "share": "disabled",
        "permission": {"edit": "allow", "bash": "allow", "webfetch": "allow", "external_directory": "allow"},
    }
    return {".config/opencode/opencode.json": _json(settings)}


def _pi_settings(place):
    model = {"id": "m1", "name": "m1", "reasoning": False, "input": ["text"], "contextWindow": 100000,
             "maxTokens": 4096, "cost": {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0}}  # fmt: skip
    provider = {"baseUrl": f"{place.model}/v1", "api": "openai-completions", "apiKey": "stand-in-key", "models": [model]}
    return {".pi/agent/models.json": _json({"providers": {"standin": provider}})}


AGENTS = {
    "claude": Agent(
        profile="claude_local",
        quiet=True,
        program=_CLAUDE,
        command=_claude_command,
        files=_claude_settings,
        variables=_claude_variables,
        profiled=_CLAUDE_PROFILED,
        **_CLAUDE_HOME,
    ),
    "codex": Agent(
        profile="codex_local",
        quiet=True,
        program="@openai/codex/bin/codex.js",
        command=_codex("--dangerously-bypass-approvals-and-sandbox"),
        files=_codex_settings,
        variables=_codex_variables,
        **_CODEX_HOME,
    ),
    "claude_sandboxed": Agent(
        profile="claude_local",
        quiet=True,
        program=_CLAUDE,
        own_sandbox=".bash_profile: can only add regular files",
        command=_claude_sandboxed,
        files=_claude_settings,
        variables=_claude_variables,
        profiled=_CLAUDE_PROFILED,
        **_CLAUDE_HOME,
    ),
    # Codex inside its own sandbox inside ours, with the settings of Paperclip's adapter.
    "codex_sandboxed": Agent(
        profile="codex_local",
        quiet=True,
        program="@openai/codex/bin/codex.js",
        own_sandbox="index.lock': Read-only file system",
        command=_codex("--sandbox", "workspace-write", "-c", "sandbox_workspace_write.network_access=true"),
        files=_codex_settings,
        variables=_codex_variables,
        **_CODEX_HOME,
    ),
    "gemini": Agent(
        profile="gemini_local",
        program=_GEMINI,
        command=lambda place: ["gemini", "-p", PROMPT, "-o", "stream-json", "--yolo"],
        files=_gemini_settings,
        variables=_gemini_variables,
        **_GEMINI_HOME,
    ),
    "opencode": Agent(
        profile="opencode_local",
        program=f"opencode-linux-{ARCHITECTURE}/bin/opencode",
        command=lambda place: [f"{place.modules}/opencode-linux-{ARCHITECTURE}/bin/opencode", "run", "--format",
                               "json", PROMPT],  # fmt: skip
        files=_opencode_settings,
        profiled={"OPENCODE_DISABLE_MODELS_FETCH": "1"},
        sessions=".local/share/opencode",
        orders=".config/opencode/plugin/planted.js",
    ),
    "pi": Agent(
        profile="pi_local",
        quiet=True,
        program="@earendil-works/pi-coding-agent/package.json",
        command=lambda place: ["pi", "-p", "--mode", "json", "--provider", "standin", "--model", "m1", PROMPT],
        files=_pi_settings,
        profiled={"PI_OFFLINE": "1", "PI_SKIP_VERSION_CHECK": "1", "PI_TELEMETRY": "0"},
        sessions=".pi/agent/sessions",
        orders=".pi/agent/extensions/planted.js",
    ),
    # ACP: the adapter is confined, the client (acp_client.mjs) is outside and offers no file or terminal access.
    "claude_acp": Agent(
        profile="claude_local",
        program="@zed-industries/claude-agent-acp/dist/index.js",
        command=lambda place: ["claude-agent-acp"],
        files=_claude_settings,
        variables=_claude_variables,
        profiled=_CLAUDE_PROFILED,
        **_CLAUDE_HOME,
        acp=True,
    ),
    # The modes that a client sets are noted in config.toml, which is read-only here; so the mode is a flag.
    "codex_acp": Agent(
        profile="codex_local",
        quiet=True,
        program="@zed-industries/codex-acp/bin/codex-acp.js",
        command=lambda place: ["codex-acp", "-c", 'sandbox_mode="danger-full-access"', "-c", 'approval_policy="never"'],
        files=_codex_settings,
        variables=_codex_variables,
        **_CODEX_HOME,
        acp=True,
    ),
    "gemini_acp": Agent(
        profile="gemini_local",
        program=_GEMINI,
        command=lambda place: ["gemini", "--acp"],
        files=_gemini_settings,
        variables=_gemini_variables,
        **_GEMINI_HOME,
        acp=True,
    ),
}
