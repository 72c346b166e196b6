#include "container/packages/package_lock.h"

#include <algorithm>
#include <limits>
#include <tuple>

#include "container/wire/fields.h"
#include "engine/core/text.h"
#include "engine/host/beneath.h"
#include "engine/host/digest.h"

namespace belljar::container::packages {
namespace {

using nlohmann::json;

constexpr uint64_t kSchema = 2;         // 1: without scripts
constexpr size_t kMaxLockedName = 220;  // of npm, with the prefix
constexpr size_t kMaxVersion = 100;
constexpr size_t kMaxLockedAddress = 2048;
constexpr size_t kDigestSize = 64;

// Displayed and written as "name==version".
bool IsVersion(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           std::string_view(".!+_-").find(c) != std::string_view::npos;
  });
}

LockedPackage ReadPackage(const json& form, bool is_npm) {
  wire::Fields fields(form);
  LockedPackage package;
  package.name = fields.Text("name", kMaxLockedName);
  package.version = fields.Text("version", kMaxVersion);
  package.file = fields.Text("file", host::kMaxPathPart);
  package.sha256 = fields.Text("sha256", kDigestSize);
  fields.End();
  const core::Result<std::vector<PackageRequirement>> name = ParseRequirements({package.name});
  const bool is_name = name && name->front().ToString() == package.name;
  if (!is_name || name->front().is_npm() != is_npm)
    throw wire::FormError("name is not a package name");
  if (!IsVersion(package.version)) throw wire::FormError("version is invalid");
  const bool is_file = package.file.ends_with(is_npm ? ".tgz" : ".whl") &&
                       !host::PathFault(package.file) &&
                       package.file.find('/') == package.file.npos;
  if (!is_file) throw wire::FormError("file is not the name of a wheel, or of an archive of npm");
  if (!core::IsHex(package.sha256, kDigestSize)) throw wire::FormError("sha256 is invalid");
  return package;
}

json ToForm(const LockedPackage& package) {
  return {{"name", package.name},
          {"version", package.version},
          {"file", package.file},
          {"sha256", package.sha256}};
}

json ToForm(const PackageQuestion& question) {
  return {{"requirements", question.requirements},
          {"runtime", question.runtime},
          {"architecture", question.architecture},
          {"index", question.index}};
}

PackageQuestion ReadQuestion(const json& form) {
  wire::Fields fields(form);
  PackageQuestion question;
  question.requirements =
      fields.TextsOrNull("requirements", kMaxRequirements, kMaxLockedRequirement)
          .value_or(std::vector<std::string>());
  question.runtime = fields.Text("runtime", kMaxVersion);
  question.architecture = fields.Text("architecture", kMaxVersion);
  question.index = fields.Text("index", kMaxLockedAddress);
  fields.End();
  return question;
}

json ToForm(const TreeFacts& tree) {
  return {{"sha256", tree.sha256},
          {"files", tree.files},
          {"bytes", tree.bytes},
          {"modules", tree.modules}};
}

TreeFacts ReadTreeFacts(const json& form) {
  wire::Fields fields(form);
  TreeFacts tree;
  tree.sha256 = fields.Text("sha256", kDigestSize);
  tree.files = fields.Number("files", std::numeric_limits<uint64_t>::max());
  tree.bytes = fields.Number("bytes", std::numeric_limits<uint64_t>::max());
  tree.modules = fields.TextsOrNull("modules", kMaxModules, host::kMaxPath)
                     .value_or(std::vector<std::string>());
  fields.End();
  if (!core::IsHex(tree.sha256, kDigestSize))
    throw wire::FormError("sha256 of the tree is invalid");
  if (!std::all_of(tree.modules.begin(), tree.modules.end(), IsModuleName)) {
    throw wire::FormError("modules has an invalid name");
  }
  return tree;
}

PackageLock ReadLock(const json& form) {
  wire::Fields fields(form);
  PackageLock lock;
  if (fields.Number("schema", kSchema) != kSchema) throw wire::FormError("schema is not supported");
  lock.question = ReadQuestion(fields.Any("request"));
  lock.packages =
      ReadPackageList(fields.List("packages", kMaxDistributions), lock.question.is_npm());
  lock.tree = ReadTreeFacts(fields.Any("tree"));
  fields.End();
  return lock;
}

}  // namespace

std::string PackageQuestion::Key() const {
  return host::Sha256(std::to_string(kSchema) + ToForm(*this).dump());
}

std::string LockedPackage::ToString() const {
  return name + (name.starts_with(kNpmPrefix) ? "@" : "==") + version;
}

std::vector<std::string> Names(const std::vector<LockedPackage>& packages) {
  std::vector<std::string> names;
  names.reserve(packages.size());
  for (const LockedPackage& package : packages) names.push_back(package.ToString());
  return names;
}

std::vector<LockedPackage> ReadPackageList(const json& list, bool is_npm) {
  if (!list.is_array() || list.empty() || list.size() > kMaxDistributions) {
    throw wire::FormError("packages must be a non-empty list");
  }
  std::vector<LockedPackage> packages;
  for (const json& form : list) packages.push_back(ReadPackage(form, is_npm));
  std::sort(packages.begin(), packages.end(), [](const LockedPackage& a, const LockedPackage& b) {
    return std::tie(a.name, a.version) < std::tie(b.name, b.version);
  });
  const auto twice = std::adjacent_find(
      packages.begin(), packages.end(), [&](const LockedPackage& a, const LockedPackage& b) {
        return a.name == b.name && (!is_npm || a.version == b.version);
      });
  if (twice != packages.end()) throw wire::FormError("packages has duplicates");
  return packages;
}

std::string PackageLockToText(const PackageLock& lock) {
  json packages = json::array();
  for (const LockedPackage& package : lock.packages) packages.push_back(ToForm(package));
  const json form = {{"schema", kSchema},
                     {"request", ToForm(lock.question)},
                     {"packages", std::move(packages)},
                     {"tree", ToForm(lock.tree)}};
  return form.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

core::Result<PackageLock> PackageLockFromText(std::string_view text) {
  PackageLock lock;
  core::Result<void> read =
      wire::ReadForm(text, {.depth = 8, .values = 64 * 1024}, "read lock.json",
                     [&](const json& form) { lock = ReadLock(form); });
  if (!read) return read.error();
  return lock;
}

}  // namespace belljar::container::packages
