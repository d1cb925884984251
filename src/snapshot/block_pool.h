// Memory for the content of long files, used again and again.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace cofferdam::snapshot {

// Blocks of one size, each shared by the jobs that work on parts of it; the last one that lets go of a block gives it
// back. The kernel clears new memory page by page, which for every chunk anew costs more than sealing it. Blocks are
// not cleared and may outlive the pool. Thread-safe.
class BlockPool {
 public:
  using Block = std::shared_ptr<char[]>;

  explicit BlockPool(std::size_t block_size) : block_size_(block_size) {}

  Block take() {
    std::unique_ptr<char[]> memory = free_->take();
    if (!memory) memory = std::make_unique_for_overwrite<char[]>(block_size_);
    return {memory.release(), [free = free_](char* block) { free->give(std::unique_ptr<char[]>(block)); }};
  }

  std::size_t block_size() const { return block_size_; }

 private:
  class Free {
   public:
    std::unique_ptr<char[]> take() {
      const std::lock_guard lock(mutex_);
      if (blocks_.empty()) return nullptr;
      std::unique_ptr<char[]> block = std::move(blocks_.back());
      blocks_.pop_back();
      return block;
    }
    void give(std::unique_ptr<char[]> block) {
      const std::lock_guard lock(mutex_);
      blocks_.push_back(std::move(block));
    }

   private:
    std::mutex mutex_;
    std::vector<std::unique_ptr<char[]>> blocks_;
  };

  std::size_t block_size_;
  std::shared_ptr<Free> free_ = std::make_shared<Free>();
};

}  // namespace cofferdam::snapshot
