#include "engine/profiles/wanted_profiles.h"

#include <algorithm>
#include <set>

#include "engine/core/text.h"

namespace belljar::profiles {
namespace {

// More than any real program imports; bounds the work for a text that consists of imports.
constexpr size_t kMaxImports = 500;

bool IsNameCharacter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         static_cast<unsigned char>(c) >= 0x80;
}

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
  // An identifier, or several joined by dots; empty if there is none.
  std::string_view TakeName() {
    SkipSpace();
    size_t size = 0;
    while (size < rest_.size() && (IsNameCharacter(rest_[size]) || rest_[size] == '.')) ++size;
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

void TakeImport(ImportScanner& scanner, std::set<std::string, std::less<>>& modules) {
  do {
    modules.emplace(scanner.TakeName());
    ImportScanner after = scanner;
    if (after.TakeName() == "as") {
      after.TakeName();
      scanner = after;
    }
  } while (scanner.Take(',') && modules.size() < kMaxImports);
}

void TakeFromImport(ImportScanner& scanner, std::set<std::string, std::less<>>& modules,
                    std::set<std::string, std::less<>>& names) {
  const std::string module(scanner.TakeName());
  if (scanner.TakeName() != "import") return;
  modules.insert(module);
  const bool is_in_parentheses = scanner.Take('(');
  do {
    if (is_in_parentheses) scanner.SkipLineEnds();
    const std::string_view name = scanner.TakeName();
    if (!name.empty()) names.insert(module + "." + std::string(name));
    ImportScanner after = scanner;
    if (after.TakeName() == "as") {
      after.TakeName();
      scanner = after;
    }
    if (is_in_parentheses) scanner.SkipLineEnds();
  } while (scanner.Take(',') && names.size() < kMaxImports);
}

// Whether `name` occurs as a whole: "os.path" not in "os.pathsep" or "pos.path".
bool Occurs(std::string_view name, std::string_view source) {
  for (size_t at = source.find(name); at != source.npos; at = source.find(name, at + 1)) {
    const size_t end = at + name.size();
    const bool begins = at == 0 || (!IsNameCharacter(source[at - 1]) && source[at - 1] != '.');
    if (begins && (end == source.size() || !IsNameCharacter(source[end]))) return true;
  }
  return false;
}

// open() of something other than a standard stream: open(0).
bool OpensFiles(std::string_view source) {
  constexpr std::string_view kOpen = "open(";
  for (size_t at = source.find(kOpen); at != source.npos; at = source.find(kOpen, at + 1)) {
    if (at > 0 && (IsNameCharacter(source[at - 1]) || source[at - 1] == '.')) continue;
    const size_t argument = source.find_first_not_of(" \t\n", at + kOpen.size());
    if (argument == source.npos || source[argument] < '0' || source[argument] > '2') return true;
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

bool UsesNameOf(const core::ModuleExports& module, const core::ModuleExports* base,
                std::string_view source, const ImportedNames& imports) {
  return std::ranges::any_of(module.exports, [&](const std::string& name) {
    if (base && std::ranges::find(base->exports, name) != base->exports.end()) return false;
    const std::string full = module.name + "." + name;
    return std::ranges::find(imports.names, full) != imports.names.end() || Occurs(full, source);
  });
}

}  // namespace

ImportedNames FindImports(std::string_view source) {
  std::set<std::string, std::less<>> modules, names;
  for (ImportScanner scanner(source); !scanner.IsAtEnd() && modules.size() < kMaxImports;
       scanner.SkipStatement()) {
    ImportScanner statement = scanner;
    statement.SkipLineEnds();
    const std::string_view word = statement.TakeName();
    if (word == "import") TakeImport(statement, modules);
    if (word == "from") TakeFromImport(statement, modules, names);
    if (word == "import" || word == "from") scanner = statement;
  }
  modules.erase("");
  return {{modules.begin(), modules.end()}, {names.begin(), names.end()}};
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
  return std::ranges::any_of(other.modules, [&](const core::ModuleExports& module) {
    if (!roots.contains(core::TopLevelName(module.name))) return false;
    const core::ModuleExports* const of_base = FindModule(base, module.name);
    const bool has_more = !of_base || of_base->exports.size() < module.exports.size();
    return has_more && UsesNameOf(module, of_base, source, imports);
  });
}

}  // namespace belljar::profiles
