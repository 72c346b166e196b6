// The configuration of the server: each setting in each place, and which word counts.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <functional>

#include "server/config/load.h"
#include "server/config/settings.h"
#include "tests/server/config_support.h"

namespace belljar::server::config::config_test {
namespace {

using tests::Config;

using std::chrono::seconds;

// A value for any setting that is not its default, as text, as TOML and as it is shown.
struct Sample {
  std::string text;
  std::string toml;
  std::string shown;
};

Sample SampleOf(const Setting& setting) {
  const tests::Strings choices = setting.choices();
  if (!choices.empty()) return {choices.back(), "\"" + choices.back() + "\"", choices.back()};
  if (setting.key == "http.listen") return {"127.0.0.1:1", "\"127.0.0.1:1\"", "127.0.0.1:1"};
  if (setting.key == "tracing.endpoint")
    return {"http://[::1]:4318", "\"http://[::1]:4318\"", "http://[::1]:4318"};
  if (setting.value_type == "URL")
    return {"https://a.org/x", "\"https://a.org/x\"", "https://a.org/x"};
  if (setting.key == "packages.folder" || setting.key == "container.socket" ||
      setting.key == "audit.folder" || setting.key == "audit.key_file" ||
      setting.key == "jobs.store")
    return {"/a/b", "\"/a/b\"", "/a/b"};
  if (setting.value_type == "NETWORK")
    return {"10.1.2.3,fd00::/8", "[\"10.1.2.3\", \"fd00::/8\"]", "10.1.2.3, fd00::/8"};
  if (setting.key == "network.resolve")
    return {"a.org=192.0.2.7", "[\"a.org=192.0.2.7\"]", "a.org=192.0.2.7"};
  if (setting.key == "http.allowed_origins")
    return {"http://a,http://b", "[\"http://a\", \"http://b\"]", "http://a, http://b"};
  if (setting.key == "execution.allowed_imports")
    return {"math, json", "[\"math\", \"json\"]", "math, json"};
  if (setting.value_type == "PROFILE") {
    const bool is_list = setting.form() == Form::kList;
    return {"basic", is_list ? "[\"basic\"]" : "\"basic\"", "basic"};
  }
  switch (setting.form()) {
    case Form::kText: return {"word", "\"word\"", "word"};
    case Form::kSwitch: return {"yes", "true", "true"};
    case Form::kCount: {
      const std::string count = std::to_string(std::max<uint64_t>(7, setting.min));
      return {count, count, count};
    }
    case Form::kTime:
      if (setting.min > 2500) return {"6.5", "6.5", "6500ms"};
      return {"2.5", "2.5", "2500ms"};
    case Form::kSize:
      if (setting.min > 512 << 10) return {"3m", "\"3m\"", "3m"};
      return {"512k", "\"512k\"", "512k"};
    case Form::kList: return {"a,b", "[\"a\", \"b\"]", "a, b"};
  }
  return {};
}

std::string TomlOf(const Setting& setting, const std::string& value) {
  return setting.key + " = " + value + "\n";
}

// --- each setting, each way -------------------------------------------------------------------

class EachSetting : public tests::Config {
 protected:
  const Setting& setting() const { return *setting_; }
  // Calls `test` for every row of the table, with nothing set.
  void ForEach(const std::function<void()>& test) {
    for (const Setting& setting : Settings()) {
      SCOPED_TRACE(setting.key);
      setting_ = &setting;
      sources_ = {};
      sources_.environment = {"HOME=" + folder_.path()};
      test();
    }
  }
  // The sample of this setting; a token file has to be there.
  Sample sample() {
    Sample sample = SampleOf(setting());
    if (setting().key == "http.token_file") {
      sample.text = sample.shown = TokenFile(tests::kSecret);
      sample.toml = "\"" + sample.text + "\"";
    }
    return sample;
  }
  void Expect(const std::string& source) {
    const SettingValue value = Value(setting().key);
    EXPECT_EQ(value.value, sample().shown);
    EXPECT_EQ(value.source, source);
    EXPECT_FALSE(value.is_default);
  }

 private:
  const Setting* setting_ = nullptr;
};

TEST_F(EachSetting, IsReadFromTheFile) {
  ForEach([&] {
    const std::string path = Toml("\n" + TomlOf(setting(), sample().toml));
    Expect("file " + path + ":2");
  });
}

TEST_F(EachSetting, IsReadFromItsVariable) {
  ForEach([&] {
    Set(setting().Variable(), sample().text);
    Expect("environment " + setting().Variable());
  });
}

TEST_F(EachSetting, IsReadFromTheFamiliarVariable) {
  ForEach([&] {
    if (setting().familiar.empty()) return;
    Set(setting().familiar, sample().text);
    Expect("environment " + setting().familiar);
  });
}

TEST_F(EachSetting, IsReadFromAnEnvironmentFile) {
  ForEach([&] {
    const std::string path = EnvFile(setting().Variable() + "=\"" + sample().text + "\"\n");
    Expect("file " + path + ":1 " + setting().Variable());
  });
}

TEST_F(EachSetting, IsReadFromItsFlag) {
  ForEach([&] {
    if (setting().flag.empty()) return;
    const bool is_list = setting().form() == Form::kList;
    Flag(setting().flag, is_list ? SplitList(sample().text) : tests::Strings{sample().text});
    Expect("flag " + setting().flag);
  });
}

TEST_F(EachSetting, RefusesAnotherTypeInTheFile) {
  ForEach([&] {
    for (const std::string toml : {"{}", "2020-01-01", "[[1]]"}) {
      ExpectTomlRefused(TomlOf(setting(), toml), {"belljar.toml:1", setting().key, "write "});
    }
    if (setting().form() != Form::kSwitch) {
      ExpectTomlRefused(TomlOf(setting(), "true"), {"belljar.toml:1", setting().key, "write "});
    }
    if (setting().form() == Form::kSwitch || setting().form() == Form::kCount ||
        setting().form() == Form::kList) {
      ExpectTomlRefused(TomlOf(setting(), "\"1\""), {"belljar.toml:1", setting().key, "write "});
    }
  });
}

TEST_F(EachSetting, RefusesWhatIsOutOfItsBounds) {
  ForEach([&] {
    const Setting& bounded = setting();
    if (bounded.max == 0) return;
    const std::string unit = bounded.form() == Form::kTime ? "ms" : "";
    for (const std::string& text : {std::to_string(bounded.max + 1) + unit, std::string("-1")}) {
      sources_.environment.clear();
      Set(bounded.Variable(), text);
      ExpectRefused({bounded.Variable() + " \"" + text + "\"", "write "});
    }
    if (bounded.min == 0) return;
    sources_.environment.clear();
    Set(bounded.Variable(), std::to_string(bounded.min - 1) + unit);
    ExpectRefused({bounded.Variable() + " \"", "write "});
  });
}

TEST_F(EachSetting, RefusesTextThatIsNone) {
  ForEach([&] {
    if (setting().form() == Form::kSwitch) return;
    Set(setting().Variable(), "\xff\x1b");
    ExpectRefused({setting().Variable() + " \"\\xff\\x1b\""});
  });
}

TEST_F(EachSetting, AnEmptyVariableCountsAsNotSet) {
  ForEach([&] {
    Set(setting().Variable(), "");
    EXPECT_TRUE(Value(setting().key).is_default);
  });
}

TEST_F(EachSetting, IsUnknownInAnotherSection) {
  ForEach([&] {
    const std::string name = setting().key.substr(setting().key.find('.') + 1);
    ExpectTomlRefused(
        "[log]\nformat = \"json\"\n[container]\nenabled = false\n[execution]\nx" + name + " = 1",
        {"belljar.toml:6", "unknown key \"execution.x" + name + "\""});
  });
}

// --- which word counts ------------------------------------------------------------------------

TEST_F(Config, NothingIsSetByDefault) {
  const LoadedConfig loaded = Load();
  const ServerConfig defaults;
  EXPECT_FALSE(loaded.config.http);
  EXPECT_TRUE(loaded.config.tokens.empty());
  EXPECT_EQ(loaded.config.execution.profiles, tests::Strings{"basic"});
  EXPECT_FALSE(loaded.config.execution.timeout);
  EXPECT_EQ(loaded.config.execution.spares, defaults.execution.spares);
  EXPECT_EQ(loaded.file, "");
  EXPECT_TRUE(loaded.warnings.empty());
  for (const SettingValue& value : loaded.settings) EXPECT_EQ(value.source, "default") << value.key;
}

TEST_F(Config, EachSourceIsStrongerThanTheOneBefore) {
  const auto timeout = [&] { return Load().config.execution.timeout; };
  EXPECT_EQ(timeout(), std::nullopt);
  Toml("[execution]\ntimeout = 1");
  EXPECT_EQ(timeout(), seconds(1));
  EnvFile("SANDBOX_TIMEOUT=2");
  EXPECT_EQ(timeout(), seconds(2));
  EnvFile("BELLJAR_EXECUTION_TIMEOUT=3\nSANDBOX_TIMEOUT=2");
  EXPECT_EQ(timeout(), seconds(3));
  Set("SANDBOX_TIMEOUT", "4");
  EXPECT_EQ(timeout(), seconds(4));
  Set("BELLJAR_EXECUTION_TIMEOUT", "5");
  EXPECT_EQ(timeout(), seconds(5));
  Flag("--timeout", {"6"});
  EXPECT_EQ(timeout(), seconds(6));
}

// Each pair alone: the order above could hold by accident of all being there.
TEST_F(Config, EachPairIsInThatOrder) {
  for (size_t weaker = 0; weaker < 6; ++weaker) {
    for (size_t stronger = weaker + 1; stronger < 6; ++stronger) {
      sources_ = {};
      std::string env_file;
      for (const size_t source : {weaker, stronger}) {
        const std::string value = std::to_string(source + 1);
        if (source == 0) Toml("execution.timeout = " + value);
        if (source == 1) env_file += "SANDBOX_TIMEOUT=" + value + "\n";
        if (source == 2) env_file += "BELLJAR_EXECUTION_TIMEOUT=" + value + "\n";
        if (source == 3) Set("SANDBOX_TIMEOUT", value);
        if (source == 4) Set("BELLJAR_EXECUTION_TIMEOUT", value);
        if (source == 5) Flag("--timeout", {value});
      }
      if (!env_file.empty()) EnvFile(env_file);
      EXPECT_EQ(Load().config.execution.timeout, seconds(stronger + 1)) << weaker << stronger;
    }
  }
}

TEST_F(Config, AWrongWordIsRefusedEvenWhereAStrongerOneIsRight) {
  Toml("execution.timeout = -1");
  Flag("--timeout", {"5"});
  ExpectRefused({"belljar.toml:1: execution.timeout"});
}

TEST_F(Config, FilesAreLookedForInOrder) {
  const std::string home = folder_.path() + "/home";
  const std::string xdg = folder_.path() + "/xdg";
  for (const std::string& path :
       {home, home + "/.config", home + "/.config/belljar", xdg, xdg + "/belljar"}) {
    ASSERT_EQ(mkdir(path.c_str(), 0700), 0);
  }
  folder_.Write("home/.config/belljar/config.toml", "execution.timeout = 1");
  sources_.environment = {"HOME=" + home};
  EXPECT_EQ(Load().config.execution.timeout, seconds(1));
  Set("XDG_CONFIG_HOME", xdg);
  EXPECT_EQ(Load().config.execution.timeout, std::nullopt);
  folder_.Write("xdg/belljar/config.toml", "execution.timeout = 2");
  EXPECT_EQ(Load().config.execution.timeout, seconds(2));
  Set("BELLJAR_CONFIG", folder_.Write("named.toml", "execution.memory = \"64m\""));
  LoadedConfig loaded = Load();
  EXPECT_EQ(loaded.config.execution.timeout, std::nullopt);
  EXPECT_EQ(loaded.config.execution.memory, core::Bytes::Mebi(64));
  EXPECT_EQ(loaded.file, folder_.path() + "/named.toml");
  Toml("execution.timeout = 3");
  loaded = Load();
  EXPECT_EQ(loaded.config.execution.timeout, seconds(3));
  EXPECT_EQ(loaded.config.execution.memory, std::nullopt);
}

TEST_F(Config, ARelativeXdgFolderIsIgnored) {
  sources_.environment = {"XDG_CONFIG_HOME=somewhere", "HOME="};
  EXPECT_EQ(Load().file, "");
}

TEST_F(Config, DefaultsReadNothing) {
  Toml("execution.timeout = 1");
  Set("SANDBOX_TIMEOUT", "2");
  sources_.only_defaults = true;
  const LoadedConfig loaded = Load();
  EXPECT_EQ(loaded.config.execution.timeout, std::nullopt);
  EXPECT_EQ(loaded.file, "");
}

// --- files that are wrong ---------------------------------------------------------------------

TEST_F(Config, ANamedFileThatIsNotThereIsRefused) {
  sources_.file = "/nowhere/belljar.toml";
  ExpectRefused({"/nowhere/belljar.toml", "ENOENT"});
  sources_.file.reset();
  Set("BELLJAR_CONFIG", "/nowhere/else.toml");
  ExpectRefused({"/nowhere/else.toml", "ENOENT"});
}

TEST_F(Config, AFolderIsNoFile) {
  sources_.file = folder_.path();
  ExpectRefused({folder_.path(), "EISDIR"});
  sources_.file.reset();
  sources_.env_file = folder_.path();
  ExpectRefused({folder_.path(), "EISDIR"});
  sources_.env_file.reset();
  Flag("--token-file", {folder_.path()});
  ExpectRefused({"--token-file", folder_.path()});
}

TEST_F(Config, AFileWithoutAnEndIsRefused) {
  sources_.file = "/dev/zero";
  ExpectRefused({"/dev/zero", "EFBIG"});
  sources_.file.reset();
  sources_.env_file = "/dev/zero";
  ExpectRefused({"/dev/zero", "EFBIG"});
}

TEST_F(Config, AnUnreadableFileIsRefused) {
  ASSERT_EQ(chmod(Toml("").c_str(), 0), 0);
  (void)tests::Catalogue();
  const tests::Death death = tests::InChild([&] {
    // Root reads everything.
    if (geteuid() == 0 && setuid(65534) != 0) return 2;
    const core::Result<LoadedConfig> loaded = LoadConfig(sources_, tests::Catalogue());
    return !loaded && loaded.error().ToString().find("EACCES") != std::string::npos ? 0 : 1;
  });
  EXPECT_EQ(death, tests::Exited(0));
}

TEST_F(Config, BrokenTomlIsRefusedWithLineAndColumn) {
  ExpectTomlRefused("[execution]\ntimeout = \"5", {"belljar.toml:2:1"});
  ExpectTomlRefused("[execution\n", {"belljar.toml:1:"});
  ExpectTomlRefused("a = 1\na = 2", {"belljar.toml:2:"});
  ExpectTomlRefused("[log]\n\n   level == 1", {"belljar.toml:3:"});
  ExpectTomlRefused("[log]\nlevel = \"\xff\"", {"belljar.toml:2:"});
  ExpectTomlRefused(std::string("[log]\nlevel = \"in\0fo\"", 21), {"belljar.toml:2:"});
  ExpectTomlRefused("x = " + std::string(100'000, '['), {"belljar.toml:1:"});
}

TEST_F(Config, UnknownKeysAreRefusedWithASuggestion) {
  ExpectTomlRefused("[execution]\n\ntimout = 5",
                    {"belljar.toml:3", "\"execution.timout\"", "did you mean \"timeout\""});
  ExpectTomlRefused("[exection]\ntimeout = 5",
                    {"belljar.toml:1", "\"exection\"", "did you mean \"execution\""});
  ExpectTomlRefused("timeout = 5", {"belljar.toml:1", "did you mean \"execution.timeout\""});
  ExpectTomlRefused("[log]\ntimeout = 5", {"belljar.toml:2", "did you mean \"execution.timeout\""});
  ExpectTomlRefused("[log.deep]\nlevel = 1", {"belljar.toml:1", "\"log.deep\""});
  ExpectTomlRefused("execution = 5", {"belljar.toml:1", "[execution]"});
  ExpectTomlRefused("[[execution]]\ntimeout = 5", {"belljar.toml:1", "[execution]"});
  ExpectTomlRefused("\"\\u001b[31m\" = 5", {"belljar.toml:1", "\\x1b[31m"});
}

TEST_F(Config, OutOfRangeNamesLineKeyAndValue) {
  ExpectTomlRefused("[execution]\nspares = 0",
                    {"belljar.toml:2: execution.spares \"0\": write a whole number from 1 to 256"});
  ExpectTomlRefused("[execution]\ntimeout = \"1h\"",
                    {"belljar.toml:2: execution.timeout \"1h\": write seconds"});
  ExpectTomlRefused("[execution]\ntimeout = 1e300", {"belljar.toml:2", "write seconds"});
  ExpectTomlRefused("[execution]\ntimeout = nan", {"belljar.toml:2", "write seconds"});
  ExpectTomlRefused("[execution]\nisolation = \"strct\"",
                    {"belljar.toml:2", "strict|standard", "did you mean \"strict\""});
  ExpectTomlRefused("[http]\nmax_body = 1",
                    {"belljar.toml:2: http.max_body \"1\": write one from 1k to 1g"});
}

TEST_F(EachSetting, PathsInTheFileAreBesideIt) {
  Toml("[jobs]\nstore = \"state/jobs.db\"\n[audit]\nfolder = \"log\"\n");
  EXPECT_EQ(Value("jobs.store").value, folder_.path() + "/state/jobs.db");
  EXPECT_EQ(Value("audit.folder").value, folder_.path() + "/log");
  Toml("[jobs]\nstore = \"postgresql://belljar@db/belljar\"\n");
  EXPECT_EQ(Value("jobs.store").value, "postgresql://belljar@db/belljar");
}

}  // namespace
}  // namespace belljar::server::config::config_test
