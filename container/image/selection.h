// Selects which files of a tree go into an image.
#ifndef BELLJAR_CONTAINER_IMAGE_SELECTION_H_
#define BELLJAR_CONTAINER_IMAGE_SELECTION_H_

#include <filesystem>
#include <span>
#include <string>
#include <string_view>

namespace belljar::container::image {

// Each is called with paths of folders and files below the tree's root; a folder that is not
// selected is not searched. Byte code follows its source and is never passed.

// Python's own library, without what no guest and no package of a profile uses.
bool WantsOfStandardLibrary(const std::string& path);
// Installed packages: what they need when imported.
bool WantsOfPackages(const std::string& path);
// Time zones: each once, in the form that zoneinfo reads.
bool WantsOfTimeZones(const std::string& path);
// Certificate authorities: only the single bundle that libraries are configured to use. The other
// files are links, and a machine may have its own certificates among them.
bool WantsOfCertificates(const std::string& path);
bool WantsAll(const std::string& path);

// Whether `path` is `root` or below it. Both are real paths.
bool IsWithin(const std::filesystem::path& path, const std::filesystem::path& root);

bool IsAny(std::string_view text, std::span<const std::string_view> words);
bool StartsWithAny(std::string_view text, std::span<const std::string_view> prefixes);

}  // namespace belljar::container::image

#endif  // BELLJAR_CONTAINER_IMAGE_SELECTION_H_
