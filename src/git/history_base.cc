#include "git/history_base.h"

#include "base/strings.h"
#include "git/files.h"
#include "git/repository_view.h"
#include "system/tree.h"

namespace cofferdam::git {
namespace {

constexpr std::size_t kSmallBytes = std::size_t{1} << 20;

}  // namespace

Status record_history_base(const Layout& sent, const std::string& directory) {
  ASSIGN_OR_RETURN(const UniqueFd base, system::open_directory(directory));
  ASSIGN_OR_RETURN(const UniqueFd git_dir, system::open_directory(sent.git_dir));
  RETURN_IF_ERROR(write_new(base.get(), "format", to_string(sent.format)));
  RETURN_IF_ERROR(write_new(base.get(), "packed-refs", render_packed_refs(sent.refs)));
  RETURN_IF_ERROR(write_new(base.get(), "alternates", join(sent.alternates, "\n")));
  RETURN_IF_ERROR(copy_index(git_dir.get(), base.get()));
  // Last: a record without it was not finished.
  return write_new(base.get(), "HEAD", sent.head.branch.empty() ? sent.head.id : "ref: " + sent.head.branch);
}

Result<HistoryBase> read_history_base(const std::string& directory) {
  ASSIGN_OR_RETURN(const UniqueFd base, system::open_directory(directory));
  HistoryBase out{.directory = directory};
  ASSIGN_OR_RETURN(const auto format, read_optional(base.get(), "format", kSmallBytes));
  if (format == to_string(ObjectFormat::kSha256)) out.format = ObjectFormat::kSha256;
  ASSIGN_OR_RETURN(const auto refs, read_optional(base.get(), "packed-refs", RefBounds().packed_bytes));
  out.refs = parse_packed_refs(refs.value_or(""), out.format);
  ASSIGN_OR_RETURN(out.head, read_head(base.get(), out.refs, out.format));
  ASSIGN_OR_RETURN(const auto alternates, read_optional(base.get(), "alternates", kSmallBytes));
  for (const std::string_view path : split(alternates.value_or(""), '\n')) {
    if (!path.empty()) out.alternates.emplace_back(path);
  }
  return out;
}

}  // namespace cofferdam::git
