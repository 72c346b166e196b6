#include "container/image/tar.h"

#include <tar.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>
#include <optional>
#include <set>

#include "engine/core/text.h"
#include "engine/host/beneath.h"

namespace belljar::container::image {
namespace {

constexpr size_t kBlock = 512;
constexpr size_t kReadPiece = size_t{256} << 10;
constexpr uint64_t kMaxTarFile = (uint64_t{1} << 33) - 1;  // eleven octal digits

// POSIX.1-1988 ustar, as in pax(1).
struct Header {
  char name[100];
  char mode[8];
  char uid[8];
  char gid[8];
  char size[12];
  char mtime[12];
  char checksum[8];
  char type;
  char link[100];
  char magic[6];
  char version[2];
  char user[32];
  char group[32];
  char major[8];
  char minor[8];
  char prefix[155];
  char padding[12];
};
static_assert(sizeof(Header) == kBlock);

template <size_t N>
void PutOctal(char (&field)[N], uint64_t value) {
  for (size_t i = N - 1; i-- > 0; value >>= 3) field[i] = static_cast<char>('0' + (value & 7));
  field[N - 1] = '\0';
}

template <size_t N>
uint64_t GetOctal(const char (&field)[N]) {
  uint64_t value = 0;
  for (size_t i = 0; i + 1 < N && field[i] >= '0' && field[i] <= '7'; ++i) {
    value = value << 3 | static_cast<uint64_t>(field[i] - '0');
  }
  return value;
}

template <size_t N>
std::string GetText(const char (&field)[N]) {
  return std::string(field, strnlen(field, N));
}

std::string NameOf(const TarEntry& entry) { return entry.path + (entry.is_folder ? "/" : ""); }

// A longer name is split at a slash into two fields: at the first one that leaves a short enough
// rest. nullopt: there is none.
std::optional<size_t> DivideAt(const std::string& name) {
  if (name.size() <= sizeof(Header::name)) return 0;
  const size_t slash = name.find('/', name.size() - sizeof(Header::name) - 1);
  if (slash == name.npos || slash + 1 >= name.size() || slash > sizeof(Header::prefix)) {
    return std::nullopt;
  }
  return slash;
}

// Precondition: the entry has no fault.
Header Encode(const TarEntry& entry) {
  Header header{};
  const std::string name = NameOf(entry);
  const size_t divide = *DivideAt(name);
  memcpy(header.prefix, name.data(), divide);
  const size_t rest = divide == 0 ? 0 : divide + 1;
  memcpy(header.name, name.data() + rest, name.size() - rest);
  PutOctal(header.mode, entry.mode());
  PutOctal(header.uid, 0);
  PutOctal(header.gid, 0);
  PutOctal(header.size, entry.size);
  PutOctal(header.mtime, 0);
  header.type = entry.is_folder ? DIRTYPE : REGTYPE;
  memcpy(header.magic, TMAGIC, TMAGLEN);
  memcpy(header.version, TVERSION, TVERSLEN);
  PutOctal(header.major, 0);
  PutOctal(header.minor, 0);
  // The sum of all bytes, with the checksum field taken as spaces; six digits, a zero byte and a
  // space.
  memset(header.checksum, ' ', sizeof header.checksum);
  const auto* bytes = reinterpret_cast<const unsigned char*>(&header);
  uint64_t sum = std::accumulate(bytes, bytes + sizeof header, uint64_t{0});
  for (size_t i = 6; i-- > 0; sum >>= 3) header.checksum[i] = static_cast<char>('0' + (sum & 7));
  header.checksum[6] = '\0';
  return header;
}

// What it appears to contain. Encoding it again shows whether it is in canonical form.
TarEntry Decode(const Header& header) {
  TarEntry entry;
  const std::string prefix = GetText(header.prefix);
  entry.path = prefix + (prefix.empty() ? "" : "/") + GetText(header.name);
  entry.is_folder = header.type == DIRTYPE;
  if (entry.is_folder && entry.path.ends_with('/')) entry.path.pop_back();
  entry.is_program = !entry.is_folder && (GetOctal(header.mode) & 0111) != 0;
  entry.size = GetOctal(header.size);
  return entry;
}

uint64_t PaddingOf(uint64_t size) { return (kBlock - size % kBlock) % kBlock; }

// Precondition: `entry` was decoded from `header`, and its name is not what is wrong.
std::string HeaderFault(const Header& header, const TarEntry& entry) {
  switch (header.type) {
    case LNKTYPE: return "it is a hard link";
    case SYMTYPE: return "it is a symbolic link";
    case CHRTYPE:
    case BLKTYPE: return "it is a device";
    case FIFOTYPE: return "it is a pipe";
    case DIRTYPE:
    case REGTYPE: break;
    default: return "its type is not used in images built by Belljar";
  }
  if (GetOctal(header.mode) & 07000) return "it is setuid, setgid or sticky";
  if (GetOctal(header.mode) & 0222) return "it is writable";
  if (GetOctal(header.mode) != entry.mode())
    return "its permissions are not those that Belljar sets";
  if (GetOctal(header.uid) != 0 || GetOctal(header.gid) != 0) return "it is not owned by root";
  if (GetOctal(header.mtime) != 0) return "it has a date";
  return "its header is damaged";
}

class TarReader {
 public:
  TarReader(int fd, uint64_t offset, uint64_t size, const TarVisitor& visitor)
      : fd_(fd), at_(offset), left_(size), visitor_(visitor) {}

  core::Result<TarSummary> Read() {
    const uint64_t size = left_;
    for (;;) {
      Header header;
      char* bytes = reinterpret_cast<char*>(&header);
      if (core::Result<void> read = Take(bytes, sizeof header); !read) return read.error();
      if (std::all_of(bytes, bytes + sizeof header, [](char byte) { return byte == 0; })) break;
      if (core::Result<void> read = ReadEntry(header); !read) return read.error();
    }
    if (core::Result<void> read = TakeZeros(kBlock, "its end"); !read) return read.error();
    if (left_ != 0) return Fault("there is data after its end");
    return TarSummary{digest_.Finish(), size};
  }

 private:
  static core::Error Fault(const std::string& what) {
    return core::MakeError("read a tar file", what);
  }

  core::Result<void> ReadEntry(const Header& header) {
    const TarEntry entry = Decode(header);
    const std::string place = "entry " + core::Quoted(entry.path) + ": ";
    if (const std::string fault = EntryFault(entry); !fault.empty()) return Fault(place + fault);
    const Header right = Encode(entry);
    if (memcmp(&right, &header, sizeof header) != 0) {
      return Fault(place + HeaderFault(header, entry));
    }
    if (entry.path <= last_) return Fault(place + "duplicate, or out of order");
    last_ = entry.path;
    const size_t slash = entry.path.rfind('/');
    if (slash != entry.path.npos && !folders_.contains(entry.path.substr(0, slash))) {
      return Fault(place + "its parent folder is missing");
    }
    if (entry.is_folder) folders_.insert(entry.path);
    if (core::Result<void> visited = visitor_.entry(entry, at_); !visited) return visited;
    std::string piece;
    for (uint64_t left = entry.size; left > 0; left -= piece.size()) {
      piece.resize(std::min<uint64_t>(left, kReadPiece));
      if (core::Result<void> read = Take(piece.data(), piece.size()); !read) return read;
      if (core::Result<void> visited = visitor_.bytes(piece); !visited) return visited;
    }
    return TakeZeros(PaddingOf(entry.size), place + "the padding of its last block");
  }

  core::Result<void> TakeZeros(uint64_t count, const std::string& place) {
    std::array<char, kBlock> bytes;
    if (core::Result<void> read = Take(bytes.data(), count); !read) return read;
    const auto end = bytes.begin() + static_cast<ptrdiff_t>(count);
    if (std::any_of(bytes.begin(), end, [](char byte) { return byte != 0; })) {
      return Fault(place + " is not zero");
    }
    return {};
  }

  core::Result<void> Take(char* bytes, size_t count) {
    if (count > left_) return Fault("truncated");
    for (size_t got = 0; got < count;) {
      const ssize_t more = pread(fd_, bytes + got, count - got,
                                 static_cast<off_t>(at_ + static_cast<uint64_t>(got)));
      if (more < 0 && errno == EINTR) continue;
      if (more < 0) return core::SystemError("read a tar file");
      if (more == 0) return Fault("truncated");
      got += static_cast<size_t>(more);
    }
    digest_.Add({bytes, count});
    at_ += count;
    left_ -= count;
    return {};
  }

  int fd_;
  uint64_t at_;
  uint64_t left_;
  const TarVisitor& visitor_;
  host::Sha256Stream digest_;
  std::string last_;
  std::set<std::string> folders_;
};

}  // namespace

std::string EntryFault(const TarEntry& entry) {
  if (const char* fault = host::PathFault(entry.path)) return fault;
  if (!DivideAt(NameOf(entry))) return "its path is too long for a tar file";
  if (entry.is_folder && entry.size != 0) return "it is a folder with content";
  if (entry.size > kMaxTarFile) return "it is too large for a tar file";
  return "";
}

core::Result<void> TarWriter::Begin(const TarEntry& entry) {
  if (core::Result<void> padded = Pad(); !padded) return padded;
  if (const std::string fault = EntryFault(entry); !fault.empty()) {
    return core::MakeError("put " + core::Quoted(entry.path) + " into a tar file", fault);
  }
  const Header header = Encode(entry);
  missing_ = entry.size;
  return Write({reinterpret_cast<const char*>(&header), sizeof header});
}

core::Result<void> TarWriter::Append(std::string_view bytes) {
  if (bytes.size() > missing_)
    return core::MakeError("write a tar file", "a file grew while it was read");
  missing_ -= bytes.size();
  return Write(bytes);
}

core::Result<TarSummary> TarWriter::Finish() {
  if (core::Result<void> padded = Pad(); !padded) return padded.error();
  if (core::Result<void> done = Write(std::string(2 * kBlock, '\0')); !done) return done.error();
  return TarSummary{digest_.Finish(), written_};
}

core::Result<void> TarWriter::Pad() {
  if (missing_ != 0)
    return core::MakeError("write a tar file", "a file was truncated while it was read");
  return Write(std::string(PaddingOf(written_), '\0'));
}

core::Result<void> TarWriter::Write(std::string_view bytes) {
  digest_.Add(bytes);
  written_ += bytes.size();
  while (!bytes.empty()) {
    const ssize_t written = write(fd_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return core::SystemError("write a tar file");
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  return {};
}

core::Result<TarSummary> ReadTar(int fd, uint64_t offset, uint64_t size,
                                 const TarVisitor& visitor) {
  return TarReader(fd, offset, size, visitor).Read();
}

}  // namespace belljar::container::image
