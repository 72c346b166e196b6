// An image as one file: a tar with an OCI image layout and docker's manifest, which docker load,
// podman load and skopeo accept.
#ifndef BELLJAR_CONTAINER_IMAGE_ARCHIVE_H_
#define BELLJAR_CONTAINER_IMAGE_ARCHIVE_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "container/image/documents.h"
#include "container/image/image_files.h"
#include "container/image/layer.h"
#include "engine/core/result.h"

namespace belljar::container::image {

// The facts about an archive, as far as it could be read.
struct ImageFacts {
  ImageIdentity identity;
  std::string reference;  // ImageReference
  Blob manifest;          // its digest is that of the image
  Blob config;            // its digest is docker's image id
  Blob layer;
  ImageListing listing;
};

// The total size of the files of each part.
std::map<ImagePart, uint64_t> BytesByPart(const ImageListing& listing);

// `identity` without the digest of the inputs, which is computed here. `path` is either written
// completely or left unchanged.
core::Result<ImageFacts> WriteImage(const ImageFiles& files, ImageIdentity identity,
                                    const std::string& path, const ImageProgress& progress);

struct ImageInspection {
  ImageFacts facts;
  std::vector<std::string>
      faults;  // what is wrong with it; if not empty, the facts are only claims
};

// Reads the whole archive, which is untrusted. An error is this machine's.
core::Result<ImageInspection> InspectImage(const std::string& path, const ImageProgress& progress);
// The same for the regular file `file`, whatever its position. `unpack` receives the layer's
// entries before the whole layer has been checked: after any fault or error, discard what it made.
core::Result<ImageInspection> InspectImage(int file, const ImageProgress& progress,
                                           const TarVisitor& unpack);

// The differences to what "belljar image build" would produce here and now, one sentence each.
// `here` is the identity and the listing of this installation.
std::vector<std::string> CompareImage(const ImageFacts& image, const ImageIdentity& identity,
                                      const ImageListing& here);

}  // namespace belljar::container::image

#endif  // BELLJAR_CONTAINER_IMAGE_ARCHIVE_H_
