#include "container/image/documents.h"

#include <nlohmann/json.hpp>

#include "container/image/image_files.h"
#include "engine/core/text.h"
#include "engine/host/digest.h"
#include "engine/host/json_reader.h"

namespace belljar::container::image {
namespace {

using Json = nlohmann::ordered_json;

constexpr char kIndexType[] = "application/vnd.oci.image.index.v1+json";
constexpr char kManifestType[] = "application/vnd.oci.image.manifest.v1+json";
constexpr char kConfigType[] = "application/vnd.oci.image.config.v1+json";
// Not compressed: an engine on the same machine would unpack it immediately, and its digest is that
// of the tar, independent of a compressor's version.
constexpr char kLayerType[] = "application/vnd.oci.image.layer.v1.tar";

constexpr char kDigestPrefix[] = "sha256:";
// The build time would be an additional input.
constexpr char kDate[] = "1970-01-01T00:00:00Z";
constexpr host::JsonBounds kBounds{.depth = 16, .values = 10'000};

Json Descriptor(const char* type, const Blob& blob) {
  return {{"mediaType", type}, {"digest", kDigestPrefix + blob.digest}, {"size", blob.size}};
}

core::Error Fault(const char* document, const std::string& what) {
  return core::MakeError(std::string("read its ") + document, what);
}

core::Result<nlohmann::json> Parse(const char* document, std::string_view text) {
  host::JsonReading reading = host::ReadJson(text, kBounds);
  if (std::holds_alternative<host::JsonFailure>(reading)) return Fault(document, "it is no JSON");
  return std::move(std::get<nlohmann::json>(reading));
}

// The value at `pointer`; null if there is none.
const nlohmann::json& At(const nlohmann::json& json, const char* pointer) {
  static const nlohmann::json kNull;
  const nlohmann::json::json_pointer place(pointer);
  return json.contains(place) ? json.at(place) : kNull;
}

std::string TextAt(const nlohmann::json& json, const char* pointer) {
  const nlohmann::json& value = At(json, pointer);
  return value.is_string() ? value.get<std::string>() : "";
}

core::Result<Blob> ReadDescriptor(const char* document, const nlohmann::json& json,
                                  const char* type) {
  if (TextAt(json, "/mediaType") != type) {
    return Fault(document, "it does not name " + std::string(type));
  }
  const std::string digest = TextAt(json, "/digest");
  if (!digest.starts_with(kDigestPrefix) || !core::IsHex(std::string_view(digest).substr(7), 64)) {
    return Fault(document, "it has no SHA-256 digest of " + std::string(type));
  }
  const nlohmann::json& size = At(json, "/size");
  if (!size.is_number_unsigned()) return Fault(document, "a size is missing");
  return Blob{digest.substr(7), size.get<uint64_t>()};
}

}  // namespace

std::string ImageReference(const ImageIdentity& identity) {
  std::string tag = identity.version + "-" + identity.profile;
  std::replace(tag.begin(), tag.end(), '+', '_');
  return "belljar:" + tag;
}

std::string ImageProfile(const core::Profile& profile) {
  return (profile.program ? kLanguagePrefix : "") + profile.name;
}

std::map<std::string, std::string> ImageLabels(const ImageIdentity& identity) {
  return {{"org.opencontainers.image.title", "belljar"},
          {"org.opencontainers.image.description",
           "Runs one untrusted program, sealed; profile " + identity.profile},
          {"org.opencontainers.image.version", identity.version},
          {"org.opencontainers.image.created", kDate},
          {kVersionLabel, identity.version},
          {kProfileLabel, identity.profile},
          {kPythonLabel, identity.python},
          {kInputsLabel, kDigestPrefix + identity.inputs}};
}

Blob BlobOf(std::string_view bytes) { return {host::Sha256(bytes), bytes.size()}; }

std::string BlobPath(const Blob& blob) { return std::string(kBlobFolder) + "/" + blob.digest; }

std::string ConfigDocument(const ImageIdentity& identity, const Blob& layer) {
  const std::string user = std::to_string(kImageUser) + ":" + std::to_string(kImageUser);
  const std::string prefix = kImagePrefix;
  return Json{
      {"created", kDate},
      {"architecture", identity.architecture},
      {"os", "linux"},
      {"config",
       {{"User", user},
        {"Env", Json::array({"PATH=/" + prefix, "LANG=C.UTF-8"})},
        {"Entrypoint", Json::array({"/" + prefix + "/" + kGuestProgram})},
        {"WorkingDir", "/"},
        {"Labels", ImageLabels(identity)}}},
      {"rootfs", {{"type", "layers"}, {"diff_ids", Json::array({kDigestPrefix + layer.digest})}}},
      {"history", Json::array({Json{{"created", kDate}, {"created_by", "belljar image build"}}})}}
      .dump();
}

std::string ManifestDocument(const Blob& config, const Blob& layer) {
  return Json{{"schemaVersion", 2},
              {"mediaType", kManifestType},
              {"config", Descriptor(kConfigType, config)},
              {"layers", Json::array({Descriptor(kLayerType, layer)})}}
      .dump();
}

std::string IndexDocument(const ImageIdentity& identity, const Blob& manifest) {
  Json descriptor = Descriptor(kManifestType, manifest);
  descriptor["platform"] = {{"architecture", identity.architecture}, {"os", "linux"}};
  // Podman and skopeo use the first, containerd the second.
  descriptor["annotations"] = {
      {"org.opencontainers.image.ref.name", ImageReference(identity)},
      {"io.containerd.image.name", "docker.io/library/" + ImageReference(identity)}};
  return Json{{"schemaVersion", 2},
              {"mediaType", kIndexType},
              {"manifests", Json::array({std::move(descriptor)})}}
      .dump();
}

std::string DockerDocument(const ImageIdentity& identity, const Blob& config, const Blob& layer) {
  const Json image = {{"Config", BlobPath(config)},
                      {"RepoTags", Json::array({ImageReference(identity)})},
                      {"Layers", Json::array({BlobPath(layer)})}};
  return Json::array({image}).dump();
}

std::string LayoutDocument() { return R"({"imageLayoutVersion":"1.0.0"})"; }

core::Result<Blob> ParseIndex(std::string_view document) {
  core::Result<nlohmann::json> json = Parse(kIndexName, document);
  if (!json) return json.error();
  const nlohmann::json& manifests = At(*json, "/manifests");
  if (!manifests.is_array() || manifests.size() != 1) {
    return Fault(kIndexName, "it does not have exactly one image");
  }
  return ReadDescriptor(kIndexName, manifests[0], kManifestType);
}

core::Result<ParsedManifest> ParseManifest(std::string_view document) {
  core::Result<nlohmann::json> json = Parse("manifest", document);
  if (!json) return json.error();
  const nlohmann::json& layers = At(*json, "/layers");
  if (!layers.is_array() || layers.size() != 1) {
    return Fault("manifest", "it does not have exactly one layer");
  }
  core::Result<Blob> config = ReadDescriptor("manifest", At(*json, "/config"), kConfigType);
  if (!config) return config.error();
  core::Result<Blob> layer = ReadDescriptor("manifest", layers[0], kLayerType);
  if (!layer) return layer.error();
  return ParsedManifest{std::move(*config), std::move(*layer)};
}

core::Result<ParsedConfig> ParseConfig(std::string_view document) {
  core::Result<nlohmann::json> json = Parse("configuration", document);
  if (!json) return json.error();
  const auto label = [&](const char* name) {
    return TextAt(*json, ("/config/Labels/" + std::string(name)).c_str());
  };
  ParsedConfig parsed;
  parsed.identity = {label(kVersionLabel), label(kProfileLabel), label(kPythonLabel),
                     label(kInputsLabel), TextAt(*json, "/architecture")};
  for (std::string* digest : {&parsed.identity.inputs, &parsed.layer}) {
    if (digest == &parsed.layer) *digest = TextAt(*json, "/rootfs/diff_ids/0");
    if (!digest->starts_with(kDigestPrefix) ||
        !core::IsHex(std::string_view(*digest).substr(7), 64)) {
      return Fault("configuration", digest == &parsed.layer
                                        ? "it does not name its layer"
                                        : "it has no labels of \"belljar image build\"");
    }
    digest->erase(0, 7);
  }
  if (parsed.identity.version.empty() || parsed.identity.profile.empty() ||
      parsed.identity.python.empty() || parsed.identity.architecture.empty()) {
    return Fault("configuration", "a label of \"belljar image build\" is missing");
  }
  return parsed;
}

}  // namespace belljar::container::image
