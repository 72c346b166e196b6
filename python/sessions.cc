#include "python/sessions.h"

#include <pybind11/stl.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "engine/workspace/workspace.h"
#include "python/errors.h"
#include "python/gil.h"
#include "python/objects.h"
#include "python/request_objects.h"
#include "python/run.h"

namespace belljar::python {
namespace {

namespace py = pybind11;

constexpr char kUseSession[] = "use a session";

// Calls `use` with the session and how long it may wait for its turn. `use` returns a Result, whose
// value is returned.
template <typename Use>
auto InTurn(const LiveSession& live, TurnRequest turn, Use use) {
  CheckUsable(live);
  const Engine::PendingCall call(*live.engine(), nullptr);
  if (!call) ThrowSandboxClosed();
  const core::Deadline deadline = core::Clock::now() + std::chrono::milliseconds(turn.milliseconds);
  for (;;) {
    sessions::Patience patience = turn.patience();
    if (turn.watches_signals) patience.at_most = std::min(patience.at_most, kSignalInterval);
    auto result = WithoutGil([&] { return use(live.session(), patience); });
    if (result) {
      if constexpr (std::is_same_v<decltype(result), core::Result<void>>) {
        return;
      } else {
        return std::move(*result);
      }
    }
    const core::Error& error = result.error();
    const bool is_over = core::Clock::now() >= deadline;
    if (error.cause != core::Cause::kNoTurn || is_over) ThrowSessionError(live, error);
    if (PyErr_CheckSignals() != 0) throw py::error_already_set();
  }
}

using Live = std::shared_ptr<LiveSession>;

// Another session of the same sandbox.
Live Sibling(const LiveSession& live, std::shared_ptr<sessions::Session> session) {
  live.engine()->Add(session);
  Live sibling = HoldSession(live.engine(), std::move(session), live.limits());
  sibling->packages() = live.packages();
  return sibling;
}

double SecondsSince1970(std::chrono::system_clock::time_point moment) {
  return std::chrono::duration<double>(moment.time_since_epoch()).count();
}

py::str Checkpoint(const LiveSession& live, const std::string& label, TurnRequest turn) {
  return TextObject(
      InTurn(live, turn, [&](sessions::Session& session, sessions::Patience patience) {
        return session.Checkpoint(label, patience);
      }));
}

// Tuples in the order of the fields of Checkpoint in _session_data.py.
py::list Checkpoints(const LiveSession& live) {
  if (!live.is_of_this_process()) CheckUsable(live);
  py::list checkpoints;
  for (const sessions::CheckpointInfo& each : live.session().Checkpoints()) {
    checkpoints.append(py::make_tuple(TextObject(each.id), each.cell, TextObject(each.label),
                                      TextObject(each.parent), SecondsSince1970(each.made),
                                      each.is_current));
  }
  return checkpoints;
}

void RollBack(const LiveSession& live, const std::string& checkpoint, TurnRequest turn) {
  InTurn(live, turn, [&](sessions::Session& session, sessions::Patience patience) {
    return session.RollBack(checkpoint, patience);
  });
}

void Undo(const LiveSession& live, size_t cells, TurnRequest turn) {
  InTurn(live, turn, [&](sessions::Session& session, sessions::Patience patience) {
    return session.Undo(cells, patience);
  });
}

std::vector<Live> Branch(const LiveSession& live, size_t count, const std::string& checkpoint,
                         bool reseeds, TurnRequest turn) {
  auto made = InTurn(live, turn, [&](sessions::Session& session, sessions::Patience patience) {
    return session.Branch(count, {checkpoint, reseeds}, patience);
  });
  std::vector<Live> branches;
  for (std::shared_ptr<sessions::Session>& each : made) {
    branches.push_back(Sibling(live, std::move(each)));
  }
  return branches;
}

py::str Ask(const LiveSession& live, const std::string& kind, const std::string& source,
            std::optional<size_t> cursor, TurnRequest turn) {
  run::Question question{
      .kind = run::Question::Kind::kVariables, .source = source, .cursor = cursor};
  if (kind == "complete") question.kind = run::Question::Kind::kComplete;
  if (kind == "inspect") question.kind = run::Question::Kind::kInspect;
  return TextObject(
      InTurn(live, turn, [&](sessions::Session& session, sessions::Patience patience) {
        return session.Ask(question, patience);
      }));
}

const char* NameOf(sessions::VariableChange::Kind kind) {
  switch (kind) {
    case sessions::VariableChange::Kind::kAdded: return "added";
    case sessions::VariableChange::Kind::kChanged: return "changed";
    case sessions::VariableChange::Kind::kRemoved: return "removed";
    case sessions::VariableChange::Kind::kUnknown: break;
  }
  return "unknown";
}

// File names are bytes.
py::tuple PathObjects(const std::vector<std::string>& paths) {
  py::tuple objects(paths.size());
  for (size_t i = 0; i < paths.size(); ++i) objects[i] = py::bytes(paths[i]);
  return objects;
}

// In the order of the fields of Difference in _session_data.py.
py::tuple DifferenceObject(const sessions::SessionDifference& difference) {
  py::list variables;
  for (const sessions::VariableChange& each : difference.variables) {
    variables.append(py::make_tuple(NameOf(each.kind), TextObject(each.name),
                                    TextObject(each.type_before), TextObject(each.type_after),
                                    TextObject(each.repr_before), TextObject(each.repr_after)));
  }
  const workspace::SnapshotChanges& files = difference.files;
  return py::make_tuple(py::tuple(variables), PathObjects(files.added), PathObjects(files.changed),
                        PathObjects(files.removed), difference.cells_before,
                        difference.cells_after);
}

py::tuple CompareWithSession(const LiveSession& live, const LiveSession& other, TurnRequest turn) {
  CheckUsable(other);
  const Engine::PendingCall call(*other.engine(), nullptr);
  if (!call) ThrowSandboxClosed();
  return DifferenceObject(
      InTurn(live, turn, [&](sessions::Session& session, sessions::Patience patience) {
        return session.Compare(other.session(), patience);
      }));
}

py::tuple CompareWithCheckpoint(const LiveSession& live, const std::string& checkpoint,
                                TurnRequest turn) {
  return DifferenceObject(
      InTurn(live, turn, [&](sessions::Session& session, sessions::Patience patience) {
        return session.Compare(checkpoint, patience);
      }));
}

// That of the session's files: its own, or else of a language that has been added.
const core::Profile& CheckWorkspace(const LiveSession& live) {
  CheckUsable(live);
  const core::Profile& own = live.engine()->profile();
  if (own.workspace) return own;
  for (const std::string& language : live.session().languages()) {
    const core::Profile& profile = live.LanguageOf(language).engine->profile();
    if (profile.workspace) return profile;
  }
  throw BadArgument{core::MakeError(
      "files", "profile " + own.name + " has no workspace; the profile filesystem has one")};
}

// Pairs of a path and a size.
py::list Files(const LiveSession& live, TurnRequest turn) {
  CheckWorkspace(live);
  auto files = InTurn(live, turn, [](sessions::Session& session, sessions::Patience patience) {
    return session.Files(patience);
  });
  py::list pairs;
  for (const sessions::SessionFile& each : files) {
    pairs.append(py::make_tuple(py::bytes(each.path), each.size));
  }
  return pairs;
}

// InTurn, with a KeyError if there is no such file.
template <typename Use>
auto WithFile(const LiveSession& live, const std::string& path, TurnRequest turn, Use use) {
  CheckWorkspace(live);
  try {
    return InTurn(live, turn, use);
  } catch (const HostFailure& failure) {
    if (failure.error.error_number != ENOENT) throw;
    PyErr_SetObject(PyExc_KeyError, TextObject(path).ptr());
    throw py::error_already_set();
  }
}

py::bytes ReadFile(const LiveSession& live, const std::string& path, TurnRequest turn) {
  return py::bytes(
      WithFile(live, path, turn, [&](sessions::Session& session, sessions::Patience patience) {
        return session.ReadFile(path, patience);
      }));
}

void WriteFiles(const LiveSession& live, const py::list& pairs, TurnRequest turn) {
  const std::vector<host::InputFile> files = FilesFrom(pairs, CheckWorkspace(live));
  InTurn(live, turn, [&](sessions::Session& session, sessions::Patience patience) {
    return session.WriteFiles(files, patience);
  });
}

void RemoveFile(const LiveSession& live, const std::string& path, TurnRequest turn) {
  WithFile(live, path, turn, [&](sessions::Session& session, sessions::Patience patience) {
    return session.RemoveFile(path, patience);
  });
}

std::vector<std::string> Languages(const LiveSession& live) {
  if (!live.is_of_this_process()) CheckUsable(live);
  return live.session().languages();
}

py::str ReadVariable(const LiveSession& live, const std::string& language, const std::string& name,
                     TurnRequest turn) {
  return TextObject(
      InTurn(live, turn, [&](sessions::Session& session, sessions::Patience patience) {
        return session.ReadVariable(language, name, patience);
      }));
}

void SetVariable(const LiveSession& live, const std::string& language, const std::string& name,
                 const std::string& json, TurnRequest turn) {
  InTurn(live, turn, [&](sessions::Session& session, sessions::Patience patience) {
    return session.SetVariable(language, {name, json}, patience);
  });
}

// In the order of the fields of SessionInfo in _session_data.py, without the id.
py::tuple InfoObject(const LiveSession& live) {
  if (!live.is_of_this_process()) CheckUsable(live);
  const sessions::Session::Info info = WithoutGil([&] { return live.session().info(); });
  const auto idle = std::chrono::steady_clock::now() - info.last_used;
  return py::make_tuple(info.cells, info.is_busy, info.checkpoints, SecondsSince1970(info.opened),
                        std::max(0.0, std::chrono::duration<double>(idle).count()),
                        info.memory_bytes);
}

bool Interrupt(const LiveSession& live) {
  return live.is_of_this_process() && live.session().Interrupt();
}

TurnRequest Turn(int64_t milliseconds, bool watches_signals) {
  return {milliseconds, watches_signals};
}

}  // namespace

void CheckUsable(const LiveSession& session) {
  if (std::string why = session.closed(); !why.empty()) {
    throw ClosedFailure{core::MakeError(kUseSession, "it is closed: " + std::move(why))};
  }
  if (session.is_within_cell()) {
    throw BusyFailure{
        core::MakeError(kUseSession, "it is busy with the cell that makes this very call")};
  }
}

void ThrowSessionError(const LiveSession& session, const core::Error& error) {
  if (std::string why = session.closed(); !why.empty()) {
    throw ClosedFailure{core::MakeError(kUseSession, "it is closed: " + std::move(why))};
  }
  const auto refused = [&](const char* argument) {
    return BadArgument{core::MakeError(argument, error.detail)};
  };
  switch (error.cause) {
    case core::Cause::kNoTurn: throw BusyFailure{core::MakeError(kUseSession, error.detail)};
    case core::Cause::kNoCheckpoint: throw refused("checkpoint");
    case core::Cause::kWorkspace: throw refused("files");
    case core::Cause::kNoSuchCells: throw refused("cells");
    default: throw HostFailure{error};
  }
}

void ThrowSandboxClosed() {
  throw ClosedFailure{core::MakeError(kUseSession, std::string("it is closed: ") + kSandboxClosed)};
}

std::shared_ptr<LiveSession> HoldSession(std::shared_ptr<Engine> engine,
                                         std::shared_ptr<sessions::Session> session,
                                         core::RequestedLimits limits) {
  // Ending processes takes a while, in which others run; dropping the engine needs the GIL.
  return {new LiveSession(std::move(engine), std::move(session), limits), [](LiveSession* live) {
            WithoutGil([&] { live->Close("nothing refers to it any more"); });
            delete live;
          }};
}

void DefineSessions(py::module_& module) {
  py::class_<TurnRequest>(module, "Turn")
      .def(py::init(&Turn), py::arg("milliseconds"), py::arg("watch_signals"));
  py::class_<LiveSession, Live>(module, "LiveSession")
      .def_property_readonly(
          "id",
          [](const LiveSession& live) { return TextObject(live.session().id()); })  // never changes
      .def_property_readonly("closed",
                             [](const LiveSession& live) { return TextObject(live.closed()); })
      .def("checkpoint", &Checkpoint)
      .def("checkpoints", &Checkpoints)
      .def("roll_back", &RollBack)
      .def("undo", &Undo)
      .def("branch", &Branch)
      .def("ask", &Ask)
      .def("compare", &CompareWithSession)
      .def("compare_with_checkpoint", &CompareWithCheckpoint)
      .def("files", &Files)
      .def("read_file", &ReadFile)
      .def("write_files", &WriteFiles)
      .def("remove_file", &RemoveFile)
      .def("languages", &Languages)
      .def("add_kernel", &AddKernel)
      .def("read_variable", &ReadVariable)
      .def("set_variable", &SetVariable)
      .def("info", &InfoObject)
      .def("interrupt", &Interrupt)
      .def("close", [](const LiveSession& live, const std::string& why) {
        WithoutGil([&] { live.Close(why); });
      });
  module.def("open_session", &OpenSession, py::arg("engine"), py::arg("request"),
             py::arg("watch_signals"));
  module.def("run_cell", &RunCell, py::arg("session"), py::arg("request"), py::arg("cancellation"),
             py::arg("turn"));
}

}  // namespace belljar::python
