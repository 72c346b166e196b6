// Converts the artifacts of a run to contents of a result: images, small files in full, and links
// to the store for the rest.
#ifndef BELLJAR_SERVER_TOOLS_ARTIFACT_CONTENTS_H_
#define BELLJAR_SERVER_TOOLS_ARTIFACT_CONTENTS_H_

#include <cstddef>
#include <string>
#include <vector>

#include "engine/core/bytes.h"
#include "engine/host/outcome.h"
#include "server/core/content.h"
#include "server/core/resource_store.h"

namespace belljar::server::tools {

// Limits of one kind of content per result: number, size of each and total size. Artifacts beyond
// these become links; links are limited only in number.
struct ContentBound {
  size_t count;
  core::Bytes each;
  core::Bytes together;
};
inline constexpr ContentBound kImages = {8, core::Bytes::Mebi(1), core::Bytes::Mebi(3)};
inline constexpr ContentBound kEmbedded = {16, core::Bytes::Kibi(32), core::Bytes::Kibi(128)};
inline constexpr size_t kMaxLinks = 32;
// Text that is also included in the object, for programs that read nothing else.
inline constexpr ContentBound kSmallTexts = {16, core::Bytes::Kibi(4), core::Bytes::Kibi(16)};
// Maximum number of artifacts listed in the object.
inline constexpr size_t kMaxListed = 200;

// Moves the artifacts' contents into the store, under `owner`, and gives each artifact its URI.
// Only kSmallTexts keep their content in `outcome`.
std::vector<Content> TakeContents(host::Outcome& outcome, const std::string& owner,
                                  ResourceStore& store);

}  // namespace belljar::server::tools

#endif  // BELLJAR_SERVER_TOOLS_ARTIFACT_CONTENTS_H_
