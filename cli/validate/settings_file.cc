#include "cli/validate/settings_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <stdexcept>

#include "engine/core/fd.h"
#include "engine/core/text.h"
#include "engine/host/suggest.h"
#include "engine/profiles/profile_names.h"
#include "engine/profiles/toml_text.h"

namespace belljar::cli::validate {
namespace {

namespace fs = std::filesystem;
using Strings = std::vector<std::string>;

constexpr size_t kMaxSettingsFile = 1 << 20;
constexpr char kOwnFile[] = "belljar.toml";
constexpr char kProjectFile[] = "pyproject.toml";

// Thrown only within this file.
class MalformedSettings : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

std::string PlaceIn(const std::string& path, const toml::source_position& at) {
  return core::Printable(path) + ":" + std::to_string(at.line) + ":" + std::to_string(at.column);
}

// --- opening and parsing ------------------------------------------------------------------------

core::Result<std::string> ReadPlainFile(const std::string& path) {
  // Opening a FIFO would block until it has a writer.
  const core::UniqueFd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat status;
  if (!fd || fstat(fd.get(), &status) != 0) return core::SystemError("open " + core::Quoted(path));
  if (S_ISDIR(status.st_mode)) return core::SystemErrorOf(EISDIR, "read " + core::Quoted(path));
  if (!S_ISREG(status.st_mode))
    return core::MakeError("read " + core::Quoted(path), "not a regular file");
  core::Result<std::string> text = core::ReadAll(fd.get(), kMaxSettingsFile);
  if (text) return text;
  return core::SystemErrorOf(text.error().error_number, "read " + core::Quoted(path),
                             text.error().detail);
}

toml::table ParseFile(const std::string& path) {
  const core::Result<std::string> text = ReadPlainFile(path);
  if (!text) throw MalformedSettings(text.error().ToString());
  core::Result<toml::table> root = profiles::ParseToml(*text, path);
  if (!root) throw MalformedSettings(root.error().ToString());
  return std::move(*root);
}

bool IsProjectFile(const std::string& path) { return fs::path(path).filename() == kProjectFile; }

// The table with our keys; null if there is none.
const toml::table* OwnTable(const toml::table& root, bool is_project) {
  const toml::node_view<const toml::node> section =
      is_project ? root["tool"]["belljar"]["validate"] : root["validate"];
  return section.as_table();
}

// --- keys and values ----------------------------------------------------------------------------

class SettingsReader {
 public:
  SettingsReader(const SettingsFile& file, const Strings& formats, Settings& settings)
      : file_(file), formats_(formats), settings_(settings) {}

  void Read();

 private:
  [[noreturn]] void Refuse(const toml::source_region& where, const std::string& what) const {
    throw MalformedSettings(PlaceIn(file_.path, where.begin) + ": " + what);
  }
  void CheckSections(const toml::table& root) const;
  void ReadKey(const std::string& key, const toml::node& node);
  void ReadProfile(const toml::node& node);
  void ReadPerFileIgnores(const toml::node& node);
  std::string Text(const std::string& key, const toml::node& node) const;
  std::string Path(const std::string& text) const;
  Strings List(const std::string& key, const toml::node& node) const;
  bool Switch(const std::string& key, const toml::node& node) const;

  const SettingsFile& file_;
  const Strings& formats_;
  Settings& settings_;
};

std::string SettingsReader::Text(const std::string& key, const toml::node& node) const {
  const auto text = node.value_exact<std::string>();
  if (!text || text->empty() || text->find('\0') != std::string::npos) {
    Refuse(node.source(), key + ": write a quoted string");
  }
  return *text;
}

std::string SettingsReader::Path(const std::string& text) const {
  return (fs::path(settings_.folder) / text).lexically_normal().string();
}

Strings SettingsReader::List(const std::string& key, const toml::node& node) const {
  const std::string what = key + ": write a list of strings, such as [\"a\", \"b\"]";
  const toml::array* array = node.as_array();
  if (!array) Refuse(node.source(), what);
  Strings items;
  for (const toml::node& item : *array) {
    const auto text = item.value_exact<std::string>();
    if (!text || text->empty()) Refuse(item.source(), what);
    items.push_back(*text);
  }
  return items;
}

bool SettingsReader::Switch(const std::string& key, const toml::node& node) const {
  const auto value = node.value_exact<bool>();
  if (!value) Refuse(node.source(), key + ": write true or false");
  return *value;
}

void SettingsReader::ReadProfile(const toml::node& node) {
  std::string profile = Text("profile", node);
  const bool is_file = profiles::IsProfileFile(profile);
  if (is_file && !file_.was_named) {
    Refuse(node.source(),
           "profile: a configuration found with the code may only name a profile of this "
           "installation; pass --profile " +
               core::Printable(profile) + ", or this configuration by --config");
  }
  settings_.profile = is_file ? Path(profile) : std::move(profile);
}

void SettingsReader::ReadPerFileIgnores(const toml::node& node) {
  const toml::table* table = node.as_table();
  if (!table) {
    Refuse(node.source(),
           "per-file-ignores: write a table of patterns and rules, such as "
           "{ \"tests/*\" = [\"BJ501\"] }");
  }
  for (const auto& [pattern, rules] : *table) {
    const std::string name(pattern.str());
    settings_.per_file_ignores.push_back({name, List("per-file-ignores." + name, rules)});
  }
}

void SettingsReader::ReadKey(const std::string& key, const toml::node& node) {
  if (key == "profile") {
    ReadProfile(node);
  } else if (key == "allowed-imports") {
    settings_.allowed_imports = List(key, node);
  } else if (key == "include") {
    settings_.include = List(key, node);
  } else if (key == "exclude") {
    settings_.exclude = List(key, node);
  } else if (key == "select") {
    settings_.select = List(key, node);
  } else if (key == "ignore") {
    settings_.ignore = List(key, node);
  } else if (key == "per-file-ignores") {
    ReadPerFileIgnores(node);
  } else if (key == "format") {
    settings_.format = Text(key, node);
    if (std::find(formats_.begin(), formats_.end(), settings_.format) == formats_.end()) {
      std::string known;
      for (const std::string& format : formats_) known += (known.empty() ? "" : ", ") + format;
      Refuse(node.source(), "format " + core::Quoted(settings_.format) + " is none of " + known +
                                host::Suggestion(settings_.format, formats_));
    }
  } else if (key == "baseline") {
    settings_.baseline = Path(Text(key, node));
  } else if (key == "allow-ignore-comments") {
    settings_.allow_ignore_comments = Switch(key, node);
  } else if (key == "ignore-files") {
    settings_.ignore_files = Switch(key, node);
  } else if (key == "jobs") {
    const auto jobs = node.value_exact<int64_t>();
    if (!jobs || *jobs < 0 || *jobs > static_cast<int64_t>(kMaxJobs)) {
      Refuse(node.source(), "jobs: write a whole number from 1 to " + std::to_string(kMaxJobs) +
                                ", or 0 for the number of processors");
    }
    settings_.jobs = static_cast<size_t>(*jobs);
  }
}

// All of belljar.toml is ours; in pyproject.toml, only what is below tool.belljar.
void SettingsReader::CheckSections(const toml::table& root) const {
  const bool is_project = IsProjectFile(file_.path);
  const toml::table* ours = is_project ? root["tool"]["belljar"].as_table() : &root;
  if (!ours) return;
  for (const auto& [key, node] : *ours) {
    const std::string name(key.str());
    const std::string section = is_project ? "tool.belljar.validate" : "validate";
    if (name == "validate") {
      if (node.is_table()) continue;
      Refuse(node.source(), section + " is a section: write [" + section + "] above its keys");
    }
    const bool is_key =
        std::find(SettingKeys().begin(), SettingKeys().end(), name) != SettingKeys().end();
    Refuse(key.source(), "unknown key " + core::Quoted(name) +
                             (is_key ? "; write [" + section + "] above it"
                                     : host::Suggestion(name, {"validate"})));
  }
}

void SettingsReader::Read() {
  settings_.file = file_.path;
  settings_.folder = fs::path(file_.path).parent_path().string();
  const toml::table root = ParseFile(file_.path);
  CheckSections(root);
  const toml::table* table = OwnTable(root, IsProjectFile(file_.path));
  if (!table) return;
  for (const auto& [key, node] : *table) {
    const std::string name(key.str());
    if (std::find(SettingKeys().begin(), SettingKeys().end(), name) == SettingKeys().end()) {
      Refuse(key.source(),
             "unknown key " + core::Quoted(name) + host::Suggestion(name, SettingKeys()));
    }
    ReadKey(name, node);
    settings_.origins[name] =
        fs::path(file_.path).filename().string() + ":" + std::to_string(key.source().begin.line);
  }
}

template <typename Call>
auto Translate(const std::string& path, Call call) -> core::Result<decltype(call())> {
  try {
    return call();
  } catch (const MalformedSettings& malformed) {
    return core::MakeError(malformed.what(), "");
  } catch (const std::exception& failure) {
    return core::MakeError("read configuration " + core::Quoted(path),
                           core::Printable(failure.what()));
  }
}

// Whether the owner is neither the owner of the code, nor this user, nor root.
bool IsForeign(const std::string& path, uid_t code_owner) {
  struct stat status;
  if (stat(path.c_str(), &status) != 0) return false;
  return status.st_uid != code_owner && status.st_uid != geteuid() && status.st_uid != 0;
}

bool IsConfiguration(const std::string& path) {
  std::error_code none;
  if (!fs::exists(fs::symlink_status(path, none))) return false;
  // Even without [validate]: reading it then reports keys that belong there.
  return !IsProjectFile(path) || ParseFile(path)["tool"]["belljar"];
}

// If a folder has two configuration files, only the first is read; the user should know.
void NoteUnreadProject(const std::string& path, Strings& notes) {
  const core::Result<bool> has_section = Translate(path, [&] { return IsConfiguration(path); });
  if (has_section && *has_section) {
    notes.push_back("[tool.belljar] of " + core::Quoted(path) + " is not read: " + kOwnFile +
                    " is in the same folder");
  }
}

}  // namespace

core::Result<std::optional<SettingsFile>> FindSettingsFile(const std::string& folder,
                                                           std::vector<std::string>& notes) {
  struct stat start;
  if (stat(folder.c_str(), &start) != 0)
    return core::SystemError("look at " + core::Quoted(folder));
  for (fs::path at = folder;; at = at.parent_path()) {
    struct stat status;
    if (stat(at.c_str(), &status) != 0 || status.st_dev != start.st_dev) break;
    for (const char* name : {kOwnFile, kProjectFile}) {
      const std::string path = (at / name).string();
      if (IsForeign(path, start.st_uid)) {
        notes.push_back(
            core::Quoted(path) +
            " belongs to another user and is not read; pass it with --config if you trust it");
        continue;
      }
      const core::Result<bool> is_configuration =
          Translate(path, [&] { return IsConfiguration(path); });
      if (!is_configuration) return is_configuration.error();
      if (!*is_configuration) continue;
      if (!IsProjectFile(path)) NoteUnreadProject((at / kProjectFile).string(), notes);
      return std::optional(SettingsFile{path, false});
    }
    std::error_code none;
    if (fs::exists(at / ".git", none) || !at.has_relative_path()) break;
  }
  return std::optional<SettingsFile>();
}

core::Result<void> ReadSettings(const SettingsFile& file, const Strings& formats,
                                Settings& settings) {
  const core::Result<bool> read = Translate(file.path, [&] {
    SettingsReader(file, formats, settings).Read();
    return true;
  });
  if (!read) return read.error();
  settings.include_folder = settings.exclude_folder = settings.folder;
  return {};
}

}  // namespace belljar::cli::validate
