#include "engine/profiles/wanted_profiles.h"

#include <algorithm>
#include <set>

#include "engine/core/text.h"

namespace belljar::profiles {
namespace {

// More than any real program imports; bounds the work for a text that consists of imports.
constexpr size_t kMaxImports = 500;

using Names = std::set<std::string, std::less<>>;

bool IsNameCharacter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         static_cast<unsigned char>(c) >= 0x80;
}

bool IsOfDottedName(char c) { return IsNameCharacter(c) || c == '.'; }

// Reads words and signs from the text.
class ImportScanner {
 public:
  explicit ImportScanner(std::string_view text) : rest_(text) {}

  bool IsAtEnd() const { return rest_.empty(); }
  void SkipSpace() { rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t"), rest_.size())); }
  bool Take(char sign) {
    SkipSpace();
    if (!rest_.starts_with(sign)) return false;
    rest_.remove_prefix(1);
    return true;
  }
  // Whether one of the digits follows, on this line or a later one.
  bool IsAtDigit(std::string_view digits) {
    SkipLineEnds();
    return !rest_.empty() && digits.find(rest_.front()) != digits.npos;
  }
  // A name in quotes; empty if there is none.
  std::string_view TakeQuotedName() {
    SkipLineEnds();
    return Take('"') || Take('\'') ? TakeName() : std::string_view();
  }
  // An identifier, or several joined by dots; empty if there is none.
  std::string_view TakeName() {
    SkipSpace();
    size_t size = 0;
    while (size < rest_.size() && IsOfDottedName(rest_[size])) ++size;
    const std::string_view name = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return name;
  }
  // To where the next statement may begin.
  void SkipStatement() {
    const size_t end = rest_.find_first_of("\n;:");
    rest_.remove_prefix(end == rest_.npos ? rest_.size() : end + 1);
  }
  void SkipLineEnds() {
    rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t\r\n"), rest_.size()));
  }

 private:
  std::string_view rest_;
};

using Aliases = std::set<std::pair<std::string, std::string>>;

// `as NAME`, if it follows.
void TakeAlias(ImportScanner& scanner, const std::string& of, Aliases& aliases) {
  ImportScanner after = scanner;
  if (after.TakeName() != "as") return;
  const std::string_view name = after.TakeName();
  if (aliases.size() < kMaxImports) aliases.emplace(name, of);
  scanner = after;
}

void TakeImport(ImportScanner& scanner, Names& modules, Aliases& aliases) {
  do {
    const std::string module(scanner.TakeName());
    modules.insert(module);
    TakeAlias(scanner, module, aliases);
  } while (scanner.Take(',') && modules.size() < kMaxImports);
}

void TakeFromImport(ImportScanner& scanner, Names& modules, Names& names, Aliases& aliases) {
  const std::string module(scanner.TakeName());
  if (scanner.TakeName() != "import") return;
  modules.insert(module);
  const bool is_in_parentheses = scanner.Take('(');
  do {
    if (is_in_parentheses) scanner.SkipLineEnds();
    const std::string name(scanner.Take('*') ? "*" : scanner.TakeName());
    if (!name.empty()) names.insert(module + "." + name);
    TakeAlias(scanner, module + "." + name, aliases);
    if (is_in_parentheses) scanner.SkipLineEnds();
  } while (scanner.Take(',') && names.size() < kMaxImports);
}

// __import__("numpy"), importlib.import_module("numpy.linalg").
void TakeCalls(std::string_view source, Names& modules) {
  for (const std::string_view function : {"__import__", "import_module"}) {
    for (size_t at = source.find(function); at != source.npos && modules.size() < kMaxImports;
         at = source.find(function, at + 1)) {
      ImportScanner argument(source.substr(at + function.size()));
      if (argument.Take('(')) modules.emplace(argument.TakeQuotedName());
    }
  }
}

// Whether one of the dotted names occurs as a whole: "os.path" not in "os.pathsep" or "pos.path".
bool OccursAny(const Names& names, std::string_view source) {
  size_t longest = 0;
  for (const std::string& name : names) longest = std::max(longest, name.size());
  while (!source.empty()) {
    const auto begin = std::ranges::find_if(source, IsOfDottedName);
    const auto end = std::find_if_not(begin, source.end(), IsOfDottedName);
    const std::string_view word(begin, end);
    for (size_t size = 0; size < word.size() && size <= longest; ++size) {
      size = std::min(word.find('.', size), word.size());
      if (names.contains(word.substr(0, size))) return true;
    }
    source = std::string_view(end, source.end());
  }
  return false;
}

// open() of something other than a standard stream, as open(0) is, or open passed on:
// map(open, names).
bool OpensFiles(std::string_view source) {
  constexpr std::string_view kOpen = "open";
  for (size_t at = source.find(kOpen); at != source.npos; at = source.find(kOpen, at + 1)) {
    if (at > 0 && (IsNameCharacter(source[at - 1]) || source[at - 1] == '.')) continue;
    ImportScanner after(source.substr(at + kOpen.size()));
    if (after.Take(',') || after.Take(')')) return true;
    if (after.Take('(') && !after.IsAtDigit("012")) return true;
  }
  return false;
}

const core::ModuleExports* FindModule(const core::Profile& profile, std::string_view name) {
  const auto found = std::ranges::find(profile.modules, name, &core::ModuleExports::name);
  return found == profile.modules.end() ? nullptr : &*found;
}

bool HasModuleBelow(const core::Profile& profile, std::string_view root) {
  return std::ranges::any_of(profile.modules, [&](const core::ModuleExports& module) {
    return core::TopLevelName(module.name) == root;
  });
}

// Adds the names of `module` that the base lacks: "os.listdir", "o.listdir", "os.*".
void AddNewNames(const core::ModuleExports& module, const core::ModuleExports* of_base,
                 const ImportedNames& imports, Names& names) {
  for (const std::string& name : module.exports) {
    if (of_base && core::Contains(of_base->exports, name)) continue;
    names.insert({module.name + "." + name, module.name + ".*"});
    for (const auto& [alias, of] : imports.aliases) {
      if (of != module.name) continue;
      std::string joined = alias;
      joined.append(".").append(name);
      names.insert(std::move(joined));
    }
  }
}

}  // namespace

ImportedNames FindImports(std::string_view source) {
  Names modules, names;
  Aliases aliases;
  for (ImportScanner scanner(source); !scanner.IsAtEnd() && modules.size() < kMaxImports;
       scanner.SkipStatement()) {
    scanner.SkipLineEnds();
    ImportScanner statement = scanner;
    const std::string_view word = statement.TakeName();
    if (word == "import") TakeImport(statement, modules, aliases);
    if (word == "from") TakeFromImport(statement, modules, names, aliases);
    if (word == "import" || word == "from") scanner = statement;
  }
  TakeCalls(source, modules);
  modules.erase("");
  return {{modules.begin(), modules.end()},
          {names.begin(), names.end()},
          {aliases.begin(), aliases.end()}};
}

bool MayWantOthers(std::string_view source) {
  return source.find("import") != source.npos || OpensFiles(source);
}

bool IsWanted(const core::Profile& other, const core::Profile& base, std::string_view source,
              const ImportedNames& imports) {
  if (other.workspace && !base.workspace && OpensFiles(source)) return true;
  std::set<std::string_view> roots;
  for (const std::string& module : imports.modules) {
    const std::string_view root = core::TopLevelName(module);
    const bool is_new = FindModule(base, module) == nullptr;
    if (is_new && FindModule(other, module)) return true;
    if (!HasModuleBelow(base, root) && HasModuleBelow(other, root)) return true;
    roots.insert(root);
  }
  // Modules that both have, but with more names in one: os.
  Names names;
  for (const core::ModuleExports& module : other.modules) {
    if (!roots.contains(core::TopLevelName(module.name))) continue;
    const core::ModuleExports* const of_base = FindModule(base, module.name);
    if (!of_base || of_base->exports.size() < module.exports.size())
      AddNewNames(module, of_base, imports, names);
  }
  if (names.empty()) return false;
  const auto is_new = [&](const std::string& name) { return names.contains(name); };
  return std::ranges::any_of(imports.names, is_new) || OccursAny(names, source);
}

}  // namespace belljar::profiles
