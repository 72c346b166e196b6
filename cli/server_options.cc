#include "cli/server_options.h"

#include <unistd.h>

#include <CLI/CLI.hpp>

#include "cli/console.h"
#include "server/config/settings.h"

namespace belljar::cli {
namespace {

constexpr char kListenFlag[] = "--http";

std::string HelpOf(const server::config::Setting& setting) {
  const server::config::Draft defaults;
  const std::string default_value = server::config::ShowField(setting, defaults);
  if (setting.form() == server::config::Form::kSwitch || default_value == "none")
    return setting.help;
  return setting.help + " (default: " + default_value + ")";
}

// --http alone means the default address: the value is optional.
void AddListenOption(CLI::App* parser, const server::config::Setting& setting,
                     server::config::ConfigSources& sources) {
  const auto store = [&sources](const std::string& given) {
    sources.flags[kListenFlag] = {given.empty() ? std::to_string(server::HttpConfig().port)
                                                : given};
  };
  parser->add_option_function<std::string>(kListenFlag, store, HelpOf(setting))
      ->type_name("[" + setting.value_type + "]")
      ->expected(0, 1);
}

void AddSettingOption(CLI::App* parser, const server::config::Setting& setting,
                      server::config::ConfigSources& sources) {
  const std::string& flag = setting.flag;
  if (flag == kListenFlag) return AddListenOption(parser, setting, sources);
  if (setting.form() == server::config::Form::kSwitch) {
    const auto store = [&sources, flag](int64_t) { sources.flags[flag] = {"true"}; };
    parser->add_flag_function(flag, store, HelpOf(setting));
    return;
  }
  if (setting.form() == server::config::Form::kList) {
    const auto store = [&sources, flag](const std::vector<std::string>& given) {
      std::vector<std::string>& values = sources.flags[flag];
      for (const std::string& list : given) {
        for (std::string& item : server::config::SplitList(list)) values.push_back(std::move(item));
      }
    };
    // One value per occurrence.
    parser->add_option_function<std::vector<std::string>>(flag, store, HelpOf(setting))
        ->type_name(setting.value_type)
        ->type_size(1)
        ->expected(1)
        ->take_all()
        ->allow_extra_args(false);
    return;
  }
  const auto store = [&sources, flag](const std::string& given) { sources.flags[flag] = {given}; };
  parser->add_option_function<std::string>(flag, store, HelpOf(setting))
      ->type_name(setting.value_type);
}

std::vector<std::string> Environment() {
  std::vector<std::string> strings;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    strings.emplace_back(*entry);
  }
  return strings;
}

}  // namespace

void AddConfigOptions(CLI::App* parser, server::config::ConfigSources& sources) {
  AddText(parser, "--config", sources.file, kFileType,
          "configuration file (default: $BELLJAR_CONFIG, else ~/.config/belljar/config.toml, else "
          "/etc/belljar/config.toml; the first that exists)");
  AddText(parser, "--env-file", sources.env_file, kFileType,
          "file with additional environment variables, such as .env (default: none)");
}

void AddSettingOptions(CLI::App* parser, server::config::ConfigSources& sources) {
  for (const server::config::Setting& setting : server::config::Settings()) {
    if (!setting.flag.empty()) AddSettingOption(parser, setting, sources);
  }
  AddLanguageOption(parser, [&sources](const std::string& given) {
    if (given != "python") sources.flags["--language"] = {given};
  });
}

core::Result<server::config::LoadedConfig> Load(server::config::ConfigSources sources,
                                                const profiles::ProfileCatalogue& catalogue) {
  sources.environment = Environment();
  return server::config::LoadConfig(sources, catalogue);
}

core::Result<server::config::LoadedConfig> LoadAndWarn(
    server::config::ConfigSources sources, const profiles::ProfileCatalogue& catalogue) {
  core::Result<server::config::LoadedConfig> loaded = Load(std::move(sources), catalogue);
  if (!loaded) return loaded;
  for (const std::string& warning : loaded->warnings) Say("belljar: warning: " + warning + "\n");
  return loaded;
}

}  // namespace belljar::cli
