#include "engine/workspace/file_content.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "engine/host/digest.h"

namespace belljar::workspace {
namespace {

// tmpfs's allocation unit on most machines.
constexpr size_t kBlock = 4096;

constexpr std::array<char, FileContent::kPieceSize> kZeros{};

bool HoldsZeros(std::string_view bytes) {
  return memcmp(bytes.data(), kZeros.data(), bytes.size()) == 0;
}

// The number of bytes read, fewer than `size` only at the end of the file; negative sets errno.
ssize_t ReadAt(int fd, char* buffer, size_t size, uint64_t offset) {
  size_t filled = 0;
  while (filled < size) {
    const ssize_t got =
        pread(fd, buffer + filled, size - filled, static_cast<off_t>(offset + filled));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return got;
    if (got == 0) break;
    filled += static_cast<size_t>(got);
  }
  return static_cast<ssize_t>(filled);
}

bool WriteAt(int fd, std::string_view bytes, uint64_t offset) {
  while (!bytes.empty()) {
    const ssize_t written = pwrite(fd, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    bytes.remove_prefix(static_cast<size_t>(written));
    offset += static_cast<uint64_t>(written);
  }
  return true;
}

bool PunchHole(int fd, size_t size, uint64_t offset) {
  while (fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(offset),
                   static_cast<off_t>(size)) != 0) {
    if (errno == EINTR) continue;
    // gVisor does not create holes.
    return errno == EOPNOTSUPP && WriteAt(fd, {kZeros.data(), size}, offset);
  }
  return true;
}

// Changes the bytes at `offset` from `current` to `wanted`; `only_clear`: only where blocks become
// zeros.
bool UpdateBlocks(int fd, std::string_view wanted, std::string_view current, uint64_t offset,
                  bool only_clear) {
  enum class Action { kNone, kClear, kWrite };
  const auto action = [&](size_t at) {
    const std::string_view block = wanted.substr(at, kBlock);
    if (block == current.substr(at, kBlock)) return Action::kNone;
    if (HoldsZeros(block)) return Action::kClear;
    return only_clear ? Action::kNone : Action::kWrite;
  };
  for (size_t begin = 0, end = 0; begin < wanted.size(); begin = end) {
    const Action first = action(begin);
    for (end = begin + kBlock; end < wanted.size() && action(end) == first;) end += kBlock;
    end = std::min(end, wanted.size());
    if (first == Action::kClear && !PunchHole(fd, end - begin, offset + begin)) return false;
    if (first == Action::kWrite &&
        !WriteAt(fd, wanted.substr(begin, end - begin), offset + begin)) {
      return false;
    }
  }
  return true;
}

}  // namespace

FileContent FileContent::Of(std::string_view bytes) {
  FileContent content;
  if (bytes.empty()) return content;
  auto data = std::make_shared<Data>();
  data->size = bytes.size();
  for (; !bytes.empty(); bytes.remove_prefix(std::min(bytes.size(), kPieceSize))) {
    const std::string_view piece = bytes.substr(0, kPieceSize);
    data->pieces.push_back(HoldsZeros(piece) ? nullptr
                                             : std::make_shared<const std::string>(piece));
  }
  content.data_ = std::move(data);
  return content;
}

std::string FileContent::ToString() const {
  std::string bytes;
  bytes.reserve(size());
  for (size_t i = 0; i < pieces(); ++i) bytes += Piece(i);
  return bytes;
}

size_t FileContent::PieceSize(size_t index) const {
  return static_cast<size_t>(std::min<uint64_t>(kPieceSize, size() - index * kPieceSize));
}

std::string_view FileContent::Piece(size_t index) const {
  const SharedPiece& piece = data_->pieces[index];
  return piece ? std::string_view(*piece) : std::string_view(kZeros.data(), PieceSize(index));
}

std::optional<FileContent> FileContent::Read(int fd, uint64_t size, const FileContent& like) {
  Data data;
  const auto buffer = std::make_unique<std::array<char, kPieceSize>>();
  bool is_like = true;
  while (data.size < size) {
    const auto wanted = static_cast<size_t>(std::min<uint64_t>(kPieceSize, size - data.size));
    const ssize_t got = ReadAt(fd, buffer->data(), wanted, data.size);
    if (got < 0) return std::nullopt;
    if (got == 0) break;
    const std::string_view bytes(buffer->data(), static_cast<size_t>(got));
    const size_t index = data.pieces.size();
    if (index < like.pieces() && like.Piece(index) == bytes) {
      data.pieces.push_back(like.data_->pieces[index]);
    } else {
      is_like = false;
      data.pieces.push_back(HoldsZeros(bytes) ? nullptr
                                              : std::make_shared<const std::string>(bytes));
    }
    data.size += bytes.size();
    if (bytes.size() < wanted) break;
  }
  if (is_like && data.size == like.size()) return like;
  FileContent content;
  if (data.size > 0) {
    data.pieces.shrink_to_fit();
    content.data_ = std::make_shared<const Data>(std::move(data));
  }
  return content;
}

std::string FileContent::Sha256() const {
  host::Sha256Stream stream;
  for (size_t i = 0; i < pieces(); ++i) stream.Add(Piece(i));
  return stream.Finish();
}

bool FileContent::operator==(const FileContent& other) const {
  if (data_ == other.data_) return true;
  if (size() != other.size()) return false;
  for (size_t i = 0; i < pieces(); ++i) {
    if (data_->pieces[i] != other.data_->pieces[i] && Piece(i) != other.Piece(i)) return false;
  }
  return true;
}

bool FileContent::IsIn(int fd) const {
  struct stat status;
  if (fstat(fd, &status) != 0 || static_cast<uint64_t>(status.st_size) != size()) return false;
  const auto buffer = std::make_unique<std::array<char, kPieceSize>>();
  for (size_t i = 0; i < pieces(); ++i) {
    const std::string_view piece = Piece(i);
    const ssize_t got = ReadAt(fd, buffer->data(), piece.size(), i * kPieceSize);
    if (got < 0 || std::string_view(buffer->data(), static_cast<size_t>(got)) != piece)
      return false;
  }
  return true;
}

bool FileContent::Update(int fd, bool only_shrink) const {
  struct stat status;
  if (fstat(fd, &status) != 0) return false;
  const auto length = static_cast<uint64_t>(status.st_size);
  if (length > size() || (length < size() && !only_shrink)) {
    if (ftruncate(fd, static_cast<off_t>(size())) != 0) return false;
  }
  const auto buffer = std::make_unique<std::array<char, kPieceSize>>();
  for (size_t i = 0; i < pieces(); ++i) {
    const std::string_view wanted = Piece(i);
    const ssize_t got = ReadAt(fd, buffer->data(), wanted.size(), i * kPieceSize);
    if (got < 0) return false;
    // Reading beyond the end of a file is like reading a hole.
    std::fill(buffer->begin() + got, buffer->end(), '\0');
    if (!UpdateBlocks(fd, wanted, {buffer->data(), wanted.size()}, i * kPieceSize, only_shrink)) {
      return false;
    }
  }
  return true;
}

bool FileContent::Shrink(int fd) const { return Update(fd, true); }

bool FileContent::Write(int fd) const { return Update(fd, false); }

void FileContent::AddTo(SharedMemory& memory) const {
  if (!data_ ||
      !memory.Add(data_.get(), sizeof(Data) + data_->pieces.capacity() * sizeof(SharedPiece))) {
    return;
  }
  for (const SharedPiece& piece : data_->pieces) {
    if (piece) memory.Add(piece.get(), sizeof *piece + piece->capacity());
  }
}

}  // namespace belljar::workspace
