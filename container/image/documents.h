// The JSON documents of an image: the OCI image layout, and docker's manifest.json.
// https://github.com/opencontainers/image-spec
#ifndef BELLJAR_CONTAINER_IMAGE_DOCUMENTS_H_
#define BELLJAR_CONTAINER_IMAGE_DOCUMENTS_H_

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "engine/core/profile.h"
#include "engine/core/result.h"

namespace belljar::container::image {

inline constexpr char kIndexName[] = "index.json";      // OCI: the list of images
inline constexpr char kLayoutName[] = "oci-layout";     // OCI: marks the layout
inline constexpr char kDockerName[] = "manifest.json";  // for docker load, also before version 25
inline constexpr char kBlobFolder[] = "blobs/sha256";

// The information in the labels.
struct ImageIdentity {
  std::string version;  // of Belljar
  std::string profile;  // "data-science+network"
  std::string python;   // "3.11.2"
  std::string inputs;   // ListingDigest, in hexadecimal
  std::string architecture;

  bool operator==(const ImageIdentity&) const = default;
};

// Names of the labels, for querying an engine about an image.
inline constexpr char kVersionLabel[] = "belljar.version";
inline constexpr char kProfileLabel[] = "belljar.profile";
inline constexpr char kPythonLabel[] = "belljar.python";
inline constexpr char kInputsLabel[] = "belljar.inputs";

// What an image is labelled with as its profile: a language's name has a prefix.
inline constexpr char kLanguagePrefix[] = "language-";
std::string ImageProfile(const core::Profile& profile);

// All labels of an image, by name.
std::map<std::string, std::string> ImageLabels(const ImageIdentity& identity);

// The engine's name for it: "belljar:0.1.0-data-science_network" (a tag cannot contain a plus
// sign).
std::string ImageReference(const ImageIdentity& identity);

struct Blob {
  std::string digest;  // 64 digits
  uint64_t size = 0;
};
Blob BlobOf(std::string_view bytes);
// "blobs/sha256/9f86…".
std::string BlobPath(const Blob& blob);

std::string ConfigDocument(const ImageIdentity& identity, const Blob& layer);
std::string ManifestDocument(const Blob& config, const Blob& layer);
std::string IndexDocument(const ImageIdentity& identity, const Blob& manifest);
std::string DockerDocument(const ImageIdentity& identity, const Blob& config, const Blob& layer);
std::string LayoutDocument();

// Parsers for the documents, which are untrusted. An error says what is wrong.
core::Result<Blob> ParseIndex(std::string_view document);
struct ParsedManifest {
  Blob config;
  Blob layer;
};
core::Result<ParsedManifest> ParseManifest(std::string_view document);
struct ParsedConfig {
  ImageIdentity identity;
  std::string layer;  // its digest
};
core::Result<ParsedConfig> ParseConfig(std::string_view document);

}  // namespace belljar::container::image

#endif  // BELLJAR_CONTAINER_IMAGE_DOCUMENTS_H_
