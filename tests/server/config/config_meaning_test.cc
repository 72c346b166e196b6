// What settings mean together, what variables are worth, and the file that is printed.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>

#include "server/config/environment.h"
#include "server/config/load.h"
#include "server/config/settings.h"
#include "server/config/values.h"
#include "tests/server/config_support.h"

namespace belljar::server::config::config_meaning_test {
namespace {

class ConfigMeaning : public tests::Config {};

// --- what the values mean together ------------------------------------------------------------

TEST_F(ConfigMeaning, DefaultsOfCallsStayWithinTheProfile) {
  Flag("--timeout", {"301"});
  ExpectRefused({"--timeout 301s: the maximum of profile basic is 300s"});
  sources_.flags = {{"--memory", {"5g"}}};
  ExpectRefused({"--memory 5g: the maximum of profile basic is 4g"});
  sources_.flags = {{"--max-output", {"17m"}}};
  ExpectRefused({"--max-output 17m: the maximum of profile basic is 16m"});
}

TEST_F(ConfigMeaning, AProfileHasToBeThere) {
  Flag("--profile", {"basci"});
  ExpectRefused({"--profile: unknown profile \"basci\"; did you mean \"basic\"?"});
  sources_.flags = {{"--profiles", {"basic", "basci"}}};
  ExpectRefused({"--profiles: unknown profile \"basci\"; did you mean \"basic\"?"});
  sources_.flags = {{"--profiles", {}}};
  ExpectRefused({"--profiles", "must include \"basic\""});
}

TEST_F(ConfigMeaning, AProfileOfTheOperatorsOwnIsFoundBesideTheFile) {
  const std::string basic = tests::Catalogue().installation().profiles + "/basic.toml";
  const std::string own = folder_.path() + "/own.toml";
  ASSERT_EQ(symlink(basic.c_str(), own.c_str()), 0);
  Toml("execution.profile = \"./own.toml\"");
  const LoadedConfig loaded = Load();
  EXPECT_EQ(loaded.config.execution.profile, own);
  EXPECT_EQ(loaded.config.execution.profiles, tests::Strings{own});
}

TEST_F(ConfigMeaning, ANetworkWithoutHostsAndHostsWithoutANetworkAreWarnedAbout) {
  Set("SANDBOX_ENABLE_NETWORK", "true");
  EXPECT_TRUE(tests::HasPart(Load().warnings, "profile network: no host is allowed"));
  Set("BELLJAR_NETWORK_ALLOWED_DOMAINS", "example.org");
  EXPECT_FALSE(tests::HasPart(Load().warnings, "host"));
  sources_.environment.clear();
  Flag("--allow-domain", {"example.org"});
  EXPECT_TRUE(
      tests::HasPart(Load().warnings, "--allow-domain has no effect without a profile with a"));
}

TEST_F(ConfigMeaning, ATierIsEnabledWhereItIsInstalled) {
  const struct {
    const char* variable;
    const char* key;
    const char* profile;
  } tiers[] = {
      {"SANDBOX_ENABLE_NETWORK", "execution.enable_network", "network"},
      {"SANDBOX_ENABLE_FILESYSTEM", "execution.enable_filesystem", "filesystem"},
      {"SANDBOX_ENABLE_DATA_SCIENCE", "execution.enable_data_science", "data-science"},
      {"SANDBOX_ENABLE_FULL", "execution.enable_full", "full"},
  };
  const tests::Strings installed = tests::Catalogue().Names();
  for (const auto& tier : tiers) {
    sources_.environment.clear();
    Set(tier.variable, "true");
    if (tier.profile == std::string("network")) {
      Set("BELLJAR_NETWORK_ALLOWED_DOMAINS", "example.org");
    }
    const LoadedConfig loaded = Load();
    const bool is_there = std::count(installed.begin(), installed.end(), tier.profile) != 0;
    const tests::Strings& enabled = loaded.config.execution.profiles;
    EXPECT_EQ(std::count(enabled.begin(), enabled.end(), tier.profile), is_there ? 1 : 0);
    const bool is_whole =
        is_there &&
        tests::Catalogue().installation().Missing(*tests::Catalogue().Choose(tier.profile)).empty();
    EXPECT_EQ(loaded.warnings.empty(), is_whole);
    EXPECT_EQ(Value(tier.key).note.empty(), is_whole);
    EXPECT_EQ(Value(tier.key).value, "true");
    sources_.environment.clear();
    Set(tier.variable, "false");
    EXPECT_TRUE(Load().warnings.empty());
    EXPECT_EQ(Load().config.execution.profiles, tests::Strings{"basic"});
  }
}

TEST_F(ConfigMeaning, SwitchesTakeCommonBooleanWords) {
  for (const char* word : {"true", "TRUE", "1", "yes", "on", "On"}) {
    sources_.environment = {std::string("SANDBOX_ENABLE_CONTAINER_MODE=") + word};
    EXPECT_TRUE(Load().config.container.enabled) << word;
  }
  for (const char* word : {"false", "False", "0", "no", "off"}) {
    sources_.environment = {std::string("SANDBOX_ENABLE_CONTAINER_MODE=") + word};
    EXPECT_FALSE(Load().config.container.enabled) << word;
  }
  sources_.environment = {"SANDBOX_ENABLE_CONTAINER_MODE=maybe"};
  ExpectRefused({"SANDBOX_ENABLE_CONTAINER_MODE \"maybe\": write true or false"});
}

TEST_F(ConfigMeaning, SizesAreTakenAsOthersWriteThem) {
  for (const char* text : {"1m", "1MB", "1048576", "1024k"}) {
    sources_.environment = {std::string("SANDBOX_MAX_OUTPUT_SIZE=") + text};
    EXPECT_EQ(Load().config.execution.output, core::Bytes::Mebi(1)) << text;
  }
}

TEST_F(ConfigMeaning, ModulesHaveToBeInAProfile) {
  Flag("--allow-import", {"math", "maths"});
  ExpectRefused(
      {"--allow-import: no enabled profile has a module \"maths\"; did you mean \"math\""});
  sources_.flags = {{"--allow-import", {"math"}}, {"--policy", {"off"}}};
  ExpectRefused({"--allow-import", "execution.policy off"});
  sources_.flags = {{"--allow-import", {}}};
  EXPECT_EQ(Load().config.execution.allowed_imports, tests::Strings());
}

TEST_F(ConfigMeaning, ThePolicyHasAFormerName) {
  EXPECT_EQ(Load().config.execution.policy, "on");
  Set("BELLJAR_EXECUTION_LANGUAGE", "full");
  const LoadedConfig loaded = Load();
  EXPECT_EQ(loaded.config.execution.policy, "off");
  EXPECT_TRUE(tests::HasPart(loaded.warnings, "it is now execution.policy = \"off\""));
  Set("BELLJAR_EXECUTION_POLICY", "on");
  ExpectRefused(
      {"BELLJAR_EXECUTION_LANGUAGE \"full\"", "it contradicts BELLJAR_EXECUTION_POLICY \"on\""});
  sources_.environment.pop_back();
  Flag("--policy", {"on"});
  EXPECT_EQ(Load().config.execution.policy, "on");
  sources_.flags = {{"--language", {"restricted"}}};
  EXPECT_EQ(Load().config.execution.policy, "on");
  sources_.environment.pop_back();
  Set("BELLJAR_EXECUTION_LANGUAGE", "perl");
  ExpectRefused({"BELLJAR_EXECUTION_LANGUAGE \"perl\": it is now execution.policy"});
}

// A list that was written for another server must not keep this one from starting; what is not
// there is not allowed.
TEST_F(ConfigMeaning, AFamiliarListMayNameModulesThatAreNotThere) {
  Set("SANDBOX_ALLOWED_IMPORTS", "math, nonesuch ,,json,math");
  const LoadedConfig loaded = Load();
  EXPECT_EQ(loaded.config.execution.allowed_imports, (tests::Strings{"math", "json"}));
  EXPECT_TRUE(tests::HasPart(loaded.warnings, "\"nonesuch\""));
}

TEST_F(ConfigMeaning, AnEmptyListOfModulesIsWarnedAbout) {
  Set("SANDBOX_ALLOWED_IMPORTS", "");
  const LoadedConfig loaded = Load();
  EXPECT_EQ(loaded.config.execution.allowed_imports, std::nullopt);
  EXPECT_TRUE(tests::HasPart(loaded.warnings, "SANDBOX_ALLOWED_IMPORTS: it is empty"));
}

TEST_F(ConfigMeaning, HttpSettingsTakeEffectWithAnAddress) {
  Toml("[http]\nlisten = \"[::1]:9016\"\nallowed_hosts = [\"a.example\"]\nmax_body = \"1m\"");
  const LoadedConfig loaded = Load();
  ASSERT_TRUE(loaded.config.http);
  EXPECT_EQ(loaded.config.http->address, "::1");
  EXPECT_EQ(loaded.config.http->port, 9016);
  EXPECT_EQ(loaded.config.http->allowed_hosts, tests::Strings{"a.example"});
  EXPECT_EQ(loaded.config.http->max_body, core::Bytes::Mebi(1));
  Flag("--http", {"off"});
  EXPECT_FALSE(Load().config.http);
}

TEST_F(ConfigMeaning, AnHttpFlagWithoutHttpIsWarnedAbout) {
  Flag("--allow-host", {"a.example"});
  EXPECT_TRUE(tests::HasPart(Load().warnings, "--allow-host has no effect without --http"));
}

TEST_F(ConfigMeaning, AddressesThatOthersReachNeedAToken) {
  for (const char* address : {"0.0.0.0:9015", "[::]:9015", "192.0.2.1", "[::ffff:127.0.0.1]:1"}) {
    sources_.flags = {{"--http", {address}}};
    ExpectRefused({"--http", "openssl rand -hex 32", "--token-file"});
    Flag("--token-file", {TokenFile(tests::kSecret)});
    EXPECT_EQ(Load().config.tokens.size(), 1u);
  }
  for (const char* address :
       {"127.0.0.1:9015", "127.9.9.9:1", "[::1]:0", "localhost:9015", "9015"}) {
    sources_.flags = {{"--http", {address}}};
    EXPECT_TRUE(Load().config.http) << address;
  }
}

TEST_F(ConfigMeaning, WhatIsNoAddressIsRefused) {
  for (const char* text :
       {"", ":9015", "127.0.0.1:", "127.0.0.1:65536", "127.0.0.1:-1", "::1:9015", "[::1]",
        "[::1:9015", "[127.0.0.1]:1", "example.com:80", "0x7f.1:80", "127.0.0.1:80:80",
        "127.0.0.1 :80", "[fe80::1%lo]:1", "http://127.0.0.1"}) {
    const bool default_port = std::string(text) == "[::1]";
    EXPECT_EQ(ParseListenAddress(text).ok(), default_port) << text;
  }
}

TEST_F(ConfigMeaning, HostsAndOriginsAreJudged) {
  for (const char* host : {"a.example", "a.example:80", "[::1]:80", "*"})
    EXPECT_EQ(HostViolation(host), "") << host;
  for (const char* host : {"", "http://a", "a/b", "a b", "*.a", "a@b"})
    EXPECT_NE(HostViolation(host), "") << host;
  for (const char* origin :
       {"https://a.example", "http://localhost:1", "vscode-webview://x", "*"}) {
    EXPECT_EQ(OriginViolation(origin), "") << origin;
  }
  for (const char* origin : {"", "a.example", "://a", "https://", "https://a/b", "https://*"}) {
    EXPECT_NE(OriginViolation(origin), "") << origin;
  }
}

TEST_F(ConfigMeaning, AnApiOfAnotherServiceHasAProfileThatIsEnabled) {
  EXPECT_EQ(Load().config.compatible_apis.piston, "");
  Toml("[fronts]\npiston = \"basic\"\n");
  EXPECT_EQ(Load().config.compatible_apis.piston, "basic");
  EXPECT_TRUE(tests::HasPart(Load().warnings, "fronts.piston has no effect without http.listen"));
  Flag("--http", {"127.0.0.1:0"});
  EXPECT_FALSE(tests::HasPart(Load().warnings, "fronts.piston"));
  ExpectTomlRefused("[fronts]\njudge0 = \"filesystem\"\n",
                    {"belljar.toml:2", "\"filesystem\" is not enabled", "execution.profiles"});
  Toml(
      "[execution]\nprofiles = [\"basic\", \"filesystem\"]\n"
      "[fronts]\nsandbox_fusion = \"basic+filesystem\"\n");
  EXPECT_EQ(Load().config.compatible_apis.sandbox_fusion, "basic+filesystem");
  Toml("[fronts]\nsandbox_fusion = \"auto\"\n");
  EXPECT_EQ(Load().config.compatible_apis.sandbox_fusion, "auto");
}

TEST_F(ConfigMeaning, AContainerThatCouldNeverBeIsRefused) {
  ExpectTomlRefused("[container]\nruntime = \"runc\"\nrequire_gvisor = true\n",
                    {"belljar.toml:2", "\"runc\"", "runc is not gVisor"});
  ExpectTomlRefused("[container]\nengine = \"runsc\"\nruntime = \"runc\"\n",
                    {"belljar.toml:3", "its own runtime", "write auto"});
  ExpectTomlRefused("[container]\nengine = \"runsc\"\nsocket = \"/run/docker.sock\"\n",
                    {"belljar.toml:3", "which has no socket"});
}

TEST_F(ConfigMeaning, ASocketIsFoundBesideTheFile) {
  Toml("[container]\nsocket = \"docker.sock\"\n");
  EXPECT_EQ(Load().config.container.socket, folder_.path() + "/docker.sock");
}

TEST_F(ConfigMeaning, AnImageIsNeverAnOption) {
  Set("SANDBOX_CONTAINER_IMAGE", "--privileged");
  ExpectRefused({"SANDBOX_CONTAINER_IMAGE", "write the name of an image"});
}

// --- variables --------------------------------------------------------------------------------

TEST_F(ConfigMeaning, UnknownVariablesAreWarnedAbout) {
  Set("SANDBOX_TIMOUT", "5");
  Set("BELLJAR_LOG_LEVL", "info");
  Set("BELLJAR_BUILD", "x");
  Set("BELLJAR_TEST_X", "x");
  Set("OTHER_TIMEOUT", "5");
  const tests::Strings warnings = Load().warnings;
  ASSERT_EQ(warnings.size(), 2u);
  EXPECT_EQ(warnings[0], "SANDBOX_TIMOUT: unknown setting; did you mean \"SANDBOX_TIMEOUT\"?");
  EXPECT_EQ(warnings[1], "BELLJAR_LOG_LEVL: unknown setting; did you mean \"BELLJAR_LOG_LEVEL\"?");
}

TEST_F(ConfigMeaning, UnknownVariablesOfAFileAreRefused) {
  const std::string path = EnvFile("# mine\nOTHER=1\nSANDBOX_TIMOUT=5\n");
  EXPECT_EQ(Refusal(), path +
                           ":3: SANDBOX_TIMOUT: unknown setting; did you mean "
                           "\"SANDBOX_TIMEOUT\"?");
}

TEST_F(ConfigMeaning, AnEnvironmentFileIsReadAsShellsDo) {
  const std::string path = folder_.Write(
      "x.env",
      "\xef\xbb\xbf# a comment\n\n  A=1\nexport B = two words # comment\nC='single # \\n $X'\n"
      "D=\"double \\\" \\\\ \\n \\$ \\q\" # comment\nE=\nF=a#b\nexport\tG=7\r\nH=\"\"\nA=again");
  const core::Result<std::vector<Variable>> variables = ReadEnvironmentFile(path);
  ASSERT_TRUE(variables) << variables.error().ToString();
  const auto value = [&](const char* name) {
    const Variable* variable = FindVariable(*variables, name);
    return variable ? variable->value : "absent";
  };
  EXPECT_EQ(value("A"), "again");
  EXPECT_EQ(value("B"), "two words");
  EXPECT_EQ(value("C"), "single # \\n $X");
  EXPECT_EQ(value("D"), "double \" \\ \n $ \\q");
  EXPECT_EQ(value("E"), "");
  EXPECT_EQ(value("F"), "a#b");
  EXPECT_EQ(value("G"), "7");
  EXPECT_EQ(value("H"), "");
}

TEST_F(ConfigMeaning, AWrongLineIsNamedAndNotShown) {
  for (const std::string& line :
       {std::string("hunter2"), std::string("1A=hunter2"), std::string("A B=hunter2"),
        std::string("=hunter2"), std::string("A=\"hunter2"), std::string("A='hunter2"),
        std::string("A=\"x\" hunter2"), std::string("A=hunter2\0x", 11)}) {
    const std::string path = folder_.Write("x.env", "OK=1\n" + line + "\n");
    const core::Result<std::vector<Variable>> variables = ReadEnvironmentFile(path);
    ASSERT_FALSE(variables) << line;
    const std::string text = variables.error().ToString();
    EXPECT_NE(text.find("x.env:2: "), std::string::npos) << text;
    EXPECT_EQ(text.find("hunter2"), std::string::npos) << text;
  }
}

// --- the file that is printed -----------------------------------------------------------------

TEST_F(ConfigMeaning, ThePrintedFileLoadsToTheSame) {
  Set("SANDBOX_ALLOWED_IMPORTS", "math,json");
  Set("SANDBOX_ENABLE_DATA_SCIENCE", "true");
  Set("TEAM_A", tests::kOtherSecret);
  Flag("--http", {"127.0.0.1:0"});
  Flag("--log-code", {"true"});
  Flag("--timeout", {"1.5"});
  Flag("--token-file", {TokenFile(tests::kSecret)});
  Flag("--allow-origin", {"https://a.example"});
  Toml(
      "[[tokens]]\nname = \"team-a\"\nenv = \"TEAM_A\"\nrate = 0.5\nconcurrency = 3\n"
      "profiles = [\"basic\"]");
  const LoadedConfig before = Load();
  sources_.flags.clear();
  sources_.environment = {std::string("TEAM_A=") + tests::kOtherSecret};
  Toml(ConfigAsToml(before));
  const LoadedConfig after = Load();
  ASSERT_EQ(before.settings.size(), after.settings.size());
  for (size_t i = 0; i < before.settings.size(); ++i) {
    EXPECT_EQ(before.settings[i].value, after.settings[i].value) << before.settings[i].key;
    EXPECT_EQ(before.settings[i].is_default, after.settings[i].is_default);
  }
  ASSERT_EQ(after.config.tokens.size(), 2u);
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(before.config.tokens[i].secret, after.config.tokens[i].secret);
    EXPECT_EQ(before.config.tokens[i].caller.rate, after.config.tokens[i].caller.rate);
    EXPECT_EQ(before.config.tokens[i].caller.burst, after.config.tokens[i].caller.burst);
    EXPECT_EQ(before.config.tokens[i].caller.profiles, after.config.tokens[i].caller.profiles);
  }
  EXPECT_EQ(after.config.tokens[1].caller.concurrency, 3u);
}

TEST_F(ConfigMeaning, ThePrintedDefaultsAreAllCommentsAndRight) {
  std::string text = ConfigAsToml(Load());
  Toml(text);
  for (const SettingValue& value : Load().settings) EXPECT_TRUE(value.is_default) << value.key;
  // Each comment that is a key: the line works once the mark is taken away.
  const std::string token = TokenFile(tests::kSecret);
  for (const Setting& setting : Settings()) {
    const std::string name = setting.key.substr(setting.key.find('.') + 1);
    const size_t section = text.find("[" + setting.key.substr(0, setting.key.find('.')) + "]\n");
    const size_t at = text.find("\n# " + name + " = ", section);
    ASSERT_NE(at, std::string::npos) << setting.key;
    std::string one = text;
    one.erase(at + 1, 2);
    const size_t path = one.find("/etc/belljar/token\"");
    one.replace(path, 18, token);
    Toml(one);
    EXPECT_FALSE(Value(setting.key).is_default) << setting.key;
  }
}

}  // namespace
}  // namespace belljar::server::config::config_meaning_test
