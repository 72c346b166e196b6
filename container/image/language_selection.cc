#include "container/image/language_selection.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string_view>
#include <utility>

#include "container/image/elf_file.h"
#include "container/image/selection.h"

namespace belljar::container::image {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view kProgramFolder = "/usr/bin";
constexpr std::string_view kHeaders = "/usr/include";
constexpr std::string_view kData = "/usr/share";
constexpr std::string_view kZones = "/usr/share/zoneinfo";

// An image has only those libraries of these folders that its programs are linked with.
constexpr std::string_view kLibraryFolders[] = {"/usr/lib/x86_64-linux-gnu",
                                                "/usr/lib/aarch64-linux-gnu", "/usr/lib64"};
// They only point to other files, which an image has in their place.
constexpr std::string_view kNotCopied[] = {"/etc/ld.so.cache", "/etc/alternatives"};

// Maximum size of a command with all its libraries. Larger ones are not commands of shell scripts
// but interpreters and tools of a whole desktop.
constexpr uint64_t kMaxCommand = 8'000'000;
// Maximum size of a command alone, for languages that do not need all of /usr/bin: enough for the
// shell and the tools that programs call.
constexpr uint64_t kMaxCalled = 300'000;

// What a compiler calls, without the target triplet before it.
constexpr std::string_view kOfCompilers[] = {"as", "cc", "ld", "ld.bfd", "ld.gold"};
constexpr std::string_view kCompilers[] = {"gcc", "g++"};
// Files of the C library that programs are linked with.
constexpr std::string_view kLinkedWith[] = {"libc.",    "libc_",      "libm.",  "libm-",
                                            "libmvec.", "libpthread", "libdl.", "librt.",
                                            "libutil.", "libgcc_s"};
// Folders of headers of the C and C++ libraries and of the kernel. Those of other libraries are
// hundreds of megabytes.
constexpr std::string_view kHeaderFolders[] = {"arpa",
                                               "asm",
                                               "asm-generic",
                                               "bits",
                                               "c++",
                                               "gnu",
                                               "linux",
                                               "misc",
                                               "mtd",
                                               "net",
                                               "netinet",
                                               "netpacket",
                                               "nfs",
                                               "rpc",
                                               "scsi",
                                               "sys",
                                               "aarch64-linux-gnu",
                                               "netiucv",
                                               "x86_64-linux-gnu"};
// Data of commands.
constexpr std::string_view kDataFolders[] = {"awk", "bc", "file", "misc", "perl5", "terminfo"};
// Debian's package of Perl, for commands that are written in it.
constexpr std::string_view kPerl = "perl-base";

std::string_view FirstPart(std::string_view path) { return path.substr(0, path.find('/')); }

// "ld" of "x86_64-linux-gnu-ld".
std::string_view WithoutTriplet(std::string_view name) {
  constexpr std::string_view kEndOfTriplet = "-linux-gnu-";
  const size_t end = name.find(kEndOfTriplet);
  return end == name.npos ? name : name.substr(end + kEndOfTriplet.size());
}

std::string RealPath(const std::string& path) {
  std::error_code code;
  const fs::path real = fs::canonical(path, code);
  return code ? std::string() : real.string();
}

uint64_t FileSizeOf(const std::string& path) {
  std::error_code code;
  const uintmax_t size = fs::file_size(path, code);
  return code ? 0 : size;
}

}  // namespace

LanguageSelection::LanguageSelection(const core::Profile& language, LibrarySearch search)
    : language_(language), search_(std::move(search)) {
  names_.push_back(language.name);
  const core::ProgramRule& program = language.program.value();
  for (const std::vector<std::string>* command : {&program.compile, &program.command}) {
    if (!command->empty()) names_.push_back(fs::path(command->front()).filename());
  }
  for (const core::PathRule& rule : language.paths) {
    if (rule.is_link) continue;
    const std::string real = RealPath(rule.path);
    if (rule.path == kProgramFolder) calls_only_ = rule.optional;
    if (!rule.device && !real.empty()) roots_.push_back(real);
  }
}

bool LanguageSelection::WantsTree(const std::string& folder) { return !IsAny(folder, kNotCopied); }

bool LanguageSelection::IsLibrary(const std::string& path) {
  return IsAny(fs::path(RealPath(path)).parent_path().string(), kLibraryFolders);
}

std::vector<std::string> LanguageSelection::LibrariesOfPrograms() const {
  if (language_.program.value().compile.empty()) return {};
  return {"libstdc++.so.6", "libm.so.6", "libmvec.so.1"};
}

bool LanguageSelection::Wants(const std::string& folder, const std::string& path) {
  if (IsAny(folder, kLibraryFolders)) return WantsOfLibraries(path);
  if (folder == kProgramFolder) return WantsProgram(folder + "/" + path);
  if (folder == kZones) return WantsOfTimeZones(path);
  if (folder == kData) return IsAny(FirstPart(path), kDataFolders);
  if (folder != kHeaders) return true;
  const std::string_view top = FirstPart(path);
  return IsAny(top, kHeaderFolders) || (top == path && path.ends_with(".h"));
}

bool LanguageSelection::IsShown(const std::string& path) const {
  return std::ranges::any_of(roots_, [&](const std::string& root) { return IsWithin(path, root); });
}

const std::vector<std::string>& LanguageSelection::CommandsOfBin() {
  static const std::vector<std::string> commands = {"bash", "cat", "dash", "echo", "false", "grep",
                                                    "ls",   "pwd", "rm",   "sed",  "sh",    "true"};
  return commands;
}

bool LanguageSelection::WantsProgram(const std::string& path) {
  const std::string real = RealPath(path);
  const core::ProgramRule& program = language_.program.value();
  for (const std::vector<std::string>* command : {&program.compile, &program.command}) {
    if (!command->empty() && real == command->front()) return true;
  }
  if (!program.compile.empty()) {
    const std::string name = fs::path(path).filename();
    const std::string_view tool = WithoutTriplet(name);
    return IsAny(tool, kOfCompilers) || StartsWithAny(tool, kCompilers);
  }
  uint64_t size = FileSizeOf(real);
  if (calls_only_ && size > kMaxCalled) return false;
  for (const std::string& library : LibrariesOf(real)) size += FileSizeOf(library);
  return size <= kMaxCommand;
}

bool LanguageSelection::WantsOfLibraries(const std::string& path) const {
  const std::string_view top = FirstPart(path);
  const auto is_of = [&](const std::string& name) {
    return top == name || (name.size() > 2 && top.starts_with(name));
  };
  if (std::ranges::any_of(names_, is_of)) return !top.ends_with(".so") || top != path;
  const bool compiles = !language_.program.value().compile.empty();
  if (!compiles) return top == kPerl && IsShown(std::string(kProgramFolder));
  return top == path && path.find(".so.") == path.npos &&
         (path.ends_with(".o") || StartsWithAny(path, kLinkedWith));
}

// Recursively. A file that is no program has none.
const std::set<std::string>& LanguageSelection::LibrariesOf(const std::string& path) {
  if (const auto known = libraries_.find(path); known != libraries_.end()) return known->second;
  libraries_[path];  // ends a circle
  std::set<std::string> all;
  const core::Result<std::optional<ElfFile>> file = ReadElfFile(path);
  if (file && *file) {
    for (const std::string& name : (*file)->needed) {
      const std::string library = RealPath(search_.Find(name, **file, path, {}));
      if (library.empty()) continue;
      all.insert(library);
      const std::set<std::string>& more = LibrariesOf(library);
      all.insert(more.begin(), more.end());
    }
  }
  return libraries_[path] = std::move(all);
}

}  // namespace belljar::container::image
