#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/console.h"
#include "cli/exit_code.h"
#include "cli/server_options.h"
#include "engine/core/text.h"
#include "server/config/settings.h"

namespace belljar::cli {
namespace {

using Json = nlohmann::ordered_json;

struct ConfigArguments {
  server::config::ConfigSources sources;
  bool json = false;
  bool toml = false;
};

// --- the table --------------------------------------------------------------------------------

struct Row {
  std::string key;
  std::string value;
  std::string source;
};

Row SettingRow(const server::config::SettingValue& setting) {
  const std::string note = setting.note.empty() ? "" : " (" + setting.note + ")";
  return {setting.key, core::Printable(setting.value) + note, setting.source};
}

std::string ShareOf(const server::Caller& caller) {
  std::string share;
  if (caller.profiles) {
    share += ", profiles:";
    for (const std::string& name : *caller.profiles) share += " " + core::Printable(name);
  }
  if (caller.rate > 0) {
    share += ", rate: " + Json(caller.rate).dump() + "/s, burst: " + std::to_string(caller.burst);
  }
  if (caller.concurrency > 0) share += ", concurrency: " + std::to_string(caller.concurrency);
  if (caller.is_operator) share += ", operator";
  return share;
}

Row TokenRow(const server::config::TokenValue& token) {
  return {"token " + token.caller.name, "set, from " + token.from + ShareOf(token.caller),
          token.source};
}

Row WebhookRow(const server::config::WebhookValue& value) {
  return {"webhook " + value.webhook.name,
          core::Printable(value.webhook.url) + ", secret set, from " + value.from, value.source};
}

std::string Table(const std::vector<Row>& rows) {
  // A longer value shifts only its own source column.
  constexpr size_t kWidestValue = 40;
  size_t key_width = 0;
  size_t value_width = 0;
  for (const Row& row : rows) {
    key_width = std::max(key_width, row.key.size());
    if (row.value.size() <= kWidestValue) value_width = std::max(value_width, row.value.size());
  }
  std::string text;
  for (const Row& row : rows) {
    std::string line = row.key;
    line.resize(key_width + 2, ' ');
    line += row.value;
    line.resize(std::max(line.size(), key_width + 2 + value_width) + 2, ' ');
    text += line + row.source + "\n";
  }
  return text;
}

std::string AsText(const server::config::LoadedConfig& loaded) {
  std::vector<Row> rows = {{"setting", "value", "from"}};
  for (const server::config::SettingValue& setting : loaded.settings)
    rows.push_back(SettingRow(setting));
  for (const server::config::TokenValue& token : loaded.tokens) rows.push_back(TokenRow(token));
  for (const server::config::WebhookValue& webhook : loaded.webhooks) {
    rows.push_back(WebhookRow(webhook));
  }
  const std::string file = loaded.file.empty() ? "none" : core::Printable(loaded.file);
  return "configuration file: " + file + "\n\n" + Table(rows);
}

// --- JSON -------------------------------------------------------------------------------------

Json OrNull(const std::string& text) { return text.empty() ? Json() : Json(text); }

Json ToJson(const server::config::SettingValue& value) {
  const server::config::Setting& setting = *server::config::FindSetting(value.key);
  Json variables = Json::array({setting.Variable()});
  if (!setting.familiar.empty()) variables.push_back(setting.familiar);
  return {
      {"key", value.key},
      {"value", value.literal.empty() ? Json() : Json::parse(value.literal)},
      {"text", value.value},
      {"source", value.source},
      {"note", OrNull(value.note)},
      {"environment", variables},
      {"flag", OrNull(setting.flag)},
      {"type", setting.form() == server::config::Form::kSwitch ? "true|false" : setting.value_type},
      {"help", setting.help}};
}

Json ToJson(const server::config::TokenValue& token) {
  const server::Caller& caller = token.caller;
  return {{"name", caller.name},
          {"from", token.from},
          {"source", token.source},
          {"profiles", caller.profiles ? Json(*caller.profiles) : Json()},
          {"rate", caller.rate},
          {"burst", caller.burst},
          {"concurrency", caller.concurrency},
          {"operator", caller.is_operator}};
}

Json ToJson(const server::config::WebhookValue& value) {
  const server::WebhookConfig& webhook = value.webhook;
  return {{"name", webhook.name},
          {"url", webhook.url},
          {"from", value.from},
          {"source", value.source},
          {"events", webhook.events},
          {"tokens", webhook.tokens},
          {"allow_private", webhook.allow_private},
          {"attempts", webhook.attempts},
          {"timeout", std::chrono::duration<double>(webhook.timeout).count()}};
}

std::string AsJson(const server::config::LoadedConfig& loaded) {
  Json settings = Json::array();
  for (const server::config::SettingValue& setting : loaded.settings)
    settings.push_back(ToJson(setting));
  Json tokens = Json::array();
  for (const server::config::TokenValue& token : loaded.tokens) tokens.push_back(ToJson(token));
  Json webhooks = Json::array();
  for (const server::config::WebhookValue& webhook : loaded.webhooks) {
    webhooks.push_back(ToJson(webhook));
  }
  const Json object = {{"file", OrNull(loaded.file)},
                       {"settings", settings},
                       {"tokens", tokens},
                       {"webhooks", webhooks},
                       {"warnings", loaded.warnings}};
  return JsonText(object);
}

int ExecuteConfig(const ConfigArguments& arguments) {
  if (arguments.json && arguments.toml) {
    return UsageError("config", "--json and --toml are mutually exclusive");
  }
  const bool reads = arguments.sources.file || arguments.sources.env_file;
  if (arguments.sources.only_defaults && reads) {
    return UsageError("config", "--defaults cannot be combined with --config or --env-file");
  }
  const core::Result<profiles::ProfileCatalogue> catalogue = profiles::ProfileCatalogue::Open();
  if (!catalogue) return OwnFailure(catalogue.error());
  const core::Result<server::config::LoadedConfig> loaded =
      LoadAndWarn(arguments.sources, *catalogue);
  if (!loaded) return UsageError("config", loaded.error().ToString());
  if (arguments.toml) return Answer(server::config::ConfigAsToml(*loaded), kExitOk);
  return Answer(arguments.json ? AsJson(*loaded) : AsText(*loaded), kExitOk);
}

}  // namespace

Command MakeConfigCommand(CLI::App& app) {
  auto arguments = std::make_shared<ConfigArguments>();
  CLI::App* parser =
      AddCommand(app, "config", "Show the server's settings and where each one comes from");
  AddConfigOptions(parser, arguments->sources);
  AddFlag(parser, "--defaults", arguments->sources.only_defaults,
          "read no configuration: show the defaults");
  AddFlag(parser, "--json", arguments->json, "print one JSON object");
  AddFlag(parser, "--toml", arguments->toml,
          "print a configuration file with these values and a comment for each");
  SetExamples(
      parser,
      {"belljar config  # every setting, its value and its source",
       "belljar config --env-file .env  # with the variables of a file",
       "belljar config --defaults --toml > config.toml  # a starting point for your own file",
       "belljar config --json  # the same for a program"});
  return {parser, [arguments] { return ExecuteConfig(*arguments); }};
}

}  // namespace belljar::cli
