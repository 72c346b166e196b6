// The one layer of an image: its files as a tar, and the list of them by digest.
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
  std::string digest;  // SHA-256 of a file's bytes; of a folder empty

  bool operator==(const ListedEntry& other) const;
};

// In order of their paths.
using ImageListing = std::vector<ListedEntry>;

// Of paths, modes, sizes and content: what an image was made of, whatever form it has.
std::string ListingDigest(const ImageListing& listing);

struct Layer {
  TarSummary tar;
  ImageListing listing;
};

// How far a long piece of work is: of `total` bytes or files, `done`.
using ImageProgress = std::function<void(uint64_t done, uint64_t total)>;

core::Result<Layer> WriteLayer(const ImageFiles& files, int fd, const ImageProgress& progress);
// The same list without writing anything.
core::Result<ImageListing> ListFiles(const ImageFiles& files, const ImageProgress& progress);
// As ReadTar, with its errors. `also` is told the same; may be empty.
core::Result<Layer> ReadLayer(int fd, uint64_t offset, uint64_t size, const ImageProgress& progress,
                              const TarVisitor& also = {});

}  // namespace belljar::container::image

#endif  // BELLJAR_CONTAINER_IMAGE_LAYER_H_
