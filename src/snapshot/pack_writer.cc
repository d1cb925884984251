#include "snapshot/pack_writer.h"

#include <chrono>
#include <utility>

#include "crypto/seal.h"
#include "crypto/sha256.h"

namespace cofferdam::snapshot {
namespace {

constexpr std::size_t kPackIdBytes = 16;

}  // namespace

Status PackWriter::add_segment(std::string_view sealed, std::uint32_t plain, const std::vector<NewChunk>& chunks) {
  std::optional<OpenPack> full;
  {
    const std::lock_guard lock(mutex_);
    if (!open_) RETURN_IF_ERROR(begin());
    const auto segment = static_cast<std::uint32_t>(open_->index.segments.size());
    open_->index.segments.push_back(
        {.offset = open_->size, .stored = static_cast<std::uint32_t>(sealed.size()), .plain = plain});
    for (const NewChunk& chunk : chunks) {
      open_->index.chunks.push_back(
          {.name = chunk.name, .segment = segment, .offset = chunk.offset, .size = chunk.size});
    }
    RETURN_IF_ERROR(append(sealed));
    if (open_->size >= kPackTarget) full = std::exchange(open_, std::nullopt);
  }
  return full ? close_later(std::move(*full)) : Status();
}

Status PackWriter::finish() {
  std::optional<OpenPack> last;
  {
    const std::lock_guard lock(mutex_);
    last = std::exchange(open_, std::nullopt);
  }
  if (last) RETURN_IF_ERROR(close_later(std::move(*last)));
  return closing_.finish();
}

std::uint64_t PackWriter::stored_bytes() const {
  const std::lock_guard lock(mutex_);
  return stored_;
}

Status PackWriter::begin() {
  OpenPack pack{.id = crypto::random_hex(kPackIdBytes), .object = {}, .writer = nullptr, .size = 0, .index = {}};
  pack.object = pack_object(target_.company, pack.id);
  ASSIGN_OR_RETURN(pack.writer, target_.objects.create(pack.object));
  open_ = std::move(pack);
  return append(kPackHead);
}

Status PackWriter::append(std::string_view bytes) {
  RETURN_IF_ERROR(open_->writer->append(bytes));
  open_->size += bytes.size();
  stored_ += bytes.size();
  return {};
}

Status PackWriter::close_later(OpenPack pack) {
  return closing_.submit([this, pack = std::move(pack)]() mutable { return close(std::move(pack)); });
}

// The object first: the catalog never names what is not durable.
Status PackWriter::close(OpenPack pack) {
  std::string index = seal_index(pack.index, *target_.content_key, pack.id);
  const std::string tail = pack_tail(index);
  RETURN_IF_ERROR(pack.writer->append(tail));
  RETURN_IF_ERROR(pack.writer->commit());
  const Digest digest = crypto::sha256(index);
  return target_.catalog.add_pack(target_.lease, {.id = pack.id,
                                                  .company = target_.company,
                                                  .object = pack.object,
                                                  .size = pack.size + tail.size(),
                                                  .digest = std::string(digest.view()),
                                                  .key_id = target_.key_id,
                                                  .index = std::move(index),
                                                  .created_ms = now_ms(),
                                                  .state = store::PackState::kLive});
}

std::string pack_object(const std::string& company, const std::string& pack_id) {
  return company + "/packs/" + pack_id.substr(0, 2) + "/" + pack_id;
}

std::string manifest_object(const std::string& company, const std::string& snapshot_id) {
  return company + "/manifests/" + snapshot_id;
}

std::int64_t now_ms() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::system_clock::now().time_since_epoch())
      .count();
}

}  // namespace cofferdam::snapshot
