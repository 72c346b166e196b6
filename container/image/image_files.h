// What is in an image: files of this installation, each with its place in the image.
//
//   Result<ImageFiles> files = CollectImageFiles({.installation = …, .profile = …});
//   for (const auto& [path, file] : files->files) … ReadContent(file) …
#ifndef BELLJAR_CONTAINER_IMAGE_IMAGE_FILES_H_
#define BELLJAR_CONTAINER_IMAGE_IMAGE_FILES_H_

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "engine/core/profile.h"
#include "engine/core/result.h"
#include "engine/outside/installation.h"

namespace belljar::container::image {

// Where Belljar is in an image, as in a build tree: the programs, and share/belljar beside them.
inline constexpr char kImagePrefix[] = "opt/belljar";
inline constexpr char kGuestProgram[] = "belljar-guest";
inline constexpr char kZygoteProgram[] = "belljar-zygote";
// In place of it, what an interpreter becomes the zygote by, and a file with that one's path.
inline constexpr char kZygoteModule[] = "belljar-zygote.so";
inline constexpr char kPreloadModule[] = "belljar-preload.so";
inline constexpr char kInterpreterFile[] = "interpreter";

// The user that nothing belongs to.
inline constexpr unsigned kImageUser = 65534;

// For whoever asks where the bytes are.
enum class ImagePart { kPrograms, kLibraries, kStandardLibrary, kPolicy, kPackages, kData };
inline constexpr ImagePart kImageParts[] = {ImagePart::kPrograms,        ImagePart::kLibraries,
                                            ImagePart::kStandardLibrary, ImagePart::kPolicy,
                                            ImagePart::kPackages,        ImagePart::kData};
// "standard library".
const char* ImagePartName(ImagePart part);
// Of a file at `path` in an image.
ImagePart PartOf(const std::string& path);

struct ImageFile {
  enum class Form { kCopy, kProgram, kByteCode, kText };

  Form form = Form::kCopy;  // a program of ours comes without what only debuggers read
  std::string source;       // path on this machine; of byte code, that of the byte code
  std::string text;         // the content itself (kText); the path of the Python source (kByteCode)
  bool is_program = false;
};

struct ImageRequest {
  outside::Installation installation;
  core::Profile profile;
  std::string profile_file;  // of an operator's own profile; empty: it is one of the installation
  std::string guest;         // path of the program that a container starts
  // Folders of sets that do not lie where the installation has its own, by the names of the sets.
  std::map<std::string, std::string> package_paths;
};

struct ImageFiles {
  std::map<std::string, ImageFile> files;  // by path in the image
  std::set<std::string> folders;           // all of them, parents too
  std::string architecture;                // "amd64"
  std::vector<std::string> left_out;       // what somebody may miss, a sentence each
};

// Where belljar-guest is, in an installation and in a build tree.
std::string GuestProgramPath(const outside::Installation& installation);

// An error names what is missing and what to do.
core::Result<ImageFiles> CollectImageFiles(const ImageRequest& request);

// The bytes that the image has of `file`. Nothing: byte code that is not of its source any more.
core::Result<std::optional<std::string>> ReadContent(const ImageFile& file);

}  // namespace belljar::container::image

#endif  // BELLJAR_CONTAINER_IMAGE_IMAGE_FILES_H_
