#include "engine/profiles/languages.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>

#include "engine/core/fd.h"
#include "engine/core/text.h"
#include "engine/host/suggest.h"
#include "engine/profiles/loader.h"
#include "engine/profiles/prepared.h"
#include "engine/profiles/profile_names.h"

namespace belljar::profiles {
namespace {

namespace fs = std::filesystem;

// Where a program is looked for: never the caller's PATH, which may lead to files of others.
constexpr std::array kProgramFolders = {"/usr/local/bin", "/usr/bin", "/bin"};
constexpr std::array kSystemFolders = {"/", "/usr", "/usr/local"};
constexpr std::array<std::string_view, 3> kPythonNames = {kPython, "py", "python3"};

struct Program {
  std::string path;  // as it is found
  std::string real;  // without links
};

// Their first words are programs of the machine, or stand for what has been compiled.
auto CommandsOf(auto& program) {
  return std::array{&program.compile, &program.warm,    &program.session,
                    &program.command, &program.version, &program.prepare.command};
}

using ProgramPaths = std::map<std::string, std::string>;  // path of a program, by name

ProgramPaths ReadProgramPaths(const std::string& path) {
  constexpr size_t kMaxSize = size_t{64} << 10;
  const core::Result<std::string> text = core::ReadFile(path, kMaxSize);
  if (!text) return {};
  const nlohmann::json json = nlohmann::json::parse(*text, nullptr, false);
  ProgramPaths paths;
  for (const auto& [name, program] : json.items()) {
    if (program.is_string()) paths[name] = program.get<std::string>();
  }
  return paths;
}

std::optional<Program> FindProgram(const std::string& name, const ProgramPaths& known) {
  if (const auto program = known.find(name); program != known.end()) {
    return Program{program->second, program->second};
  }
  for (const char* folder : kProgramFolders) {
    const std::string path = fs::path(folder) / name;  // or the name alone, if it is absolute
    if (access(path.c_str(), X_OK) != 0) continue;
    std::error_code code;
    const fs::path real = fs::canonical(path, code);
    if (!code) return Program{path, real.string()};
  }
  return std::nullopt;
}

std::string Missing(const core::ProgramRule& program) {
  const std::vector<std::string_view> packages = core::SplitAt(program.package, ' ');
  std::string names;
  for (const std::string_view name : packages) {
    if (!names.empty()) names += name == packages.back() ? " and " : ", ";
    names += name;
  }
  return program.title + " is not installed here; install Debian's " +
         (packages.size() == 1 ? "package " : "packages ") + names;
}

// The interpreter that the first line of a script names: "node" of "#!/usr/bin/env node".
std::string_view InterpreterOf(std::string_view source) {
  if (!source.starts_with("#!")) return {};
  source.remove_prefix(2);
  std::string_view line = source.substr(0, source.find_first_of("\r\n"));
  std::string_view program;
  for (const std::string_view word : core::SplitAt(line, ' ')) {
    if (word.empty() || word.starts_with('-')) continue;
    program = word.substr(word.rfind('/') + 1);
    if (program != "env") return program;
  }
  return {};
}

// For a shell that starts a compiler: only the first word of a command is looked for. A program
// that is compiled to a binary has its compiler in `version`.
void FillHome(core::ProgramRule& program) {
  const bool is_binary = program.command.front().starts_with('{');
  const fs::path first = (is_binary ? program.version : program.command).front();
  const std::string home = first.parent_path().parent_path().string();
  for (std::vector<std::string>* const command : CommandsOf(program)) {
    for (std::string& word : *command) core::FillIn(word, "{home}", home);
  }
  for (std::string& path : program.prepare.from) core::FillIn(path, "{home}", home);
}

// What has been prepared on this machine for exactly these programs, if anything has.
void FillPrepared(core::Profile& language) {
  core::ProgramRule& program = *language.program;
  if (program.prepare.command.empty()) return;
  const std::optional<std::string> found = FindPrepared(language);
  const std::string shown = std::string(kPreparedFolder) + "/" + program.prepare.file;
  for (std::vector<std::string>* const command : CommandsOf(program)) {
    for (std::string& word : *command) core::FillIn(word, "{prepared}", found ? shown : "");
  }
  // Optional: it may be replaced while a server uses it.
  if (found) language.paths.push_back({.path = shown, .optional = true, .source = *found});
}

}  // namespace

core::Result<LanguageCatalogue> LanguageCatalogue::Open(
    const installation::Installation& installation) {
  core::Result<std::vector<core::Profile>> languages =
      LoadLanguages(installation.languages, installation.profiles);
  if (!languages) return languages.error();
  return LanguageCatalogue(installation, std::move(*languages));
}

std::vector<std::string> LanguageCatalogue::Names() const {
  std::vector<std::string> names = {kPython};
  for (const core::Profile& language : languages_) names.push_back(language.name);
  return names;
}

core::Result<std::optional<core::Profile>> LanguageCatalogue::Find(const std::string& name) const {
  using Found = std::optional<core::Profile>;
  if (IsProfileFile(name)) {
    core::Result<core::Profile> own = LoadLanguage(name, folder_, profiles_);
    return own ? core::Result<Found>(std::move(*own)) : own.error();
  }
  if (std::ranges::find(kPythonNames, name) != kPythonNames.end()) return Found();
  for (const core::Profile& language : languages_) {
    if (language.name == name || core::Contains(language.program->aliases, name))
      return Found(language);
  }
  std::string known;
  for (const std::string& each : Names()) known += (known.empty() ? "" : ", ") + each;
  const std::string suggestion = host::Suggestion(name, Names());
  return core::MakeError("unknown language " + core::Quoted(name) +
                             (suggestion.empty() ? "; the" : suggestion + " The") +
                             " languages are " + known,
                         "");
}

core::Result<std::optional<core::Profile>> LanguageCatalogue::FindInstalled(
    const std::string& name) const {
  core::Result<std::optional<core::Profile>> found = Find(name);
  if (!found || !*found) return found;
  core::Result<core::Profile> installed =
      Installed(**found, folder_ + "/" + (*found)->name + kProgramPaths);
  if (!installed) return installed.error();
  return std::optional<core::Profile>(std::move(*installed));
}

core::Result<void> LanguageCatalogue::NeedSessions(const core::Profile& language) const {
  if (language.program->has_sessions()) return {};
  std::vector<std::string> names = {kPython};
  for (const core::Profile& each : languages_) {
    if (!each.program->session.empty()) names.push_back(each.name);
  }
  return core::MakeError(language.program->title + " programs run one at a time; sessions are in " +
                             core::Joined(names),
                         "");
}

const core::Profile* LanguageCatalogue::OfFile(std::string_view path,
                                               std::string_view source) const {
  const std::string extension = fs::path(path).extension().string();
  if (extension == ".py") return nullptr;
  const std::string_view interpreter = InterpreterOf(source);
  for (const core::Profile& language : languages_) {
    if (core::Contains(language.program->extensions, extension)) return &language;
  }
  for (const core::Profile& language : languages_) {
    if (core::Contains(language.program->interpreters, interpreter)) return &language;
  }
  return nullptr;
}

core::Result<std::vector<std::string>> LanguageFiles(const std::string& name) {
  std::error_code code;
  if (!IsProfileFile(name) || !fs::is_directory(name, code)) return std::vector<std::string>{name};
  std::vector<std::string> files;
  for (fs::directory_iterator entry(name, code); !code && entry != fs::directory_iterator();
       entry.increment(code)) {
    if (entry->path().extension() == ".toml") files.push_back(entry->path().string());
  }
  const std::string operation = "read the languages of " + core::Quoted(name);
  if (code) return core::MakeError(operation, code.message());
  if (files.empty()) return core::MakeError(operation, "it has no .toml file");
  std::ranges::sort(files);
  return files;
}

std::string ProgramPathsText(const core::Profile& language, const core::Profile& installed) {
  nlohmann::json paths = nlohmann::json::object();
  const auto named = CommandsOf(language.program.value());
  const auto found = CommandsOf(installed.program.value());
  for (size_t i = 0; i < named.size(); ++i) {
    if (named[i]->empty() || named[i]->front().starts_with('{')) continue;
    paths[named[i]->front()] = found[i]->front();
  }
  return paths.dump();
}

core::Result<core::Profile> Installed(const core::Profile& language,
                                      const std::string& known_paths) {
  const ProgramPaths known = known_paths.empty() ? ProgramPaths() : ReadProgramPaths(known_paths);
  core::Profile installed = language;
  core::ProgramRule& program = *installed.program;
  std::vector<std::string> programs;
  std::vector<std::string> homes;
  for (std::vector<std::string>* const command : CommandsOf(program)) {
    if (command->empty() || command->front().starts_with('{')) continue;
    const std::optional<Program> found = FindProgram(command->front(), known);
    if (!found) return core::MakeError(Missing(program), "");
    command->front() = found->real;
    programs.push_back(found->real);
    homes.push_back(fs::path(found->real).parent_path().parent_path().string());
  }
  FillHome(program);
  std::vector<core::PathRule> paths;
  const auto add = [&](core::PathRule rule) {
    const auto is_same = [&](const core::PathRule& known) { return known.path == rule.path; };
    if (std::ranges::none_of(paths, is_same)) paths.push_back(std::move(rule));
  };
  for (const core::PathRule& rule : installed.paths) {
    if (rule.path == "{program}" || rule.path == "{home}") {
      for (const std::string& path : rule.path == "{home}" ? homes : programs) {
        if (std::ranges::find(kSystemFolders, std::string_view(path)) == kSystemFolders.end())
          add({path, rule.optional});
      }
    } else {
      add(rule);
    }
  }
  installed.paths = std::move(paths);
  FillPrepared(installed);
  return installed;
}

core::Profile WithNetwork(core::Profile language, const core::Profile& network) {
  language.egress = network.egress;
  language.allowed_syscalls.insert(language.allowed_syscalls.end(),
                                   network.allowed_syscalls.begin(),
                                   network.allowed_syscalls.end());
  for (const core::PathRule& rule : network.paths) {
    const auto is_known = [&](const core::PathRule& known) { return known.path == rule.path; };
    if (rule.path.starts_with('/') && std::ranges::none_of(language.paths, is_known)) {
      language.paths.push_back(rule);
    }
  }
  const std::string proxy = "http://127.0.0.1:" + std::to_string(network.egress->port);
  for (const char* const name :
       {"http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"}) {
    language.program->environment.push_back(std::string(name) + "=" + proxy);
  }
  return language;
}

std::string SourceFileName(std::string_view given, const core::ProgramRule& program) {
  const std::string name = fs::path(given).filename().string();
  const auto is_plain = [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '_' || c == '-' || c == '.';
  };
  const bool fits = name.size() <= 100 && std::ranges::all_of(name, is_plain) &&
                    !name.starts_with('-') && !name.starts_with('.') &&
                    core::Contains(program.extensions, fs::path(name).extension().string());
  return fits ? name : program.file;
}

}  // namespace belljar::profiles
