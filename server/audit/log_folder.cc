#include "server/audit/log_folder.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>

#include "engine/core/text.h"
#include "engine/host/number.h"
#include "engine/host/state_path.h"
#include "server/audit/chain.h"

namespace belljar::server::audit {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPrefix = "audit-";
constexpr std::string_view kSuffix = ".jsonl";
constexpr size_t kPiece = size_t{256} << 10;

// nullopt: not a segment's name.
std::optional<uint64_t> NumberOf(std::string_view name) {
  if (!name.starts_with(kPrefix) || !name.ends_with(kSuffix)) return std::nullopt;
  name.remove_prefix(kPrefix.size());
  name.remove_suffix(kSuffix.size());
  const auto number = host::NumberFrom<uint64_t>(name);
  return number == 0 ? std::nullopt : number;
}

core::Result<std::vector<std::string>> NamesIn(const std::string& folder) {
  std::error_code code;
  std::vector<std::string> names;
  for (fs::directory_iterator at(folder, code), end; !code && at != end; at.increment(code)) {
    names.push_back(at->path().filename().string());
  }
  if (code) {
    return core::SystemErrorOf(code.value(), "read the audit log in " + core::Quoted(folder));
  }
  return names;
}

}  // namespace

std::string DefaultFolder() { return host::StatePath("audit"); }

std::string SegmentPath(const std::string& folder, uint64_t number) {
  char name[48];
  snprintf(name, sizeof name, "audit-%08llu.jsonl", static_cast<unsigned long long>(number));
  return folder + "/" + name;
}

core::Result<std::vector<SegmentFile>> ListSegments(const std::string& folder) {
  const core::Result<std::vector<std::string>> names = NamesIn(folder);
  if (!names) return names.error();
  std::vector<SegmentFile> segments;
  for (const std::string& name : *names) {
    const std::optional<uint64_t> number = NumberOf(name);
    if (!number) continue;
    SegmentFile segment{*number, std::string(folder).append("/").append(name)};
    struct stat status;
    if (lstat(segment.path.c_str(), &status) != 0) {
      if (errno == ENOENT) continue;  // removed meanwhile, as configured
      return core::SystemError("read " + core::Quoted(segment.path));
    }
    segment.bytes = static_cast<uint64_t>(status.st_size);
    segment.changed = status.st_mtim.tv_sec;
    segments.push_back(std::move(segment));
  }
  std::sort(segments.begin(), segments.end(),
            [](const SegmentFile& a, const SegmentFile& b) { return a.number < b.number; });
  return segments;
}

core::Result<std::vector<PublicKey>> ReadKeys(const std::string& folder) {
  core::Result<std::vector<std::string>> names = NamesIn(folder);
  if (!names) return names.error();
  std::sort(names->begin(), names->end());
  std::vector<PublicKey> keys;
  for (const std::string& name : *names) {
    if (!name.ends_with(".pub")) continue;
    core::Result<PublicKey> key = PublicKey::Read(std::string(folder).append("/").append(name));
    if (!key) return key.error();
    keys.push_back(std::move(*key));
  }
  return keys;
}

core::Result<LineReader> LineReader::Open(const std::string& path) {
  // We never create links or pipes here.
  core::UniqueFd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!fd) return core::SystemError("read " + core::Quoted(path));
  struct stat status;
  if (fstat(fd.get(), &status) != 0) return core::SystemError("read " + core::Quoted(path));
  if (!S_ISREG(status.st_mode)) {
    return core::MakeError("read " + core::Quoted(path), "it is not a regular file");
  }
  return LineReader(std::move(fd));
}

core::Result<bool> LineReader::Fill() {
  if (is_at_end_) return false;
  buffer_.erase(0, begin_);
  next_ -= begin_;
  begin_ = 0;
  const size_t had = buffer_.size();
  buffer_.resize(had + kPiece);
  ssize_t got;
  do {
    got = read(fd_.get(), buffer_.data() + had, kPiece);
  } while (got < 0 && errno == EINTR);
  buffer_.resize(had + static_cast<size_t>(std::max<ssize_t>(got, 0)));
  if (got < 0) return core::SystemError("read the audit log");
  is_at_end_ = got == 0;
  return got > 0;
}

core::Result<std::optional<LineReader::Line>> LineReader::Next() {
  begin_ = next_;
  for (size_t searched = begin_;;) {
    const size_t end = buffer_.find('\n', searched);
    if (end != std::string::npos) {
      next_ = end + 1;
      return std::optional(Line{std::string_view(buffer_).substr(begin_, end - begin_), true});
    }
    const size_t size = buffer_.size() - begin_;
    if (size > kMaxLine) {
      next_ = buffer_.size();
      return std::optional(Line{std::string_view(buffer_).substr(begin_), false, true});
    }
    const core::Result<bool> filled = Fill();  // moves the line to the beginning
    if (!filled) return filled.error();
    searched = size;
    if (*filled) continue;
    next_ = buffer_.size();
    if (size == 0) return std::optional<Line>();
    return std::optional(Line{std::string_view(buffer_).substr(begin_), false});
  }
}

core::Result<Digest> LineReader::DigestOfRest() {
  host::Sha256Stream digest;
  Digest rest;
  for (;;) {
    const std::string_view piece = std::string_view(buffer_).substr(begin_);
    digest.Add(piece);
    rest.bytes += piece.size();
    begin_ = next_ = buffer_.size();
    const core::Result<bool> filled = Fill();
    if (!filled) return filled.error();
    if (!*filled) break;
  }
  rest.sha256 = digest.Finish();
  return rest;
}

}  // namespace belljar::server::audit
