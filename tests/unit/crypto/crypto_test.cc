#include <gtest/gtest.h>
#include <sodium.h>

#include <string>
#include <vector>

#include "base/hex.h"
#include "crypto/encoding.h"
#include "crypto/seal.h"
#include "crypto/secret.h"
#include "crypto/sha256.h"
#include "crypto/xchacha.h"

namespace cofferdam::crypto {
namespace {

const std::uint8_t* bytes_of(std::string_view text) {
  return reinterpret_cast<const std::uint8_t*>(text.data());
}

TEST(Sha256Test, KnownAnswersAndReuse) {
  EXPECT_EQ(sha256("").hex(), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  Sha256 hash;
  for (int round = 0; round < 2; ++round) {
    hash.update("a");
    hash.update("bc");
    EXPECT_EQ(hash.finish().hex(), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  }
}

TEST(SealTest, OpensOnlyWithKeyAndContext) {
  const SecretKey key = SecretKey::random();
  const std::string sealed = seal(key, "content", "here");
  EXPECT_EQ(sealed.size(), 7 + kSealOverhead);
  EXPECT_EQ(*open(key, sealed, "here"), "content");
  EXPECT_EQ(open(key, sealed, "there").error().code(), ErrorCode::kDataLoss);
  EXPECT_EQ(open(SecretKey::random(), sealed, "here").error().code(), ErrorCode::kDataLoss);
  for (std::size_t i = 0; i < sealed.size(); ++i) {
    std::string altered = sealed;
    altered[i] = static_cast<char>(altered[i] ^ 1);
    EXPECT_FALSE(open(key, altered, "here")) << i;
    EXPECT_FALSE(open(key, sealed.substr(0, i), "here")) << i;
  }
  EXPECT_NE(seal(key, "content", "here"), sealed) << "a nonce was used twice";
}

TEST(SealTest, InPlaceIsTheSamePiece) {
  const SecretKey key = SecretKey::random();
  for (std::size_t size = 0; size <= 5000; size += size < 100 ? 1 : 700) {
    std::string piece = std::string(kSealHead, '?') + std::string(size, 'p');
    seal_in_place(piece, key, "here");
    EXPECT_EQ(piece.size(), size + kSealOverhead);
    EXPECT_EQ(*open(key, piece, "here"), std::string(size, 'p'));
    EXPECT_EQ(*open(key, seal(key, std::string(size, 'p'), "here"), "here"), std::string(size, 'p'));
  }
}

// --- XChaCha20-Poly1305 beside libsodium's, with which older pieces were sealed

std::string encrypted(const SecretKey& key, std::string_view nonce, std::string_view plaintext,
                      std::string_view context) {
  std::string out(plaintext.size() + kXChaChaTagSize, '\0');
  xchacha_encrypt(key, bytes_of(nonce), plaintext, context, reinterpret_cast<std::uint8_t*>(out.data()));
  return out;
}

std::string encrypted_by_libsodium(const SecretKey& key, std::string_view nonce, std::string_view plaintext,
                                   std::string_view context) {
  std::string out(plaintext.size() + kXChaChaTagSize, '\0');
  crypto_aead_xchacha20poly1305_ietf_encrypt(reinterpret_cast<std::uint8_t*>(out.data()), nullptr, bytes_of(plaintext),
                                             plaintext.size(), bytes_of(context), context.size(), nullptr,
                                             bytes_of(nonce), key.data());
  return out;
}

// draft-irtf-cfrg-xchacha-03, A.3.1.
TEST(XChaChaTest, KnownAnswer) {
  const SecretKey key =
      SecretKey::from_bytes(*from_hex("808182838485868788898a8b8c8d8e8f909192939495969798999a9b9c9d9e9f"));
  const std::string nonce = *from_hex("404142434445464748494a4b4c4d4e4f5051525354555657");
  const std::string context = *from_hex("50515253c0c1c2c3c4c5c6c7");
  const std::string plaintext =
      "Ladies and Gentlemen of the class of '99: If I could offer you only one tip for the future, sunscreen would be "
      "it.";
  const std::string sealed = encrypted(key, nonce, plaintext, context);
  EXPECT_EQ(to_hex(sealed),
            "bd6d179d3e83d43b9576579493c0e939572a1700252bfaccbed2902c21396cbb731c7f1b0b4aa6440bf3a82f4eda7e39ae64c670"
            "8c54c216cb96b72e1213b4522f8c9ba40db5d945b11b69b982c1bb9e3f3fac2bc369488f76b2383565d3fff921f9664c97637da9"
            "768812f615c68b13b52ec0875924c1c7987947deafd8780acf49");
  std::string opened(plaintext.size(), '\0');
  ASSERT_TRUE(xchacha_decrypt(key, bytes_of(nonce), sealed, context, reinterpret_cast<std::uint8_t*>(opened.data())));
  EXPECT_EQ(opened, plaintext);
}

// Lengths around the blocks of the cipher (64), of the authenticator (16) and of the vector code, with a context or
// none.
TEST(XChaChaTest, EveryLengthIsAsLibsodiumSealsIt) {
  const SecretKey key = SecretKey::random();
  std::string noise(1'100'000, '\0');
  randombytes_buf(noise.data(), noise.size());
  std::vector<std::size_t> sizes;
  for (std::size_t size = 0; size <= 1100; ++size) sizes.push_back(size);
  for (const std::size_t size : {4095U, 4096U, 4097U, 65535U, 65537U, 1'100'000U}) sizes.push_back(size);
  for (const std::size_t size : sizes) {
    const std::string_view plaintext = std::string_view(noise).substr(0, size);
    const std::string_view nonce = std::string_view(noise).substr(size % 1000, kXChaChaNonceSize);
    const std::string_view context = std::string_view(noise).substr(7, size % 35);
    const std::string ours = encrypted(key, nonce, plaintext, context);
    ASSERT_EQ(ours, encrypted_by_libsodium(key, nonce, plaintext, context)) << size;
    std::string opened(size, '\0');
    ASSERT_TRUE(xchacha_decrypt(key, bytes_of(nonce), ours, context, reinterpret_cast<std::uint8_t*>(opened.data())));
    ASSERT_EQ(opened, plaintext) << size;
  }
}

TEST(SecretKeyTest, DerivesByPurpose) {
  const SecretKey key = SecretKey::from_bytes(std::string(32, 'k'));
  EXPECT_EQ(key.derive("a").view(), key.clone().derive("a").view());
  EXPECT_NE(key.derive("a").view(), key.derive("b").view());
  EXPECT_EQ(key.fingerprint().size(), 12U);
}

TEST(EncodingTest, Base64BothAlphabets) {
  const std::string bytes = *from_hex("fbff00");
  EXPECT_EQ(to_base64(bytes), "+/8A");
  for (const char* text : {"+/8A", "-_8A"}) EXPECT_EQ(from_base64(text), bytes) << text;
  EXPECT_EQ(from_base64("YQ"), "a");
  EXPECT_EQ(from_base64("YQ=="), "a");
  for (const char* text : {"Y", "YQ=", "Y Q==", "YQ==x"}) EXPECT_FALSE(from_base64(text)) << text;
}

TEST(HexTest, RoundTripAndRefusals) {
  EXPECT_EQ(to_hex(*from_hex("00fFa0")), "00ffa0");
  for (const char* text : {"0", "0g", "zz"}) EXPECT_FALSE(from_hex(text)) << text;
}

}  // namespace
}  // namespace cofferdam::crypto
