#include "container/image/library_search.h"

#include <deque>
#include <filesystem>
#include <set>

#include "engine/core/fd.h"

namespace belljar::container::image {

namespace fs = std::filesystem;

namespace {

constexpr char kCachePath[] = "/etc/ld.so.cache";
constexpr size_t kMaxCache = size_t{64} << 20;

// Built into the linkers of distributions. If a machine has folders of several architectures, the
// files' kind decides.
const char* const kDefaultFolders[] = {
    "/lib/x86_64-linux-gnu",
    "/usr/lib/x86_64-linux-gnu",
    "/lib/aarch64-linux-gnu",
    "/usr/lib/aarch64-linux-gnu",
    "/lib64",
    "/usr/lib64",
    "/lib",
    "/usr/lib",
};

void ReplaceAll(std::string& text, std::string_view what, const std::string& with) {
  for (size_t at = text.find(what); at != text.npos; at = text.find(what, at + with.size())) {
    text.replace(at, what.size(), with);
  }
}

bool IsOfKind(const std::string& path, const ElfKind& kind) {
  std::error_code code;
  if (!fs::is_regular_file(path, code)) return false;
  const core::Result<std::optional<ElfFile>> file = ReadElfFile(path);
  return file && *file && (*file)->kind == kind;
}

std::string Canonical(const std::string& path) {
  std::error_code code;
  const fs::path real = fs::canonical(path, code);
  return code ? path : real.string();
}

// Whether `path`, which contains no "..", is below `folder`.
bool IsIn(const std::string& path, const std::string& folder) {
  return path == folder || path.starts_with(folder + "/");
}

// Otherwise a package could get arbitrary files of this machine copied into its image by naming
// their path.
void Confine(ElfFile& object, const std::string& path, const std::string& folder) {
  for (std::vector<std::string>* led : {&object.rpath, &object.runpath}) {
    *led = ExpandFolders(*led, path);
    std::erase_if(*led, [&](const std::string& each) { return !IsIn(each, folder); });
  }
  std::erase_if(object.needed, [](const std::string& name) { return name.find('/') != name.npos; });
}

}  // namespace

std::vector<std::string> ExpandFolders(const std::vector<std::string>& folders,
                                       const std::string& path) {
  const std::string origin = fs::path(Canonical(path)).parent_path();
  std::vector<std::string> expanded;
  for (std::string folder : folders) {
    ReplaceAll(folder, "$ORIGIN", origin);
    ReplaceAll(folder, "${ORIGIN}", origin);
    // $LIB and $PLATFORM depend on distribution and processor; relocatable software does not use
    // them.
    if (folder.find('$') == folder.npos) expanded.push_back(fs::path(folder).lexically_normal());
  }
  return expanded;
}

core::Result<LibrarySearch> LibrarySearch::OfThisMachine() {
  std::vector<std::string> folders(std::begin(kDefaultFolders), std::end(kDefaultFolders));
  std::error_code code;
  // Not every system has a cache.
  if (!fs::exists(kCachePath, code)) return LibrarySearch(LoaderCache(), std::move(folders));
  const core::Result<std::string> bytes = core::ReadFile(kCachePath, kMaxCache);
  if (!bytes) return bytes.error();
  core::Result<LoaderCache> cache = LoaderCache::Parse(*bytes);
  if (!cache) return cache.error();
  return LibrarySearch(std::move(*cache), std::move(folders));
}

std::string LibrarySearch::Find(const std::string& name, const ElfFile& object,
                                const std::string& path,
                                const std::vector<std::string>& inherited) const {
  if (name.find('/') != name.npos) return IsOfKind(name, object.kind) ? name : "";
  std::vector<std::string> candidates;
  const auto add = [&](const std::vector<std::string>& folders) {
    for (const std::string& folder : folders) candidates.push_back(folder + "/" + name);
  };
  if (object.runpath.empty()) {
    add(ExpandFolders(object.rpath, path));
    add(inherited);
  } else {
    add(ExpandFolders(object.runpath, path));
  }
  const std::vector<std::string>& cached = cache_.Find(name);
  candidates.insert(candidates.end(), cached.begin(), cached.end());
  add(folders_);
  for (const std::string& candidate : candidates) {
    if (IsOfKind(candidate, object.kind)) return candidate;
  }
  return "";
}

core::Result<LinkedLibraries> FindLinkedLibraries(const std::vector<std::string>& objects,
                                                  const LibrarySearch& search,
                                                  const std::vector<std::string>& untrusted) {
  struct Object {
    std::string path;
    std::vector<std::string> inherited;
  };
  std::deque<Object> waiting;
  std::set<std::string> own;
  for (const std::string& path : objects) {
    if (own.insert(Canonical(path)).second) waiting.push_back({path, {}});
  }
  std::set<std::string> seen = own;
  LinkedLibraries linked;
  std::set<std::string> found;  // names
  for (; !waiting.empty(); waiting.pop_front()) {
    const Object& object = waiting.front();
    core::Result<std::optional<ElfFile>> file = ReadElfFile(object.path);
    if (!file) return file.error();
    if (!*file) continue;
    for (const std::string& folder : untrusted) {
      if (IsIn(Canonical(object.path), folder)) Confine(**file, object.path, folder);
    }
    std::vector<std::string> inherited = ExpandFolders((*file)->rpath, object.path);
    inherited.insert(inherited.end(), object.inherited.begin(), object.inherited.end());
    for (const std::string& name : (*file)->needed) {
      const std::string path = search.Find(name, **file, object.path, object.inherited);
      if (path.empty()) linked.missing.push_back({name, object.path});
      if (path.empty() || linked.paths.contains(name)) continue;
      found.insert(name);
      const std::string real = Canonical(path);
      if (own.contains(real)) continue;
      linked.paths[name] = path;
      if (seen.insert(real).second) waiting.push_back({path, inherited});
    }
  }
  // Libraries of a wheel may rely on what loads them: a name that is already loaded is not
  // searched.
  std::erase_if(linked.missing,
                [&](const MissingLibrary& missing) { return found.contains(missing.name); });
  return linked;
}

}  // namespace belljar::container::image
