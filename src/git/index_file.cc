#include "git/index_file.h"

#include <algorithm>

#include "base/strings.h"

namespace cofferdam::git {
namespace {

constexpr std::string_view kSignature = "DIRC";
constexpr std::string_view kSplitIndex = "link";
constexpr std::uint32_t kFirstVersion = 2;
constexpr std::uint32_t kCompressedVersion = 4;
constexpr std::size_t kModeOffset = 24;  // behind two times, device and inode
constexpr std::size_t kFixedBytes = 40;  // what stands before the object's name
constexpr std::size_t kAlignment = 8;    // of an entry that is not compressed
constexpr std::uint16_t kExtended = 0x4000;

Error damaged(const std::string& why) {
  return {ErrorCode::kDataLoss, "the Git index is damaged: " + why};
}

std::size_t hash_bytes(ObjectFormat format) {
  return format == ObjectFormat::kSha256 ? 32 : 20;
}

class IndexReader {
 public:
  IndexReader(std::string_view bytes, ObjectFormat format, const IndexBounds& bounds)
      : bytes_(bytes), hash_(hash_bytes(format)), bounds_(bounds) {}

  Result<std::vector<IndexName>> read() {
    ASSIGN_OR_RETURN(const std::uint32_t count, read_header());
    std::vector<IndexName> names;
    for (std::uint32_t i = 0; i < count; ++i) {
      ASSIGN_OR_RETURN(IndexName name, read_entry());
      previous_ = name.path;
      // A directory of a sparse index stands for all that is tracked below it.
      if (name.path.ends_with('/')) name.path.pop_back();
      names.push_back(std::move(name));
    }
    RETURN_IF_ERROR(read_extensions());
    // Only a split index may leave out a name that its other half has.
    const bool has_empty = std::ranges::any_of(names, [](const IndexName& name) { return name.path.empty(); });
    return has_empty ? Result<std::vector<IndexName>>(damaged("a name is empty")) : std::move(names);
  }

 private:
  std::size_t left() const { return bytes_.size() - at_; }

  std::uint32_t number(std::size_t at, std::size_t size) const {
    std::uint32_t value = 0;
    for (std::size_t i = 0; i < size; ++i) value = value << 8 | static_cast<unsigned char>(bytes_[at + i]);
    return value;
  }

  Result<std::uint32_t> read_header() {
    constexpr std::size_t kHeader = 12;
    if (left() < kHeader + hash_ || !bytes_.starts_with(kSignature)) return damaged("it has no header");
    version_ = number(4, 4);
    const std::uint32_t count = number(8, 4);
    at_ = kHeader;
    if (version_ < kFirstVersion || version_ > kCompressedVersion) {
      return Error(ErrorCode::kUnsupported, "the Git index has the unknown version " + std::to_string(version_));
    }
    if (count > bounds_.entries) {
      return Error(ErrorCode::kResourceExhausted,
                   "the Git index has more than " + std::to_string(bounds_.entries) + " entries");
    }
    return count;
  }

  Result<IndexName> read_entry() {
    const std::size_t begin = at_;
    const std::size_t fixed = kFixedBytes + hash_ + 2;
    if (left() < fixed + 2) return damaged("it ends within an entry");
    IndexName name{.path = {}, .mode = number(begin + kModeOffset, 4)};
    const bool extended = (number(begin + kFixedBytes + hash_, 2) & kExtended) != 0;
    at_ += fixed + (extended ? 2 : 0);
    if (version_ == kCompressedVersion) {
      ASSIGN_OR_RETURN(name.path, read_kept_prefix());
    }
    const std::size_t end = bytes_.find('\0', at_);
    if (end == std::string_view::npos) return damaged("a name does not end");
    name.path += bytes_.substr(at_, end - at_);
    if (name.path.size() > bounds_.path_bytes) {
      return Error(ErrorCode::kResourceExhausted, "the Git index has a name that is too long");
    }
    at_ = end + 1;
    if (version_ != kCompressedVersion) at_ = begin + (end - begin + kAlignment) / kAlignment * kAlignment;
    if (at_ > bytes_.size()) return damaged("it ends within an entry");
    return name;
  }

  // How much of the previous name stays, as a number in git's offset encoding of how much goes.
  Result<std::string> read_kept_prefix() {
    std::size_t strip = 0;
    while (true) {
      if (left() == 0) return damaged("it ends within a name");
      const auto byte = static_cast<unsigned char>(bytes_[at_++]);
      strip += byte & 0x7FU;
      if (strip > previous_.size()) return damaged("a name takes more from its neighbour than there is");
      if ((byte & 0x80U) == 0) return previous_.substr(0, previous_.size() - strip);
      strip = (strip + 1) << 7;
    }
  }

  Status read_extensions() {
    constexpr std::size_t kHeader = 8;
    while (left() > hash_) {
      if (left() < kHeader + hash_) return damaged("it ends within an extension");
      if (bytes_.substr(at_).starts_with(kSplitIndex)) {
        return Error(ErrorCode::kUnsupported, "the Git index is split over two files");
      }
      const std::size_t size = number(at_ + 4, 4);
      at_ += kHeader;
      if (size > left() - hash_) return damaged("an extension is longer than the file");
      at_ += size;
    }
    return left() == hash_ ? Status() : Status(damaged("its checksum is cut off"));
  }

  std::string_view bytes_;
  std::size_t hash_;
  const IndexBounds& bounds_;
  std::size_t at_ = 0;
  std::uint32_t version_ = 0;
  std::string previous_;
};

}  // namespace

Result<std::vector<IndexName>> parse_index(std::string_view bytes, ObjectFormat format, const IndexBounds& bounds) {
  return IndexReader(bytes, format, bounds).read();
}

}  // namespace cofferdam::git
