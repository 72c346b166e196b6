// Writes a configuration as a TOML file.

#include "server/config/load.h"
#include "server/config/settings.h"
#include "server/config/values.h"

namespace belljar::server::config {
namespace {

std::string OtherNames(const Setting& setting) {
  std::string names = setting.Variable();
  if (!setting.familiar.empty()) names += ", " + setting.familiar;
  if (!setting.flag.empty()) names += ", " + setting.flag;
  return names;
}

std::string SettingText(const Setting& setting, const SettingValue& value) {
  const std::string key = setting.key.substr(setting.key.find('.') + 1);
  std::string text = "\n# " + setting.help + "\n# (" + OtherNames(setting) + ")";
  if (!setting.unset.empty()) text += " default: " + setting.unset;
  // Defaults stay comments: a later version may change them.
  const std::string& literal =
      value.is_default && !setting.example.empty() ? setting.example : value.literal;
  const bool is_comment = value.is_default || value.literal.empty();
  return text + "\n" + (is_comment ? "# " : "") + key + " = " +
         (literal.empty() ? setting.example : literal) + "\n";
}

std::string TokenText(const TokenValue& token) {
  std::string text = "\n[[tokens]]\nname = " + TextLiteral(token.caller.name) + "\n";
  text += token.file.empty() ? "env = " + TextLiteral(token.variable) + "\n"
                             : "file = " + TextLiteral(token.file) + "\n";
  const Caller& caller = token.caller;
  if (caller.profiles) text += "profiles = " + ListLiteral(*caller.profiles) + "\n";
  if (caller.rate > 0) text += "rate = " + FormatNumber(caller.rate) + "\n";
  if (caller.burst > 0) text += "burst = " + std::to_string(caller.burst) + "\n";
  if (caller.concurrency > 0) {
    text += "concurrency = " + std::to_string(caller.concurrency) + "\n";
  }
  if (caller.is_operator) text += "operator = true\n";
  return text;
}

std::string WebhookText(const WebhookValue& value) {
  const WebhookConfig& webhook = value.webhook;
  std::string text = "\n[[webhooks]]\nname = " + TextLiteral(webhook.name) +
                     "\nurl = " + TextLiteral(webhook.url) + "\n";
  text += value.file.empty() ? "env = " + TextLiteral(value.variable) + "\n"
                             : "file = " + TextLiteral(value.file) + "\n";
  const auto add = [&](const char* key, const std::vector<std::string>& list) {
    if (!list.empty()) text += std::string(key) + " = " + ListLiteral(list) + "\n";
  };
  add("events", webhook.events);
  add("tokens", webhook.tokens);
  add("allow_private", webhook.allow_private);
  text += "attempts = " + std::to_string(webhook.attempts) + "\n";
  return text + "timeout = \"" + std::to_string(webhook.timeout.count()) + "ms\"\n";
}

constexpr char kTokensHead[] = R"(
# Additional bearer tokens, each with its own limits. The secret is never in this file: it is in a
# file of mode 600 (`file`) or in a variable (`env`). `profiles`: profiles that the token may use
# (default: all enabled ones); `rate`: messages per second; `burst`: burst size; `concurrency`:
# maximum number of running and waiting calls (default: no limit besides the server's); `operator`:
# may change limits while the server runs, and read all of the audit log over HTTP (default: false).
)";
constexpr char kTokensExample[] = R"(# [[tokens]]
# name = "team-a"
# file = "/etc/belljar/team-a.token"
# profiles = ["basic"]
# rate = 50
# burst = 100
# concurrency = 8
)";
constexpr char kWebhooksHead[] = R"(
# Endpoints that are told about events: https://, or http:// on this machine or in `allow_private`. The
# secret (whsec_…) is in a file (`file`) or in a variable (`env`). `events`: names, or beginnings such
# as "execution.*" (default: all); `tokens`: whose events (default: everyone's).
)";
constexpr char kWebhooksExample[] = R"(# [[webhooks]]
# name = "dashboard"
# url = "https://hooks.example.com/belljar"
# file = "/etc/belljar/dashboard.secret"
# events = ["execution.ended", "execution.refused"]
# tokens = ["team-a"]
# attempts = 8
# timeout = "10s"
)";

}  // namespace

std::string ConfigAsToml(const LoadedConfig& loaded) {
  std::string text =
      "# Configuration of belljar serve: docs/configuration.md. Commented settings show "
      "defaults or examples.\n";
  std::string section;
  for (const SettingValue& value : loaded.settings) {
    const Setting& setting = *FindSetting(value.key);
    const std::string prefix = setting.key.substr(0, setting.key.find('.'));
    if (prefix != section) text += "\n[" + prefix + "]\n";
    section = prefix;
    text += SettingText(setting, value);
  }
  text += kTokensHead;
  bool has_entry = false;
  for (const TokenValue& token : loaded.tokens) {
    if (!token.is_entry) continue;
    text += TokenText(token);
    has_entry = true;
  }
  if (!has_entry) text += kTokensExample;
  text += kWebhooksHead;
  for (const WebhookValue& webhook : loaded.webhooks) text += WebhookText(webhook);
  return loaded.webhooks.empty() ? text + kWebhooksExample : text;
}

}  // namespace belljar::server::config
