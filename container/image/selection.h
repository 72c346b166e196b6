// Which files of a tree go into an image.
#ifndef BELLJAR_CONTAINER_IMAGE_SELECTION_H_
#define BELLJAR_CONTAINER_IMAGE_SELECTION_H_

#include <string>

namespace belljar::container::image {

// Each is asked for folders and files by their paths below the tree's root; a folder that is not
// wanted is not looked into. Byte code is chosen with its source and never asked for.

// Python's own library: what no guest and no package of a profile gets to is left out.
bool WantsOfStandardLibrary(const std::string& path);
// Installed packages: what they need when they are imported.
bool WantsOfPackages(const std::string& path);
// Time zones: each once, in the form that zoneinfo reads.
bool WantsOfTimeZones(const std::string& path);
// Certificate authorities: all in the one file that libraries are told of. The others are links,
// and a machine may have certificates of its own beside them.
bool WantsOfCertificates(const std::string& path);
bool WantsAll(const std::string& path);

}  // namespace belljar::container::image

#endif  // BELLJAR_CONTAINER_IMAGE_SELECTION_H_
