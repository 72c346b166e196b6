// An image as one file: a tar with an OCI image layout and docker's list beside it, which docker
// load, podman load and skopeo take.
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

// What an archive has, as far as it could be read.
struct ImageFacts {
  ImageIdentity identity;
  std::string reference;  // ImageReference
  Blob manifest;          // its digest is the image's
  Blob config;            // its digest is what docker calls the image's id
  Blob layer;
  ImageListing listing;
};

// How many bytes of files each part has.
std::map<ImagePart, uint64_t> BytesByPart(const ImageListing& listing);

// `identity` without the digest of the inputs, which is found here. `path` has all of it or is as
// it was before.
core::Result<ImageFacts> WriteImage(const ImageFiles& files, ImageIdentity identity,
                                    const std::string& path, const ImageProgress& progress);

struct ImageInspection {
  ImageFacts facts;
  std::vector<std::string> faults;  // what is wrong with it; with any, the facts are what it claims
};

// Reads all of the archive, which anybody may have written. An error is this machine's.
core::Result<ImageInspection> InspectImage(const std::string& path, const ImageProgress& progress);
// The same of `file`, a regular one, whatever its position. `unpack` is told what the layer has,
// before all of that is judged: with any fault, or an error, it is to be thrown away.
core::Result<ImageInspection> InspectImage(int file, const ImageProgress& progress,
                                           const TarVisitor& unpack);

// What of the image is otherwise than "belljar image build" would make it here and now, a sentence
// each. `here` is the identity and the listing of this installation.
std::vector<std::string> CompareImage(const ImageFacts& image, const ImageIdentity& identity,
                                      const ImageListing& here);

}  // namespace belljar::container::image

#endif  // BELLJAR_CONTAINER_IMAGE_ARCHIVE_H_
