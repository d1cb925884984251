// One amount of time that several pieces of work share, and git with no more than what is left of it.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <utility>

#include "base/result.h"
#include "git/git_program.h"

namespace cofferdam::recovery {

using Now = std::function<std::chrono::steady_clock::time_point()>;

// Only what is done while a Work exists counts: the sandbox's streams have bounds of their own. One thread.
class SharedDeadline {
 public:
  SharedDeadline(Now now, std::chrono::milliseconds limit) : now_(std::move(now)), limit_(limit), left_(limit) {}

  class Work {
   public:
    explicit Work(SharedDeadline& deadline) : deadline_(deadline), begin_(deadline.now_()) {
      deadline_.running_since_ = begin_;
    }
    Work(const Work&) = delete;
    Work& operator=(const Work&) = delete;
    ~Work() {
      deadline_.left_ = deadline_.left();
      deadline_.running_since_.reset();
    }

   private:
    SharedDeadline& deadline_;
    std::chrono::steady_clock::time_point begin_;
  };

  // What is left; at most zero when it is used up.
  std::chrono::steady_clock::duration left() const {
    return running_since_ ? left_ - (now_() - *running_since_) : left_;
  }
  // The failure kDeadline when nothing is left.
  Status check() const;

 private:
  Now now_;
  std::chrono::milliseconds limit_;
  std::chrono::steady_clock::duration left_;
  std::optional<std::chrono::steady_clock::time_point> running_since_;
};

// Starts no command when nothing is left, and gives each what is. Both must live as long.
class DeadlineGit final : public git::GitProgram {
 public:
  DeadlineGit(git::GitProgram& git, const SharedDeadline& deadline) : git_(git), deadline_(deadline) {}
  Result<git::GitOutput> run(const git::GitCommand& command) override;

 private:
  git::GitProgram& git_;
  const SharedDeadline& deadline_;
};

}  // namespace cofferdam::recovery
