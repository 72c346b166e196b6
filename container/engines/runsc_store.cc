#include "container/engines/runsc_store.h"

#include <archive.h>
#include <archive_entry.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "container/engines/docker_messages.h"
#include "engine/core/digest.h"
#include "engine/core/fd.h"
#include "engine/core/json_reader.h"
#include "engine/core/random.h"
#include "engine/core/text.h"

namespace belljar {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr size_t kMaxDocument = 1 << 20;
constexpr size_t kReadSize = 256 << 10;
constexpr JsonBounds kBounds{.depth = 16, .values = 20'000};

struct ReadFree {
  void operator()(archive* reader) const { archive_read_free(reader); }
};
struct WriteFree {
  void operator()(archive* writer) const { archive_write_free(writer); }
};
using Reader = std::unique_ptr<archive, ReadFree>;
using Writer = std::unique_ptr<archive, WriteFree>;

Error Bad(const std::string& why) { return MakeError("load the image", why); }

Error ArchiveError(archive* from) {
  const char* const said = archive_error_string(from);
  return Bad(said ? Printable(said) : "it cannot be read");
}

// The tar `file`, from its beginning. By pread: two readers may go over it.
class Source {
 public:
  Source(int file, const LoadProgress& progress, Bytes size)
      : file_(file), progress_(progress), size_(size), buffer_(kReadSize) {}

  static la_ssize_t Read(archive*, void* self, const void** bytes) {
    auto& source = *static_cast<Source*>(self);
    const ssize_t got = pread(source.file_, source.buffer_.data(), source.buffer_.size(),
                              static_cast<off_t>(source.at_));
    if (got <= 0) return got;
    source.at_ += static_cast<uint64_t>(got);
    if (source.progress_) source.progress_({source.at_}, source.size_);
    *bytes = source.buffer_.data();
    return got;
  }

 private:
  const int file_;
  const LoadProgress& progress_;
  const Bytes size_;
  std::vector<char> buffer_;
  uint64_t at_ = 0;
};

Result<Reader> OpenTar(Source& source) {
  Reader reader(archive_read_new());
  archive_read_support_format_tar(reader.get());
  if (archive_read_open(reader.get(), &source, nullptr, Source::Read, nullptr) != ARCHIVE_OK) {
    return ArchiveError(reader.get());
  }
  return reader;
}

// The layer that `outer` stands at, perhaps compressed.
struct Nested {
  archive* outer;
  std::vector<char> buffer = std::vector<char>(kReadSize);
  static la_ssize_t Read(archive*, void* self, const void** bytes) {
    auto& nested = *static_cast<Nested*>(self);
    *bytes = nested.buffer.data();
    return archive_read_data(nested.outer, nested.buffer.data(), nested.buffer.size());
  }
};

Result<std::string> ReadDocument(archive* reader) {
  std::string text;
  std::array<char, 64 << 10> buffer;
  for (;;) {
    const la_ssize_t got = archive_read_data(reader, buffer.data(), buffer.size());
    if (got < 0) return ArchiveError(reader);
    if (got == 0) return text;
    text.append(buffer.data(), static_cast<size_t>(got));
    if (text.size() > kMaxDocument) return Bad("one of its documents is too long");
  }
}

struct Plan {
  std::string config;  // the configuration's text
  std::vector<std::string> layers;
  std::vector<std::string> references;
};

std::vector<std::string> TextsOf(const Json& object, const char* name) {
  std::vector<std::string> texts;
  const auto found = object.find(name);
  if (found == object.end() || !found->is_array()) return texts;
  for (const Json& text : *found) {
    if (text.is_string()) texts.push_back(text.get<std::string>());
  }
  return texts;
}

// What the image is, from docker's list in it. Its documents may stand anywhere.
Result<Plan> ReadPlan(int tar) {
  const LoadProgress silent;
  Source source(tar, silent, {});
  Result<Reader> reader = OpenTar(source);
  if (!reader) return reader.error();
  std::map<std::string, std::string> documents;
  archive_entry* entry = nullptr;
  int status;
  while ((status = archive_read_next_header(reader->get(), &entry)) == ARCHIVE_OK) {
    const char* const name = archive_entry_pathname(entry);
    const bool is_small = archive_entry_size(entry) <= static_cast<la_int64_t>(kMaxDocument);
    if (!name || archive_entry_filetype(entry) != AE_IFREG || !is_small) continue;
    if (documents.size() >= 64) return Bad("it has too many documents");
    Result<std::string> text = ReadDocument(reader->get());
    if (!text) return text.error();
    documents.emplace(name, std::move(*text));
  }
  if (status != ARCHIVE_EOF) return ArchiveError(reader->get());
  JsonReading reading = ReadJson(documents["manifest.json"], kBounds);
  const Json* const list = std::get_if<Json>(&reading);
  if (!list || !list->is_array() || list->size() != 1 || !list->front().is_object()) {
    return Bad("it has no manifest.json with one image: make it by docker save or belljar image");
  }
  const Json& image = list->front();
  const auto config = image.find("Config");
  if (config == image.end() || !config->is_string()) return Bad("it names no configuration");
  Plan plan{documents[config->get<std::string>()], TextsOf(image, "Layers"),
            TextsOf(image, "RepoTags")};
  if (plan.config.empty() || plan.layers.empty()) return Bad("its configuration is not in it");
  return plan;
}

bool StaysInside(std::string_view name) {
  if (name.empty() || name.front() == '/') return false;
  for (const fs::path& part : fs::path(name)) {
    if (part == ".." || part.string().starts_with(".wh.")) return false;
  }
  return true;
}

Result<void> CopyData(archive* from, archive* to) {
  const void* bytes;
  size_t size;
  la_int64_t offset;
  int status;
  while ((status = archive_read_data_block(from, &bytes, &size, &offset)) == ARCHIVE_OK) {
    if (archive_write_data_block(to, bytes, size, offset) < ARCHIVE_OK) return ArchiveError(to);
  }
  if (status != ARCHIVE_EOF) return ArchiveError(from);
  return {};
}

Result<void> Unpack(archive* outer, const std::string& root) {
  Nested nested{outer};
  Reader reader(archive_read_new());
  archive_read_support_format_tar(reader.get());
  archive_read_support_filter_gzip(reader.get());
  archive_read_support_filter_zstd(reader.get());
  if (archive_read_open(reader.get(), &nested, nullptr, Nested::Read, nullptr) != ARCHIVE_OK) {
    return ArchiveError(reader.get());
  }
  Writer writer(archive_write_disk_new());
  archive_write_disk_set_options(writer.get(), ARCHIVE_EXTRACT_PERM | ARCHIVE_EXTRACT_UNLINK |
                                                   ARCHIVE_EXTRACT_SECURE_SYMLINKS |
                                                   ARCHIVE_EXTRACT_SECURE_NODOTDOT);
  archive_entry* entry = nullptr;
  int status;
  while ((status = archive_read_next_header(reader.get(), &entry)) == ARCHIVE_OK) {
    const char* const name = archive_entry_pathname(entry);
    const char* const link = archive_entry_hardlink(entry);
    const auto type = archive_entry_filetype(entry);
    const bool is_kept = type == AE_IFREG || type == AE_IFDIR || type == AE_IFLNK || link;
    if (!name || !is_kept || !StaysInside(name) || (link && !StaysInside(link))) {
      return Bad("one of its layers has " + Quoted(name ? name : "") + ", which is not taken");
    }
    const std::string path = root + "/" + name;
    if (link) archive_entry_set_hardlink(entry, (root + "/" + link).c_str());
    archive_entry_set_pathname(entry, path.c_str());
    // No setuid: nothing in a container may gain anything.
    if (type != AE_IFLNK) archive_entry_set_perm(entry, archive_entry_perm(entry) & 01777);
    if (archive_write_header(writer.get(), entry) < ARCHIVE_OK) return ArchiveError(writer.get());
    if (Result<void> copied = CopyData(reader.get(), writer.get()); !copied) return copied;
    if (archive_write_finish_entry(writer.get()) < ARCHIVE_OK) return ArchiveError(writer.get());
  }
  if (status != ARCHIVE_EOF) return ArchiveError(reader.get());
  if (archive_write_close(writer.get()) != ARCHIVE_OK) return ArchiveError(writer.get());
  return {};
}

Result<void> UnpackLayer(int tar, const std::string& layer, const std::string& root,
                         const LoadProgress& progress, Bytes size) {
  Source source(tar, progress, size);
  Result<Reader> reader = OpenTar(source);
  if (!reader) return reader.error();
  archive_entry* entry = nullptr;
  while (archive_read_next_header(reader->get(), &entry) == ARCHIVE_OK) {
    const char* const name = archive_entry_pathname(entry);
    if (name && layer == name) return Unpack(reader->get(), root);
  }
  return Bad("its layer " + Quoted(layer) + " is not in it");
}

Result<Json> ReadNote(const std::string& path) {
  Result<std::string> text = ReadFile(path, kMaxDocument);
  if (!text) return text.error();
  JsonReading reading = ReadJson(*text, kBounds);
  Json* const note = std::get_if<Json>(&reading);
  if (!note || !note->is_object()) return MakeError("read " + path, "it is damaged: load it again");
  return std::move(*note);
}

std::map<std::string, std::string> LabelsOf(const Json& config) {
  std::map<std::string, std::string> labels;
  const Json none = Json::object();
  const Json& inner = config.contains("config") ? config["config"] : none;
  if (!inner.is_object() || !inner.contains("Labels") || !inner["Labels"].is_object()) {
    return labels;
  }
  for (const auto& [name, value] : inner["Labels"].items()) {
    if (value.is_string()) labels.emplace(name, value.get<std::string>());
  }
  return labels;
}

// Removed unless it became an image.
class NewFolder {
 public:
  explicit NewFolder(std::string path) : path_(std::move(path)) {}
  NewFolder(const NewFolder&) = delete;
  ~NewFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  const std::string& path() const { return path_; }

 private:
  const std::string path_;
};

}  // namespace

std::string RunscStore::RootOf(const EngineImage& image) const {
  return folder_ + "/" + image.id.substr(image.id.find(':') + 1) + "/root";
}

Result<std::string> RunscStore::Load(int tar, const LoadProgress& progress) {
  struct stat file;
  if (fstat(tar, &file) != 0) return SystemError("load the image");
  Result<Plan> plan = ReadPlan(tar);
  if (!plan) return plan.error();
  JsonReading reading = ReadJson(plan->config, kBounds);
  const Json* const config = std::get_if<Json>(&reading);
  if (!config || !config->is_object()) return Bad("its configuration is no JSON object");

  const std::string digest = Sha256(plan->config);
  std::error_code error;
  fs::create_directories(folder_, error);
  if (error) return SystemErrorOf(error.value(), "make " + folder_);
  const std::string real = fs::canonical(folder_, error).string();
  if (error) return SystemErrorOf(error.value(), "find " + folder_);
  const NewFolder fresh(real + "/.new-" + Hex(RandomBytes()));
  const std::string root = fresh.path() + "/root";
  fs::create_directories(root, error);
  if (error) return SystemErrorOf(error.value(), "make " + root);
  const Bytes size{static_cast<uint64_t>(file.st_size)};
  for (const std::string& layer : plan->layers) {
    const Result<void> unpacked = UnpackLayer(tar, layer, root, progress, size);
    if (!unpacked) return unpacked.error();
  }
  const Json note = {
      {"references", plan->references}, {"labels", LabelsOf(*config)}, {"size", size.count}};
  std::ofstream out(fresh.path() + "/image.json");
  out << note.dump(-1, ' ', false, Json::error_handler_t::replace);
  if (!out.flush()) return Bad("cannot write to " + real + ": is the disk full?");
  const std::string path = real + "/" + digest;
  // The same digest is the same content: what is there may be in use, and stays.
  if (rename(fresh.path().c_str(), path.c_str()) != 0 && errno != ENOTEMPTY && errno != EEXIST) {
    return SystemError("keep the image in " + path);
  }
  return plan->references.empty() ? "sha256:" + digest : plan->references.front();
}

Result<std::optional<EngineImage>> RunscStore::Find(const std::string& reference) const {
  std::error_code error;
  for (const fs::directory_entry& each : fs::directory_iterator(folder_, error)) {
    const std::string name = each.path().filename().string();
    if (!IsContainerId(name)) continue;
    Result<Json> note = ReadNote(each.path().string() + "/image.json");
    if (!note) return note.error();
    const std::vector<std::string> references = TextsOf(*note, "references");
    if (reference != "sha256:" + name && !std::ranges::count(references, reference)) continue;
    EngineImage image{.id = "sha256:" + name, .labels = {}, .size = {}};
    if (note->contains("labels") && (*note)["labels"].is_object()) {
      for (const auto& [label, value] : (*note)["labels"].items()) {
        if (value.is_string()) image.labels.emplace(label, value.get<std::string>());
      }
    }
    const auto size = note->find("size");
    if (size != note->end() && size->is_number_unsigned()) image.size = {size->get<uint64_t>()};
    return std::optional(std::move(image));
  }
  if (error && error != std::errc::no_such_file_or_directory) {
    return SystemErrorOf(error.value(), "look for images in " + folder_);
  }
  return std::optional<EngineImage>();
}

Result<void> RunscStore::Remove(const std::string& reference) {
  Result<std::optional<EngineImage>> image = Find(reference);
  if (!image) return image.error();
  if (!*image) return {};
  std::error_code error;
  fs::remove_all(fs::path(RootOf(**image)).parent_path(), error);
  if (error) return SystemErrorOf(error.value(), "remove the image " + reference);
  return {};
}

}  // namespace belljar
