#include "engine/inside/interpreter.h"

#include <pybind11/embed.h>
#include <pybind11/functional.h>
#include <signal.h>
#include <sys/stat.h>

#include <cstring>

#include "engine/core/text.h"
#include "engine/inside/capture.h"
#include "engine/inside/heap.h"
#include "engine/inside/hot_blocks.h"
#include "engine/inside/hot_pages.h"
#include "engine/inside/memory.h"
#include "engine/inside/places.h"

extern "C" PyObject* PyInit__belljar_guards();

namespace belljar::inside {
namespace {

namespace py = pybind11;

// Looked up once in the zygote and never released: a worker ends by being killed.
struct Runner {
  py::object rehearse, rehearse_others, reseed, execute;
  py::object begin_session, execute_cell, answer_question, after_copy;
  py::object loads;
  py::object keep_artifact;  // None: artifacts are not kept
};
Runner* g_runner = nullptr;

// The search path of the standard library, the library itself first. Set once in the zygote.
std::vector<std::string>* g_library_paths = nullptr;

bool Append(PyWideStringList* list, const std::string& path) {
  wchar_t* wide = Py_DecodeLocale(path.c_str(), nullptr);
  if (!wide) return false;
  const PyStatus status = PyWideStringList_Append(list, wide);
  PyMem_RawFree(wide);
  return !PyStatus_Exception(status);
}

// `program`: the interpreter; empty for the program belljar-zygote, whose library is Python's own.
core::Result<void> ResultOf(const PyStatus& status, const std::string& program) {
  if (!PyStatus_Exception(status)) return {};
  std::string reason = status.err_msg ? status.err_msg : "unknown failure";
  if (!program.empty()) {
    reason += "; its standard library may be incomplete: `" + program + " -I -c 1` shows more";
  }
  return core::MakeError("start Python", reason);
}

// File names and content are UTF-8; a worker has no locale to specify that.
core::Result<void> Preinitialize(const std::string& program) {
  PyPreConfig config;
  PyPreConfig_InitIsolatedConfig(&config);
  config.utf8_mode = 1;
  return ResultOf(Py_PreInitialize(&config), program);
}

// As in Python's own signal handling: writing to a closed pipe, or beyond the file size limit,
// raises an exception instead of killing the process. The kernel does not deliver these signals to
// init of a PID namespace, but a worker without namespaces is not init.
void IgnoreSignalsOfWrites() {
  signal(SIGPIPE, SIG_IGN);
  signal(SIGXFSZ, SIG_IGN);
}

// Cleared on destruction.
struct Config : PyConfig {
  Config() { PyConfig_InitIsolatedConfig(this); }
  ~Config() { PyConfig_Clear(this); }
  Config(const Config&) = delete;
};

bool IsFolder(const std::string& path) {
  struct stat status;
  return stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
}

// The standard library comes first: nearly all imports are found there at the first look-up. The
// program belljar-zygote uses the one of the build. An interpreter finds its own, as when started
// normally (getpath.py), without environment and site. Paths that do not exist, such as its zip
// archive, are left out.
void ArrangePath(const InterpreterOptions& options) {
  const py::module_ sys = py::module_::import("sys");
  g_library_paths = new std::vector<std::string>{options.program.empty()
                                                     ? BELLJAR_PYTHON_STDLIB
                                                     : sys.attr("_stdlib_dir").cast<std::string>()};
  for (const py::handle each : sys.attr("path")) {
    std::string path = each.cast<std::string>();
    if (path != g_library_paths->front() && IsFolder(path)) {
      g_library_paths->push_back(std::move(path));
    }
  }
  py::list path;
  for (const std::string& folder : *g_library_paths) path.append(folder);
  for (const std::string& folder : options.package_paths) path.append(folder);
  sys.attr("path") = path;
}

core::Result<void> Initialize(const InterpreterOptions& options) {
  IgnoreSignalsOfWrites();
  Config config;
  config.site_import = 0;
  config.write_bytecode = 0;
  config.install_signal_handlers = 0;
  if (options.block_listener) config.use_hash_seed = 1;  // seed 0: the same record each time
#if PY_VERSION_HEX >= 0x030E0000
  config.remote_debug = 0;  // no other process makes this one run a script (PEP 768)
#endif
  if (options.program.empty()) {
    config.module_search_paths_set = 1;
    for (const char* path : {BELLJAR_PYTHON_STDLIB, BELLJAR_PYTHON_STDLIB "/lib-dynload"}) {
      if (!Append(&config.module_search_paths, path))
        return core::MakeError("start Python", "no memory");
    }
  } else {
    const PyStatus named =
        PyConfig_SetBytesString(&config, &config.program_name, options.program.c_str());
    if (core::Result<void> done = ResultOf(named, ""); !done) return done;
  }
  return ResultOf(Py_InitializeFromConfig(&config), options.program);
}

// bytes -> their offset among the artifacts, or None if there is no room left.
py::object KeepArtifact(const py::bytes& content) {
  uint64_t offset = 0;
  if (!WriteArtifact(std::string_view(content), &offset)) return py::none();
  return py::int_(offset);
}

// Does permanently what the first clone would set up or clear: matplotlib's fonts are open files.
// Both halves: since 3.13 the child's half releases the import lock, and aborts if the other half
// has not taken it.
void RunForkHooks() {
  PyOS_BeforeFork();
  PyOS_AfterFork_Child();
}

// Memory that CPython keeps for small objects of some types (its free lists). A full collection
// releases it; frozen objects need not be traversed.
void ClearFreeLists() {
  const py::module_ gc = py::module_::import("gc");
  gc.attr("freeze")();
  gc.attr("collect")();
  gc.attr("unfreeze")();
}

void PrepareForClones(const py::module_& runner, bool huge_pages) {
  // What nearly every worker writes to is allocated from here on, so that it lies close together.
  if (huge_pages) {
    ClearFreeLists();
    AllocateInHotRegion();
    UseReservedArena();
  } else {
    FillHeapHoles();
  }
  // Otherwise workers that reuse an entry of a loaded type would write to the old name's reference
  // count.
  if (huge_pages) PyType_ClearCache();
  runner.attr("specialise")();
  RunForkHooks();
  runner.attr("reseed")();
  if (huge_pages) {
    ClearFreeLists();
  } else {
    FillHeapHoles();
  }
}

// The folders of library code: files below them are never the program's.
std::vector<std::string> LibraryFolders(const InterpreterOptions& options,
                                        const py::object& profile_folders) {
  std::vector<std::string> folders = *g_library_paths;
  folders.insert(folders.end(), options.package_paths.begin(), options.package_paths.end());
  for (const py::handle folder : profile_folders) folders.push_back(folder.cast<std::string>());
  return folders;
}

void Prepare(const InterpreterOptions& options) {
  const py::module_ runner = py::module_::import("belljar_runner");  // first: see patterns.py
  const py::object loads = py::module_::import("json").attr("loads");
  const py::object profile_folders =
      runner.attr("add_package_folders")(loads(options.profile_packages));
  runner.attr("prepare")(loads(options.profile), loads(options.other_profiles),
                         loads(options.missing_modules), loads(options.named_modules));
  g_runner =
      new Runner{runner.attr("rehearse"), runner.attr("rehearse_others"), runner.attr("reseed"),
                 runner.attr("execute"), runner.attr("begin_session"), runner.attr("execute_cell"),
                 // A known program is not a session's.
                 options.loads_all_modules() ? runner.attr("prepare_questions")() : py::none(),
                 runner.attr("after_copy"), loads,
                 options.keeps_artifacts ? py::object(py::cpp_function(KeepArtifact)) : py::none()};
  if (core::Result<void> done = InstallPlacesHandler(LibraryFolders(options, profile_folders));
      !done) {
    throw std::runtime_error(done.error().ToString());
  }
  if (options.single_run) {
    runner.attr("warm")();
    RunForkHooks();
  } else {
    PrepareForClones(runner, options.huge_pages);
  }
  // Later imports are only from the standard library and the profile's packages, by their own code
  // and with --policy off.
  py::list path;
  for (const std::string& folder : *g_library_paths) path.append(folder);
  for (const py::handle folder : profile_folders) path.append(folder);
  py::module_::import("sys").attr("path") = path;
}

// The standard library module that this Python lacks; empty if the failure is a different one.
// CPython omits a module if a library that it needs is missing where it is compiled.
std::string MissingPart(const py::error_already_set& failure) {
  if (!failure.matches(PyExc_ModuleNotFoundError)) return "";
  const py::object name = py::getattr(failure.value(), "name", py::none());
  if (name.is_none()) return "";
  const auto module = name.cast<std::string>();
  const py::object library = py::module_::import("sys").attr("stdlib_module_names");
  return library.contains(std::string(core::TopLevelName(module))) ? module : "";
}

template <typename Call>
core::Result<void> Translate(const char* operation, Call call) {
  try {
    call();
    return {};
  } catch (const py::error_already_set& failure) {
    const std::string part = MissingPart(failure);
    if (part.empty()) return core::MakeError(operation, failure.what());
    return core::MakeError(operation, "this Python lacks " + core::Quoted(part) +
                                          " of its standard library; use a complete one, in its "
                                          "own environment");
  } catch (const std::exception& failure) {
    return core::MakeError(operation, failure.what());
  }
}

py::object Loaded(std::string_view json) {
  return g_runner->loads(py::str(json.data(), json.size()));
}

// Path -> content.
py::dict Modules(std::string_view parts) {
  py::dict modules;
  core::FileHeader header;
  while (parts.size() >= sizeof header) {
    memcpy(&header, parts.data(), sizeof header);
    parts.remove_prefix(sizeof header);
    const std::string_view path = parts.substr(0, header.path_size);
    parts.remove_prefix(path.size());
    const std::string_view content = parts.substr(0, header.content_size);
    parts.remove_prefix(content.size());
    modules[py::str(path.data(), path.size())] = py::bytes(content.data(), content.size());
  }
  return modules;
}

py::dict MakeRequest(const RequestParts& parts) {
  py::dict request = Loaded(parts.metadata);
  const std::string* const input = parts.standard_input;
  request["stdin"] = input ? py::object(py::bytes(*input)) : py::none();
  request["keep_artifact"] = g_runner->keep_artifact;
  if (!parts.inputs.empty()) request["inputs"] = Loaded(parts.inputs);
  if (!parts.modules.empty()) request["modules"] = Modules(parts.modules);
  if (request.contains("functions")) {
    request["call_host"] = py::cpp_function(parts.call_host);
    request["new_output"] = py::cpp_function([out = uint64_t{0}, err = uint64_t{0}]() mutable {
      return py::make_tuple(py::bytes(OutputSince(CaptureStreamKind::kStdout, out)),
                            py::bytes(OutputSince(CaptureStreamKind::kStderr, err)));
    });
  }
  if (parts.start_over) request["start_over"] = py::cpp_function(parts.start_over);
  return request;
}

std::string Execute(const py::object& function, const RequestParts& parts) {
  try {
    const py::dict request = MakeRequest(parts);
    const py::bytes source(parts.source.data(), parts.source.size());
    return function(request, source).cast<py::bytes>();
  } catch (const std::exception&) {
    return {};
  }
}

// In the form that the host sends; only for the rehearsal.
constexpr std::string_view kSampleMetadata = R"({"mode":"run","policy":"on",
    "filename":"main.py","allowed_imports":null,"max_source":1,"max_result":1,"max_report":1})";

// Memory for what every worker will write to.
void ReserveHotMemory(const InterpreterOptions& options, bool one_heap) {
  const bool places = !options.hot_blocks.empty() || options.block_listener;
  if (one_heap) {
    BeginHotRegion();
  } else if (places) {
    FillHeapHoles();
  }
  if (places) PlaceHotBlocks(options.hot_blocks, options.block_listener);
  if (!one_heap) return;
  ReserveArena();
  EndHotRegion();
}

}  // namespace

core::Result<void> StartInterpreter(const InterpreterOptions& options) {
  const bool one_heap = options.huge_pages && !options.single_run;
  if (one_heap) GatherHeap();
  InstallMemoryGuard(one_heap);
  if (!options.single_run) ReserveHotMemory(options, one_heap);
  PopulateArenas(options.single_run);
  if (PyImport_AppendInittab("_belljar_guards", PyInit__belljar_guards) != 0) {
    return core::MakeError("start Python", "no memory for the module table");
  }
  if (core::Result<void> done = Preinitialize(options.program); !done) return done;
  if (core::Result<void> done = Initialize(options); !done) return done;
  if (core::Result<void> done =
          Translate("find the standard library", [&] { ArrangePath(options); });
      !done) {
    return done;
  }
  if (core::Result<void> done = InstallCaptureStreams(); !done) return done;
  // Imported objects stay: until FreezeInterpreter() a collection would only traverse them again.
  PyGC_Disable();
  core::Result<void> prepared = Translate("prepare the profile", [&] { Prepare(options); });
  StopPlacing();
  if (one_heap) {
    // What has been freed since AllocateInHotRegion.
    FillArenaHoles();
    FillHeapHoles();
  }
  PopulateArenas(false);  // the seal refuses it
  return prepared;
}

std::string StandardLibraryPath() { return g_library_paths->front(); }

void FreezeInterpreter() {
  // Without a collection: it would free some hundred objects, but traversing the other forty
  // thousand takes 5 ms before the first worker.
  py::module_::import("gc").attr("freeze")();
  PyGC_Enable();
}

void BeforeClone() { PyOS_BeforeFork(); }
void AfterCloneInZygote() { PyOS_AfterFork_Parent(); }

core::Result<void> AfterCloneInWorker() {
  PyOS_AfterFork_Child();
  return Translate("reseed", [] { g_runner->reseed(); });
}

core::Result<void> RehearseRequest() {
  return Translate("rehearse", [] {
    MakeRequest({.metadata = kSampleMetadata});
    g_runner->rehearse();
  });
}

core::Result<void> RehearseOthers() {
  return Translate("rehearse", [] { g_runner->rehearse_others(); });
}

core::Result<void> BeginSession() {
  return Translate("begin a session", [] { g_runner->begin_session(); });
}

void AfterCopyInOriginal(const std::vector<core::PageRange>& hot) {
  PyOS_AfterFork_Parent();
  WriteToHotPages(hot);
}

core::Result<void> AfterCopyInWorker(bool reseeds) {
  PyOS_AfterFork_Child();
  return Translate("wake a copy", [&] { g_runner->after_copy(reseeds); });
}

std::string ExecuteRequest(const RequestParts& parts) { return Execute(g_runner->execute, parts); }
std::string ExecuteCell(const RequestParts& parts) {
  return Execute(g_runner->execute_cell, parts);
}
std::string AnswerQuestion(const RequestParts& parts) {
  return Execute(g_runner->answer_question, parts);
}

}  // namespace belljar::inside
