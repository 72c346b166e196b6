#include "server/audit/segment_writer.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "engine/core/text.h"
#include "engine/host/json_reader.h"
#include "engine/host/random.h"
#include "engine/host/version.h"
#include "server/audit/entry_fields.h"
#include "server/audit/log_folder.h"

namespace belljar::server::audit {
namespace {

using Clock = std::chrono::steady_clock;

constexpr char kLock[] = "lock";
constexpr char kBeginning[] = "beginning";  // a segment whose first line is being written

std::string Operation(const std::string& folder) {
  return "write the audit log in " + core::Quoted(folder);
}

core::Result<core::UniqueFd> OpenFolder(const std::string& path) {
  const std::string operation = Operation(path);
  std::error_code code;
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), code);
  if (code) return core::SystemErrorOf(code.value(), operation);
  if (mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) return core::SystemError(operation);
  core::UniqueFd folder(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  struct stat status;
  if (!folder || fstat(folder.get(), &status) != 0) return core::SystemError(operation);
  if (status.st_uid != geteuid() || (status.st_mode & (S_IRWXG | S_IRWXO)) != 0) {
    return core::MakeError(operation,
                           "others may read or change its content: chmod 700 it, or name a "
                           "folder of this user's own in audit.folder");
  }
  return folder;
}

core::Result<core::UniqueFd> TakeLock(int folder, const std::string& path) {
  core::UniqueFd lock(openat(folder, kLock, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!lock) return core::SystemError(Operation(path));
  if (flock(lock.get(), LOCK_EX | LOCK_NB) != 0) {
    return core::SystemError(
        Operation(path), errno == EWOULDBLOCK ? "another server is writing to it; give each server "
                                                "a folder of its own in audit.folder"
                                              : "");
  }
  return lock;
}

// The end of the last segment.
struct LastLine {
  std::string log;
  uint64_t sequence = 0;
  std::string hash;
  std::optional<Digest> unclosed;
};

core::Result<LastLine> FindLastLine(const SegmentFile& segment) {
  core::Result<LineReader> reader = LineReader::Open(segment.path);
  if (!reader) return reader.error();
  LastLine last;
  bool is_closed = false;
  for (;;) {
    const core::Result<std::optional<LineReader::Line>> line = reader->Next();
    if (!line) return line.error();
    const auto read = *line ? Read((*line)->text) : LineFault::kForm;
    const ReadLine* entry = std::get_if<ReadLine>(&read);
    const bool follows = entry && (*line)->is_terminated && !is_closed &&
                         (last.hash.empty() ||
                          (entry->previous == last.hash && entry->sequence == last.sequence + 1));
    if (!follows) break;
    if (last.hash.empty()) {
      const auto object = host::ReadJson((*line)->text, {});
      const auto* json = std::get_if<nlohmann::json>(&object);
      if (json && json->contains("log") && (*json)["log"].is_string()) last.log = (*json)["log"];
    }
    last.sequence = entry->sequence;
    last.hash = entry->hash;
    is_closed = entry->kind == NameOf(Kind::kSegmentEnd);
  }
  if (last.log.empty()) {
    return core::MakeError("read " + core::Quoted(segment.path),
                           "its first line is damaged, so the log cannot be continued: keep the "
                           "folder for examination (belljar audit verify), and name another one "
                           "in audit.folder");
  }
  core::Result<Digest> rest = reader->DigestOfRest();
  if (!rest) return rest.error();
  if (!is_closed || rest->bytes > 0) last.unclosed = std::move(*rest);
  return last;
}

}  // namespace

core::Result<std::unique_ptr<SegmentWriter>> SegmentWriter::Open(const AuditConfig& config) {
  core::Result<core::UniqueFd> folder = OpenFolder(config.folder);
  if (!folder) return folder.error();
  core::Result<core::UniqueFd> lock = TakeLock(folder->get(), config.folder);
  if (!lock) return lock.error();
  core::Result<SigningKey> key = SigningKey::OpenOrMake(
      config.key_file.empty() ? config.folder + "/key.pem" : config.key_file);
  if (!key) return key.error();
  std::unique_ptr<SegmentWriter> writer(
      new SegmentWriter(config, std::move(*lock), std::move(*folder), std::move(*key)));
  if (core::Result<void> published = writer->PublishKey(); !published) return published.error();
  if (core::Result<void> recovered = writer->Recover(); !recovered) return recovered.error();
  if (core::Result<void> begun = writer->Begin(); !begun) return begun.error();
  return writer;
}

// A key kept elsewhere: its public key is not next to the log.
core::Result<void> SegmentWriter::PublishKey() const {
  constexpr size_t kDigits = 16;
  const core::Result<std::vector<PublicKey>> keys = ReadKeys(config_.folder);
  if (!keys) return keys.error();
  const std::string& id = key_.public_key().id();
  if (std::any_of(keys->begin(), keys->end(), [&](const auto& key) { return key.id() == id; })) {
    return {};
  }
  return key_.public_key().Write(config_.folder + "/key-" + id.substr(0, kDigits) + ".pub");
}

core::Result<void> SegmentWriter::Recover() {
  const core::Result<std::vector<SegmentFile>> segments = ListSegments(config_.folder);
  if (!segments) return segments.error();
  if (segments->empty()) {
    log_ = core::Hex(host::RandomBytes());
    return {};
  }
  core::Result<LastLine> last = FindLastLine(segments->back());
  if (!last) return last.error();
  log_ = std::move(last->log);
  chain_ = Chain(last->sequence, last->hash);
  unclosed_ = std::move(last->unclosed);
  number_ = segments->back().number;
  return {};
}

bool SegmentWriter::IsFull() const { return lines_ > 1 && bytes_ >= config_.segment_size.count; }
bool SegmentWriter::IsOld() const { return Clock::now() >= old_at(); }
Clock::time_point SegmentWriter::old_at() const {
  return lines_ > 1 ? began_ + config_.segment_age : Clock::time_point::max();
}

void SegmentWriter::Append(std::string_view members) {
  const std::string line = chain_.Add(members);
  ++lines_;
  bytes_ += line.size();
  pending_ += line;
}

core::Result<void> SegmentWriter::Write() {
  while (written_ < pending_.size()) {
    const ssize_t count =
        write(file_.get(), pending_.data() + written_, pending_.size() - written_);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return core::SystemError(Operation(config_.folder));
    written_ += static_cast<size_t>(count);
  }
  pending_.clear();
  written_ = 0;
  return {};
}

core::Result<void> SegmentWriter::Sync() {
  if (fdatasync(file_.get()) != 0) return core::SystemError(Operation(config_.folder));
  return {};
}

core::Result<void> SegmentWriter::End() {
  if (!is_signed_) {
    const SegmentEnd end{number_, lines_, key_.public_key().id()};
    pending_ += chain_.Add(MembersOf(end), &key_);
    is_signed_ = true;
  }
  if (core::Result<void> written = Write(); !written) return written;
  return Sync();
}

// The first line is written to another file and moved into place, so that every segment has one.
core::Result<void> SegmentWriter::Begin() {
  if (first_line_.empty()) {
    first_line_ = chain_.Add(MembersOf(
        Segment{number_ + 1, 1, log_, key_.public_key().id(), host::kBelljarVersion, unclosed_}));
  }
  core::UniqueFd file(openat(folder_.get(), kBeginning,
                             O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC | O_NOFOLLOW,
                             0600));
  if (!file || !core::WriteBytes(file.get(), first_line_) || fdatasync(file.get()) != 0 ||
      renameat(folder_.get(), kBeginning, AT_FDCWD,
               SegmentPath(config_.folder, number_ + 1).c_str()) != 0) {
    return core::SystemError(Operation(config_.folder));
  }
  (void)fsync(folder_.get());
  file_ = std::move(file);
  ++number_;
  lines_ = 1;
  bytes_ = first_line_.size();
  began_ = Clock::now();
  first_line_.clear();
  is_signed_ = false;
  return {};
}

core::Result<size_t> SegmentWriter::Retain() {
  constexpr int64_t kDay = 86'400;
  if (config_.keep_days == 0 && !config_.max_size) return size_t{0};
  core::Result<std::vector<SegmentFile>> segments = ListSegments(config_.folder);
  if (!segments) return segments.error();
  std::erase_if(*segments, [&](const SegmentFile& each) { return each.number >= number_; });
  uint64_t total = bytes_;
  for (const SegmentFile& each : *segments) total += each.bytes;
  const int64_t oldest = time(nullptr) - static_cast<int64_t>(config_.keep_days) * kDay;
  size_t count = 0;
  for (; count < segments->size(); ++count) {
    const SegmentFile& each = (*segments)[count];
    const bool is_too_old = config_.keep_days > 0 && each.changed < oldest;
    const bool is_too_much = config_.max_size && total > config_.max_size->count;
    if (!is_too_old && !is_too_much) break;
    total -= each.bytes;
  }
  if (count == 0) return size_t{0};
  // The hash of its last line is in the first line of the segment that stays.
  const std::string next =
      count < segments->size() ? (*segments)[count].path : SegmentPath(config_.folder, number_);
  core::Result<LineReader> reader = LineReader::Open(next);
  if (!reader) return reader.error();
  const core::Result<std::optional<LineReader::Line>> line = reader->Next();
  if (!line) return line.error();
  const auto read = *line ? Read((*line)->text) : LineFault::kForm;
  const ReadLine* first = std::get_if<ReadLine>(&read);
  if (!first) {
    return core::MakeError("remove old segments of the audit log",
                           core::Quoted(next) + " is damaged; nothing was removed");
  }
  Append(MembersOf(Retention{(*segments)[count - 1].number, std::string(first->previous)}));
  if (core::Result<void> written = Write(); !written) return written.error();
  if (core::Result<void> synced = Sync(); !synced) return synced.error();
  for (size_t i = 0; i < count; ++i) {
    if (unlink((*segments)[i].path.c_str()) != 0 && errno != ENOENT) {
      return core::SystemError("remove " + core::Quoted((*segments)[i].path));
    }
  }
  return count;
}

}  // namespace belljar::server::audit
