// The table of settings: one row each, which the file, the environment, the flags, `belljar config`
// and docs/configuration.md are all read from or checked against, so none of them can drift.
//
//   for (const Setting& setting : Settings()) …
//   Draft draft;                                       // every default
//   Result<void> applied = Apply({setting, {"5s"}, origin}, draft);
#ifndef BELLJAR_SERVER_CONFIG_SETTINGS_H_
#define BELLJAR_SERVER_CONFIG_SETTINGS_H_

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
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

// A ServerConfig in the making, with what only makes sense together with other settings kept apart.
struct Draft {
  ServerConfig config;
  HttpConfig http;  // becomes config.http where `listen` is set
  std::optional<ListenAddress> listen;
  std::string token_file;
  std::optional<std::vector<std::string>> profiles;
  // The tiers of servers of this kind, each a profile of that name.
  std::optional<bool> enable_network;
  std::optional<bool> enable_filesystem;
  std::optional<bool> enable_data_science;
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
  std::string familiar;    // what servers of this kind call it: "SANDBOX_TIMEOUT"; or empty
  std::string flag;        // of `belljar serve`: "--timeout"; or empty
  std::string value_type;  // for help and completion: "TIME", "FILE", "a|b"; of a switch empty
  std::string unset;       // what holds while it has no value: "the profile's"; or empty
  std::string example;     // a literal for such a setting, as FieldLiteral; or empty
  std::string help;        // one line
  Field (*field)(Draft&);
  // Of counts, times (milliseconds) and sizes (bytes); both included.
  uint64_t least = 0;
  uint64_t most = 0;
  // What is wrong with a text or an item of a list; empty: nothing.
  std::string (*violation)(std::string_view) = nullptr;

  // "BELLJAR_EXECUTION_TIMEOUT".
  std::string Variable() const;
  Form form() const;
  // "a|b" as a list; empty where the value is no closed choice.
  std::vector<std::string> choices() const;
};

const std::vector<Setting>& Settings();

// Null when there is none.
const Setting* FindSetting(std::string_view key);

// Where a value came from.
struct Origin {
  enum class Kind { kDefault, kFile, kEnvironment, kFlag };
  Kind kind = Kind::kDefault;
  std::string source = "default";  // "file /path:12", "environment SANDBOX_TIMEOUT", …
  // How messages about the value begin: "/path:12: execution.timeout", "SANDBOX_TIMEOUT", …
  std::string place;
  std::string folder;        // what relative paths are relative to
  bool is_familiar = false;  // it came under Setting::familiar
};

struct Given {
  const Setting* setting;           // of Settings()
  std::vector<std::string> values;  // one, except of a list
  Origin origin;
};

// Reads the text into its field, or says what is wrong and what to write.
core::Result<void> Apply(const Given& given, Draft& draft);

// "a, b,c" as a list: spaces around items and empty items are dropped.
std::vector<std::string> SplitList(std::string_view text);

// What a field holds, for people ("30s", "math, json") and as a literal that is TOML and JSON at
// once ("\"30s\"", "[\"math\"]"; empty: it has no value).
std::string ShowField(const Setting& setting, const Draft& draft);
std::string FieldLiteral(const Setting& setting, const Draft& draft);

// What to write for a value of the wrong type: "write true or false".
std::string WhatToWrite(const Setting& setting);

}  // namespace belljar::server::config

#endif  // BELLJAR_SERVER_CONFIG_SETTINGS_H_
