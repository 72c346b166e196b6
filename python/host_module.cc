// belljar._host: the engine, for the package belljar alone. Its functions and their types are in
// belljar/_host.pyi.
#include <cxxabi.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <atomic>
#include <chrono>
#include <exception>
#include <future>
#include <memory>
#include <new>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "engine/core/fd.h"
#include "engine/core/thread.h"
#include "engine/host/version.h"
#include "engine/outside/installation.h"
#include "engine/outside/profile_catalogue.h"
#include "engine/outside/unnamed_profile.h"
#include "engine/profiles/profile_names.h"
#include "python/answer_objects.h"
#include "python/engine.h"
#include "python/errors.h"
#include "python/gil.h"
#include "python/objects.h"
#include "python/plain_data.h"
#include "python/request_objects.h"
#include "python/result_objects.h"
#include "python/run.h"
#include "python/sessions.h"

namespace belljar::python {
namespace {

namespace py = pybind11;

// How long the interpreter's end waits for runs that it has killed. Only a callback that does not
// return can take longer.
constexpr std::chrono::seconds kExitTimeout{10};
constexpr std::chrono::milliseconds kSignalCheck{50};

// Where the package says that the rest of Belljar is.
outside::InstallationPlace& Place() {
  static auto* const place = new outside::InstallationPlace();
  return *place;
}

// Every engine of this process, for the interpreter's end. With the GIL, which is their lock: no
// other thread holds it when a process forks.
std::set<Engine*>& Engines() {
  static auto* const engines = new std::set<Engine*>();
  return *engines;
}

// Set once, with the GIL: nothing is opened any more.
bool& IsEnding() {
  static bool is_ending = false;
  return is_ending;
}

// The holder of an Engine in Python. Ending workers takes some milliseconds, in which others run.
void Drop(Engine* engine) {
  Engines().erase(engine);
  if (!engine->is_of_this_process()) return;
  WithoutGil([&] { delete engine; });
}

// What may take minutes, as installing packages does, on another thread: this one looks after
// signals.
core::Result<Opened> OpenWatchingSignals(Choice choice) {
  const Cancellation cancellation;
  std::packaged_task<core::Result<Opened>()> task(
      [&] { return Open(std::move(choice), cancellation.fd()); });
  std::future<core::Result<Opened>> opened = task.get_future();
  core::Thread thread;
  core::Result<void> started = thread.Start("open a sandbox", std::move(task));
  if (!started) return started.error();
  while (WithoutGil([&] { return opened.wait_for(kSignalCheck); }) != std::future_status::ready) {
    if (PyErr_CheckSignals() == 0) continue;
    cancellation.Cancel();
    WithoutGil([&] { opened.wait(); });
    throw py::error_already_set();
  }
  return opened.get();
}

std::shared_ptr<Engine> OpenEngine(const py::dict& options, const py::dict& defaults) {
  if (IsEnding()) throw HostFailure{core::MakeError("open a sandbox", "the interpreter is ending")};
  const OpenRequest open_request = OpenRequestFrom(options);
  const outside::ProfileCatalogue catalogue =
      OrHostFailure(WithoutGil([]() -> core::Result<outside::ProfileCatalogue> {
        core::Result<outside::Installation> installation = outside::Installation::Find(Place());
        if (!installation) return installation.error();
        return outside::ProfileCatalogue::Open(std::move(*installation));
      }));
  Choice choice = OrBadArgument(WithoutGil([&] { return Choose(catalogue, open_request); }));
  const bool installs = !choice.packages.empty();  // whose modules are known afterwards
  std::optional<Defaults> read;  // before anything is opened, if that can be judged then
  if (!installs) read = DefaultsFrom(defaults, choice.sandbox.profile, choice.sandbox.language);
  Opened opened =
      OrHostFailure(choice.container ? OpenWatchingSignals(std::move(choice))
                                     : WithoutGil([&] { return Open(std::move(choice), -1); }));
  if (installs) read = DefaultsFrom(defaults, opened.profile, opened.language);
  const std::shared_ptr<Engine> engine(new Engine(std::move(opened), std::move(*read)), Drop);
  Engines().insert(engine.get());
  return engine;
}

// The profile that a run of a sandbox without a named one needs; None: this engine's.
py::object WantedProfile(const Engine& engine, const py::bytes& source, bool files) {
  const Opened& opened = engine.opened();
  if (opened.enabled.empty()) return py::none();
  const std::string name = outside::ProfileFor({.source = std::string_view(source), .files = files},
                                               opened.profile, opened.enabled);
  return name == opened.profile.name ? py::object(py::none()) : py::object(TextObject(name));
}

// The profile of the sessions of a sandbox without a named one, all that are enabled, since nobody
// knows their cells yet; None: this engine's.
py::object ProfileOfSessions(const Engine& engine) {
  const Opened& opened = engine.opened();
  if (opened.enabled.empty()) return py::none();
  std::string name = opened.profile.name;
  for (const core::Profile& each : opened.enabled) name += "+" + each.name;
  name = profiles::ProfileName(name);
  return name == opened.profile.name ? py::object(py::none()) : py::object(TextObject(name));
}

void CloseEngine(Engine& engine) {
  if (!engine.is_of_this_process()) return;
  // A callback, or a signal handler during a run, must not wait: its own run has to end first, or
  // one whose callback closes this engine. Whoever drops the engine last ends the workers.
  if (Engine::IsWithinRun()) {
    WithoutGil([&] { engine.Close(core::Clock::now()); });
    return;
  }
  // A callback in another thread may take its time; Ctrl-C ends the waiting for it.
  while (!WithoutGil([&] { return engine.Close(core::Clock::now() + kSignalCheck); })) {
    if (PyErr_CheckSignals() != 0) throw py::error_already_set();
  }
}

// The interpreter ends: what still runs, in threads that nobody waits for, is killed, and has left
// our frames before Python takes itself apart.
void CloseAll() {
  IsEnding() = true;
  const core::Deadline deadline = core::Clock::now() + kExitTimeout;
  std::vector<std::shared_ptr<Engine>> engines;  // a thread may drop its own meanwhile
  for (Engine* const engine : Engines()) engines.push_back(engine->shared_from_this());
  for (const std::shared_ptr<Engine>& engine : engines) {
    if (!engine->is_of_this_process()) continue;
    WithoutGil([&] { engine->Close(Engine::IsWithinRun() ? core::Clock::now() : deadline); });
  }
}

py::dict CountersOf(const Engine& engine) {
  const outside::Backend::Counters counters = engine.counters();
  py::dict object;
  object["zygotes_started"] = counters.zygotes_started;
  object["workers_spawned"] = counters.workers_spawned;
  object["waiting"] = counters.waiting;
  object["zygote_pid"] = counters.zygote_pid;
  object["light_zygote_pid"] = counters.light_zygote_pid;
  return object;
}

// The exceptions of the package as it was imported last.
struct ErrorTypes {
  PyObject* failed = nullptr;  // BelljarError, whose subclasses the others are
  PyObject* session_closed = nullptr;
  PyObject* session_busy = nullptr;
};
ErrorTypes& Types() {
  static ErrorTypes types;
  return types;
}

void KnowPackage(const py::module_& results, const py::module_& plain, const py::module_& errors) {
  KnowResults(results, plain);
  const auto type = [&](const char* name) {
    return py::object(errors.attr(name)).release().ptr();  // the one before may be in use
  };
  Types() = {type("BelljarError"), type("SessionClosed"), type("SessionBusy")};
}

// Makes it without its __init__: an interpreter that ends takes threads amid what runs in Python,
// and whoever is handling an exception of C++ may not be taken (gil.h).
void RaiseBelljarError(PyObject* kind, const core::Error& error) {
  auto* const type = reinterpret_cast<PyTypeObject*>(kind);
  const py::tuple arguments = py::make_tuple(TextObject(error.ToString()));
  const py::object raised = Owned(type->tp_new(type, arguments.ptr(), nullptr));
  const int number = error.error_number;
  raised.attr("operation") = TextObject(error.operation);
  raised.attr("errno") = number == 0 ? py::object(py::none()) : py::int_(number);
  PyErr_SetObject(kind, raised.ptr());
}

void Translate(std::exception_ptr thrown) {
  try {
    if (thrown) std::rethrow_exception(thrown);
  } catch (const HostFailure& failure) {
    RaiseBelljarError(Types().failed, failure.error);
  } catch (const ClosedFailure& failure) {
    RaiseBelljarError(Types().session_closed, failure.error);
  } catch (const BusyFailure& failure) {
    RaiseBelljarError(Types().session_busy, failure.error);
  } catch (const BadArgument& bad) {
    PyErr_SetObject(PyExc_ValueError, TextObject(bad.error.ToString()).ptr());
  }
}

// For what pybind11 does not call: Python's exception of the one that is being handled.
void RaiseCurrent() {
  try {
    Translate(std::current_exception());
  } catch (py::error_already_set& error) {
    error.restore();
  } catch (const py::builtin_exception& error) {
    error.set_error();
  } catch (const std::bad_alloc&) {
    PyErr_NoMemory();
  } catch (const std::exception& error) {
    PyErr_SetString(PyExc_RuntimeError, error.what());
  }
}

// run(engine, asked, cancellation, watch_signals). Not by way of pybind11, whose looking at four
// arguments takes 0.03 ms of a run: as long as all that the package does before it.
PyObject* RunDirectly(PyObject* /*module*/, PyObject* const* arguments, Py_ssize_t count) {
  try {
    if (count != 4 || !PyDict_Check(arguments[1])) throw py::type_error("run: other arguments");
    auto& engine = py::cast<Engine&>(py::handle(arguments[0]));
    const auto requested = py::reinterpret_borrow<py::dict>(arguments[1]);
    const auto* const cancellation = py::cast<const Cancellation*>(py::handle(arguments[2]));
    return Run(engine, requested, cancellation, arguments[3] == Py_True).release().ptr();
  } catch (const abi::__forced_unwind&) {
    throw;  // the thread's end, which is not to be stopped
  } catch (...) {
    RaiseCurrent();
  }
  return nullptr;
}

PyMethodDef g_run = {"run",
                     reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(RunDirectly)),
                     METH_FASTCALL, nullptr};

bool IsMainInterpreter() { return PyInterpreterState_Get() == PyInterpreterState_Main(); }

constexpr char kMainOnly[] = "belljar supports the main interpreter only";

void LookFrom(const std::string& folder, const std::string& interpreter) {
  // Where the main one has imported this module first, others get it without asking.
  if (!IsMainInterpreter()) throw py::import_error(kMainOnly);
  Place() = {folder, interpreter};
}

void Define(py::module_& module) {
  module.doc() = "The engine, for the package belljar alone.";
  module.attr("VERSION") = host::kBelljarVersion;
  module.attr("PYTHON_VERSION") = host::kPythonVersion;
  py::register_local_exception_translator(Translate);

  py::class_<Cancellation, std::shared_ptr<Cancellation>>(module, "Cancellation")
      .def(py::init<>())
      .def("cancel", &Cancellation::Cancel)
      .def_property_readonly("is_cancelled", &Cancellation::is_cancelled);

  py::class_<Engine, std::shared_ptr<Engine>>(module, "Engine")
      .def(py::init(&OpenEngine), py::arg("options"), py::arg("usual"))
      .def("wait_until_ready", &WaitUntilReady, py::arg("seconds"))
      .def("close", &CloseEngine)
      .def("counters", &CountersOf)
      .def("wanted_profile", &WantedProfile, py::arg("source"), py::arg("files"))
      .def("profile_of_sessions", &ProfileOfSessions)
      .def_property_readonly("facts",
                             [](const Engine& engine) { return TextObject(engine.opened().facts); })
      .def_property_readonly(
          "packages", [](const Engine& engine) { return py::cast(engine.opened().packages); });

  DefineSessions(module);

  module.add_object("run", Owned(PyCFunction_New(&g_run, nullptr)));
  module.def("validate", &Validate, py::arg("engine"), py::arg("asked"), py::arg("watch_signals"));
  module.def(
      "read_plain",
      [](const py::str& text, const py::function& tagged) {
        return ReadPlain(TextView(text), tagged);
      },
      py::arg("text"), py::arg("tagged"));
  module.def("parse_duration", &ParseMilliseconds, py::arg("text"));
  module.def("parse_size", &ParseBytes, py::arg("text"));
  module.def("answer_text", &AnswerText, py::arg("result"), py::arg("json"), py::arg("characters"));
  module.def("failure_text", &FailureText, py::arg("result"), py::arg("characters"));
  module.def("program_text", &ProgramText, py::arg("text"), py::arg("characters"));
  module.def("look_from", &LookFrom, py::arg("folder"), py::arg("interpreter"));
  module.def("result_fields", &ResultFields);
  module.def("know_package", &KnowPackage, py::arg("results"), py::arg("plain"), py::arg("errors"));
  module.def("close_all", &CloseAll);
  module.def("after_fork_in_child", &core::CloseInheritedDescriptors);
}

}  // namespace
}  // namespace belljar::python

// PYBIND11_MODULE, which in another interpreter than the main one waits for its own GIL for ever.
PYBIND11_PLUGIN_IMPL(_host) {
  namespace py = pybind11;
  using namespace belljar::python;
  PYBIND11_CHECK_PYTHON_VERSION
  if (!IsMainInterpreter()) {
    PyErr_SetString(PyExc_ImportError, kMainOnly);
    return nullptr;
  }
  PYBIND11_ENSURE_INTERNALS_READY
  static py::module_::module_def definition;
  py::module_ module = py::module_::create_extension_module("_host", nullptr, &definition);
  try {
    Define(module);
    return module.ptr();
  }
  PYBIND11_CATCH_INIT_EXCEPTIONS
}
