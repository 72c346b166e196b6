// ScratchFolder: owns the folder at a path. Its end removes it with all that is in it, if it
// exists, unless it was kept.
#ifndef BELLJAR_ENGINE_HOST_SCRATCH_FOLDER_H_
#define BELLJAR_ENGINE_HOST_SCRATCH_FOLDER_H_

#include <filesystem>
#include <string>
#include <system_error>
#include <utility>

namespace belljar::host {

class ScratchFolder {
 public:
  explicit ScratchFolder(std::string path) : path_(std::move(path)) {}
  ScratchFolder(ScratchFolder&& other) noexcept : path_(std::exchange(other.path_, "")) {}
  ScratchFolder& operator=(ScratchFolder&&) = delete;
  ~ScratchFolder() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }

  const std::string& path() const { return path_; }
  void Keep() { path_.clear(); }

 private:
  std::string path_;  // empty: kept, or moved away
};

}  // namespace belljar::host

#endif  // BELLJAR_ENGINE_HOST_SCRATCH_FOLDER_H_
