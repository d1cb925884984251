// A private Git directory through which git sees a repository without its configuration.
//
// git believes the configuration of the repository that it is started in, and a configuration can name programs. So it
// is never started there: it is started in a view, a directory of ours with a configuration that we wrote, no hooks, no
// replacements, no grafts. Of the repository itself it uses objects, whose names git checks, and either a copy of the
// references or, for the user's own repository, the references in place.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "git/git_program.h"
#include "git/layout.h"
#include "system/tree.h"

namespace cofferdam::git {

// Owns its directory, which goes with it. Refers to nothing of the layout it was made from. One thread.
class RepositoryView {
 public:
  // Reads objects of the repository; references, HEAD and index are copies, and what git makes stays in the view.
  // Fails for a repository from a sandbox whose object store is not plain (check_object_store is the caller's duty).
  static Result<RepositoryView> copy_of(const Layout& layout, const std::string& scratch);

  // The repository's own objects, references and their logs: what git does there is done to the repository. HEAD and
  // index are copies; changing them is the business of replace_head and replace_index.
  static Result<RepositoryView> in_place(const Layout& layout, const std::string& scratch);

  const std::string& path() const { return directory_.path(); }
  int fd() const { return directory_.fd(); }
  const Layout& layout() const { return layout_; }

  // A command that runs in the view.
  GitCommand command(std::vector<std::string> arguments) const;
  Result<std::string> run(GitProgram& git, std::vector<std::string> arguments) const;

  // Replaces the references of a copy; `refs` in order of their names.
  Status set_refs(const std::vector<Ref>& refs) const;

 private:
  RepositoryView(Layout layout, system::TemporaryDirectory directory, bool in_place)
      : layout_(std::move(layout)), directory_(std::move(directory)), in_place_(in_place) {}
  Status write_common(int git_dir, int common_dir) const;
  Status add_copies() const;
  Status link_in_place(int git_dir, int common_dir) const;

  Layout layout_;
  system::TemporaryDirectory directory_;
  bool in_place_;
};

// The index and what it refers to beside itself, copied beneath `to`, the index under the name `name`. False when there
// is none.
Result<bool> copy_index(int git_dir, int to, const std::string& name = "index");

// The object directories that a repository reads from, its own first.
std::vector<std::string> object_directories(const Layout& layout);

// Identity of what is made here, and of the entries in reference logs.
std::vector<std::string> paperclip_identity();

}  // namespace cofferdam::git
