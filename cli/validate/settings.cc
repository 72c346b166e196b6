#include "cli/validate/settings.h"

#include <map>

#include "engine/core/text.h"
#include "server/config/values.h"

namespace belljar::cli::validate {
namespace {

using server::config::ListLiteral;
using server::config::TextLiteral;

std::string Literal(const std::string& text) { return TextLiteral(core::Printable(text)); }

std::string Literal(std::vector<std::string> items) {
  for (std::string& item : items) item = core::Printable(item);
  return ListLiteral(items);
}

std::string Literal(const std::vector<PerFileIgnore>& ignores) {
  std::map<std::string, std::string> rules;
  for (const PerFileIgnore& ignore : ignores) rules[ignore.pattern] = Literal(ignore.rules);
  std::string table;
  for (const auto& [pattern, list] : rules) {
    table += (table.empty() ? " " : ", ") + Literal(pattern) + " = " + list;
  }
  return table.empty() ? "{}" : "{" + table + " }";
}

// The value as written in a file; nullopt: no value, which cannot be written.
std::optional<std::string> Written(const Settings& settings, const std::string& key) {
  if (key == "profile") return Literal(settings.profile.value_or("basic"));
  if (key == "allowed-imports") {
    if (!settings.allowed_imports) return std::nullopt;
    return Literal(*settings.allowed_imports);
  }
  if (key == "include") return Literal(settings.include);
  if (key == "exclude") return Literal(settings.exclude);
  if (key == "select") return Literal(settings.select);
  if (key == "ignore") return Literal(settings.ignore);
  if (key == "per-file-ignores") return Literal(settings.per_file_ignores);
  if (key == "format") return Literal(settings.format);
  if (key == "baseline") {
    if (!settings.baseline) return std::nullopt;
    return Literal(*settings.baseline);
  }
  if (key == "allow-ignore-comments") return settings.allow_ignore_comments ? "true" : "false";
  if (key == "ignore-files") return settings.ignore_files ? "true" : "false";
  return std::to_string(settings.jobs);
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
