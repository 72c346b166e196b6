// The single layer of an image: its files as a tar, and the list of them with digests.
#ifndef BELLJAR_CONTAINER_IMAGE_LAYER_H_
#define BELLJAR_CONTAINER_IMAGE_LAYER_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "container/image/image_files.h"
#include "container/image/tar.h"
#include "engine/core/result.h"

namespace belljar::container::image {

struct ListedEntry {
  TarEntry entry;
  std::string digest;  // SHA-256 of a file's content; empty for a folder

  bool operator==(const ListedEntry& other) const;
};

// Sorted by path.
using ImageListing = std::vector<ListedEntry>;

// Digest of paths, modes, sizes and content: what an image was made of, independent of its form.
std::string ListingDigest(const ImageListing& listing);

struct Layer {
  TarSummary tar;
  ImageListing listing;
};

// Progress of a long operation: `done` of `total` bytes or files.
using ImageProgress = std::function<void(uint64_t done, uint64_t total)>;

core::Result<Layer> WriteLayer(const ImageFiles& files, int fd, const ImageProgress& progress);
// The same list without writing anything.
core::Result<ImageListing> ListFiles(const ImageFiles& files, const ImageProgress& progress);
// Like ReadTar, with its errors. `also` receives the same entries; may be empty.
core::Result<Layer> ReadLayer(int fd, uint64_t offset, uint64_t size, const ImageProgress& progress,
                              const TarVisitor& also = {});

}  // namespace belljar::container::image

#endif  // BELLJAR_CONTAINER_IMAGE_LAYER_H_
