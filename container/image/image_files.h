// The content of an image: files of this installation, each with its path in the image.
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
#include "engine/installation/installation.h"

namespace belljar::container::image {

// Where Belljar is in an image, laid out as in a build tree: the programs, with share/belljar next
// to them.
inline constexpr char kImagePrefix[] = "opt/belljar";
inline constexpr char kGuestProgram[] = "belljar-guest";
inline constexpr char kZygoteProgram[] = "belljar-zygote";
inline constexpr char kLauncherProgram[] = "belljar-launcher";  // for other languages
// Used instead of the zygote: the modules that turn an interpreter into the zygote, and a file with
// the interpreter's path.
inline constexpr char kZygoteModule[] = "belljar-zygote.so";
inline constexpr char kPreloadModule[] = "belljar-preload.so";
inline constexpr char kInterpreterFile[] = "interpreter";

// A user that owns nothing.
inline constexpr unsigned kImageUser = 65534;

// For reports of where the bytes are.
enum class ImagePart { kPrograms, kLibraries, kStandardLibrary, kPolicy, kPackages, kData };
inline constexpr ImagePart kImageParts[] = {ImagePart::kPrograms,        ImagePart::kLibraries,
                                            ImagePart::kStandardLibrary, ImagePart::kPolicy,
                                            ImagePart::kPackages,        ImagePart::kData};
// "standard library".
const char* ImagePartName(ImagePart part);
// The part of a file at `path` in an image.
ImagePart PartOf(const std::string& path);

struct ImageFile {
  enum class Form { kCopy, kProgram, kByteCode, kText };

  Form form = Form::kCopy;  // our own programs are stripped of debug information
  std::string source;       // path on this machine; for byte code, of the byte code
  std::string text;         // the content (kText); the path of the Python source (kByteCode)
  bool is_program = false;
};

struct ImageRequest {
  installation::Installation installation;
  core::Profile profile;     // or a language's, as profiles::Installed
  std::string profile_file;  // an operator's own profile or language; empty: the installation's
  std::map<std::string, std::string> texts = {};  // further files of share/belljar, by path
  std::string guest;                              // path of the program that a container starts
  // Folders of package sets that are not in the installation's default place, by set name.
  std::map<std::string, std::string> package_paths;
};

struct ImageFiles {
  std::map<std::string, ImageFile> files;  // by path in the image
  std::set<std::string> folders;           // all of them, including parents
  std::string architecture;                // "amd64"
  std::vector<std::string> left_out;       // what users may miss, one sentence each
};

// The path of belljar-guest, in an installation or a build tree.
std::string GuestProgramPath(const installation::Installation& installation);

// An error names what is missing and what to do.
core::Result<ImageFiles> CollectImageFiles(const ImageRequest& request);

// The content of `file` in the image. nullopt: byte code that no longer matches its source.
core::Result<std::optional<std::string>> ReadContent(const ImageFile& file);

}  // namespace belljar::container::image

#endif  // BELLJAR_CONTAINER_IMAGE_IMAGE_FILES_H_
