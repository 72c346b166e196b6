// belljar._host: the engine, private to the package belljar. belljar/_host.pyi has the types of its
// functions.
#include <cxxabi.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <chrono>
#include <exception>
#include <memory>
#include <new>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "engine/core/fd.h"
#include "engine/host/version.h"
#include "engine/installation/installation.h"
#include "engine/outside/start_plan.h"
#include "engine/profiles/model_text.h"
#include "engine/profiles/profile_catalogue.h"
#include "engine/profiles/profile_names.h"
#include "engine/profiles/unnamed_profile.h"
#include "python/answer_objects.h"
#include "python/cancellable.h"
#include "python/commands.h"
#include "python/engine.h"
#include "python/errors.h"
#include "python/gil.h"
#include "python/objects.h"
#include "python/packages.h"
#include "python/plain_data.h"
#include "python/projects.h"
#include "python/request_objects.h"
#include "python/result_objects.h"
#include "python/run.h"
#include "python/sessions.h"

namespace belljar::python {
namespace {

namespace py = pybind11;

// How long the interpreter's exit waits for runs that it has killed. Only a callback that does not
// return takes longer.
constexpr std::chrono::seconds kExitTimeout{10};

// Where the rest of Belljar is, according to the package.
installation::InstallationPlace& Place() {
  static auto* const place = new installation::InstallationPlace();
  return *place;
}

// All engines of this process, for the interpreter's exit. Requires the GIL, which no other thread
// holds when the process forks.
std::set<Engine*>& Engines() {
  static auto* const engines = new std::set<Engine*>();
  return *engines;
}

// Requires the GIL. Once it is set, nothing more is opened.
bool& IsEnding() {
  static bool is_ending = false;
  return is_ending;
}

// The deleter of an Engine in Python. Ending workers takes milliseconds, in which others may run.
void Drop(Engine* engine) {
  Engines().erase(engine);
  if (!engine->is_of_this_process()) return;
  WithoutGil([&] { delete engine; });
}

core::Result<Opened> OpenCancellable(Choice choice) {
  const Canceller cancellation;
  return Cancellable<Opened>("open a sandbox", cancellation,
                             [&](int cancel_fd) { return Open(std::move(choice), cancel_fd); });
}

std::shared_ptr<Engine> OpenEngine(const py::dict& options, const py::dict& defaults) {
  if (IsEnding()) throw HostFailure{core::MakeError("open a sandbox", "the interpreter is ending")};
  OpenRequest open_request = OpenRequestFrom(options);
  open_request.modules = ProgramFrom(defaults).allowed_imports.value_or(std::vector<std::string>());
  const profiles::ProfileCatalogue catalogue =
      OrHostFailure(WithoutGil([]() -> core::Result<profiles::ProfileCatalogue> {
        core::Result<installation::Installation> installation =
            installation::Installation::Find(Place());
        if (!installation) return installation.error();
        return profiles::ProfileCatalogue::Open(std::move(*installation));
      }));
  Choice choice = OrBadArgument(WithoutGil([&] { return Choose(catalogue, open_request); }));
  const bool installs = !choice.packages.empty();  // then the modules are known afterwards
  std::optional<Defaults> read;                    // checked before anything is opened, if possible
  if (!installs) read = DefaultsFrom(defaults, choice.sandbox.profile, choice.sandbox.policy);
  Opened opened = OrHostFailure(choice.container || installs
                                    ? OpenCancellable(std::move(choice))
                                    : WithoutGil([&] { return Open(std::move(choice), -1); }));
  if (installs) read = DefaultsFrom(defaults, opened.profile, opened.policy);
  const std::shared_ptr<Engine> engine(new Engine(std::move(opened), std::move(*read)), Drop);
  Engines().insert(engine.get());
  return engine;
}

// The profile of a program, if the sandbox names none. `continues`: of a session, with such a cell.
// None: this engine's.
py::object WantedProfile(const Engine& engine, const py::dict& requested, bool continues) {
  const Opened& opened = engine.opened();
  if (opened.enabled.empty()) return py::none();
  const host::Request program = ProgramFrom(requested);
  const std::string text = outside::ProgramText(program);
  const std::string name =
      profiles::ProfileFor({.source = text,
                            .modules = program.allowed_imports.value_or(std::vector<std::string>()),
                            .files = !program.files.empty(),
                            .continues = continues},
                           opened.profile, opened.enabled);
  return name == opened.profile.name ? py::object(py::none()) : py::object(TextObject(name));
}

void CloseEngine(Engine& engine) {
  if (!engine.is_of_this_process()) return;
  // A callback, or a signal handler during a run, must not wait: its own run would have to end
  // first. Whoever drops the engine last ends the workers.
  if (Engine::IsWithinRun()) {
    WithoutGil([&] { engine.Close(core::Clock::now()); });
    return;
  }
  // A callback in another thread may take long; Ctrl-C ends the wait.
  while (!WithoutGil([&] { return engine.Close(core::Clock::now() + kSignalInterval); })) {
    if (PyErr_CheckSignals() != 0) throw py::error_already_set();
  }
}

// Called when the interpreter exits: kills the runs in threads that nobody joins, and waits until
// they have left our frames, before Python is finalised.
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

// The exceptions of the most recent import of the package.
struct ErrorTypes {
  PyObject* failed = nullptr;  // BelljarError, whose subclasses the others are
  PyObject* session_closed = nullptr;
  PyObject* session_busy = nullptr;
};
ErrorTypes& Types() {
  static ErrorTypes types;
  return types;
}

void RegisterPackage(const py::module_& results, const py::module_& plain,
                     const py::module_& errors) {
  RegisterResults(results, plain);
  const auto type = [&](const char* name) {
    return py::object(errors.attr(name)).release().ptr();  // the one before may be in use
  };
  Types() = {type("BelljarError"), type("SessionClosed"), type("SessionBusy")};
}

// Creates it without its __init__: when the interpreter exits, a thread may be ended while it runs
// Python code, and a thread that is handling a C++ exception must not be (gil.h).
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

// For functions that pybind11 does not call: raises the exception that is being handled.
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

// run(engine, request, cancellation, watch_signals). Bypasses pybind11, which takes 0.03 ms to
// convert four arguments: as long as everything that the package does before.
PyObject* RunDirectly(PyObject* /*module*/, PyObject* const* arguments, Py_ssize_t count) {
  try {
    if (count != 4 || !PyDict_Check(arguments[1])) throw py::type_error("run: wrong arguments");
    auto& engine = py::cast<Engine&>(py::handle(arguments[0]));
    const auto requested = py::reinterpret_borrow<py::dict>(arguments[1]);
    const auto* const cancellation = py::cast<const Canceller*>(py::handle(arguments[2]));
    return Run(engine, requested, cancellation, arguments[3] == Py_True).release().ptr();
  } catch (const abi::__forced_unwind&) {
    throw;  // the thread is being ended, which must not be stopped
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

void SetLocation(const std::string& folder, const std::string& interpreter) {
  // If the main one has imported this module first, others get it without the check below.
  if (!IsMainInterpreter()) throw py::import_error(kMainOnly);
  Place() = {folder, interpreter};
}

// What a model is told: what the engine has, and the limits of its runs. `milliseconds` and
// `memory`: of these; None: the engine's own.
py::object OfferText(const Engine& engine, std::optional<int64_t> milliseconds,
                     std::optional<uint64_t> memory) {
  const Opened& opened = engine.opened();
  core::RequestedLimits requested = engine.defaults().limits;
  if (milliseconds) requested.timeout = std::chrono::milliseconds(*milliseconds);
  if (memory) requested.memory = core::Bytes{*memory};
  const core::Limits limits =
      core::WithRequested(opened.profile.default_limits, opened.profile.maximum_limits, requested);
  const std::string both =
      core::FormatDuration(limits.timeout) + " or " + limits.memory.ToString() + " of memory";
  return TextObject("Available: " + opened.offer + ". " +
                    profiles::LimitsText(both, limits.output.ToString()) + ".");
}

// What a model is told that a tool for programs, or for cells of one session, does.
std::string ToolText(bool in_session) {
  const std::string first =
      in_session ? profiles::kLivePython : std::string(profiles::kFreshProcess) + ".";
  return first + " " + profiles::kAnswersWith;
}

void Define(py::module_& module) {
  module.doc() = "The engine, private to the package belljar.";
  module.attr("VERSION") = host::kBelljarVersion;
  module.attr("PYTHON_VERSION") = host::kPythonVersion;
  py::register_local_exception_translator(Translate);

  py::class_<Canceller, std::shared_ptr<Canceller>>(module, "Canceller")
      .def(py::init<>())
      .def("cancel", &Canceller::Cancel)
      .def_property_readonly("is_cancelled", &Canceller::is_cancelled);

  py::class_<Engine, std::shared_ptr<Engine>>(module, "Engine")
      .def(py::init(&OpenEngine), py::arg("options"), py::arg("defaults"))
      .def("wait_until_ready", &WaitUntilReady, py::arg("seconds"))
      .def("close", &CloseEngine)
      .def("counters", &CountersOf)
      .def("wanted_profile", &WantedProfile, py::arg("request"), py::arg("continues") = false)
      .def("offer", &OfferText, py::arg("milliseconds"), py::arg("memory"))
      .def_property_readonly("facts",
                             [](const Engine& engine) { return TextObject(engine.opened().facts); })
      .def_property_readonly("packages", [](const Engine& engine) {
        return py::cast(container::packages::Names(engine.opened().packages.installed()));
      });

  DefineSessions(module);
  DefineCommands(module);
  DefinePackages(module);
  DefineProjects(module);

  module.add_object("run", Owned(PyCFunction_New(&g_run, nullptr)));
  module.def("validate", &Validate, py::arg("engine"), py::arg("request"),
             py::arg("watch_signals"));
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
  module.def("tool_text", &ToolText, py::arg("in_session"));
  module.def("library_text", &profiles::LibraryText, py::arg("modules"));
  module.def("program_text", &ProgramText, py::arg("text"), py::arg("characters"));
  module.def("set_location", &SetLocation, py::arg("folder"), py::arg("interpreter"));
  module.def("result_fields", &ResultFields);
  module.def("register_package", &RegisterPackage, py::arg("results"), py::arg("plain"),
             py::arg("errors"));
  module.def("close_all", &CloseAll);
  module.def("after_fork_in_child", &core::CloseInheritedDescriptors);
}

}  // namespace
}  // namespace belljar::python

// In place of PYBIND11_MODULE, which deadlocks on the GIL in a subinterpreter.
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
