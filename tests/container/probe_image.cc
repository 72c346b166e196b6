#include "tests/container/probe_image.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "engine/core/digest.h"
#include "engine/core/fd.h"

namespace belljar {
namespace {

constexpr size_t kBlock = 512;

void Octal(std::string& header, size_t offset, size_t width, uint64_t value) {
  char text[32];
  snprintf(text, sizeof text, "%0*llo", static_cast<int>(width - 1),
           static_cast<unsigned long long>(value));
  header.replace(offset, width - 1, text);
}

// POSIX.1-1988 (ustar).
std::string Member(std::string_view name, std::string_view content, char type = '0',
                   std::string_view link = {}) {
  std::string header(kBlock, '\0');
  header.replace(0, name.size(), name);
  Octal(header, 100, 8, type == '5' ? 0777 : 0755);
  Octal(header, 108, 8, 0);
  Octal(header, 116, 8, 0);
  Octal(header, 124, 12, content.size());
  Octal(header, 136, 12, 0);
  header[156] = type;
  header.replace(157, link.size(), link);
  header.replace(257, 8, std::string_view("ustar\00000", 8));
  header.replace(148, 8, 8, ' ');
  unsigned sum = 0;
  for (const char c : header) sum += static_cast<unsigned char>(c);
  Octal(header, 148, 7, sum);
  header[154] = '\0';
  header += content;
  header.resize((header.size() + kBlock - 1) / kBlock * kBlock);
  return header;
}

std::string Tar(std::string members) { return members.append(2 * kBlock, '\0'); }

}  // namespace

std::string ProbeProgram() { return BELLJAR_CONTAINER_PROBE; }

std::string ProbeImage(const std::vector<TarMember>& more) {
  const Result<std::string> probe = ReadFile(BELLJAR_CONTAINER_PROBE, 16 << 20);
  if (!probe) abort();
  std::string members = Member("probe", *probe) + Member("tmp/", "", '5');
  for (const TarMember& each : more) {
    members += Member(each.name, each.content, each.type, each.link);
  }
  const std::string layer = Tar(std::move(members));
  const nlohmann::json config = {
      {"architecture", "amd64"},
      {"os", "linux"},
      {"config", {{"Entrypoint", {"/probe"}}, {"Labels", {{"dev.belljar.test", "probe"}}}}},
      {"rootfs", {{"type", "layers"}, {"diff_ids", {"sha256:" + Sha256(layer)}}}}};
  const nlohmann::json manifest = {
      {{"Config", "config.json"}, {"RepoTags", {kProbeImage}}, {"Layers", {"layer.tar"}}}};
  return Tar(Member("config.json", config.dump()) + Member("layer.tar", layer) +
             Member("manifest.json", manifest.dump()));
}

}  // namespace belljar
