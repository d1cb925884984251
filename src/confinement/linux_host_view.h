// HostView of the machine this program runs on.
#pragma once

#include "base/result.h"
#include "confinement/host_view.h"

namespace cofferdam::confinement {

// Answers from the file system at the moment of the question. One thread.
class LinuxHostView final : public HostView {
 public:
  // Fails when cofferdam-init does not stand beside the running program.
  static Result<LinuxHostView> create();

  const HostFacts& facts() const override { return facts_; }
  std::optional<PathFact> inspect(const std::string& path) const override;
  std::optional<PathFact> follow(const std::string& path) const override;
  std::optional<PathFact> inspect_without_links(const std::string& path) const override;
  std::optional<std::string> real_path(const std::string& path) const override;
  std::optional<std::string> read_link(const std::string& path) const override;
  std::vector<std::string> list(const std::string& directory, std::size_t limit) const override;
  std::optional<std::string> read_file(const std::string& path, std::size_t limit) const override;
  std::optional<AccountFact> account(uid_t uid) const override;

  // From now on these paths count as absent: what other runs have put there will go again.
  void hide(std::vector<std::string> paths) { hidden_ = std::move(paths); }

 private:
  bool is_hidden(const std::string& path) const;

  HostFacts facts_;
  std::vector<std::string> hidden_;
};

// The program `name` that was installed with the running one: in ../libexec/cofferdam or in the same directory.
Result<std::string> companion_program(const std::string& name);

}  // namespace cofferdam::confinement
