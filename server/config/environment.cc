#include "server/config/environment.h"

#include <algorithm>
#include <cctype>

#include "engine/core/fd.h"
#include "engine/core/text.h"
#include "engine/host/suggest.h"

namespace belljar::server::config {
namespace {

using Strings = std::vector<std::string>;

constexpr size_t kMaxEnvironmentFile = 1 << 20;
constexpr char kWhitespace[] = " \t";

// Variables read by ./dev, the build and the tests.
const Strings kDevelopment = {
    "BELLJAR_BUILD",         "BELLJAR_BUILD_DIR",     "BELLJAR_CACHE_DIR", "BELLJAR_DOCKER_SOCKET",
    "BELLJAR_ENGINES_LATER", "BELLJAR_GUARDS_DIR",    "BELLJAR_JOBS",      "BELLJAR_MUST_WORK",
    "BELLJAR_OTHER_PYTHON",  "BELLJAR_PODMAN_SOCKET", "BELLJAR_PYTHON",    "BELLJAR_SANITIZE",
    "BELLJAR_SURFACE",       "BELLJAR_VENV",          "BELLJAR_WERROR"};
constexpr char kTestPrefix[] = "BELLJAR_TEST_";

bool IsName(std::string_view name) {
  const auto is_word = [](char c) {
    return c == '_' || std::isalnum(static_cast<unsigned char>(c)) != 0;
  };
  return !name.empty() && std::all_of(name.begin(), name.end(), is_word) &&
         std::isdigit(static_cast<unsigned char>(name[0])) == 0;
}

std::string_view Trimmed(std::string_view text) {
  const size_t first = text.find_first_not_of(kWhitespace);
  if (first == std::string_view::npos) return "";
  return text.substr(first, text.find_last_not_of(kWhitespace) - first + 1);
}

// Whether `text` may follow a closing quote.
bool IsRest(std::string_view text) {
  text = Trimmed(text);
  return text.empty() || text[0] == '#';
}

char Unescaped(char c) { return c == 'n' ? '\n' : c == 't' ? '\t' : c; }

// The value on a line; the error's detail says what is wrong without quoting it.
core::Result<std::string> ReadValue(std::string_view text) {
  if (text.empty() || (text[0] != '"' && text[0] != '\'')) {
    for (size_t at = text.find('#'); at != std::string_view::npos; at = text.find('#', at + 1)) {
      // Inside a word, # is part of the value.
      if (at == 0 || text[at - 1] == ' ' || text[at - 1] == '\t') {
        text = text.substr(0, at);
        break;
      }
    }
    return std::string(Trimmed(text));
  }
  const char quote = text[0];
  std::string value;
  for (size_t at = 1; at < text.size(); ++at) {
    if (text[at] == quote) {
      if (IsRest(text.substr(at + 1))) return value;
      return core::MakeError("", "unexpected text after the closing quote");
    }
    const bool escapes = quote == '"' && text[at] == '\\' && at + 1 < text.size() &&
                         std::string_view("nt\\\"$").find(text[at + 1]) != std::string_view::npos;
    value += escapes ? Unescaped(text[++at]) : text[at];
  }
  return core::MakeError("", std::string("missing closing ") + quote);
}

struct Line {
  std::string name;  // empty: a comment or an empty line
  std::string value;
};

core::Result<Line> ReadLine(std::string_view text) {
  if (text.ends_with('\r')) text.remove_suffix(1);
  if (text.find('\0') != std::string_view::npos)
    return core::MakeError("", "it contains a NUL byte");
  text = Trimmed(text);
  if (text.empty() || text[0] == '#') return Line{};
  if (text.starts_with("export ") || text.starts_with("export\t")) text = Trimmed(text.substr(7));
  const size_t equals = text.find('=');
  if (equals == std::string_view::npos) return core::MakeError("", "write NAME=VALUE");
  const std::string_view name = Trimmed(text.substr(0, equals));
  if (!IsName(name))
    return core::MakeError("", "write NAME=VALUE, the name of letters, digits and _");
  core::Result<std::string> value = ReadValue(Trimmed(text.substr(equals + 1)));
  if (!value) return core::MakeError("", std::string(name) + ": " + value.error().detail);
  return Line{std::string(name), std::move(*value)};
}

bool IsOurs(std::string_view name) {
  return name.starts_with("SANDBOX_") || name.starts_with("BELLJAR_");
}

Strings KnownVariables() {
  Strings names = {kConfigVariable, kTokenVariable, kLegacyTokenVariable};
  for (const FormerName& former : FormerNames()) names.push_back(former.Variable());
  for (const Setting& setting : Settings()) {
    names.push_back(setting.Variable());
    if (!setting.familiar.empty()) names.push_back(setting.familiar);
  }
  return names;
}

void Add(const Setting& setting, const std::string& name, const std::vector<Variable>& variables,
         std::vector<Given>& given) {
  const Variable* variable = name.empty() ? nullptr : FindVariable(variables, name);
  if (!variable || variable->value.empty()) return;
  Given entry{&setting, {variable->value}, variable->origin};
  if (setting.form() == Form::kList) entry.values = SplitList(variable->value);
  entry.origin.is_familiar = name == setting.familiar;
  given.push_back(std::move(entry));
}

}  // namespace

std::vector<Variable> ReadEnvironment(const Strings& strings) {
  std::vector<Variable> variables;
  for (const std::string& text : strings) {
    const size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0) continue;
    Variable variable{text.substr(0, equals), text.substr(equals + 1), {}};
    variable.origin.kind = Origin::Kind::kEnvironment;
    variable.origin.source = "environment " + core::Printable(variable.name);
    variable.origin.place = core::Printable(variable.name);
    variables.push_back(std::move(variable));
  }
  return variables;
}

core::Result<std::vector<Variable>> ReadEnvironmentFile(const std::string& path) {
  const core::Result<std::string> text = core::ReadFile(path, kMaxEnvironmentFile);
  if (!text) return core::MakeError("environment file: " + text.error().ToString(), "");
  std::vector<Variable> variables;
  std::string_view rest = *text;
  if (rest.starts_with("\xef\xbb\xbf")) rest.remove_prefix(3);
  for (size_t number = 1; !rest.empty(); ++number) {
    const size_t end = std::min(rest.find('\n'), rest.size());
    const std::string place = core::Printable(path) + ":" + std::to_string(number);
    core::Result<Line> line = ReadLine(rest.substr(0, end));
    if (!line) return core::MakeError(place, line.error().detail);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (line->name.empty()) continue;
    Variable variable{std::move(line->name), std::move(line->value), {}};
    variable.origin.kind = Origin::Kind::kEnvironment;
    variable.origin.source = "file " + place + " " + variable.name;
    variable.origin.place = place + ": " + variable.name;
    variables.push_back(std::move(variable));
  }
  return variables;
}

const Variable* FindVariable(const std::vector<Variable>& variables, std::string_view name) {
  const Variable* found = nullptr;
  for (const Variable& variable : variables) {
    if (variable.name == name) found = &variable;
  }
  return found;
}

std::vector<Given> SettingsOf(const std::vector<Variable>& variables) {
  std::vector<Given> given;
  for (const Setting& setting : Settings()) {
    Add(setting, setting.familiar, variables, given);
    Add(setting, setting.Variable(), variables, given);
  }
  for (const FormerName& former : FormerNames()) {
    const size_t before = given.size();
    Add(*FindSetting(former.setting), former.Variable(), variables, given);
    if (given.size() > before) given.back().former = &former;
  }
  return given;
}

Strings UnknownVariables(const std::vector<Variable>& variables, const Strings& also_known) {
  const Strings known = KnownVariables();
  Strings unknown;
  for (const Variable& variable : variables) {
    const std::string& name = variable.name;
    if (!IsOurs(name) || core::Contains(known, name) || core::Contains(also_known, name)) continue;
    if (core::Contains(kDevelopment, name) || name.starts_with(kTestPrefix)) continue;
    unknown.push_back(variable.origin.place + ": unknown setting" + host::Suggestion(name, known));
  }
  return unknown;
}

}  // namespace belljar::server::config
