// Converts the artifacts of a run to contents of a result: images, small files in full, and links
// to the store for the rest.
#ifndef BELLJAR_SERVER_TOOLS_ARTIFACT_CONTENTS_H_
#define BELLJAR_SERVER_TOOLS_ARTIFACT_CONTENTS_H_

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "engine/core/bytes.h"
#include "engine/host/answer.h"
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
struct ContentBounds {
  ContentBound images;
  ContentBound embedded;
  // Text that is also included in the object, for programs that read nothing else.
  ContentBound small_texts;
  bool only_text;  // is embedded
};
// For a model, which pays per character: longer text and other content becomes a link.
inline constexpr ContentBounds kLeanContents = {
    .images = {8, core::Bytes::Mebi(1), core::Bytes::Mebi(3)},
    .embedded = {16, core::Bytes::Kibi(4), core::Bytes::Kibi(8)},
    .small_texts = {0, {0}, {0}},
    .only_text = true};
inline constexpr ContentBounds kFullContents = {
    .images = kLeanContents.images,
    .embedded = {16, core::Bytes::Kibi(32), core::Bytes::Kibi(128)},
    .small_texts = {16, core::Bytes::Kibi(4), core::Bytes::Kibi(16)},
    .only_text = false};
inline constexpr size_t kMaxLinks = 32;
// Maximum number of artifacts listed in the object.
inline constexpr size_t kMaxListed = 200;

// Moves the artifacts' contents into the store, under `owner`, and gives each artifact a URI that
// is not among `taken`. Only short texts keep their content in `outcome`. An artifact is inline if
// its content is in the answer.
std::vector<Content> TakeContents(host::Outcome& outcome, const ContentBounds& bounds,
                                  const std::string& owner, ResourceStore& store,
                                  std::set<std::string> taken = {});

// Stores the parts that a lean answer abridges. The result says where they are.
std::map<host::LongPart, std::string> KeepLongParts(const host::Outcome& outcome, size_t characters,
                                                    const std::string& owner, ResourceStore& store);

}  // namespace belljar::server::tools

#endif  // BELLJAR_SERVER_TOOLS_ARTIFACT_CONTENTS_H_
