// Writes a configuration as a TOML file.
#include <charconv>

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

std::string Number(double number) {
  char text[64];
  const auto [end, error] =
      std::to_chars(text, text + sizeof text, number, std::chars_format::fixed);
  return error == std::errc() ? std::string(text, end) : "0";
}

std::string TokenText(const TokenValue& token) {
  std::string text = "\n[[tokens]]\nname = " + TextLiteral(token.caller.name) + "\n";
  text += token.file.empty() ? "env = " + TextLiteral(token.variable) + "\n"
                             : "file = " + TextLiteral(token.file) + "\n";
  const Caller& caller = token.caller;
  if (caller.profiles) text += "profiles = " + ListLiteral(*caller.profiles) + "\n";
  if (caller.rate > 0) text += "rate = " + Number(caller.rate) + "\n";
  if (caller.burst > 0) text += "burst = " + std::to_string(caller.burst) + "\n";
  if (caller.concurrency > 0) {
    text += "concurrency = " + std::to_string(caller.concurrency) + "\n";
  }
  return text;
}

constexpr char kTokensHead[] = R"(
# Additional bearer tokens, each with its own limits. The secret is never in this file: it is in a
# file of mode 600 (`file`) or in a variable (`env`). `profiles`: profiles that the token may use
# (default: all enabled ones); `rate`: messages per second; `burst`: burst size; `concurrency`:
# maximum number of running and waiting calls (default: no limit besides the server's).
)";
constexpr char kTokensExample[] = R"(# [[tokens]]
# name = "team-a"
# file = "/etc/belljar/team-a.token"
# profiles = ["basic"]
# rate = 50
# burst = 100
# concurrency = 8
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
  return has_entry ? text : text + kTokensExample;
}

}  // namespace belljar::server::config
