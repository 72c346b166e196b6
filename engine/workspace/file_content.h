// FileContent: the bytes of a file in the host's memory, in pieces of 64 KiB. Contents share equal
// pieces, and pieces of zeros cost nothing, so versions of a large file with few changes, and files
// with holes, only take the memory for their distinct data.
//
//   std::optional<FileContent> now = FileContent::Read(fd, size, before);   shares with `before`
//   now->Write(fd);                                                         what differs
//
// Copies share everything. For WorkspaceSnapshot.
#ifndef BELLJAR_ENGINE_WORKSPACE_FILE_CONTENT_H_
#define BELLJAR_ENGINE_WORKSPACE_FILE_CONTENT_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

namespace belljar::workspace {

// Counts the memory of several contents or snapshots: shared parts count once. Hash tables and the
// allocator's own overhead are not included.
struct SharedMemory {
  uint64_t bytes = 0;
  std::unordered_set<const void*> counted;

  // Whether the object at `address` is new; if so, its size is added.
  bool Add(const void* address, size_t size) {
    if (!counted.insert(address).second) return false;
    bytes += size;
    return true;
  }
};

class FileContent {
 public:
  static constexpr size_t kPieceSize = size_t{64} * 1024;

  FileContent() = default;  // an empty file

  // The first `size` bytes of a regular file; fewer if it has become shorter. Pieces equal to those
  // of `like` share its memory. nullopt sets errno.
  static std::optional<FileContent> Read(int fd, uint64_t size, const FileContent& like);

  static FileContent Of(std::string_view bytes);
  std::string ToString() const;

  uint64_t size() const { return data_ ? data_->size : 0; }
  // All pieces have kPieceSize, except the last.
  size_t pieces() const { return data_ ? data_->pieces.size() : 0; }
  std::string_view Piece(size_t index) const;
  std::string Sha256() const;

  bool operator==(const FileContent& other) const;

  // Also false if the file cannot be read.
  bool IsIn(int fd) const;

  // These two make a file hold this content; equal parts are not touched. The first only frees
  // space beyond the content, so that it can be called for all files of a full file system before
  // the second. Pages of zeros become holes: afterwards it does not occupy more than the file that
  // was read. Return false and set errno on failure.
  bool Shrink(int fd) const;
  bool Write(int fd) const;

  void AddTo(SharedMemory& memory) const;

 private:
  using SharedPiece = std::shared_ptr<const std::string>;  // null: zeros
  struct Data {
    uint64_t size = 0;
    std::vector<SharedPiece> pieces;
  };

  size_t PieceSize(size_t index) const;
  bool Update(int fd, bool only_shrink) const;

  std::shared_ptr<const Data> data_;
};

}  // namespace belljar::workspace

#endif  // BELLJAR_ENGINE_WORKSPACE_FILE_CONTENT_H_
