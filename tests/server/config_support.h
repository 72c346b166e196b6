// What the tests of the configuration share: a folder for its files, sources that hold nothing of
// whoever runs the tests, and refusals that never show a secret.
#ifndef BELLJAR_TESTS_SERVER_CONFIG_SUPPORT_H_
#define BELLJAR_TESTS_SERVER_CONFIG_SUPPORT_H_

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <string>
#include <vector>

#include "server/config/load.h"
#include "tests/support/support.h"

namespace belljar::tests {

using Strings = std::vector<std::string>;

inline constexpr char kSecret[] = "0123456789abcdef0123456789abcdef";
inline constexpr char kOtherSecret[] = "fedcba9876543210fedcba9876543210";

inline const profiles::ProfileCatalogue& Catalogue() {
  static const core::Result<profiles::ProfileCatalogue> catalogue =
      profiles::ProfileCatalogue::Open();
  if (!catalogue) abort();
  return *catalogue;
}

class Config : public ::testing::Test {
 protected:
  // What is read is what a test names: nothing of whoever runs it.
  Config() { sources_.environment = {"HOME=" + folder_.path()}; }

  std::string Toml(const std::string& text) {
    const std::string path = folder_.Write("belljar.toml", text);
    sources_.file = path;
    return path;
  }
  std::string EnvFile(const std::string& text) {
    const std::string path = folder_.Write("settings.env", text);
    sources_.env_file = path;
    return path;
  }
  void Set(const std::string& name, const std::string& value) {
    sources_.environment.push_back(name + "=" + value);
  }
  void Flag(const std::string& flag, const Strings& values) { sources_.flags[flag] = values; }
  std::string TokenFile(const std::string& secret, mode_t mode = 0600,
                        const std::string& name = "token") {
    const std::string path = folder_.Write(name, secret);
    EXPECT_EQ(chmod(path.c_str(), mode), 0);
    return path;
  }

  server::config::LoadedConfig Load() {
    core::Result<server::config::LoadedConfig> loaded =
        server::config::LoadConfig(sources_, Catalogue());
    if (loaded) return std::move(*loaded);
    ADD_FAILURE() << loaded.error().ToString();
    return {};
  }
  std::string Refusal() {
    const core::Result<server::config::LoadedConfig> loaded =
        server::config::LoadConfig(sources_, Catalogue());
    if (!loaded) return loaded.error().ToString();
    ADD_FAILURE() << "it was not refused";
    return "";
  }
  void ExpectRefused(const Strings& parts) {
    const std::string text = Refusal();
    for (const std::string& part : parts) {
      EXPECT_NE(text.find(part), std::string::npos) << text << "\n  lacks: " << part;
    }
    for (const char* secret : {kSecret, kOtherSecret}) {
      EXPECT_EQ(text.find(secret), std::string::npos) << "the secret is shown: " << text;
    }
  }
  void ExpectTomlRefused(const std::string& toml, const Strings& parts) {
    SCOPED_TRACE(toml.substr(0, 200));
    Toml(toml);
    ExpectRefused(parts);
  }
  server::config::SettingValue Value(const std::string& key) {
    const server::config::LoadedConfig loaded = Load();
    for (const server::config::SettingValue& value : loaded.settings) {
      if (value.key == key) return value;
    }
    ADD_FAILURE() << "there is no setting " << key;
    return {};
  }

  TemporaryFolder folder_;
  server::config::ConfigSources sources_;
};

inline bool HasPart(const Strings& texts, const std::string& part) {
  return std::any_of(texts.begin(), texts.end(),
                     [&](const std::string& text) { return text.find(part) != std::string::npos; });
}

}  // namespace belljar::tests

#endif  // BELLJAR_TESTS_SERVER_CONFIG_SUPPORT_H_
