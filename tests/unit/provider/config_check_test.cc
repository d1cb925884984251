#include "provider/config_check.h"

#include <gmock/gmock.h>

#include <boost/json/parse.hpp>

namespace cofferdam::provider {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

boost::json::object object(const char* text) {
  return boost::json::parse(text).as_object();
}

const char* const kSchema = R"({
  "type": "object",
  "required": ["image"],
  "properties": {
    "image": {"type": "string", "minLength": 1},
    "timeoutMs": {"type": "integer", "minimum": 1, "maximum": 1000, "default": 300},
    "reuseLease": {"type": "boolean", "default": false},
    "apiKey": {"type": "string", "format": "secret-ref", "pattern": "^key-"},
    "mounts": {"type": "array", "items": {"type": "object", "properties": {"path": {"type": "string"}}}},
    "auth": {"type": "object", "properties": {"token": {"type": "string", "format": "secret-ref"}}}
  },
  "anyOf": [{"properties": {"kubeconfig": {"type": "string", "format": "secret-ref"}}}, {}]
})";

std::vector<std::string> fields(const ConfigCheck& check) {
  std::vector<std::string> out;
  for (const ConfigProblem& problem : check.problems) out.push_back(problem.field);
  return out;
}

TEST(ConfigCheckTest, DefaultsAreFilledInAndWhatIsGivenStays) {
  const auto check = check_config(object(kSchema), object(R"({"image": "a", "timeoutMs": 7})"));
  ASSERT_TRUE(check);
  EXPECT_TRUE(check->ok());
  EXPECT_EQ(check->normalised, object(R"({"image": "a", "timeoutMs": 7, "reuseLease": false})"));
}

TEST(ConfigCheckTest, EveryProblemIsToldWithItsField) {
  const auto check =
      check_config(object(kSchema),
                   object(R"({"image": 3, "timeoutMs": 0, "reuseLeese": true, "mounts": [{"path": 1}, {"path": 2}]})"));
  ASSERT_TRUE(check);
  EXPECT_THAT(fields(*check),
              ::testing::UnorderedElementsAre("reuseLeese", "image", "timeoutMs", "mounts[0].path", "mounts[1].path"));
  EXPECT_TRUE(check->problems[0].unknown_key);
  EXPECT_THAT(check->problems[0].message, HasSubstr("reuseLease"));
}

TEST(ConfigCheckTest, AMissingFieldIsNamed) {
  const auto check = check_config(object(kSchema), object("{}"));
  ASSERT_TRUE(check);
  ASSERT_EQ(check->problems.size(), 1U);
  EXPECT_THAT(check->problems[0].message, HasSubstr("image"));
}

TEST(ConfigCheckTest, ASecretFieldTakesTheIdOfAStoredSecret) {
  const auto check =
      check_config(object(kSchema), object(R"({"image": "a", "apiKey": "7f9c0f0e-0000-4000-8000-000000000000"})"));
  ASSERT_TRUE(check);
  EXPECT_TRUE(check->ok());
}

TEST(ConfigCheckTest, AWrongSchemaIsAnErrorOfOurOwn) {
  const auto check = check_config(object(R"({"properties": {"a": {"type": 7}}})"), object(R"({"a": 1})"));
  ASSERT_FALSE(check);
  EXPECT_EQ(check.error().code(), ErrorCode::kInternal);
}

TEST(ConfigCheckTest, SecretFieldsAreFoundEverywhere) {
  EXPECT_THAT(secret_fields(object(kSchema)), ElementsAre("apiKey", "auth.token", "kubeconfig"));
}

}  // namespace
}  // namespace cofferdam::provider
