// The languages besides Python: by name, by file, and what this machine has of them.
#include "engine/profiles/languages.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <string>

#include "engine/installation/installation.h"
#include "engine/profiles/loader.h"
#include "tests/support/support.h"

namespace belljar::profiles::languages_test {
namespace {

constexpr char kSeccomp[] = R"(schema = 1
[[group.runtime]]
calls = ["read", "write"]
why = "files"
[[hostile]]
calls = ["ptrace"]
why = "attacks"
)";

constexpr char kBase[] = R"(schema = 1
name = "base"
summary = "All."
[limits]
timeout = {default = "1s", max = "2s", why = "w"}
cpu = {default = "1s", max = "2s", why = "w"}
memory = {default = "1m", max = "2m", why = "w"}
output = {default = "1m", max = "2m", why = "w"}
result = {default = "1m", max = "2m", why = "w"}
source = {default = "1m", max = "2m", why = "w"}
file_size = {default = "1m", max = "1m", why = "w"}
open_files = {default = 16, why = "w"}
processes = {default = 9, why = "w"}
artifact = {default = "1m", max = "2m", why = "w"}
artifacts = {default = "1m", max = "2m", why = "w"}
[workspace]
size = "1m"
inodes = 100
why = "w"
[[paths]]
path = "/usr/lib"
why = "w"
[seccomp]
groups = ["runtime"]
why = "w"
[program]
why = "w"
[program.environment]
A = "base"
B = "base"
)";

constexpr char kShell[] = R"(schema = 1
name = "shell"
extends = "base"
summary = "A shell."
[program]
why = "w"
title = "The shell"
aliases = ["posix"]
extensions = [".sh"]
interpreters = ["sh"]
package = "dash"
version = ["sh", "-c", "echo 1"]
file = "main.sh"
command = ["sh", "{file}"]
example = "echo hello"
[program.environment]
B = "own"
[[program.errors]]
pattern = '^(.*): ([0-9]+): (.*)$'
groups = ["file", "line", "message"]
[[paths]]
path = "{program}"
why = "w"
[[paths]]
path = "{home}"
why = "w"
)";

class Languages : public ::testing::Test {
 protected:
  core::Result<LanguageCatalogue> Open(const std::string& from = "", const std::string& to = "") {
    std::string text = kShell;
    const size_t at = text.find(from);
    if (at == std::string::npos) abort();
    text.replace(at, from.size(), to);
    profiles_.Write("seccomp.toml", kSeccomp);
    folder_.Write("base.toml", kBase);
    folder_.Write("shell.toml", text);
    installation::Installation installation;
    installation.languages = folder_.path();
    installation.profiles = profiles_.path();
    return LanguageCatalogue::Open(installation);
  }
  void ExpectRefused(const core::Result<LanguageCatalogue>& languages,
                     const std::vector<std::string>& parts) {
    ASSERT_FALSE(languages);
    const std::string text = languages.error().ToString();
    for (const std::string& part : parts) {
      EXPECT_NE(text.find(part), std::string::npos) << text << "\n  lacks: " << part;
    }
  }
  tests::TemporaryFolder profiles_;
  tests::TemporaryFolder folder_;
};

TEST_F(Languages, AreFoundByNameAliasAndNearest) {
  const auto languages = Open();
  ASSERT_TRUE(languages) << languages.error().ToString();
  EXPECT_EQ(languages->Names(), (std::vector<std::string>{"python", "shell"}));
  ASSERT_TRUE(languages->Find("posix"));
  EXPECT_EQ((*languages->Find("posix"))->name, "shell");
  ASSERT_TRUE(languages->Find("py"));
  EXPECT_FALSE(languages->Find("py")->has_value());
  const auto unknown = languages->Find("shel");
  ASSERT_FALSE(unknown);
  EXPECT_NE(unknown.error().ToString().find("did you mean \"shell\""), std::string::npos);
}

TEST_F(Languages, AFileIsOfALanguageByExtensionOrFirstLine) {
  const auto languages = Open();
  ASSERT_TRUE(languages);
  const core::Profile* const shell = &languages->languages().front();
  EXPECT_EQ(languages->OfFile("a.sh", ""), shell);
  EXPECT_EQ(languages->OfFile("a", "#!/bin/sh -e\n"), shell);
  EXPECT_EQ(languages->OfFile("a", "#!/usr/bin/env -S sh\r\n"), shell);
  EXPECT_EQ(languages->OfFile("a.py", "#!/bin/sh\n"), nullptr);
  EXPECT_EQ(languages->OfFile("a", "# !/bin/sh\n"), nullptr);
  EXPECT_EQ(languages->OfFile("a", "#!"), nullptr);
}

TEST_F(Languages, TheEnvironmentIsTheBasesWithItsOwn) {
  const auto languages = Open();
  ASSERT_TRUE(languages);
  const core::ProgramRule& program = *languages->languages().front().program;
  EXPECT_EQ(program.environment, (std::vector<std::string>{"A=base", "B=own"}));
  ASSERT_EQ(program.errors.size(), 1u);
}

TEST_F(Languages, ACompilerHasLimitsOfItsOwn) {
  const auto limits_with = [&](const char* keys) {
    const auto languages = Open("file = \"main.sh\"\n", std::string("file = \"main.sh\"\n") + keys);
    EXPECT_TRUE(languages) << languages.error().ToString();
    return languages->languages().front().program->compile_limits;
  };
  EXPECT_EQ(limits_with("").time, std::chrono::seconds(10));
  EXPECT_EQ(limits_with("").memory, core::Bytes::Mebi(512));
  const auto own = limits_with("compile_time = \"2m\"\ncompile_memory = \"1g\"\n");
  EXPECT_EQ(own.time, std::chrono::minutes(2));
  EXPECT_EQ(own.memory, core::Bytes::Mebi(1024));
  ExpectRefused(Open("file = \"main.sh\"\n", "file = \"main.sh\"\ncompile_time = \"soon\"\n"),
                {"soon"});
}

TEST_F(Languages, TheSourceKeepsAPlainNameOnly) {
  const auto languages = Open();
  ASSERT_TRUE(languages);
  const core::ProgramRule& program = *languages->languages().front().program;
  EXPECT_EQ(SourceFileName("/a/b/own.sh", program), "own.sh");
  for (const char* const name : {"own.py", "-x.sh", ".x.sh", "a b.sh", "", "ä.sh"}) {
    EXPECT_EQ(SourceFileName(name, program), "main.sh") << name;
  }
  EXPECT_EQ(SourceFileName(std::string(200, 'a') + ".sh", program), "main.sh");
}

TEST_F(Languages, WhatIsInstalledIsFoundByItsPath) {
  const auto languages = Open();
  ASSERT_TRUE(languages);
  const auto installed = Installed(languages->languages().front());
  ASSERT_TRUE(installed) << installed.error().ToString();
  const std::string program = installed->program->command.front();
  EXPECT_EQ(program.front(), '/');
  // {home} is /usr here, which is never shown.
  const auto shows = [&](const std::string& path) {
    return std::ranges::any_of(installed->paths,
                               [&](const auto& rule) { return rule.path == path; });
  };
  EXPECT_TRUE(shows(program));
  EXPECT_FALSE(shows("/usr"));
}

TEST_F(Languages, AProgramOutsideTheFoldersOfProgramsIsNamedByItsPath) {
  const std::string program = profiles_.Write("own", "#!/bin/sh\n");
  ASSERT_EQ(chmod(program.c_str(), S_IRWXU), 0);
  const auto languages = Open("command = [\"sh\"", "command = [\"" + program + "\"");
  ASSERT_TRUE(languages);
  const auto installed = Installed(languages->languages().front());
  ASSERT_TRUE(installed) << installed.error().ToString();
  EXPECT_EQ(installed->program->command.front(), program);
  EXPECT_EQ(std::ranges::count(installed->paths, program, &core::PathRule::path), 1);
}

TEST_F(Languages, WhatIsCompiledToABinaryHasTheHomeOfItsVersion) {
  const auto languages = Open("command = [\"sh\", \"{file}\"]",
                              "compile = [\"sh\", \"{home}\"]\ncommand = [\"{binary}\"]");
  ASSERT_TRUE(languages);
  const auto installed = Installed(languages->languages().front());
  ASSERT_TRUE(installed) << installed.error().ToString();
  EXPECT_EQ(installed->program->compile.back(), "/usr");
}

TEST_F(Languages, WhatIsNotInstalledNamesItsPackage) {
  const auto languages = Open("command = [\"sh\"", "command = [\"belljar-no-such-shell\"");
  ASSERT_TRUE(languages);
  const auto installed = Installed(languages->languages().front());
  ASSERT_FALSE(installed);
  EXPECT_NE(installed.error().ToString().find(
                "The shell is not installed here; install Debian's package dash"),
            std::string::npos);
}

TEST_F(Languages, EveryProgramThatACommandNamesIsShown) {
  const auto languages = Open("command = [\"sh\"", "compile = [\"cat\"]\ncommand = [\"sh\"");
  ASSERT_TRUE(languages);
  const auto installed = Installed(languages->languages().front());
  ASSERT_TRUE(installed) << installed.error().ToString();
  for (const std::string& program :
       {installed->program->compile.front(), installed->program->command.front()}) {
    EXPECT_EQ(std::ranges::count(installed->paths, program, &core::PathRule::path), 1) << program;
  }
}

TEST_F(Languages, SeveralPackagesAreNamedAsSuch) {
  const auto languages = Open("package = \"dash\"\nversion = [\"sh\"",
                              "package = \"dash sash\"\nversion = [\"belljar-no-such-shell\"");
  ASSERT_TRUE(languages);
  const auto installed = Installed(languages->languages().front());
  ASSERT_FALSE(installed);
  EXPECT_NE(installed.error().ToString().find("install Debian's packages dash and sash"),
            std::string::npos);
}

TEST_F(Languages, WhatIsWrongWithAFileIsSaidWithItsLine) {
  ExpectRefused(Open("aliases", "aliasses"), {"shell.toml:", "did you mean \"aliases\""});
  ExpectRefused(Open("pattern", "patern"), {"shell.toml:", "did you mean \"pattern\""});
  ExpectRefused(Open("\"message\"]", "\"mesage\"]"), {"unknown group", "did you mean \"message\""});
  ExpectRefused(Open("command = [\"sh\", \"{file}\"]", "command = []"), {"a command is empty"});
  ExpectRefused(Open("package = \"dash\"\n", ""), {"shell.toml:", "package"});
}

}  // namespace
}  // namespace belljar::profiles::languages_test
