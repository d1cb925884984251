#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <optional>
#include <set>

#include "crypto/seal.h"
#include "crypto/sha256.h"
#include "snapshot/chunker.h"
#include "snapshot/manifest.h"
#include "snapshot/pack_format.h"
#include "snapshot/ulid.h"

namespace cofferdam::snapshot {
namespace {

using workspace::Entry;
using workspace::EntryKind;

std::string noise(std::size_t size, std::uint64_t seed) {
  std::string out(size, '\0');
  for (char& c : out) {
    seed = seed * 6364136223846793005U + 1442695040888963407U;
    c = static_cast<char>(seed >> 56);
  }
  return out;
}

std::vector<std::size_t> cuts_of(const Chunker& chunker, std::string_view bytes) {
  std::vector<std::size_t> cuts;
  while (!bytes.empty()) {
    cuts.push_back(chunker.first_chunk(bytes));
    bytes.remove_prefix(cuts.back());
  }
  return cuts;
}

TEST(ChunkerTest, LengthsAreBoundedAndUsual) {
  const Chunker chunker(crypto::SecretKey::from_bytes(std::string(32, 'c')));
  const std::string bytes = noise(64 << 20, 1);
  const std::vector<std::size_t> cuts = cuts_of(chunker, bytes);
  for (std::size_t i = 0; i + 1 < cuts.size(); ++i) {
    EXPECT_GT(cuts[i], kSmallestChunk);
    EXPECT_LE(cuts[i], kLargestChunk);
  }
  EXPECT_GT(cuts.size(), 40U);
  EXPECT_LT(cuts.size(), 90U);
}

// A cut is the same whether the file ends behind it or goes on.
TEST(ChunkerTest, CutsDoNotDependOnWhatIsKnownYet) {
  const Chunker chunker(crypto::SecretKey::from_bytes(std::string(32, 'c')));
  const std::string bytes = noise(kLargestChunk, 4);
  const std::size_t cut = chunker.first_chunk(bytes);
  for (const std::size_t known : {std::size_t{0}, kSmallestChunk, cut - 1}) {
    EXPECT_EQ(chunker.first_cut(std::string_view(bytes).substr(0, known)), std::nullopt) << known;
  }
  for (const std::size_t known : {cut, cut + 1, bytes.size()}) {
    EXPECT_EQ(chunker.first_cut(std::string_view(bytes).substr(0, known)), cut) << known;
  }
  EXPECT_EQ(chunker.first_cut(std::string(kLargestChunk, 'a')), kLargestChunk) << "nothing to cut at";
  EXPECT_EQ(chunker.first_cut(std::string(kLargestChunk - 1, 'a')), std::nullopt);
}

// The description of the format, word by word: older snapshots were cut like this, and must stay known.
TEST(ChunkerTest, CutsAreWhereTheFormatSays) {
  const crypto::SecretKey key = crypto::SecretKey::from_bytes(std::string(32, 'c'));
  std::array<std::uint64_t, 256> gear{};
  for (std::size_t n = 0; n < 256; n += 4) {
    std::memcpy(&gear[n], crypto::keyed_name(key, "gear " + std::to_string(n)).bytes.data(), 32);
  }
  const auto described = [&gear](std::string_view b) -> std::size_t {
    if (b.size() <= 524288) return b.size();
    const std::size_t end = std::min<std::size_t>(b.size(), 4194304);
    const std::size_t usual = std::min<std::size_t>(end, 1048576);
    std::uint64_t hash = 0;
    for (std::size_t i = 524288; i < end; ++i) {
      hash = hash * 2 + gear[static_cast<std::uint8_t>(b[i])];
      if ((hash & (i < usual ? 0xfffffc0000000000 : 0xffffc00000000000)) == 0) return i + 1;
    }
    return end;
  };
  const Chunker chunker(key);
  for (std::uint64_t seed = 0; seed < 16; ++seed) {
    const std::string bytes = noise(kLargestChunk + seed, seed);
    EXPECT_EQ(chunker.first_chunk(bytes), described(bytes)) << seed;
  }
}

TEST(ChunkerTest, AnInsertionMovesOnlyTheCutsAroundIt) {
  const Chunker chunker(crypto::SecretKey::from_bytes(std::string(32, 'c')));
  std::string bytes = noise(32 << 20, 2);
  const auto digests = [&] {
    std::set<Digest> out;
    std::string_view rest = bytes;
    for (const std::size_t cut : cuts_of(chunker, bytes)) {
      out.insert(crypto::sha256(rest.substr(0, cut)));
      rest.remove_prefix(cut);
    }
    return out;
  };
  const std::set<Digest> before = digests();
  bytes.insert(10 << 20, "inserted");
  std::size_t fresh = 0;
  for (const Digest& digest : digests()) fresh += before.contains(digest) ? 0 : 1;
  EXPECT_LE(fresh, 3U);
  EXPECT_GE(fresh, 1U);
}

TEST(ChunkerTest, CutsDependOnTheKey) {
  const std::string bytes = noise(16 << 20, 3);
  const Chunker one(crypto::SecretKey::from_bytes(std::string(32, '1')));
  const Chunker two(crypto::SecretKey::from_bytes(std::string(32, '2')));
  EXPECT_NE(cuts_of(one, bytes), cuts_of(two, bytes));
}

TEST(PackFormatTest, IndexIsProven) {
  const crypto::SecretKey key = crypto::SecretKey::random();
  PackIndex index{.segments = {{.offset = 8, .stored = 100, .plain = 50}},
                  .chunks = {{.name = crypto::sha256("x"), .segment = 0, .offset = 10, .size = 40}}};
  const std::string sealed = seal_index(index, key, "pack");
  const auto opened = open_index(sealed, key, "pack", 1000);
  ASSERT_TRUE(opened) << opened.error().to_string();
  EXPECT_EQ(opened->chunks.front().size, 40U);
  EXPECT_FALSE(open_index(sealed, key, "other", 1000));
  EXPECT_FALSE(open_index(sealed, key, "pack", 107)) << "a segment beyond the pack's end";
  index.chunks.front().size = 41;
  EXPECT_FALSE(open_index(seal_index(index, key, "pack"), key, "pack", 1000)) << "a chunk beyond its segment";
  index.chunks.front() = {.name = {}, .segment = 1, .offset = 0, .size = 1};
  EXPECT_FALSE(open_index(seal_index(index, key, "pack"), key, "pack", 1000)) << "a segment that is not there";
}

TEST(PackFormatTest, SegmentsRoundTripAndBombsAreRefused) {
  const crypto::SecretKey key = crypto::SecretKey::random();
  const std::string plain(500'000, 'a');
  const std::string sealed = *seal_segment(plain, key, 3);
  EXPECT_LT(sealed.size(), 2000U);
  EXPECT_EQ(*open_segment(sealed, key, 500'000), plain);
  EXPECT_FALSE(open_segment(sealed, key, 499'999));
  EXPECT_FALSE(open_segment(sealed, key, 500'001));
  for (std::uint32_t size = 0; size < 100; ++size) {
    const std::string small(size, 's');
    EXPECT_EQ(*open_segment(*seal_segment(small, key, 3), key, size), small);
  }
}

// What does not compress is not compressed, in a frame that any zstd reads.
TEST(PackFormatTest, NoiseIsStoredAsItIs) {
  for (const std::size_t size : {std::size_t{256} << 10, (std::size_t{256} << 10) + 1, (std::size_t{384} << 10) - 1,
                                 std::size_t{384} << 10, std::size_t{1'234'567}, kLargestChunk}) {
    const std::string plain = noise(size, size);
    const std::string compressed = *compress(plain, 3);
    EXPECT_GT(compressed.size(), size);
    EXPECT_LT(compressed.size(), size + size / 1000 + 16);
    EXPECT_NE(compressed.find(plain.substr(0, 1000)), std::string::npos);
    EXPECT_EQ(*decompress(compressed, size), plain);
    EXPECT_FALSE(decompress(compressed, size - 1)) << "the frame states its content's size";
    const crypto::SecretKey key = crypto::SecretKey::random();
    EXPECT_EQ(*open_segment(*seal_segment(plain, key, 3), key, static_cast<std::uint32_t>(size)), plain);
  }
}

TEST(PackFormatTest, TextBesideNoiseIsCompressed) {
  const std::string mixed = noise(1 << 20, 1) + std::string(256 << 10, 't') + noise(1 << 20, 2);
  const std::string compressed = *compress(mixed, 3);
  EXPECT_LT(compressed.size(), (2U << 20) + (16U << 10));
  EXPECT_EQ(*decompress(compressed, mixed.size()), mixed);
}

Manifest sample() {
  Manifest manifest{.snapshot = "snap-1", .company = "c", .workspace = "path:/w", .created_ms = 5, .root_mode = 0750};
  const auto add = [&](Entry entry, std::vector<Piece> pieces = {}) {
    manifest.entries.push_back({.entry = std::move(entry), .pieces = std::move(pieces)});
  };
  add({.path = "a", .kind = EntryKind::kDirectory, .mode = 0755, .mtime_ns = -5, .target = {}});
  add({.path = "a!b", .kind = EntryKind::kSymlink, .mode = 0777, .target = "a/x"});
  add({.path = "a/x",
       .kind = EntryKind::kFile,
       .mode = 0644,
       .size = 3,
       .digest = crypto::sha256("abc"),
       .target = {}});
  add({.path = "long\n\xff", .kind = EntryKind::kFile, .mode = 0600, .size = 5 << 20, .target = {}},
      {{.digest = crypto::sha256("1"), .size = 4 << 20}, {.digest = crypto::sha256("2"), .size = 1 << 20}});
  std::vector<Entry> entries;
  for (const SavedEntry& saved : manifest.entries) entries.push_back(saved.entry);
  manifest.fingerprint = workspace::fingerprint_of(entries);
  manifest.omissions = {{.path = "node_modules", .reason = workspace::OmissionReason::kDependencies}};
  manifest.stripped_modes = {"a/x"};
  return manifest;
}

void refresh(Manifest& manifest) {
  std::vector<Entry> entries;
  for (const SavedEntry& saved : manifest.entries) entries.push_back(saved.entry);
  manifest.fingerprint = workspace::fingerprint_of(entries);
}

TEST(ManifestTest, RoundTrip) {
  const Manifest manifest = sample();
  const auto decoded = decode(encode(manifest));
  ASSERT_TRUE(decoded) << decoded.error().to_string();
  EXPECT_EQ(encode(*decoded), encode(manifest));
  EXPECT_EQ(decoded->entries[0].entry.mtime_ns, -5);
  EXPECT_EQ(decoded->entries[3].pieces.size(), 2U);
  const crypto::SecretKey key = crypto::SecretKey::random();
  const std::string sealed = *seal_manifest(manifest, key);
  EXPECT_TRUE(open_manifest(sealed, key, "c", "snap-1"));
  EXPECT_FALSE(open_manifest(sealed, key, "c", "snap-2"));
  EXPECT_FALSE(open_manifest(sealed, key, "d", "snap-1"));
}

TEST(ManifestTest, EveryCutAndLongerTextIsRefused) {
  const std::string encoded = encode(sample());
  for (std::size_t i = 0; i < encoded.size(); ++i) EXPECT_FALSE(decode(encoded.substr(0, i))) << i;
  EXPECT_FALSE(decode(encoded + "x"));
}

TEST(ManifestTest, TreesThatCannotBeAreRefused) {
  const auto refused = [](auto change) {
    Manifest manifest = sample();
    change(manifest);
    refresh(manifest);
    return !decode(encode(manifest));
  };
  EXPECT_FALSE(refused([](Manifest&) {}));
  for (const char* path : {"", "/a", "a//b", "../a", "a/..", "a/./b", "."}) {
    EXPECT_TRUE(refused([&](Manifest& m) { m.entries[3].entry.path = path; })) << path;
  }
  EXPECT_TRUE(refused([](Manifest& m) { m.entries[3].entry.path = std::string("z\0y", 3); })) << "a NUL byte";
  EXPECT_TRUE(refused([](Manifest& m) { std::swap(m.entries[2], m.entries[3]); })) << "order";
  EXPECT_TRUE(refused([](Manifest& m) { m.entries[3].entry.path = "a/x"; })) << "twice";
  EXPECT_TRUE(refused([](Manifest& m) { m.entries[3].entry.path = "a/x/y"; })) << "below a file";
  EXPECT_TRUE(refused([](Manifest& m) { m.entries[3].entry.path = "b/y"; })) << "below nothing";
  EXPECT_TRUE(refused([](Manifest& m) { m.entries[3].entry.path = "a!b/y"; })) << "below a link";
  EXPECT_TRUE(refused([](Manifest& m) { m.entries[2].entry.mode = 04755; })) << "set-user-id";
  EXPECT_TRUE(refused([](Manifest& m) { m.entries[3].pieces.pop_back(); })) << "pieces that do not add up";
  EXPECT_TRUE(refused([](Manifest& m) { m.entries[3].pieces.clear(); })) << "a long file without pieces";
  Manifest other = sample();
  other.entries[2].entry.size = 4;
  EXPECT_FALSE(decode(encode(other))) << "another fingerprint";
}

TEST(UlidTest, SortsByTimeAndIsLowerCase) {
  const std::string early = new_ulid(1'700'000'000'000);
  const std::string late = new_ulid(1'700'000'000'001);
  EXPECT_EQ(early.size(), 26U);
  EXPECT_LT(early.substr(0, 10), late.substr(0, 10));
  EXPECT_EQ(new_ulid(0).substr(0, 10), "0000000000");
  EXPECT_NE(new_ulid(5), new_ulid(5));
}

}  // namespace
}  // namespace cofferdam::snapshot
