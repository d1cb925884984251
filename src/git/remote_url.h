// Which address of a remote repository may travel with a workspace.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace cofferdam::git {

// The address without what could be a secret: user information (http, https) or the password (ssh, git, git+ssh),
// query and fragment. "user@host:path" stays as it is. Nothing for a path of this machine and for every other form,
// such as transports that are commands.
std::optional<std::string> portable_remote_url(std::string_view url);

}  // namespace cofferdam::git
