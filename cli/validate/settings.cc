#include "cli/validate/settings.h"

#include <toml++/toml.h>

#include <sstream>

#include "engine/core/text.h"

namespace belljar::cli::validate {
namespace {

toml::array ListOf(const std::vector<std::string>& items) {
  toml::array list;
  for (const std::string& item : items) list.push_back(core::Printable(item));
  return list;
}

toml::table PerFile(const std::vector<PerFileIgnore>& ignores) {
  toml::table table;
  for (const PerFileIgnore& ignore : ignores) {
    table.insert_or_assign(core::Printable(ignore.pattern), ListOf(ignore.rules));
  }
  return table;
}

// The value as written in a file; nullopt: no value, which cannot be written.
std::optional<std::string> Written(const Settings& settings, const std::string& key) {
  std::ostringstream text;
  const auto write = [&text](const auto& value) { text << toml::toml_formatter(value); };
  if (key == "profile") write(toml::value(core::Printable(settings.profile.value_or("basic"))));
  if (key == "allowed-imports") {
    if (!settings.allowed_imports) return std::nullopt;
    write(ListOf(*settings.allowed_imports));
  }
  if (key == "include") write(ListOf(settings.include));
  if (key == "exclude") write(ListOf(settings.exclude));
  if (key == "select") write(ListOf(settings.select));
  if (key == "ignore") write(ListOf(settings.ignore));
  if (key == "per-file-ignores") {
    toml::table table = PerFile(settings.per_file_ignores);
    table.is_inline(true);
    write(table);
  }
  if (key == "format") write(toml::value(settings.format));
  if (key == "baseline") {
    if (!settings.baseline) return std::nullopt;
    write(toml::value(core::Printable(*settings.baseline)));
  }
  if (key == "allow-ignore-comments") write(toml::value(settings.allow_ignore_comments));
  if (key == "ignore-files") write(toml::value(settings.ignore_files));
  if (key == "jobs") write(toml::value(static_cast<int64_t>(settings.jobs)));
  return text.str();
}

}  // namespace

const std::vector<std::string>& SettingKeys() {
  static const std::vector<std::string> keys = {"profile",          "allowed-imports",
                                                "include",          "exclude",
                                                "select",           "ignore",
                                                "per-file-ignores", "format",
                                                "baseline",         "allow-ignore-comments",
                                                "ignore-files",     "jobs"};
  return keys;
}

std::string ShowSettings(const Settings& settings) {
  std::string text = settings.file.empty() ? "# no configuration file\n"
                                           : "# " + core::Printable(settings.file) + "\n";
  text += "[validate]\n";
  for (const std::string& key : SettingKeys()) {
    const auto origin = settings.origins.find(key);
    const std::optional<std::string> value = Written(settings, key);
    const std::string line = value ? key + " = " + *value : "# " + key + " is not set";
    text += line + "  # " +
            (origin == settings.origins.end() ? "default" : core::Printable(origin->second)) + "\n";
  }
  return text;
}

}  // namespace belljar::cli::validate
