// Bearer tokens in the configuration: where a secret may lie, and that nothing ever shows one.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "server/config/load.h"
#include "server/config/tokens.h"
#include "tests/server/config_support.h"

namespace belljar::server::config::config_tokens_test {
namespace {

class ConfigTokens : public tests::Config {
 protected:
  std::string File(const std::string& secret, mode_t mode = 0600,
                   const std::string& name = "token") {
    return TokenFile(secret, mode, name);
  }
};

TEST_F(ConfigTokens, AFileGivesTheDefaultOne) {
  sources_.flags["--token-file"] = {File(std::string(tests::kSecret) + "\n")};
  const LoadedConfig loaded = Load();
  ASSERT_EQ(loaded.config.tokens.size(), 1u);
  EXPECT_EQ(loaded.config.tokens[0].secret, tests::kSecret);
  EXPECT_EQ(loaded.config.tokens[0].caller.name, "default");
  EXPECT_EQ(loaded.tokens[0].from, "file " + folder_.path() + "/token");
  EXPECT_EQ(loaded.tokens[0].source, "flag --token-file");
}

TEST_F(ConfigTokens, AVariableGivesTheDefaultOne) {
  Set("SANDBOX_API_TOKEN", tests::kSecret);
  EXPECT_EQ(Load().config.tokens.at(0).secret, tests::kSecret);
  Set("BELLJAR_API_TOKEN", tests::kOtherSecret);
  const LoadedConfig loaded = Load();
  ASSERT_EQ(loaded.config.tokens.size(), 1u);
  EXPECT_EQ(loaded.config.tokens[0].secret, tests::kOtherSecret);
  EXPECT_EQ(loaded.tokens[0].from, "environment BELLJAR_API_TOKEN");
}

TEST_F(ConfigTokens, AnEnvironmentFileGivesTheDefaultOne) {
  sources_.env_file =
      folder_.Write("x.env", std::string("SANDBOX_API_TOKEN=") + tests::kSecret + "\n");
  EXPECT_EQ(Load().config.tokens.at(0).secret, tests::kSecret);
  Set("SANDBOX_API_TOKEN", tests::kOtherSecret);
  EXPECT_EQ(Load().config.tokens.at(0).secret, tests::kOtherSecret);
}

TEST_F(ConfigTokens, TheStrongerOfVariableAndFileCounts) {
  const std::string path = File(tests::kSecret);
  Toml("http.token_file = \"token\"");
  EXPECT_EQ(Load().config.tokens.at(0).secret, tests::kSecret);
  Set("SANDBOX_API_TOKEN", tests::kOtherSecret);
  EXPECT_EQ(Load().config.tokens.at(0).secret, tests::kOtherSecret);
  sources_.flags["--token-file"] = {path};
  EXPECT_EQ(Load().config.tokens.at(0).secret, tests::kSecret);
  sources_.flags.clear();
  Set("BELLJAR_HTTP_TOKEN_FILE", path);
  ExpectRefused({"BELLJAR_HTTP_TOKEN_FILE", "SANDBOX_API_TOKEN", "set one of them"});
}

// `TOKEN=$UNSET` must not open the server to everyone.
TEST_F(ConfigTokens, AnEmptyVariableIsRefused) {
  Set("SANDBOX_API_TOKEN", "");
  ExpectRefused({"SANDBOX_API_TOKEN", "at least 32 characters", "openssl rand -hex 32"});
}

TEST_F(ConfigTokens, ASecretIsLongAndVisible) {
  EXPECT_TRUE(CheckSecret(tests::kSecret, "x"));
  EXPECT_EQ(*CheckSecret(std::string(tests::kSecret) + "\n", "x"), tests::kSecret);
  EXPECT_EQ(*CheckSecret(std::string(tests::kSecret) + "\r\n", "x"), tests::kSecret);
  EXPECT_FALSE(CheckSecret(std::string(tests::kSecret).substr(1), "x"));
  for (const std::string& bad :
       {std::string("\n\n"), std::string(" "), std::string("\t"), std::string("\x7f"),
        std::string("\xc3\xa4"), std::string("\0", 1), std::string("\nx")}) {
    EXPECT_FALSE(CheckSecret(tests::kSecret + bad, "x")) << bad;
  }
  EXPECT_TRUE(CheckSecret(std::string(4096, 'x'), "x"));
  EXPECT_FALSE(CheckSecret(std::string(4097, 'x'), "x"));
}

TEST_F(ConfigTokens, AFileThatOthersReadIsRefused) {
  for (const mode_t mode : {0604, 0602, 0644, 0666, 0601}) {
    sources_.flags["--token-file"] = {File(tests::kSecret, mode)};
    ExpectRefused({"--token-file", "everyone", "chmod 600"});
  }
  for (const mode_t mode : {0640, 0660, 0620}) {
    sources_.flags["--token-file"] = {File(tests::kSecret, mode)};
    const LoadedConfig loaded = Load();
    ASSERT_EQ(loaded.warnings.size(), 2u);  // and that --token-file is for HTTP
    EXPECT_NE(loaded.warnings[0].find("group"), std::string::npos);
    EXPECT_NE(loaded.warnings[0].find("chmod 600"), std::string::npos);
  }
  sources_.flags["--token-file"] = {File(tests::kSecret, 0400)};
  EXPECT_EQ(Load().config.tokens.size(), 1u);
}

TEST_F(ConfigTokens, TheModeIsThatOfTheFileBehindALink) {
  const std::string open = File(tests::kSecret, 0644, "open");
  const std::string link = folder_.path() + "/link";
  ASSERT_EQ(symlink(open.c_str(), link.c_str()), 0);
  sources_.flags["--token-file"] = {link};
  ExpectRefused({"everyone"});
}

TEST_F(ConfigTokens, AFileThatIsNotThereOrHasNoEndIsRefused) {
  sources_.flags["--token-file"] = {folder_.path() + "/none"};
  ExpectRefused({"--token-file", "/none", "ENOENT"});
  sources_.flags["--token-file"] = {"/dev/zero"};
  ExpectRefused({"--token-file", "/dev/zero"});
  sources_.flags["--token-file"] = {File("")};
  ExpectRefused({"--token-file", "at least 32"});
}

TEST_F(ConfigTokens, EntriesCarryTheirShare) {
  File(tests::kSecret, 0600, "a.token");
  Set("BELLJAR_TEAM_B", tests::kOtherSecret);
  Toml(
      "[[tokens]]\nname = \"a\"\nfile = \"a.token\"\nprofiles = [\"basic\"]\nrate = 2.5\n"
      "[[tokens]]\nname = \"b\"\nenv = \"BELLJAR_TEAM_B\"\nrate = 3\nburst = 10\nconcurrency = "
      "4\n");
  const LoadedConfig loaded = Load();
  EXPECT_TRUE(loaded.warnings.empty());  // the operator chose the name of the variable
  ASSERT_EQ(loaded.config.tokens.size(), 2u);
  const TokenConfig& a = loaded.config.tokens[0];
  EXPECT_EQ(a.secret, tests::kSecret);
  EXPECT_EQ(a.caller.profiles, tests::Strings{"basic"});
  EXPECT_EQ(a.caller.rate, 2.5);
  EXPECT_EQ(a.caller.burst, 3u);
  EXPECT_EQ(a.caller.concurrency, 0u);
  const TokenConfig& b = loaded.config.tokens[1];
  EXPECT_EQ(b.secret, tests::kOtherSecret);
  EXPECT_EQ(b.caller.profiles, std::nullopt);
  EXPECT_EQ(b.caller.burst, 10u);
  EXPECT_EQ(b.caller.concurrency, 4u);
}

TEST_F(ConfigTokens, ASecretInTheFileIsRefusedAndNotShown) {
  const std::string secret = std::string(" = \"") + tests::kSecret + "\"\n";
  for (const char* key : {"secret", "value", "token", "password"}) {
    ExpectTomlRefused("[[tokens]]\nname = \"a\"\n" + (key + secret),
                      {"belljar.toml:3", key, "separate file", "env = "});
  }
  ExpectTomlRefused("tokens" + secret, {"belljar.toml:1", "[[tokens]]"});
  ExpectTomlRefused("tokens = [\"" + std::string(tests::kSecret) + "\"]",
                    {"belljar.toml:1", "[[tokens]]"});
  ExpectTomlRefused("[[tokens]]\nname = [\"" + std::string(tests::kSecret) + "\"]",
                    {"belljar.toml:2"});
  ExpectTomlRefused("[[tokens]]\nname = \"a\"\nrate" + secret + "file = \"t\"",
                    {"belljar.toml:3", "rate"});
  ExpectTomlRefused("[http]\ntoken" + secret, {"belljar.toml:2", "token_file"});
  ExpectTomlRefused("api_token" + secret, {"belljar.toml:1", "token_file"});
}

// People put the secret where its place belongs.
TEST_F(ConfigTokens, ASecretInPlaceOfItsPlaceIsNotShown) {
  const std::string secret = std::string(" = \"") + tests::kSecret + "\"\n";
  sources_.flags["--token-file"] = {tests::kSecret};
  ExpectRefused({"--token-file", "ENOENT", "path of a file"});
  sources_.flags.clear();
  ExpectTomlRefused("http.token_file" + secret, {"belljar.toml:1", "path of a file"});
  ExpectTomlRefused("[[tokens]]\nname = \"a\"\nfile" + secret,
                    {"belljar.toml:1", "path of a file"});
  ExpectTomlRefused("[[tokens]]\nname = \"a\"\nenv" + secret,
                    {"belljar.toml:1", "names a variable"});
  ExpectTomlRefused("[[tokens]]\nname" + secret + "profiles = [" + tests::kSecret + "]",
                    {"belljar.toml:3:"});
  ExpectTomlRefused("[[tokens]]\nsecret = " + std::string(tests::kSecret), {"belljar.toml:2:"});
}

TEST_F(ConfigTokens, WrongEntriesAreRefusedWithTheLine) {
  File(tests::kSecret, 0600, "t");
  const std::string good = "[[tokens]]\nname = \"a\"\nfile = \"t\"\n";
  const struct {
    std::string toml;
    tests::Strings parts;
  } cases[] = {
      {"[[tokens]]\nfile = \"t\"", {"belljar.toml:1", "no name"}},
      {"[[tokens]]\nname = \"a\"", {"belljar.toml:1", "file =", "env ="}},
      {good + "env = \"X\"", {"belljar.toml:1", "either"}},
      {"[[tokens]]\nname = \"a b\"\nfile = \"t\"", {"belljar.toml:1", "letters"}},
      {"[[tokens]]\nname = \"local\"\nfile = \"t\"", {"belljar.toml:1", "local"}},
      {"[[tokens]]\nname = \"\"\nfile = \"t\"", {"belljar.toml:2", "name"}},
      {"[[tokens]]\nname = \"a\"\nenv = \"NOT_SET\"", {"belljar.toml:1", "NOT_SET", "not set"}},
      {"[[tokens]]\nname = \"a\"\nfile = \"none\"", {"belljar.toml:1", "none", "ENOENT"}},
      {good + "nmae = \"b\"", {"belljar.toml:4", "did you mean \"name\""}},
      {good + "rate = 0", {"belljar.toml:4", "rate", "messages per second"}},
      {good + "rate = -1.5", {"belljar.toml:4", "rate"}},
      {good + "rate = nan", {"belljar.toml:4", "rate"}},
      {good + "rate = inf", {"belljar.toml:4", "rate"}},
      {good + "rate = true", {"belljar.toml:4", "rate"}},
      {good + "burst = 5", {"belljar.toml:1", "burst", "requires tokens.rate"}},
      {good + "rate = 1\nburst = 0", {"belljar.toml:5", "burst"}},
      {good + "concurrency = 1.5", {"belljar.toml:4", "concurrency"}},
      {good + "profiles = \"basic\"", {"belljar.toml:4", "list"}},
      {good + "profiles = []", {"belljar.toml:1", "may not use any profile"}},
      {good + "profiles = [\"basci\"]", {"belljar.toml:1", "\"basci\"", "did you mean \"basic\""}},
      {good + good, {"belljar.toml:4", "two tokens named \"a\""}},
      {good + "[[tokens]]\nname = \"b\"\nfile = \"t\"", {"belljar.toml:4", "same secret"}},
      {"[tokens]\nname = \"a\"", {"belljar.toml:1", "[[tokens]]"}},
  };
  for (const auto& wrong : cases) ExpectTomlRefused(wrong.toml, wrong.parts);
}

TEST_F(ConfigTokens, ADefaultOneAndAnEntryOfThatNameAreTwo) {
  Set("SANDBOX_API_TOKEN", tests::kOtherSecret);
  File(tests::kSecret, 0600, "t");
  ExpectTomlRefused("[[tokens]]\nname = \"default\"\nfile = \"t\"",
                    {"belljar.toml:1", "two tokens named \"default\"", "SANDBOX_API_TOKEN"});
}

TEST_F(ConfigTokens, NothingThatIsShownHoldsASecret) {
  Set("SANDBOX_API_TOKEN", tests::kSecret);
  File(tests::kOtherSecret, 0640, "t");
  Toml("[[tokens]]\nname = \"a\"\nfile = \"t\"");
  const LoadedConfig loaded = Load();
  std::string shown = ConfigAsToml(loaded);
  for (const std::string& warning : loaded.warnings) shown += warning;
  for (const SettingValue& value : loaded.settings)
    shown += value.value + value.source + value.note;
  for (const TokenValue& token : loaded.tokens) shown += token.from + token.source;
  EXPECT_EQ(shown.find(tests::kSecret), std::string::npos);
  EXPECT_EQ(shown.find(tests::kOtherSecret), std::string::npos);
}

}  // namespace
}  // namespace belljar::server::config::config_tokens_test
