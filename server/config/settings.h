// The table of settings, one row each. The configuration file, the environment, the flags, `belljar
// config` and docs/configuration.md are all derived from it or checked against it.
//
//   for (const Setting& setting : Settings()) …
//   Draft draft;                                       // all defaults
//   Result<void> applied = Apply({setting, {"5s"}, origin}, draft);
#ifndef BELLJAR_SERVER_CONFIG_SETTINGS_H_
#define BELLJAR_SERVER_CONFIG_SETTINGS_H_

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "engine/core/bytes.h"
#include "engine/core/result.h"
#include "server/core/config.h"

namespace belljar::server::config {

struct ListenAddress {
  std::string address;  // an IP address, without brackets
  uint16_t port = 0;
  bool operator==(const ListenAddress&) const = default;
};

// A ServerConfig under construction. Settings that depend on others are kept separately.
struct Draft {
  ServerConfig config;
  HttpConfig http;  // becomes config.http if `listen` is set
  std::optional<ListenAddress> listen;
  std::string token_file;
  std::optional<std::vector<std::string>> profiles;
  // The tiers of comparable servers; each is a profile of the same name.
  std::optional<bool> enable_network;
  std::optional<bool> enable_filesystem;
  std::optional<bool> enable_data_science;
  std::optional<bool> enable_full;
};

using OptionalTime = std::optional<std::chrono::milliseconds>;
using OptionalList = std::optional<std::vector<std::string>>;
using Field =
    std::variant<std::string*, bool*, std::optional<bool>*, size_t*, std::chrono::milliseconds*,
                 OptionalTime*, core::Bytes*, std::optional<core::Bytes>*,
                 std::vector<std::string>*, OptionalList*, std::optional<ListenAddress>*>;

enum class Form { kText, kSwitch, kCount, kTime, kSize, kList };

struct Setting {
  std::string key;         // in the file: "execution.timeout"
  std::string familiar;    // name used by comparable servers: "SANDBOX_TIMEOUT"; or empty
  std::string flag;        // of `belljar serve`: "--timeout"; or empty
  std::string value_type;  // for help and completion: "TIME", "FILE", "a|b"; empty for switches
  std::string unset;       // effective default if it has no value: "the profile's"; or empty
  std::string example;     // an example for such a setting, as from FieldLiteral; or empty
  std::string help;        // one line
  Field (*field)(Draft&);
  // For counts, times (milliseconds) and sizes (bytes); inclusive.
  uint64_t min = 0;
  uint64_t max = 0;
  // What is wrong with a text or list item; empty if it is valid.
  std::string (*violation)(std::string_view) = nullptr;

  // "BELLJAR_EXECUTION_TIMEOUT".
  std::string Variable() const;
  Form form() const;
  // "a|b" as a list; empty if the values are not enumerated.
  std::vector<std::string> choices() const;
};

// The name and values that a setting had in an earlier version, which are still accepted.
struct FormerName {
  std::string key;                                          // "execution.language"
  std::string flag;                                         // "--language"
  std::string setting;                                      // "execution.policy"
  std::vector<std::pair<std::string, std::string>> values;  // {"full", "off"}

  std::string Variable() const;
};

const std::vector<FormerName>& FormerNames();

// Null if there is none.
const FormerName* FindFormerName(std::string_view key);

const std::vector<Setting>& Settings();

// Null if there is none.
const Setting* FindSetting(std::string_view key);

// Where a value came from.
struct Origin {
  enum class Kind { kDefault, kFile, kEnvironment, kFlag };
  Kind kind = Kind::kDefault;
  std::string source = "default";  // "file /path:12", "environment SANDBOX_TIMEOUT", …
  // Prefix of messages about the value: "/path:12: execution.timeout", "SANDBOX_TIMEOUT", …
  std::string place;
  std::string folder;        // base of relative paths
  bool is_familiar = false;  // it was given by Setting::familiar
};

struct Given {
  const Setting* setting;           // from Settings()
  std::vector<std::string> values;  // one, except for lists
  Origin origin;
  const FormerName* former = nullptr;  // it was given by this name, with a former value
};

// Parses the values into the field; an error says what is wrong and what to write.
core::Result<void> Apply(const Given& given, Draft& draft);

// "a, b,c" as a list: spaces around items and empty items are dropped.
std::vector<std::string> SplitList(std::string_view text);

// The value of a field, for humans ("30s", "math, json") and as a literal that is valid TOML and
// JSON ("\"30s\"", "[\"math\"]"; empty: no value).
std::string ShowField(const Setting& setting, const Draft& draft);
std::string FieldLiteral(const Setting& setting, const Draft& draft);

// What to write for a value of the wrong type: "write true or false".
std::string ExpectedForm(const Setting& setting);

}  // namespace belljar::server::config

#endif  // BELLJAR_SERVER_CONFIG_SETTINGS_H_
