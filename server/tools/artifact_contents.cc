#include "server/tools/artifact_contents.h"

#include <algorithm>
#include <memory>
#include <set>
#include <string_view>
#include <utility>

namespace belljar::server::tools {
namespace {

// The remaining share of one kind of content in a result.
class Share {
 public:
  explicit Share(const ContentBound& bound) : bound_(bound) {}

  bool Take(size_t bytes) {
    if (count_ == bound_.count || bytes > bound_.each.count) return false;
    if (bytes > bound_.together.count - bytes_) return false;
    ++count_;
    bytes_ += bytes;
    return true;
  }

 private:
  const ContentBound& bound_;
  size_t count_ = 0;
  uint64_t bytes_ = 0;
};

// Whether the content starts with the signature of its type. A model's host may reject a whole
// conversation because of one invalid image, and the guest chooses both name and content.
bool IsImage(std::string_view media_type, std::string_view bytes) {
  if (media_type == "image/png") return bytes.starts_with("\x89PNG\r\n\x1a\n");
  if (media_type == "image/jpeg") return bytes.starts_with("\xff\xd8\xff");
  if (media_type == "image/gif") return bytes.starts_with("GIF87a") || bytes.starts_with("GIF89a");
  // Hosts do not display SVG as an image, so it is sent as text.
  return media_type == "image/webp" && bytes.starts_with("RIFF") && bytes.size() >= 12 &&
         bytes.substr(8, 4) == "WEBP";
}

// Different file names may have the same printable form.
std::string FreeUri(const host::Outcome& outcome, const std::string& name,
                    std::set<std::string>& taken) {
  std::string uri = ArtifactUri(outcome.execution_id, name);
  for (int number = 2; !taken.insert(uri).second; ++number) {
    uri = ArtifactUri(outcome.execution_id, name) + "~" + std::to_string(number);
  }
  return uri;
}

// Displayed figures and tables take precedence over files.
void ListNoMoreThan(size_t max, host::Outcome& outcome) {
  if (outcome.artifacts.size() <= max) return;
  std::stable_partition(outcome.artifacts.begin(), outcome.artifacts.end(),
                        [](const host::Artifact& artifact) {
                          return artifact.origin == host::Artifact::Origin::kDisplay;
                        });
  outcome.artifacts_left_out += outcome.artifacts.size() - max;
  outcome.artifacts.resize(max);
}

void AddNote(host::Artifact& artifact, const char* note) {
  artifact.note += (artifact.note.empty() ? "" : "; ") + std::string(note);
}

}  // namespace

std::vector<Content> TakeContents(host::Outcome& outcome, const ContentBounds& bounds,
                                  const std::string& owner, ResourceStore& store,
                                  std::set<std::string> taken) {
  ListNoMoreThan(kMaxListed, outcome);
  Share images(bounds.images), embedded(bounds.embedded), small_texts(bounds.small_texts);
  size_t links = 0;
  std::vector<Content> contents;
  for (host::Artifact& artifact : outcome.artifacts) {
    if (!artifact.content) continue;
    Content content;
    Resource& resource = content.resource;
    resource.name = artifact.name;
    resource.media_type = artifact.media_type;
    resource.is_text = host::HoldsText(artifact);
    const bool is_small = resource.is_text && small_texts.Take(artifact.content->size());
    resource.bytes = std::make_shared<const std::string>(is_small ? *artifact.content
                                                                  : std::move(*artifact.content));
    artifact.is_inline = is_small;
    if (!is_small) artifact.content.reset();
    const std::string& bytes = *resource.bytes;
    resource.uri = FreeUri(outcome, artifact.name, taken);
    const bool is_kept = store.Keep(owner, resource);
    if (is_kept) artifact.uri = resource.uri;
    // The value's text has its head and tail, and says where to read the whole.
    const bool is_table = artifact.origin == host::Artifact::Origin::kDisplay && resource.is_text;
    const bool may_embed = !bounds.only_text || (resource.is_text && !is_table);
    if (IsImage(artifact.media_type, bytes) && images.Take(bytes.size())) {
      content.kind = Content::Kind::kImage;
    } else if (may_embed && embedded.Take(bytes.size())) {
      content.kind = Content::Kind::kEmbedded;
    } else if (is_kept) {
      artifact.is_inline = false;
      if (bounds.only_text && is_table) continue;
      if (++links > kMaxLinks) continue;  // its URI is in the list
      content.kind = Content::Kind::kLink;
    } else {
      AddNote(artifact, "too large to be sent or kept");
      continue;
    }
    artifact.is_inline = is_small || content.kind != Content::Kind::kLink;
    contents.push_back(std::move(content));
  }
  return contents;
}

std::map<host::LongPart, std::string> KeepLongParts(const host::Outcome& outcome, size_t characters,
                                                    const std::string& owner,
                                                    ResourceStore& store) {
  std::map<host::LongPart, std::string> uris;
  for (host::WholePart& whole : host::LongPartsOf(outcome, characters)) {
    const std::string uri = ArtifactUri(outcome.execution_id, whole.name);
    const Resource resource{.uri = uri,
                            .name = whole.name,
                            .media_type = whole.media_type,
                            .is_text = true,
                            .bytes = std::make_shared<const std::string>(std::move(whole.text))};
    if (store.Keep(owner, resource)) uris[whole.part] = uri;
  }
  return uris;
}

}  // namespace belljar::server::tools
