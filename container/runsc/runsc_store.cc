#include "container/runsc/runsc_store.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "container/engines/docker_messages.h"
#include "container/image/archive.h"
#include "engine/core/fd.h"
#include "engine/core/text.h"
#include "engine/host/json_reader.h"
#include "engine/host/random.h"
#include "engine/host/scratch_folder.h"

namespace belljar::container::runsc {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr size_t kMaxNote = 64 << 10;
// Prefixes the name of an image that is being unpacked or removed.
constexpr char kUnfinished[] = ".new-";
// Longer than either takes.
constexpr std::chrono::hours kMaxUnfinished{24};
constexpr host::JsonBounds kRecordBounds{.depth = 4, .values = 1000};
constexpr char kNotReachable[] =
    "this user may not access it: it is derived from HOME, or XDG_CACHE_HOME if set, which must "
    "be this user's own";

core::Error Failed(const std::error_code& error, std::string operation) {
  return core::SystemErrorOf(error.value(), std::move(operation),
                             error == std::errc::permission_denied ? kNotReachable : "");
}

core::Error Bad(const std::string& why) { return core::MakeError("load the image", why); }

// Writes the entries of a layer below a folder that is initially empty and not shared. TarVisitor
// only delivers folders and regular files, each once, never before its parent folder and never with
// a path that leads out. So nothing existing is followed or overwritten.
class Unpacking {
 public:
  explicit Unpacking(int root) : root_(root) {}

  image::TarVisitor Visitor() {
    return {.entry = [this](const image::TarEntry& entry, uint64_t) { return Make(entry); },
            .bytes = [this](std::string_view bytes) { return Write(bytes); }};
  }

 private:
  // Folders stay writable for their owner so that the image can be removed; containers see
  // everything read-only. Modes are set explicitly because of the umask.
  core::Result<void> Make(const image::TarEntry& entry) {
    path_ = entry.path;
    const char* const path = path_.c_str();
    if (entry.is_folder) {
      file_.Reset();
      const bool made = mkdirat(root_, path, 0700) == 0 && fchmodat(root_, path, 0755, 0) == 0;
      return made ? core::Result<void>() : Failure();
    }
    file_.Reset(openat(root_, path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
    const bool made = file_ && fchmod(file_.get(), entry.mode()) == 0;
    return made ? core::Result<void>() : Failure();
  }

  core::Result<void> Write(std::string_view bytes) {
    return core::WriteBytes(file_.get(), bytes) ? core::Result<void>() : Failure();
  }

  core::Error Failure() const {
    return core::SystemError("unpack " + core::Quoted(path_) + " of the image");
  }

  const int root_;
  std::string path_;  // of the current entry
  core::UniqueFd file_;
};

// Checks `tar`, and unpacks its layer below `root`.
core::Result<image::ImageFacts> UnpackImage(int tar, const std::string& root,
                                            const engines::LoadProgress& progress) {
  const core::UniqueFd folder(open(root.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!folder) return core::SystemError("open " + root);
  Unpacking unpacking(folder.get());
  const auto report = [&](uint64_t done, uint64_t total) {
    if (progress && done > 0) progress({done}, {total});
  };
  core::Result<image::ImageInspection> image =
      image::InspectImage(tar, report, unpacking.Visitor());
  if (!image) return image.error();
  if (!image->faults.empty()) {
    return Bad(image->faults.front() +
               "; standalone runsc only accepts images written by \"belljar image build\" of this "
               "version");
  }
  return std::move(image->facts);
}

// Metadata stored next to an image's files.
struct Note {
  std::string reference;  // empty: another image has it now
  std::map<std::string, std::string> labels;
  uint64_t size = 0;  // bytes of the layer
};

// A concurrent reader sees the old or the new version.
core::Result<void> WriteNote(const std::string& path, const Note& note) {
  const std::string fresh = path + ".new-" + core::Hex(host::RandomBytes());
  const Json json = {{"reference", note.reference}, {"labels", note.labels}, {"size", note.size}};
  if (core::Result<void> written = WriteNewFile(fresh, json.dump()); !written) return written;
  if (rename(fresh.c_str(), path.c_str()) != 0) {
    const core::Error error = core::SystemError("write " + path);
    unlink(fresh.c_str());
    return error;
  }
  return {};
}

// nullopt: missing or damaged. Loading the image again fixes that.
std::optional<Note> ReadNote(const std::string& path) {
  core::Result<std::string> text = core::ReadFile(path, kMaxNote);
  if (!text) return std::nullopt;
  host::JsonReading reading = host::ReadJson(*text, kRecordBounds);
  const Json* const json = std::get_if<Json>(&reading);
  try {
    if (json) return Note{json->at("reference"), json->at("labels"), json->at("size")};
  } catch (const Json::exception&) {
  }
  return std::nullopt;
}

// The folders of all images, each named by the digest of its configuration.
core::Result<std::vector<std::string>> ImagesIn(const std::string& folder) {
  core::Result<std::vector<std::string>> images = DigestsIn(folder);
  if (!images) return images;
  for (std::string& image : *images) image.insert(0, folder + "/");
  return images;
}

// Left by a host that was killed during the operation; each can be as large as an image.
void RemoveUnfinished(const std::string& folder) {
  std::vector<fs::path> left;
  std::error_code error;
  fs::directory_iterator entries(folder, error);
  for (; !error && entries != fs::directory_iterator(); entries.increment(error)) {
    if (!entries->path().filename().string().starts_with(kUnfinished)) continue;
    std::error_code gone;
    const fs::file_time_type made = fs::last_write_time(entries->path(), gone);
    if (!gone && fs::file_time_type::clock::now() - made > kMaxUnfinished) {
      left.push_back(entries->path());
    }
  }
  for (const fs::path& each : left) {
    std::error_code ignored;
    fs::remove_all(each, ignored);
  }
}

std::string NoteOf(const std::string& image) { return image + "/image.json"; }

// From now on `note.reference` refers only to `image`. Older images stay: a container may be
// running from one.
core::Result<void> GiveReference(const std::string& image, const Note& note) {
  core::Result<std::vector<std::string>> images = ImagesIn(fs::path(image).parent_path().string());
  if (!images) return images.error();
  for (const std::string& other : *images) {
    std::optional<Note> its = ReadNote(NoteOf(other));
    if (other == image || !its || its->reference != note.reference) continue;
    its->reference.clear();
    if (core::Result<void> written = WriteNote(NoteOf(other), *its); !written) return written;
  }
  return WriteNote(NoteOf(image), note);
}

}  // namespace

core::Result<std::vector<std::string>> DigestsIn(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code error;
  fs::directory_iterator entries(folder, error);
  for (; !error && entries != fs::directory_iterator(); entries.increment(error)) {
    std::string name = entries->path().filename().string();
    if (engines::IsContainerId(name)) names.push_back(std::move(name));
  }
  if (error && error != std::errc::no_such_file_or_directory) {
    return Failed(error, "read folder " + folder);
  }
  return names;
}

// With a descriptor: one opened by a stream would be inherited by processes started in the
// meantime.
core::Result<void> WriteNewFile(const std::string& path, std::string_view text) {
  const core::UniqueFd file(open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644));
  if (!file) return core::SystemError("make " + path);
  if (core::WriteBytes(file.get(), text)) return {};
  const core::Error error = core::SystemError("write " + path);
  unlink(path.c_str());
  return error;
}

std::string RunscStore::RootOf(const engines::EngineImage& image) const {
  return folder_ + "/" + image.id.substr(image.id.find(':') + 1) + "/root";
}

core::Result<std::string> RunscStore::Load(int tar, const engines::LoadProgress& progress) {
  std::error_code error;
  fs::create_directories(folder_, error);
  if (error) return Failed(error, "make " + folder_);
  const std::string real = fs::canonical(folder_, error).string();
  if (error) return core::SystemErrorOf(error.value(), "find " + folder_);
  RemoveUnfinished(real);
  const host::ScratchFolder fresh(real + "/" + kUnfinished + core::Hex(host::RandomBytes()));
  const std::string root = fresh.path() + "/root";
  fs::create_directories(root, error);
  if (error) return Failed(error, "make " + root);
  // A container's user must be able to traverse them, whatever the umask.
  for (const std::string& made : {fresh.path(), root}) {
    if (chmod(made.c_str(), 0755) != 0) return core::SystemError("make " + made);
  }
  const core::Result<image::ImageFacts> facts = UnpackImage(tar, root, progress);
  if (!facts) return facts.error();
  const Note note{facts->reference, image::ImageLabels(facts->identity), facts->layer.size};
  const core::Result<void> noted = WriteNote(NoteOf(fresh.path()), note);
  if (!noted) return noted.error();
  const std::string path = real + "/" + facts->config.digest;
  // The same digest means the same content: the existing folder may be in use, and stays.
  if (rename(fresh.path().c_str(), path.c_str()) != 0 && errno != ENOTEMPTY && errno != EEXIST) {
    return core::SystemError("keep the image in " + path);
  }
  if (core::Result<void> given = GiveReference(path, note); !given) return given.error();
  return facts->reference;
}

core::Result<std::optional<engines::EngineImage>> RunscStore::Find(
    const std::string& reference) const {
  core::Result<std::vector<std::string>> images = ImagesIn(folder_);
  if (!images) return images.error();
  for (const std::string& path : *images) {
    std::optional<Note> note = ReadNote(NoteOf(path));
    if (!note) continue;
    const std::string id = "sha256:" + fs::path(path).filename().string();
    if (reference != id && (reference.empty() || reference != note->reference)) continue;
    return std::optional(engines::EngineImage{id, std::move(note->labels), {note->size}});
  }
  return std::optional<engines::EngineImage>();
}

core::Result<void> RunscStore::Remove(const std::string& reference) {
  core::Result<std::optional<engines::EngineImage>> image = Find(reference);
  if (!image) return image.error();
  if (!*image) return {};
  // Removed atomically: a partial image could not be recognised as such.
  const std::string operation = "remove the image " + reference;
  const std::string path = fs::path(RootOf(**image)).parent_path().string();
  const std::string spent = folder_ + "/" + kUnfinished + core::Hex(host::RandomBytes());
  if (rename(path.c_str(), spent.c_str()) != 0) return core::SystemError(operation);
  std::error_code error;
  fs::remove_all(spent, error);
  if (error) return core::SystemErrorOf(error.value(), operation + ": remove " + spent);
  return {};
}

}  // namespace belljar::container::runsc
