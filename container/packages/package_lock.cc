#include "container/packages/package_lock.h"

#include <algorithm>
#include <limits>

#include "container/wire/fields.h"
#include "engine/core/text.h"
#include "engine/host/beneath.h"
#include "engine/host/digest.h"

namespace belljar::container::packages {
namespace {

using nlohmann::json;

constexpr uint64_t kSchema = 1;
constexpr size_t kMaxLockedName = 100;
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

LockedPackage ReadPackage(const json& form) {
  wire::Fields fields(form);
  LockedPackage package;
  package.name = fields.Text("name", kMaxLockedName);
  package.version = fields.Text("version", kMaxVersion);
  package.file = fields.Text("file", host::kMaxPathPart);
  package.sha256 = fields.Text("sha256", kDigestSize);
  fields.End();
  const core::Result<std::vector<PackageRequirement>> name = ParseRequirements({package.name});
  if (!name || name->front().ToString() != package.name) {
    throw wire::FormError("name is not a package name");
  }
  if (!IsVersion(package.version)) throw wire::FormError("version is invalid");
  const bool is_wheel = package.file.ends_with(".whl") && !host::PathFault(package.file) &&
                        package.file.find('/') == package.file.npos;
  if (!is_wheel) throw wire::FormError("file is not the name of a wheel");
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
          {"python", question.python},
          {"architecture", question.architecture},
          {"index", question.index}};
}

PackageQuestion ReadQuestion(const json& form) {
  wire::Fields fields(form);
  PackageQuestion question;
  question.requirements = fields.TextsOrNull("requirements", kMaxRequirements, kMaxRequirement)
                              .value_or(std::vector<std::string>());
  question.python = fields.Text("python", kMaxVersion);
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
  lock.packages = ReadPackageList(fields.List("packages", kMaxDistributions));
  lock.tree = ReadTreeFacts(fields.Any("tree"));
  fields.End();
  return lock;
}

}  // namespace

std::string PackageQuestion::Key() const { return host::Sha256(ToForm(*this).dump()); }

std::vector<std::string> PackageLock::Names() const {
  std::vector<std::string> names;
  for (const LockedPackage& package : packages) {
    names.push_back(package.name + "==" + package.version);
  }
  return names;
}

std::vector<LockedPackage> ReadPackageList(const json& list) {
  if (!list.is_array() || list.empty() || list.size() > kMaxDistributions) {
    throw wire::FormError("packages must be a non-empty list");
  }
  std::vector<LockedPackage> packages;
  for (const json& form : list) packages.push_back(ReadPackage(form));
  std::sort(packages.begin(), packages.end(),
            [](const LockedPackage& a, const LockedPackage& b) { return a.name < b.name; });
  const auto twice = std::adjacent_find(
      packages.begin(), packages.end(),
      [](const LockedPackage& a, const LockedPackage& b) { return a.name == b.name; });
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
