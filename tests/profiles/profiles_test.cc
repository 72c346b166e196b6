// The profile loader: what is wrong with a file is said with the file, the line and, where a name
// is nearly right, a suggestion.
#include "engine/profiles/loader.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "engine/installation/installation.h"
#include "tests/support/support.h"

namespace belljar::profiles::profiles_test {
namespace {

constexpr char kSeccomp[] = R"(schema = 1
[[group.runtime]]
calls = ["read", "write"]
why = "files"
[[hostile]]
calls = ["ptrace"]
why = "attacks"
)";

// Line numbers below count from its first line.
constexpr char kProfile[] = R"(schema = 1
name = "mine"
summary = "A profile."
[limits]
timeout = {default = "1s", max = "2s", why = "w"}
cpu = {default = "1s", max = "2s", why = "w"}
memory = {default = "1m", max = "2m", why = "w"}
output = {default = "1m", max = "2m", why = "w"}
result = {default = "1m", max = "2m", why = "w"}
source = {default = "1m", max = "2m", why = "w"}
file_size = {default = "0", max = "0", why = "w"}
open_files = {default = 16, why = "w"}
processes = {default = 1, why = "w"}
[[paths]]
path = "{stdlib}"
why = "w"
[seccomp]
groups = ["runtime"]
why = "w"
[modules.math]
exports = ["sqrt"]
why = "w"
)";

class Profiles : public ::testing::Test {
 protected:
  // Loads kProfile with `from` replaced by `to`.
  core::Result<core::Profile> Load(const std::string& from = "", const std::string& to = "",
                                   const std::string& seccomp = kSeccomp) {
    std::string text = kProfile;
    const size_t at = text.find(from);
    if (at == std::string::npos) abort();
    text.replace(at, from.size(), to);
    folder_.Write("seccomp.toml", seccomp);
    return LoadProfile(folder_.Write("mine.toml", text), folder_.path());
  }
  void ExpectRefused(const core::Result<core::Profile>& profile,
                     const std::vector<std::string>& parts) {
    ASSERT_FALSE(profile);
    const std::string text = profile.error().ToString();
    for (const std::string& part : parts) {
      EXPECT_NE(text.find(part), std::string::npos) << text << "\n  lacks: " << part;
    }
  }
  tests::TemporaryFolder folder_;
};

TEST_F(Profiles, AGoodOneLoads) {
  const core::Result<core::Profile> profile = Load();
  ASSERT_TRUE(profile) << profile.error().ToString();
  EXPECT_EQ(profile->name, "mine");
  EXPECT_EQ(profile->default_limits.timeout, std::chrono::seconds(1));
  EXPECT_EQ(profile->maximum_limits.memory, core::Bytes::Mebi(2));
  EXPECT_EQ(profile->default_limits.open_files, 16u);
  ASSERT_EQ(profile->modules.size(), 1u);
  EXPECT_EQ(profile->modules[0].name, "math");
  ASSERT_EQ(profile->allowed_syscalls.size(), 2u);
  EXPECT_EQ(profile->hostile_syscalls, std::vector<std::string>{"ptrace"});
  EXPECT_EQ(nlohmann::json::parse(profile->document)["name"], "mine");
}

TEST_F(Profiles, AnUnknownKeyIsRefusedWithLineAndSuggestion) {
  ExpectRefused(Load("summary", "sumary"),
                {"mine.toml:3", "\"sumary\"", "did you mean \"summary\""});
  ExpectRefused(Load("memory =", "memry ="), {"mine.toml:7", "did you mean \"memory\""});
  ExpectRefused(Load("max = \"2m\"", "maxx = \"2m\""), {"mine.toml:7", "did you mean \"max\""});
  ExpectRefused(Load("path = ", "paht = "), {"mine.toml:15", "did you mean \"path\""});
  ExpectRefused(Load("groups", "gruops"), {"mine.toml:18", "did you mean \"groups\""});
  ExpectRefused(Load("exports", "export"), {"mine.toml:21", "did you mean \"exports\""});
  ExpectRefused(Load("[modules.math]", "[quite_another]"), {"mine.toml:20", "\"quite_another\""});
}

TEST_F(Profiles, ThePolicyIsOffUnderItsFormerNameToo) {
  const auto with = [this](const std::string& line) {
    return Load("[limits]", line + "\n[limits]");
  };
  for (const auto& [line, is_off] : {std::pair("", false), std::pair("policy = \"off\"", true),
                                     std::pair("language = \"full\"", true)}) {
    const core::Result<core::Profile> profile = with(line);
    ASSERT_TRUE(profile) << line << profile.error().ToString();
    EXPECT_EQ(profile->without_policy, is_off) << line;
  }
  ExpectRefused(with("policy = \"on\""), {"mine.toml:4", "\"policy\" may only be \"off\""});
  ExpectRefused(with("language = \"restricted\""),
                {"mine.toml:4", "\"language\" may only be \"full\""});
}

TEST_F(Profiles, ModulesThatOnlyRefuseAreNoModulesOfTheProfile) {
  const std::string text =
      std::string(kProfile) + "\n[for_tests.smtplib]\nwhy = \"w\"\nexports = [\"SMTP\"]\n";
  folder_.Write("seccomp.toml", kSeccomp);
  const core::Result<core::Profile> profile =
      LoadProfile(folder_.Write("mine.toml", text), folder_.path());
  ASSERT_TRUE(profile) << profile.error().ToString();
  EXPECT_EQ(profile->modules.size(), 1u);
  EXPECT_EQ(profile->modules_for_tests, std::vector<std::string>{"smtplib"});
  const nlohmann::json document = nlohmann::json::parse(profile->document);
  EXPECT_EQ(document["for_tests"]["smtplib"]["exports"][0], "SMTP");
  ExpectRefused(
      LoadProfile(folder_.Write("mine.toml", text + "since = \"3.14\"\n"), folder_.path()),
      {"mine.toml:", "\"since\""});
}

TEST_F(Profiles, EveryEntryHasItsWhy) {
  std::string text = kProfile;
  size_t entries = 0;
  for (size_t at = text.find("why = \"w\""); at != text.npos;
       at = text.find("why = \"w\"", at + 1)) {
    std::string without = text;
    const bool inline_table = at > 1 && text[at - 2] == ',';
    without.erase(inline_table ? at - 2 : at, inline_table ? 11 : 9);
    folder_.Write("seccomp.toml", kSeccomp);
    ExpectRefused(LoadProfile(folder_.Write("mine.toml", without), folder_.path()),
                  {"mine.toml:", "why"});
    std::string empty = text;
    empty.replace(at, 9, "why = \"\"");
    ExpectRefused(LoadProfile(folder_.Write("mine.toml", empty), folder_.path()),
                  {"mine.toml:", "why"});
    ++entries;
  }
  EXPECT_EQ(entries, 12u);
}

TEST_F(Profiles, WrongTypesAreRefusedWithTheLine) {
  ExpectRefused(Load("schema = 1", "schema = \"1\""), {"mine.toml:1", "schema"});
  ExpectRefused(Load("\"mine\"", "7"), {"mine.toml:2", "name", "type"});
  ExpectRefused(Load("\"1s\", max", "1, max"), {"mine.toml:5", "default", "type"});
  ExpectRefused(Load("default = 16", "default = \"16\""), {"mine.toml:12", "type"});
  ExpectRefused(Load("[\"runtime\"]", "\"runtime\""), {"groups", "list of strings"});
  ExpectRefused(Load("[\"sqrt\"]", "[1]"), {"mine.toml:21", "exports", "list of strings"});
  ExpectRefused(Load("[[paths]]", "[paths]"), {"mine.toml:14", "[[paths]]"});
}

TEST_F(Profiles, ValuesThatMakeNoSenseAreRefused) {
  ExpectRefused(Load("schema = 1", "schema = 2"), {"mine.toml:1", "schema must be 1"});
  ExpectRefused(Load("\"1s\", max = \"2s\"", "\"3s\", max = \"2s\""),
                {"mine.toml:5", "default exceeds the maximum"});
  ExpectRefused(Load("\"1m\", max = \"2m\"", "\"1g\", max = \"2m\""),
                {"mine.toml:7", "default exceeds the maximum"});
  ExpectRefused(Load("\"1m\", max", "\"lots\", max"), {"mine.toml:7", "lots", "128m"});
  ExpectRefused(Load("\"1s\", max", "\"0\", max"), {"mine.toml:5", "duration"});
  ExpectRefused(Load("default = 16", "default = 0"), {"mine.toml:12", "from 1 to 65536"});
  ExpectRefused(Load("default = 16", "default = -1"), {"mine.toml:12", "from 1 to 65536"});
  ExpectRefused(Load("\"{stdlib}\"", "\"lib\""), {"mine.toml:14", "absolute"});
}

TEST_F(Profiles, MissingPartsAreNamed) {
  ExpectRefused(Load("name = \"mine\"\n", ""), {"missing \"name\""});
  ExpectRefused(Load("cpu = {default = \"1s\", max = \"2s\", why = \"w\"}\n", ""), {"\"cpu\""});
  ExpectRefused(Load("[seccomp]\ngroups = [\"runtime\"]\nwhy = \"w\"\n", ""), {"\"seccomp\""});
}

TEST_F(Profiles, AnUnknownSeccompGroupIsRefusedWithSuggestion) {
  ExpectRefused(Load("[\"runtime\"]", "[\"runtme\"]"),
                {"mine.toml:17", "\"runtme\"", "did you mean \"runtime\""});
}

TEST_F(Profiles, MistakesInTheSystemCallListAreNamed) {
  std::string seccomp = kSeccomp;
  seccomp.replace(seccomp.find("calls"), 5, "cals");
  ExpectRefused(Load("", "", seccomp), {"seccomp.toml:3", "did you mean \"calls\""});
  seccomp = kSeccomp;
  seccomp.insert(seccomp.find("why = \"files\""), "when = {argument = 1, equal = 2}\n");
  ExpectRefused(Load("", "", seccomp), {"seccomp.toml:4", "did you mean \"equals\""});
}

TEST_F(Profiles, ConditionsOnArgumentsOutOfRangeAreRefused) {
  for (const char* when : {"argument = 6, equals = 0", "argument = -1, equals = 0",
                           "argument = 4294967296, equals = 0"}) {
    std::string seccomp = kSeccomp;
    seccomp.insert(seccomp.find("why = \"files\""), "when = {" + std::string(when) + "}\n");
    // A rule whose condition is dropped would allow the whole call.
    ExpectRefused(Load("", "", seccomp), {"seccomp.toml:4"});
  }
}

TEST_F(Profiles, SeveralConditionsHoldTogether) {
  const auto with = [&](const std::string& when) {
    std::string text = kSeccomp;
    return text.insert(text.find("why = \"files\""), "when = [" + when + "]\n");
  };
  const auto profile =
      Load("", "", with("{argument = 0, equals = 2}, {argument = 1, mask = 3, below = 9}"));
  ASSERT_TRUE(profile) << profile.error().ToString();
  ASSERT_EQ(profile->allowed_syscalls[0].conditions.size(), 2u);
  EXPECT_EQ(profile->allowed_syscalls[0].conditions[1].argument, 1u);
  ExpectRefused(Load("", "", with("")), {"seccomp.toml:4", "empty"});
  ExpectRefused(Load("", "", with("{argument = 0, equals = 2}, {argument = 0, equals = 3}")),
                {"seccomp.toml:4", "one argument"});
  ExpectRefused(Load("", "", with("2")), {"seccomp.toml:4"});
}

TEST_F(Profiles, BrokenTomlIsRefusedWithTheLine) {
  ExpectRefused(Load("[limits]", "[limits"), {"mine.toml:4"});
  ExpectRefused(Load("name = \"mine\"", "name = \"mine"), {"mine.toml:2"});
  ExpectRefused(Load("\"mine\"", "\"\xff\xfe\""), {"mine.toml:2"});
  ExpectRefused(Load("schema = 1", "schema = 1\nschema = 1"), {"mine.toml:2"});
}

TEST_F(Profiles, MissingFilesAreNamed) {
  ExpectRefused(LoadProfile(folder_.path() + "/none.toml", folder_.path()), {"seccomp.toml"});
  folder_.Write("seccomp.toml", kSeccomp);
  ExpectRefused(LoadProfile(folder_.path() + "/none.toml", folder_.path()), {"none.toml"});
  EXPECT_FALSE(LoadProfiles("/nowhere/at/all"));
}

TEST_F(Profiles, PublicExportsAreTheRecordedOnes) {
  mkdir((folder_.path() + "/exports").c_str(), 0755);
  folder_.Write("exports/mine.txt", "math sqrt\nmath pi\nother x\n");
  const core::Result<core::Profile> profile = Load("[\"sqrt\"]", "\"public\"");
  ASSERT_TRUE(profile) << profile.error().ToString();
  ASSERT_EQ(profile->modules.size(), 1u);
  EXPECT_EQ(profile->modules[0].exports, (std::vector<std::string>{"sqrt", "pi"}));
  const auto document = nlohmann::json::parse(profile->document);
  EXPECT_EQ(document["modules"]["math"]["exports"], (std::vector<std::string>{"sqrt", "pi"}));
}

TEST_F(Profiles, PublicExportsThatNobodyRecordedAreNone) {
  const core::Result<core::Profile> profile = Load("[\"sqrt\"]", "\"public\"");
  ASSERT_TRUE(profile) << profile.error().ToString();
  EXPECT_TRUE(profile->modules[0].exports.empty());
  ExpectRefused(Load("[\"sqrt\"]", "\"all\""), {"mine.toml:", "or \"public\""});
}

TEST_F(Profiles, ModulesOfLaterPythonsAreLeftOut) {
  const std::string later = "[modules.later]\nexports = []\nwhy = \"w\"\nsince = \"3.99\"\n";
  const core::Result<core::Profile> profile = Load("[modules.math]", later + "[modules.math]");
  ASSERT_TRUE(profile) << profile.error().ToString();
  ASSERT_EQ(profile->modules.size(), 1u);
  EXPECT_EQ(profile->modules[0].name, "math");
  EXPECT_FALSE(nlohmann::json::parse(profile->document)["modules"].contains("later"));
  const core::Result<core::Profile> both = Load("[\"sqrt\"]", "[\"sqrt\"]\nsince = \"3.2\"");
  ASSERT_TRUE(both) << both.error().ToString();
  EXPECT_EQ(both->modules.size(), 1u);
  for (const char* wrong : {"\"2.7\"", "\"3.\"", "\"3.x\"", "\"3.14.1\""}) {
    ExpectRefused(Load("[\"sqrt\"]", std::string("[\"sqrt\"]\nsince = ") + wrong),
                  {"mine.toml:", "\"since\" must be a version of Python"});
  }
  ExpectRefused(Load("[\"sqrt\"]", "[\"sqrt\"]\nsince = 3.14"), {"since", "type"});
}

TEST_F(Profiles, RoomForArtifactsIsBounded) {
  const std::string table = "[artifacts]\nsize = \"4m\"\nwhy = \"w\"\n[modules.math]";
  const core::Result<core::Profile> profile = Load("[modules.math]", table);
  ASSERT_TRUE(profile) << profile.error().ToString();
  EXPECT_EQ(profile->artifacts, core::Bytes::Mebi(4));
  EXPECT_EQ(Load()->artifacts, core::Bytes{0});
  ExpectRefused(Load("[modules.math]", "[artifacts]\nsize = \"1g\"\nwhy = \"w\"\n[modules.math]"),
                {"256m at most"});
}

TEST_F(Profiles, LightPackagesAreOnesThatItHas) {
  const std::string modules = "[modules.math]";
  const std::string set = "[packages.set]\nmodules = [\"one\", \"two\"]\nwhy = \"w\"\n";
  const auto light = [](const std::string& names) {
    return "[zygote]\nlight = [" + names + "]\nwhy = \"w\"\n";
  };
  const auto loaded = Load(modules, set + light("\"two\"") + modules);
  ASSERT_TRUE(loaded) << loaded.error().ToString();
  EXPECT_EQ(loaded->light_packages, std::vector<std::string>{"two"});
  const auto other = Load(modules, set + light("\"three\"") + modules);
  ASSERT_FALSE(other);
  EXPECT_NE(other.error().ToString().find("no package set of this profile has \"three\""),
            std::string::npos)
      << other.error().ToString();
  EXPECT_FALSE(Load(modules, set + light("2") + modules));
}

TEST_F(Profiles, AFolderIsReadByName) {
  ASSERT_TRUE(Load());
  std::string second = kProfile;
  second.replace(second.find("\"mine\""), 6, "\"also\"");
  folder_.Write("zz.toml", second);
  folder_.Write("notes.txt", "not a profile");
  const auto profiles = LoadProfiles(folder_.path());
  ASSERT_TRUE(profiles) << profiles.error().ToString();
  ASSERT_EQ(profiles->size(), 2u);
  EXPECT_EQ((*profiles)[0].name, "also");
  EXPECT_EQ(nlohmann::json::parse(ModulesByProfile(*profiles, "mine")),
            nlohmann::json::parse(R"({"also":["math"]})"));
}

TEST_F(Profiles, AProfileOfAFolderIsTheSameAloneAndWithAll) {
  ASSERT_TRUE(Load());
  folder_.Write("zz.toml", "this is no profile");
  auto opened = ProfileFolder::Open(folder_.path());
  ASSERT_TRUE(opened) << opened.error().ToString();
  EXPECT_FALSE(opened->Load("none"));
  EXPECT_FALSE(opened->Load("../mine"));
  const auto alone = opened->Load("mine");
  ASSERT_TRUE(alone) << "no other file matters: " << alone.error().ToString();
  EXPECT_FALSE(opened->LoadAll()) << "now one does";
  std::string second = kProfile;
  second.replace(second.find("\"mine\""), 6, "\"also\"");
  folder_.Write("zz.toml", second);
  const auto all = opened->LoadAll();
  ASSERT_TRUE(all) << all.error().ToString();
  ASSERT_EQ(all->size(), 2u);
  EXPECT_EQ((*all)[1].document, alone->document);
  EXPECT_EQ((*all)[1].paths.size(), alone->paths.size()) << "nothing is added twice";
  EXPECT_EQ((*all)[1].hostile_syscalls, alone->hostile_syscalls);
}

TEST_F(Profiles, ADocumentHasNoReasonsButAModuleOfThatName) {
  const auto profile =
      Load("[modules.math]", "[modules.why]\nexports = [\"a\"]\nwhy = \"w\"\n[modules.math]");
  ASSERT_TRUE(profile) << profile.error().ToString();
  const auto modules = nlohmann::json::parse(profile->document)["modules"];
  EXPECT_EQ(modules["why"], nlohmann::json::parse(R"({"exports": ["a"]})"));
  EXPECT_EQ(modules["math"], nlohmann::json::parse(R"({"exports": ["sqrt"]})"));
}

TEST(ShippedProfiles, AllLoad) {
  const core::Result<installation::Installation> installation = installation::Installation::Find();
  ASSERT_TRUE(installation);
  const auto profiles = LoadProfiles(installation->profiles);
  ASSERT_TRUE(profiles) << profiles.error().ToString();
  ASSERT_FALSE(profiles->empty());
  const auto basic =
      std::find_if(profiles->begin(), profiles->end(),
                   [](const core::Profile& profile) { return profile.name == "basic"; });
  ASSERT_NE(basic, profiles->end());
  EXPECT_FALSE(basic->modules.empty());
  EXPECT_FALSE(basic->allowed_syscalls.empty());
  EXPECT_FALSE(basic->hostile_syscalls.empty());
  for (const core::Profile& profile : *profiles) {
    const auto alone =
        LoadProfile(installation->profiles + "/" + profile.name + ".toml", installation->profiles);
    ASSERT_TRUE(alone) << alone.error().ToString();
    EXPECT_EQ(alone->name, profile.name);
    EXPECT_EQ(alone->modules.size(), profile.modules.size());
    EXPECT_EQ(nlohmann::json::parse(alone->document)["name"], profile.name);
  }
}

}  // namespace
}  // namespace belljar::profiles::profiles_test
