// A small archive of an image, and the same with something else in it and every digest right: what
// somebody would make who wants it taken.
#ifndef BELLJAR_TESTS_CONTAINER_IMAGE_PARTS_H_
#define BELLJAR_TESTS_CONTAINER_IMAGE_PARTS_H_

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "container/image/archive.h"
#include "engine/host/digest.h"
#include "tests/container/image_support.h"

namespace belljar::tests {

inline container::image::ImageFiles SmallFiles(const std::string& text = "one line\n") {
  container::image::ImageFiles files;
  files.architecture = "amd64";
  files.folders = {"etc", "opt", "opt/belljar", "tmp"};
  files.files["etc/passwd"] = {container::image::ImageFile::Form::kText, "", text, false};
  files.files["opt/belljar/belljar-guest"] = {container::image::ImageFile::Form::kText, "",
                                              "program", true};
  return files;
}

inline container::image::ImageIdentity Identity() {
  return {.version = "1.2.3",
          .profile = "data-science+network",
          .python = "3.11.2",
          .inputs = "",
          .architecture = "amd64"};
}

inline container::image::ImageFacts Write(
    const std::string& path, const container::image::ImageFiles& files = SmallFiles()) {
  core::Result<container::image::ImageFacts> facts =
      container::image::WriteImage(files, Identity(), path, nullptr);
  EXPECT_TRUE(facts) << facts.error().ToString();
  return std::move(*facts);
}

// An archive taken apart, to be altered and put together again with every digest right.
struct Parts {
  container::image::ImageIdentity identity;
  std::string layer;
  nlohmann::ordered_json config;
  nlohmann::ordered_json manifest;
  nlohmann::ordered_json index;
  nlohmann::ordered_json docker;
  std::map<std::string, std::string> more;  // files by path

  // What follows from the layer and from what was altered before it.
  static std::string Digest(const std::string& text) { return "sha256:" + host::Sha256(text); }

  std::string Join() {
    std::map<std::string, std::string> files = more;
    const auto add = [&](const std::string& text) {
      files[std::string(container::image::kBlobFolder) + "/" + host::Sha256(text)] = text;
    };
    add(layer);
    add(config.dump());
    add(manifest.dump());
    files[container::image::kIndexName] = index.dump();
    files[container::image::kDockerName] = docker.dump();
    files[container::image::kLayoutName] = container::image::LayoutDocument();
    std::vector<TestEntry> entries = {Folder("blobs"), Folder(container::image::kBlobFolder)};
    for (const auto& [path, text] : files) entries.push_back(File(path, text));
    std::sort(entries.begin(), entries.end(),
              [](const TestEntry& a, const TestEntry& b) { return a.entry.path < b.entry.path; });
    return TarOf(entries);
  }

  // Makes the documents say the digests and sizes of what they name.
  Parts& Follow() {
    config["rootfs"]["diff_ids"][0] = Digest(layer);
    FollowConfig();
    return *this;
  }
  Parts& FollowConfig() {
    const std::string text = config.dump();
    manifest["layers"][0]["digest"] = Digest(layer);
    manifest["layers"][0]["size"] = layer.size();
    manifest["config"]["digest"] = Digest(text);
    manifest["config"]["size"] = text.size();
    docker[0]["Layers"][0] = std::string(container::image::kBlobFolder) + "/" + host::Sha256(layer);
    docker[0]["Config"] = std::string(container::image::kBlobFolder) + "/" + host::Sha256(text);
    return FollowManifest();
  }
  Parts& FollowManifest() {
    const std::string text = manifest.dump();
    index["manifests"][0]["digest"] = Digest(text);
    index["manifests"][0]["size"] = text.size();
    return *this;
  }
};

inline Parts TakeApart() {
  const TestFolder folder;
  const std::string path = folder.File("image.tar");
  const container::image::ImageFacts facts = Write(path);
  const std::string bytes = ReadText(path);
  std::map<std::string, std::string> files;
  std::string* last = nullptr;
  const core::Result<core::UniqueFd> fd = core::CreateMemoryFile("tar", bytes);
  const container::image::TarVisitor visitor{
      .entry = [&](const container::image::TarEntry& entry, uint64_t) -> core::Result<void> {
        last = &files[entry.path];
        return {};
      },
      .bytes = [&](std::string_view piece) -> core::Result<void> {
        *last += piece;
        return {};
      }};
  EXPECT_TRUE(container::image::ReadTar(fd->get(), 0, bytes.size(), visitor));
  Parts parts{facts.identity,
              files[container::image::BlobPath(facts.layer)],
              nlohmann::ordered_json::parse(files[container::image::BlobPath(facts.config)]),
              nlohmann::ordered_json::parse(files[container::image::BlobPath(facts.manifest)]),
              nlohmann::ordered_json::parse(files[container::image::kIndexName]),
              nlohmann::ordered_json::parse(files[container::image::kDockerName]),
              {}};
  EXPECT_EQ(parts.Join(), bytes) << "taking apart and joining alters nothing";
  return parts;
}

// Another layer, with the label that is right for it as far as it can be read.
inline Parts WithLayer(const std::vector<TestEntry>& entries) {
  Parts parts = TakeApart();
  parts.layer = TarOf(entries);
  return std::move(parts.Follow());
}

}  // namespace belljar::tests

#endif  // BELLJAR_TESTS_CONTAINER_IMAGE_PARTS_H_
