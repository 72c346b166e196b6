#include "container/packages/package_requirement.h"

#include <algorithm>
#include <array>
#include <optional>

#include "engine/core/text.h"
#include "engine/installation/package_folder.h"

namespace belljar::container::packages {
namespace {

constexpr size_t kMaxPackageName = 100;
constexpr size_t kMaxExtras = 16;
constexpr size_t kMaxSpecifiers = 16;
// In the order in which they are tried: an operator comes before its prefixes. Not "===", which
// compares arbitrary texts.
constexpr std::array<std::string_view, 7> kOperators = {"~=", "==", "!=", "<=", ">=", "<", ">"};

constexpr std::string_view kHash = "--hash=sha256:";

// ASCII, independent of the locale.
bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsAlphanumeric(char c) {
  return IsDigit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
bool IsSeparator(char c) { return c == '-' || c == '_' || c == '.'; }

bool IsName(std::string_view text) {
  return !text.empty() && text.size() <= kMaxPackageName && IsAlphanumeric(text.front()) &&
         IsAlphanumeric(text.back()) && std::all_of(text.begin(), text.end(), [](char c) {
           return IsAlphanumeric(c) || IsSeparator(c);
         });
}

// Only checks the characters: pip decides whether it is a valid version (PEP 440).
bool IsVersion(std::string_view text, std::string_view comparison) {
  const bool is_equality = comparison == "==" || comparison == "!=";
  if (is_equality && text.ends_with(".*")) text.remove_suffix(2);
  const size_t plus = text.find('+');
  if (plus != text.npos && (!is_equality || text.find('+', plus + 1) != text.npos)) return false;
  return !text.empty() && IsDigit(text.front()) && IsAlphanumeric(text.back()) &&
         std::all_of(text.begin(), text.end(), [](char c) {
           return IsAlphanumeric(c) || IsSeparator(c) || c == '+' || c == '!';
         });
}

std::string_view Trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

std::vector<std::string_view> SplitAtCommas(std::string_view text) {
  std::vector<std::string_view> parts;
  for (size_t from = 0; from <= text.size();) {
    const size_t comma = std::min(text.find(',', from), text.size());
    parts.push_back(Trimmed(text.substr(from, comma - from)));
    from = comma + 1;
  }
  return parts;
}

void SortEachOnce(std::vector<std::string>& texts) {
  std::sort(texts.begin(), texts.end());
  texts.erase(std::unique(texts.begin(), texts.end()), texts.end());
}

// nullopt: `text` is not a list of extras (without brackets).
std::optional<std::vector<std::string>> ParseExtras(std::string_view text) {
  std::vector<std::string> extras;
  for (const std::string_view extra : SplitAtCommas(text)) {
    if (!IsName(extra) || extras.size() == kMaxExtras) return std::nullopt;
    extras.push_back(installation::NormalizedPackageName(extra));
  }
  SortEachOnce(extras);
  return extras;
}

std::optional<std::vector<std::string>> ParseSpecifiers(std::string_view text) {
  std::vector<std::string> specifiers;
  if (text.empty()) return specifiers;
  for (const std::string_view specifier : SplitAtCommas(text)) {
    const auto comparison =
        std::find_if(kOperators.begin(), kOperators.end(),
                     [&](std::string_view each) { return specifier.starts_with(each); });
    if (comparison == kOperators.end() || specifiers.size() == kMaxSpecifiers) return std::nullopt;
    const std::string_view version = Trimmed(specifier.substr(comparison->size()));
    if (!IsVersion(version, *comparison)) return std::nullopt;
    specifiers.push_back(std::string(*comparison) + std::string(version));
  }
  SortEachOnce(specifiers);
  return specifiers;
}

// nullopt: `text` is not a list of "--hash=sha256:<64 digits>".
std::optional<std::vector<std::string>> ParseHashes(std::string_view text) {
  constexpr size_t kDigits = 64;
  std::vector<std::string> hashes;
  for (text = Trimmed(text); !text.empty(); text = Trimmed(text)) {
    if (!text.starts_with(kHash)) return std::nullopt;
    text.remove_prefix(kHash.size());
    const std::string_view digits = text.substr(0, kDigits);
    if (!core::IsHex(digits, kDigits)) return std::nullopt;
    hashes.emplace_back(digits);
    text.remove_prefix(kDigits);
  }
  SortEachOnce(hashes);
  return hashes;
}

core::Error Refusal(const std::string& text, const std::string& why) {
  return core::MakeError("package " + core::Quoted(text), why);
}

// What npm's registry takes for new packages, with a scope before it or not.
bool IsNpmName(std::string_view text) {
  constexpr size_t kMaxNpmName = 214;
  const size_t slash = text.find('/');
  const std::string_view scope = slash == text.npos ? "" : text.substr(0, slash);
  const std::string_view name = slash == text.npos ? text : text.substr(slash + 1);
  const auto is_part = [](std::string_view part) {
    return !part.empty() && part.front() != '.' && part.front() != '_' && part.front() != '-' &&
           std::all_of(part.begin(), part.end(), [](char c) {
             return IsDigit(c) || (c >= 'a' && c <= 'z') || IsSeparator(c);
           });
  };
  return text.size() <= kMaxNpmName && is_part(name) &&
         (slash == text.npos || (scope.starts_with('@') && is_part(scope.substr(1))));
}

// Only checks the characters: npm decides whether it is a range. No address has only these.
bool IsNpmRange(std::string_view text) {
  return !text.empty() && text.front() != '-' && text.front() != '.' &&
         std::all_of(text.begin(), text.end(), [](char c) {
           return IsAlphanumeric(c) ||
                  std::string_view(".-+^~<>=|* ").find(c) != std::string_view::npos;
         });
}

core::Result<PackageRequirement> ParseNpmRequirement(const std::string& text) {
  constexpr char kForm[] =
      "a package of npm is a name, and behind an @ its versions: npm:left-pad, "
      "npm:@types/node@^20. "
      "Addresses and paths are not allowed";
  const std::string_view rest = Trimmed(std::string_view(text).substr(sizeof kNpmPrefix - 1));
  if (rest.empty() || rest.size() > kMaxRequirement) return Refusal(text, kForm);
  const size_t at = std::min(rest.find('@', 1), rest.size());
  const std::string_view name = rest.substr(0, at);
  const std::string_view range = Trimmed(rest.substr(std::min(at + 1, rest.size())));
  if (!IsNpmName(name) || (at < rest.size() && !IsNpmRange(range))) return Refusal(text, kForm);
  PackageRequirement requirement;
  requirement.name = kNpmPrefix + std::string(name);
  if (!range.empty()) requirement.specifiers.emplace_back(range);
  return requirement;
}

core::Result<PackageRequirement> ParseRequirement(const std::string& text) {
  if (text.starts_with(kNpmPrefix)) return ParseNpmRequirement(text);
  constexpr char kForm[] =
      "a package is a name, extras in brackets, versions: requests, requests[socks], "
      "requests>=2.31,<3, and --hash=sha256:… behind them. Addresses, paths, other options and "
      "markers are not allowed";
  if (text.size() > kMaxLockedRequirement) return Refusal(text, "it is too long");
  const size_t first_hash = std::min(text.find(kHash), text.size());
  std::string_view rest = Trimmed(std::string_view(text).substr(0, first_hash));
  if (rest.size() > kMaxRequirement) return Refusal(text, "it is too long");
  std::optional<std::vector<std::string>> hashes = ParseHashes(text.substr(first_hash));
  if (!hashes) return Refusal(text, kForm);
  const auto name_end = std::find_if_not(
      rest.begin(), rest.end(), [](char c) { return IsAlphanumeric(c) || IsSeparator(c); });
  const std::string_view name = rest.substr(0, static_cast<size_t>(name_end - rest.begin()));
  if (!IsName(name)) return Refusal(text, kForm);
  rest = Trimmed(rest.substr(name.size()));
  PackageRequirement requirement{.name = installation::NormalizedPackageName(name),
                                 .extras = {},
                                 .specifiers = {},
                                 .hashes = std::move(*hashes)};
  if (rest.starts_with('[')) {
    const size_t end = rest.find(']');
    if (end == rest.npos) return Refusal(text, kForm);
    std::optional<std::vector<std::string>> extras = ParseExtras(rest.substr(1, end - 1));
    if (!extras) return Refusal(text, kForm);
    requirement.extras = std::move(*extras);
    rest = Trimmed(rest.substr(end + 1));
  }
  std::optional<std::vector<std::string>> specifiers = ParseSpecifiers(rest);
  if (!specifiers) return Refusal(text, kForm);
  requirement.specifiers = std::move(*specifiers);
  return requirement;
}

std::string Joined(const std::vector<std::string>& texts) {
  std::string joined;
  for (const std::string& text : texts) joined += (joined.empty() ? "" : ",") + text;
  return joined;
}

}  // namespace

std::string PackageRequirement::ToString() const {
  if (is_npm()) return name + (specifiers.empty() ? "" : "@" + specifiers.front());
  std::string text = name + (extras.empty() ? "" : "[" + Joined(extras) + "]") + Joined(specifiers);
  for (const std::string& hash : hashes) text.append(" ").append(kHash).append(hash);
  return text;
}

core::Result<std::vector<PackageRequirement>> ParseRequirements(
    const std::vector<std::string>& texts) {
  if (texts.empty())
    return core::MakeError("packages", "the list is empty: name one, or omit the list");
  if (texts.size() > kMaxRequirements) {
    return core::MakeError("packages", std::to_string(texts.size()) + " exceed the " +
                                           std::to_string(kMaxRequirements) +
                                           " that a call may name");
  }
  std::vector<PackageRequirement> requirements;
  for (const std::string& text : texts) {
    core::Result<PackageRequirement> requirement = ParseRequirement(text);
    if (!requirement) return requirement.error();
    const bool is_there =
        std::any_of(requirements.begin(), requirements.end(),
                    [&](const PackageRequirement& each) { return each.name == requirement->name; });
    if (is_there) {
      return Refusal(text,
                     "it is named twice; combine its versions: " + requirement->name + ">=1,<2");
    }
    requirements.push_back(std::move(*requirement));
  }
  std::sort(requirements.begin(), requirements.end(),
            [](const auto& a, const auto& b) { return a.name < b.name; });
  return requirements;
}

bool IsAllowedPackage(std::string_view name, const std::vector<std::string>& patterns) {
  const bool is_npm = name.starts_with(kNpmPrefix);
  return std::any_of(patterns.begin(), patterns.end(), [&](std::string_view pattern) {
    if (is_npm != pattern.starts_with(kNpmPrefix)) return false;
    if (is_npm) {
      return pattern.ends_with('*') ? name.starts_with(pattern.substr(0, pattern.size() - 1))
                                    : name == pattern;
    }
    if (!pattern.ends_with('*')) return installation::NormalizedPackageName(pattern) == name;
    return name.starts_with(
        installation::NormalizedPackageName(pattern.substr(0, pattern.size() - 1)));
  });
}

}  // namespace belljar::container::packages
