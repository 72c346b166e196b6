#include "python/packages.h"

#include <pybind11/stl.h>

#include <memory>
#include <string>
#include <vector>

#include "container/packages/packages.h"
#include "container/packages/session_packages.h"
#include "python/cancellable.h"
#include "python/errors.h"
#include "python/objects.h"
#include "python/sessions.h"

namespace belljar::python {
namespace {

namespace py = pybind11;
namespace packages = container::packages;

using Live = std::shared_ptr<LiveSession>;

// Tuples in the order of the fields of InstalledPackage in _packages.py.
py::list PackageList(const std::vector<packages::LockedPackage>& installed) {
  py::list list;
  for (const packages::LockedPackage& each : installed) {
    list.append(py::make_tuple(TextObject(each.name), TextObject(each.version),
                               TextObject(each.file), TextObject(each.sha256)));
  }
  return list;
}

py::list Install(const Live& live, const std::vector<std::string>& texts) {
  CheckUsable(*live);
  const std::vector<packages::PackageRequirement> requirements =
      OrBadArgument(packages::ParseRequirements(texts));
  const Opened& opened = live->engine()->opened();
  if (!opened.profile.program || !opened.profile.program->commands) {
    throw BadArgument{
        core::MakeError("install", "this session runs cells; open one in the language \"shell\"")};
  }
  OrBadArgument(packages::CheckPlace(opened.profile, requirements, opened.is_container));
  OrBadArgument(CheckSource(opened.source, requirements));
  const Engine::PendingCall call(*live->engine(), nullptr);
  if (!call) ThrowSandboxClosed();
  using Installed = std::vector<packages::LockedPackage>;
  core::Result<Installed> installed = Cancellable<Installed>(
      "install packages", call.cancellation(), [&](int cancel_fd) -> core::Result<Installed> {
        const core::Result<packages::Packages*> source = live->engine()->PackageSource();
        if (!source) return source.error();
        return live->packages().Install(**source, live->session(), requirements, cancel_fd);
      });
  if (!installed) ThrowSessionError(*live, installed.error());
  return PackageList(*installed);
}

}  // namespace

void DefinePackages(py::module_& module) {
  module.def("install_packages", &Install);
  module.def("packages_of",
             [](const Live& live) { return PackageList(live->packages().installed()); });
}

}  // namespace belljar::python
