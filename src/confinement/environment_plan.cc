#include "confinement/environment_plan.h"

#include <algorithm>

#include "base/ranges.h"
#include "base/strings.h"
#include "confinement/system_layout.h"
#include "domain/path.h"

namespace cofferdam::confinement {
namespace {

using domain::NetworkScope;

constexpr std::string_view kDefaultPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
constexpr std::string_view kNoProxy = "localhost,127.0.0.1,::1";

class EnvironmentPlanner {
 public:
  EnvironmentPlanner(const HostView& host, const MountSet& mounts, const EnvironmentRequest& request)
      : host_(host), mounts_(mounts), request_(request) {}

  std::vector<PlannedVariable> plan() && {
    pass_named();
    set("PATH", search_path(), "the caller's, without what is not visible inside");
    set("HOME", request_.home, "home directory inside");
    set("USER", request_.user_name, "account inside");
    set("LOGNAME", request_.user_name, "account inside");
    set("SHELL", login_shell(host_), "the caller's, where it is one of the system's");
    if (request_.policy.network == NetworkScope::kDeny) deny_network();
    if (request_.policy.network == NetworkScope::kAllowlist) use_proxy();
    for (const auto& [name, value] : request_.policy.variables.set) set(name, value, "set by the policy");
    return std::move(variables_);
  }

 private:
  void set(const std::string& name, std::string value, const std::string& reason) {
    const auto found = std::ranges::find(variables_, name, &PlannedVariable::name);
    if (found != variables_.end()) {
      *found = {.name = name, .value = std::move(value), .reason = reason};
    } else {
      variables_.push_back({.name = name, .value = std::move(value), .reason = reason});
    }
  }

  // A trailing `*` in a pass name stands for any ending: LC_*.
  static bool matches(std::string_view pattern, std::string_view name) {
    if (pattern.ends_with('*')) return name.starts_with(pattern.substr(0, pattern.size() - 1));
    return pattern == name;
  }

  void pass_named() {
    for (const auto& [name, value] : host_.facts().environment) {
      const bool passes = std::ranges::any_of(request_.policy.variables.pass,
                                              [&](const std::string& pattern) { return matches(pattern, name); });
      if (passes) set(name, value, "passed from the caller");
    }
  }

  std::string search_path() const {
    const auto& environment = host_.facts().environment;
    const auto found = environment.find("PATH");
    std::string out;
    for (const std::string_view entry : split(found == environment.end() ? kDefaultPath : found->second, ':')) {
      const auto path = domain::normalized_absolute(entry);
      if (!path || !visible(*path)) continue;
      if (!out.empty()) out += ':';
      out += *path;
    }
    return out.empty() ? std::string(kDefaultPath) : out;
  }

  // Directly, or through the links of the root (/bin → usr/bin).
  bool visible(const std::string& path) const {
    if (mounts_.shows(path)) return host_.follow(path).has_value();
    const auto real = host_.real_path(path);
    const Mount* mount = mounts_.covering(path);
    return real && mount != nullptr && mount->kind == Mount::Kind::kSymlink && mounts_.shows(*real);
  }

  void deny_network() {
    for (const char* name : {"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"}) {
      std::erase_if(variables_, [&](const PlannedVariable& variable) { return variable.name == name; });
    }
    for (const char* name : {"NO_PROXY", "no_proxy"}) set(name, "", "no network");
  }

  void use_proxy() {
    const std::string port = std::to_string(kProxyPort);
    const std::string url = "http://127.0.0.1:" + port;
    for (const char* name : {"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy",
                             "grpc_proxy", "npm_config_proxy", "npm_config_https_proxy", "YARN_HTTP_PROXY",
                             "YARN_HTTPS_PROXY", "CARGO_HTTP_PROXY", "PIP_PROXY"}) {
      set(name, url, "the egress proxy");
    }
    for (const char* name : {"NO_PROXY", "no_proxy", "no_grpc_proxy", "npm_config_noproxy"}) {
      set(name, std::string(kNoProxy), "loopback of the sandbox is reached directly");
    }
    set("NODE_USE_ENV_PROXY", "1", "makes Node.js honour the proxy variables");
    set("GIT_SSH_COMMAND", "ssh -o ProxyUseFdpass=no -o 'ProxyCommand=" + std::string(kInsideInit) + " connect %h %p'",
        "ssh through the egress proxy");
    std::string java = "-Dhttp.proxyHost=127.0.0.1 -Dhttp.proxyPort=" + port + " -Dhttps.proxyHost=127.0.0.1 " +
                       "-Dhttps.proxyPort=" + port + " -Dhttp.nonProxyHosts=localhost|127.0.0.1|[::1]";
    const auto found = std::ranges::find(variables_, "JAVA_TOOL_OPTIONS", &PlannedVariable::name);
    if (found != variables_.end()) java = found->value + " " + java;
    set("JAVA_TOOL_OPTIONS", std::move(java), "Java reads no proxy variables");
  }

  const HostView& host_;
  const MountSet& mounts_;
  const EnvironmentRequest& request_;
  std::vector<PlannedVariable> variables_;
};

}  // namespace

std::vector<PlannedVariable> plan_environment(const HostView& host, const MountSet& mounts,
                                              const EnvironmentRequest& request) {
  return EnvironmentPlanner(host, mounts, request).plan();
}

}  // namespace cofferdam::confinement
