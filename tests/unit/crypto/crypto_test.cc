#include <gtest/gtest.h>

#include "base/hex.h"
#include "crypto/encoding.h"
#include "crypto/seal.h"
#include "crypto/secret.h"
#include "crypto/sha256.h"

namespace cofferdam::crypto {
namespace {

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
