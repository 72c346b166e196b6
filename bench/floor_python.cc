// Floors with CPython: the same interpreter with the same modules loaded, and a plain fork.
// Arguments: a folder of packages, if any, and the modules. Writes one sample in nanoseconds to
// standard output per byte on standard input:
//
//   f   fork, exit, wait
//   r   fork, compile and run "1+1", exit, wait
//   s   the same in a child with every namespace, and with Landlock and seccomp that allow all
#include <Python.h>
#include <linux/sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <vector>

#include "engine/seal/landlock.h"
#include "engine/seal/namespaces.h"
#include "engine/seal/seccomp.h"

namespace {

std::vector<sock_filter> g_filter;
belljar::core::UniqueFd g_ruleset;

bool StartPython(const wchar_t* packages) {
  PyConfig config;
  PyConfig_InitIsolatedConfig(&config);
  config.site_import = 0;
  config.write_bytecode = 0;
  config.module_search_paths_set = 1;
  PyWideStringList_Append(&config.module_search_paths, L"" BELLJAR_PYTHON_STDLIB);
  PyWideStringList_Append(&config.module_search_paths, L"" BELLJAR_PYTHON_STDLIB "/lib-dynload");
  if (packages) PyWideStringList_Append(&config.module_search_paths, packages);
  const PyStatus status = Py_InitializeFromConfig(&config);
  PyConfig_Clear(&config);
  return !PyStatus_Exception(status);
}

bool RunSomething() {
  PyObject* globals = PyDict_New();
  PyObject* code = Py_CompileString("1+1", "main.py", Py_eval_input);
  PyObject* result = code ? PyEval_EvalCode(code, globals, globals) : nullptr;
  return result && PyLong_AsLong(result) == 2;
}

bool Seal() {
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         belljar::seal::RestrictByLandlock(g_ruleset.get()) &&
         belljar::seal::InstallFilter(g_filter);
}

pid_t Fork(char kind) {
  if (kind != 's') return fork();
  clone_args arguments{};
  arguments.flags =
      belljar::seal::ZygoteNamespaceFlags() | belljar::seal::WorkerNamespaceFlags(false, false);
  arguments.exit_signal = SIGCHLD;
  return static_cast<pid_t>(syscall(SYS_clone3, &arguments, sizeof arguments));
}

bool Sample(char kind) {
  PyOS_BeforeFork();
  const pid_t child = Fork(kind);
  if (child == 0) {
    PyOS_AfterFork_Child();
    const bool ok = (kind != 's' || Seal()) && (kind == 'f' || RunSomething());
    _exit(ok ? 0 : 1);
  }
  PyOS_AfterFork_Parent();
  int status = 1;
  return child > 0 && waitpid(child, &status, __WALL) == child && status == 0;
}

bool Prepare(int count, char** modules) {
  wchar_t* packages = nullptr;
  if (count > 0 && modules[0][0] == '/') {
    packages = Py_DecodeLocale(modules[0], nullptr);
    --count, ++modules;
  }
  if (!StartPython(packages)) return false;
  for (int i = 0; i < count; ++i) {
    if (!PyImport_ImportModule(modules[i])) PyErr_Clear();
  }
  PyRun_SimpleString("import gc; gc.collect(); gc.freeze()");
  const auto readable = belljar::seal::OpenReadableTrees({});
  if (readable)
    g_ruleset = belljar::seal::CreateLandlockRuleset({*readable}, belljar::seal::LandlockAbi());
  // Allows everything: the floor measures the cost of a filter, not of denials.
  std::vector<belljar::core::SyscallRule> allowed;
  for (const char* name :
       {"read", "write", "mmap", "munmap", "brk", "madvise", "futex", "getrandom", "exit_group",
        "rt_sigreturn", "mprotect", "close", "clock_gettime"}) {
    allowed.push_back({name});
  }
  auto filter = belljar::seal::CompileFilter(allowed, {});
  if (filter) g_filter = std::move(*filter);
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  if (!Prepare(argc - 1, argv + 1)) return 1;
  char kind;
  while (read(0, &kind, 1) == 1) {
    const auto start = std::chrono::steady_clock::now();
    const bool ok = Sample(kind);
    const auto time = std::chrono::steady_clock::now() - start;
    // Zero means that this machine does not allow it.
    const uint64_t sample =
        ok ? static_cast<uint64_t>(std::chrono::nanoseconds(time).count()) : uint64_t{0};
    if (write(1, &sample, sizeof sample) != sizeof sample) return 1;
  }
  return 0;
}
