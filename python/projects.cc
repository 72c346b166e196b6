#include "python/projects.h"

#include <pybind11/stl.h>

#include <memory>
#include <set>
#include <string>
#include <utility>

#include "engine/projects/apply.h"
#include "engine/projects/diff.h"
#include "engine/projects/project.h"
#include "python/errors.h"
#include "python/gil.h"
#include "python/objects.h"
#include "python/sessions.h"

namespace belljar::python {
namespace {

namespace py = pybind11;

using projects::Change;
using projects::ChangeSet;
using projects::FileKind;

struct LiveChanges {
  projects::ProjectChanges changes;
};

std::shared_ptr<LiveChanges> ChangesOf(const std::shared_ptr<LiveSession>& live) {
  if (!live->is_of_this_process()) CheckUsable(*live);
  core::Result<projects::ProjectChanges> changes =
      WithoutGil([&] { return live->session().Changes(); });
  if (!changes && changes.error().error_number == 0) throw BadArgument{changes.error()};
  return std::make_shared<LiveChanges>(LiveChanges{OrHostFailure(std::move(changes))});
}

const char* NameOf(FileKind kind) {
  switch (kind) {
    case FileKind::kFile: return "file";
    case FileKind::kDirectory: return "directory";
    case FileKind::kLink: return "link";
    case FileKind::kOther: return "other";
    case FileKind::kNone: break;
  }
  return "";
}

// Tuples in the order of the fields of Change in _changes.py. File names are bytes.
py::list Listed(const LiveChanges& live) {
  py::list list;
  for (const Change& each : live.changes.set.changes) {
    const char* const refusal = projects::Refusal(each, {});
    list.append(py::make_tuple(
        py::bytes(each.path), projects::ChangeName(each.kind),
        NameOf(each.after.kind == FileKind::kNone ? each.before.kind : each.after.kind),
        each.has_conflict, projects::IsOfGit(each.path), refusal ? refusal : ""));
  }
  return list;
}

// None: all.
using Paths = std::optional<std::set<std::string>>;

ChangeSet Chosen(const LiveChanges& live, const Paths& paths) {
  if (!paths) return live.changes.set;
  return projects::Select(live.changes.set,
                          [&](const Change& change) { return paths->contains(change.path); });
}

py::bytes Diff(const LiveChanges& live, const Paths& paths) {
  const std::string text = WithoutGil(
      [&] { return projects::UnifiedDiff(live.changes.folder->fd, Chosen(live, paths)); });
  return text;
}

// The content of a file afterwards; None: it has none.
py::object Content(const LiveChanges& live, const std::string& path) {
  for (const Change& each : live.changes.set.changes) {
    if (each.path == path && each.after.kind == FileKind::kFile)
      return py::bytes(each.content.ToString());
  }
  return py::none();
}

// An error of the caller's, or of the files, is a text; empty: done.
std::string ApplyChosen(const LiveChanges& live, const Paths& paths, bool with_git) {
  const core::Result<void> done = WithoutGil(
      [&] { return projects::Apply(live.changes.folder->fd, Chosen(live, paths), {with_git}); });
  if (done) return "";
  if (done.error().cause == core::Cause::kWorkspace) return done.error().ToString();
  throw HostFailure{done.error()};
}

}  // namespace

void DefineProjects(py::module_& module) {
  py::class_<LiveChanges, std::shared_ptr<LiveChanges>>(module, "LiveChanges")
      .def_property_readonly(
          "folder", [](const LiveChanges& live) { return py::bytes(live.changes.folder->path); })
      .def_property_readonly("left_out",
                             [](const LiveChanges& live) { return live.changes.set.left_out; })
      .def("listed", &Listed)
      .def("diff", &Diff)
      .def("content", &Content)
      .def("apply", &ApplyChosen);
  module.def("changes_of", &ChangesOf);
}

}  // namespace belljar::python
