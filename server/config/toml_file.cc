#include "server/config/toml_file.h"

#include <cmath>
#include <filesystem>
#include <stdexcept>

#include "engine/core/fd.h"
#include "engine/core/limits.h"
#include "engine/core/text.h"
#include "engine/host/suggest.h"
#include "engine/profiles/toml_text.h"
#include "server/config/values.h"

namespace belljar::server::config {
namespace {

using Strings = std::vector<std::string>;

constexpr size_t kMaxTomlFile = 1 << 20;
constexpr char kTokens[] = "tokens";
constexpr char kWebhooks[] = "webhooks";
const Strings kTokenKeys = {"name", "file",  "env",         "profiles",
                            "rate", "burst", "concurrency", "operator"};
const Strings kWebhookKeys = {"name",   "url",           "file",     "env",    "events",
                              "tokens", "allow_private", "attempts", "timeout"};
// Keys under which users might write the secret itself.
const Strings kSecretKeys = {"secret", "token", "api_token", "value", "password", "key", "bearer"};
constexpr double kMaxRate = 1'000'000;
constexpr int64_t kMaxCount = 1'000'000;
constexpr int64_t kMaxAttempts = 100;
constexpr std::chrono::milliseconds kMaxTimeout{300'000};

// Thrown only within this file.
class Malformed : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Reads one file; its path begins each message.
class TomlFileReader {
 public:
  explicit TomlFileReader(std::string path) : path_(std::move(path)) {}

  TomlFile Read();

 private:
  [[noreturn]] void Refuse(const toml::source_region& where, const std::string& what) const {
    throw Malformed(Place(where) + what);
  }
  std::string Place(const toml::source_region& where) const {
    return core::Printable(path_) + ":" + std::to_string(where.begin.line) + ": ";
  }
  Origin OriginOf(const toml::source_region& where, const std::string& key) const;

  void ReadSection(const std::string& section, const toml::table& table, TomlFile& file) const;
  // `key`: the setting's, or a former one.
  Given ReadSetting(const Setting& setting, const std::string& key, const toml::node& node) const;
  Strings ReadList(const std::string& key, const toml::node& node) const;
  // The tables of an array; `form` says how it is written.
  template <typename Entry>
  void ReadEntries(const toml::node& node, const char* form,
                   Entry (TomlFileReader::*read)(const toml::table&) const,
                   std::vector<Entry>& entries) const;
  TokenEntry ReadToken(const toml::table& table) const;
  WebhookEntry ReadWebhook(const toml::table& table) const;
  // For the entries of `section`.
  void CheckKeys(const char* section, const Strings& known, const toml::table& table) const;
  std::string EntryText(const char* section, const toml::table& table, const char* key) const;
  size_t EntryCount(const char* section, const toml::table& table, const char* key,
                    int64_t max) const;
  Strings EntryList(const char* section, const toml::table& table, const char* key) const;
  double TokenRate(const toml::table& table) const;
  std::chrono::milliseconds WebhookTimeout(const toml::table& table) const;

  const std::string path_;
};

Origin TomlFileReader::OriginOf(const toml::source_region& where, const std::string& key) const {
  Origin origin;
  origin.kind = Origin::Kind::kFile;
  origin.source = "file " + core::Printable(path_) + ":" + std::to_string(where.begin.line);
  origin.place = Place(where) + key;
  origin.folder = std::filesystem::path(path_).parent_path();
  return origin;
}

Strings Sections() {
  Strings sections;
  for (const Setting& setting : Settings()) {
    std::string section = setting.key.substr(0, setting.key.find('.'));
    if (sections.empty() || sections.back() != section) sections.push_back(std::move(section));
  }
  return sections;
}

Strings KeysOf(const std::string& section) {
  Strings keys;
  for (const Setting& setting : Settings()) {
    if (setting.key.starts_with(section + "."))
      keys.push_back(setting.key.substr(section.size() + 1));
  }
  return keys;
}

// Suggests a key in another section, or a similar key in this one.
std::string SuggestKey(const std::string& key, const Strings& known) {
  if (core::Contains(kSecretKeys, key)) {
    return "; do not put a secret into this file, which may be copied and displayed: put it into "
           "a separate file of mode 600 and name that file in http.token_file";
  }
  for (const Setting& setting : Settings()) {
    if (setting.key.ends_with("." + key)) return "; did you mean \"" + setting.key + "\"?";
  }
  return host::Suggestion(key, known);
}

// A value that is not a text, list or table, as it would be written.
std::string ShowScalar(const toml::node& node) {
  if (const auto text = node.value_exact<std::string>()) return core::Quoted(*text);
  if (const auto number = node.value_exact<int64_t>()) return std::to_string(*number);
  if (const auto number = node.value_exact<double>()) return std::to_string(*number);
  if (const auto value = node.value_exact<bool>()) return *value ? "true" : "false";
  return node.is_table() ? "a table" : node.is_array() ? "a list" : "a date";
}

// The value as it would be written in the environment; nullopt: the setting does not accept this
// type.
std::optional<std::string> ScalarText(const Setting& setting, const toml::node& node) {
  const Form form = setting.form();
  const bool takes_text = form == Form::kText || form == Form::kTime || form == Form::kSize;
  if (takes_text && node.is_string()) return node.value_exact<std::string>();
  if (form == Form::kSwitch && node.is_boolean())
    return *node.value_exact<bool>() ? "true" : "false";
  const bool takes_number = form == Form::kCount || form == Form::kTime || form == Form::kSize;
  if (takes_number && node.is_integer()) return std::to_string(*node.value_exact<int64_t>());
  if (form == Form::kTime && node.is_floating_point()) {
    return FormatNumber(*node.value_exact<double>());
  }
  return std::nullopt;
}

Strings TomlFileReader::ReadList(const std::string& key, const toml::node& node) const {
  const std::string what = key + ": write a list of strings, such as [\"a\", \"b\"]";
  const toml::array* array = node.as_array();
  if (!array) Refuse(node.source(), what);
  Strings items;
  for (const toml::node& item : *array) {
    const auto text = item.value_exact<std::string>();
    if (!text) Refuse(item.source(), what);
    items.push_back(*text);
  }
  return items;
}

Given TomlFileReader::ReadSetting(const Setting& setting, const std::string& key,
                                  const toml::node& node) const {
  Given given{&setting, {}, OriginOf(node.source(), key)};
  if (setting.form() == Form::kList) {
    given.values = ReadList(key, node);
    return given;
  }
  std::optional<std::string> text = ScalarText(setting, node);
  if (!text) {
    Refuse(node.source(), key + " " + ShowScalar(node) + ": " + ExpectedForm(setting));
  }
  given.values = {std::move(*text)};
  return given;
}

void TomlFileReader::ReadSection(const std::string& section, const toml::table& table,
                                 TomlFile& file) const {
  for (const auto& [key, node] : table) {
    const std::string name(key.str());
    std::string full_name = section;
    full_name.append(".").append(name);
    const FormerName* const former = FindFormerName(full_name);
    const Setting* setting = FindSetting(former ? former->setting : full_name);
    if (!setting) {
      Refuse(key.source(),
             "unknown key " + core::Quoted(full_name) + SuggestKey(name, KeysOf(section)));
    }
    file.given.push_back(ReadSetting(*setting, full_name, node));
    file.given.back().former = former;
  }
}

// --- entries -----------------------------------------------------------------------------------
// No message here shows a value: it may be a secret in the wrong place.

void TomlFileReader::CheckKeys(const char* section, const Strings& known,
                               const toml::table& table) const {
  for (const auto& [key, node] : table) {
    const std::string name(key.str());
    if (core::Contains(known, name)) continue;
    const std::string full = std::string(section) + "." + name;
    if (core::Contains(kSecretKeys, name)) {
      Refuse(key.source(), full +
                               ": do not put a secret into this file, which may be copied and "
                               "displayed: put it into a separate file of mode 600 and write "
                               "file = \"/path/of/it\", or env = \"NAME\" for a variable");
    }
    Refuse(key.source(), "unknown key " + core::Quoted(full) + host::Suggestion(name, known));
  }
}

std::string TomlFileReader::EntryText(const char* section, const toml::table& table,
                                      const char* key) const {
  const toml::node* node = table.get(key);
  if (!node) return "";
  const auto text = node->value_exact<std::string>();
  if (!text || text->empty() || !IsPlainText(*text)) {
    Refuse(node->source(), std::string(section) + "." + key + ": write a quoted string");
  }
  return *text;
}

size_t TomlFileReader::EntryCount(const char* section, const toml::table& table, const char* key,
                                  int64_t max) const {
  const toml::node* node = table.get(key);
  if (!node) return 0;
  const auto count = node->value_exact<int64_t>();
  if (!count || *count < 1 || *count > max) {
    Refuse(node->source(), std::string(section) + "." + key + ": write a whole number from 1 to " +
                               std::to_string(max) + ", or omit it for " +
                               (max == kMaxCount ? "no limit" : "the default"));
  }
  return static_cast<size_t>(*count);
}

Strings TomlFileReader::EntryList(const char* section, const toml::table& table,
                                  const char* key) const {
  const toml::node* node = table.get(key);
  return node ? ReadList(std::string(section) + "." + key, *node) : Strings();
}

double TomlFileReader::TokenRate(const toml::table& table) const {
  const toml::node* node = table.get("rate");
  if (!node) return 0;
  const auto rate = node->is_number() ? node->value<double>() : std::nullopt;
  if (!rate || !(*rate >= 0.001 && *rate <= kMaxRate)) {
    Refuse(
        node->source(),
        "tokens.rate: write messages per second, from 0.001 to 1000000, or omit it for no limit");
  }
  return *rate;
}

TokenEntry TomlFileReader::ReadToken(const toml::table& table) const {
  CheckKeys(kTokens, kTokenKeys, table);
  TokenEntry entry;
  entry.origin = OriginOf(table.source(), "[[tokens]]");
  entry.caller.name = EntryText(kTokens, table, "name");
  entry.file = EntryText(kTokens, table, "file");
  entry.variable = EntryText(kTokens, table, "env");
  if (entry.caller.name.empty()) Refuse(table.source(), "[[tokens]] has no name");
  if (entry.file.empty() == entry.variable.empty()) {
    Refuse(table.source(), "[[tokens]] " + core::Quoted(entry.caller.name) +
                               ": write either file = \"/path\" or env = \"NAME\" for its secret");
  }
  if (const toml::node* profiles = table.get("profiles")) {
    entry.caller.profiles = ReadList("tokens.profiles", *profiles);
  }
  entry.caller.rate = TokenRate(table);
  entry.caller.burst = EntryCount(kTokens, table, "burst", kMaxCount);
  entry.caller.concurrency = EntryCount(kTokens, table, "concurrency", kMaxCount);
  if (const toml::node* is_operator = table.get("operator")) {
    const std::optional<bool> value = is_operator->value_exact<bool>();
    if (!value) Refuse(is_operator->source(), "tokens.operator: write true or false");
    entry.caller.is_operator = *value;
  }
  if (entry.caller.burst > 0 && !table.contains("rate")) {
    Refuse(table.source(),
           "tokens.burst: requires tokens.rate; to limit concurrent calls, use "
           "tokens.concurrency");
  }
  // Default burst: the messages of one second.
  if (entry.caller.rate > 0 && entry.caller.burst == 0) {
    entry.caller.burst = static_cast<size_t>(std::ceil(entry.caller.rate));
  }
  return entry;
}

std::chrono::milliseconds TomlFileReader::WebhookTimeout(const toml::table& table) const {
  const toml::node* node = table.get("timeout");
  if (!node) return WebhookConfig().timeout;
  std::string text;
  if (const auto words = node->value_exact<std::string>()) {
    text = *words;
  } else if (node->is_number()) {
    text = FormatNumber(node->value<double>().value_or(0));
  }
  const core::Result<std::chrono::milliseconds> time = core::ParseDuration(text);
  if (!time || *time < std::chrono::milliseconds(1) || *time > kMaxTimeout) {
    Refuse(node->source(),
           "webhooks.timeout: write seconds, such as 10, or \"500ms\", up to five minutes");
  }
  return *time;
}

WebhookEntry TomlFileReader::ReadWebhook(const toml::table& table) const {
  CheckKeys(kWebhooks, kWebhookKeys, table);
  WebhookEntry entry;
  entry.origin = OriginOf(table.source(), "[[webhooks]]");
  WebhookConfig& webhook = entry.webhook;
  webhook.name = EntryText(kWebhooks, table, "name");
  webhook.url = EntryText(kWebhooks, table, "url");
  entry.file = EntryText(kWebhooks, table, "file");
  entry.variable = EntryText(kWebhooks, table, "env");
  if (webhook.name.empty()) Refuse(table.source(), "[[webhooks]] has no name");
  const std::string place = "[[webhooks]] " + core::Quoted(webhook.name);
  if (webhook.url.empty()) Refuse(table.source(), place + " has no url");
  if (entry.file.empty() == entry.variable.empty()) {
    Refuse(table.source(),
           place + ": write either file = \"/path\" or env = \"NAME\" for its secret");
  }
  webhook.events = EntryList(kWebhooks, table, "events");
  webhook.tokens = EntryList(kWebhooks, table, "tokens");
  webhook.allow_private = EntryList(kWebhooks, table, "allow_private");
  if (const size_t attempts = EntryCount(kWebhooks, table, "attempts", kMaxAttempts)) {
    webhook.attempts = static_cast<unsigned>(attempts);
  }
  webhook.timeout = WebhookTimeout(table);
  return entry;
}

template <typename Entry>
void TomlFileReader::ReadEntries(const toml::node& node, const char* form,
                                 Entry (TomlFileReader::*read)(const toml::table&) const,
                                 std::vector<Entry>& entries) const {
  const toml::array* array = node.as_array();
  if (!array) Refuse(node.source(), form);
  for (const toml::node& item : *array) {
    if (!item.is_table()) Refuse(item.source(), form);
    entries.push_back((this->*read)(*item.as_table()));
  }
}

// --- the whole file ---------------------------------------------------------------------------

TomlFile TomlFileReader::Read() {
  const core::Result<std::string> text = core::ReadFile(path_, kMaxTomlFile);
  if (!text) throw Malformed("configuration: " + text.error().ToString());
  const core::Result<toml::table> parsed = profiles::ParseToml(*text, path_);
  if (!parsed) throw Malformed(parsed.error().ToString());
  const toml::table& root = *parsed;
  Strings known = Sections();
  known.push_back(kTokens);
  known.push_back(kWebhooks);
  TomlFile file;
  for (const auto& [key, node] : root) {
    const std::string name(key.str());
    if (name == kTokens) {
      ReadEntries(node, "write [[tokens]] above the keys of each token", &TomlFileReader::ReadToken,
                  file.tokens);
    } else if (name == kWebhooks) {
      ReadEntries(node, "write [[webhooks]] above the keys of each webhook",
                  &TomlFileReader::ReadWebhook, file.webhooks);
    } else if (!core::Contains(known, name)) {
      Refuse(key.source(), "unknown key " + core::Quoted(name) + SuggestKey(name, known));
    } else if (!node.is_table()) {
      Refuse(node.source(), name + " is a section: write [" + name + "] above its keys");
    } else {
      ReadSection(name, *node.as_table(), file);
    }
  }
  return file;
}

}  // namespace

core::Result<TomlFile> ReadTomlFile(const std::string& path) {
  try {
    return TomlFileReader(path).Read();
  } catch (const Malformed& malformed) {
    return core::MakeError(malformed.what(), "");
  } catch (const std::exception& failure) {
    return core::MakeError("read configuration " + core::Printable(path),
                           core::Printable(failure.what()));
  }
}

}  // namespace belljar::server::config
