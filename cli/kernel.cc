#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "cli/commands.h"
#include "cli/console.h"
#include "cli/exit_code.h"
#include "engine/core/text.h"
#include "engine/host/version.h"

namespace belljar::cli {
namespace {

namespace fs = std::filesystem;

using StringList = std::vector<std::string>;

struct KernelArguments {
  std::string action;  // "install" or "uninstall"
  bool user = false;
  bool sys_prefix = false;
  std::optional<std::string> prefix;
  std::optional<std::string> name;
  std::optional<std::string> display_name;
  std::optional<std::string> profile;
  std::optional<std::string> timeout;
  std::optional<std::string> memory;
  StringList files;
  StringList languages;
};

// Fails in an interpreter that lacks either. -P, here and below: the working directory is not
// trusted to hold packages.
constexpr char kCheck[] =
    "import sys, belljar, importlib.util as u; sys.exit(u.find_spec('ipykernel') is None)";
constexpr char kModule[] = "belljar.kernel";

// The arguments of the Python module.
StringList ForModule(const KernelArguments& arguments) {
  StringList words = {arguments.action};
  if (arguments.user) words.emplace_back("--user");
  if (arguments.sys_prefix) words.emplace_back("--sys-prefix");
  const auto add = [&](const char* option, const std::optional<std::string>& value) {
    if (value) words.push_back(std::string(option) + "=" + *value);
  };
  add("--prefix", arguments.prefix);
  add("--name", arguments.name);
  add("--display-name", arguments.display_name);
  add("--profile", arguments.profile);
  add("--timeout", arguments.timeout);
  add("--memory", arguments.memory);
  for (const std::string& pattern : arguments.files) words.push_back("--files=" + pattern);
  for (const std::string& name : arguments.languages) words.push_back("--language=" + name);
  return words;
}

// Where the package may be: the environment of this program, as installed by pip, then PATH.
// Symbolic links are not resolved: they are what makes a virtual environment one.
StringList Interpreters() {
  std::error_code code;
  StringList folders = {fs::read_symlink("/proc/self/exe", code).parent_path()};
  const char* const path = getenv("PATH");
  for (const std::string_view folder : core::SplitAt(path ? path : "", ':')) {
    // A relative path would depend on the working directory.
    if (folder.starts_with('/')) folders.emplace_back(folder);
  }
  const std::string version = host::kPythonVersion;
  const std::string minor = version.substr(0, version.rfind('.'));
  StringList found;
  for (const std::string& folder : folders) {
    for (const std::string& name : {"python" + minor, std::string("python3")}) {
      std::string program = fs::path(folder) / name;
      if (access(program.c_str(), X_OK) == 0 && !core::Contains(found, program))
        found.push_back(std::move(program));
    }
  }
  return found;
}

std::vector<char*> Pointers(StringList& words) {
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  return pointers;
}

bool HasKernel(const std::string& interpreter) {
  StringList words = {interpreter, "-P", "-c", kCheck};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    posix_spawn_file_actions_addopen(&actions, fd, "/dev/null", O_RDWR, 0);
  pid_t pid = 0;
  const int failed =
      posix_spawn(&pid, words[0].c_str(), &actions, nullptr, Pointers(words).data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  int status = 0;
  return failed == 0 && TEMP_FAILURE_RETRY(waitpid(pid, &status, 0)) == pid && status == 0;
}

core::Error NoInterpreter(const StringList& tried) {
  const std::string pip = tried.empty() ? "pip" : core::Printable(tried.front()) + " -m pip";
  return core::MakeError(
      "find a Python with belljar and ipykernel",
      (tried.empty() ? "there is no python3 on PATH"
                     : "none of these has both: " + core::Printable(core::Joined(tried))) +
          "; install them: " + pip + " install \"belljar-sandbox[kernel]\"");
}

// Returns only on failure.
core::Error Become(const std::string& interpreter, const KernelArguments& arguments) {
  StringList words = {interpreter, "-P", "-m", kModule};
  for (std::string& word : ForModule(arguments)) words.push_back(std::move(word));
  signal(SIGPIPE, SIG_DFL);
  execv(words[0].c_str(), Pointers(words).data());
  return core::SystemError("run " + core::Quoted(interpreter));
}

int ExecuteKernel(const KernelArguments& arguments) {
  if (arguments.user + arguments.sys_prefix + arguments.prefix.has_value() > 1) {
    return UsageError("kernel " + arguments.action,
                      "--user, --sys-prefix and --prefix are mutually exclusive");
  }
  const StringList interpreters = Interpreters();
  for (const std::string& each : interpreters) {
    if (HasKernel(each)) return OwnFailure(Become(each, arguments));
  }
  return OwnFailure(NoInterpreter(interpreters));
}

Command MakeInstallCommand(CLI::App& kernel) {
  auto arguments = std::make_shared<KernelArguments>(KernelArguments{.action = "install"});
  CLI::App* parser = AddCommand(kernel, "install", "Add the kernel to Jupyter");
  AddFlag(parser, "--user", arguments->user, "for this user (the default)");
  AddFlag(parser, "--sys-prefix", arguments->sys_prefix, "in the environment of that Python");
  AddText(parser, "--prefix", arguments->prefix, "DIR", "under this directory");
  AddText(parser, "--name", arguments->name, "NAME", "name of the kernel (default: belljar)");
  AddText(parser, "--display-name", arguments->display_name, "TEXT", "name shown in menus");
  AddText(parser, "--profile", arguments->profile, kProfileType,
          "profiles that cells may use (default: all enabled profiles)");
  AddText(parser, "--timeout", arguments->timeout, "TIME",
          "wall-clock limit of a cell: seconds, or 500ms, 2s, 2m (default: the profile's)");
  AddText(parser, "--memory", arguments->memory, "SIZE",
          "memory limit of the session: bytes, or with k, m or g (default: the profile's)");
  AddRepeatable(parser, "--files", arguments->files, "PATTERN",
                "files of the notebook's folder that sessions have, such as '*.csv'; repeatable");
  AddRepeatable(parser, "--language", arguments->languages, "NAME",
                "language besides Python that cells may be in, such as bash; repeatable");
  SetExamples(parser, {"belljar kernel install --sys-prefix  # into the environment of Jupyter",
                       "belljar kernel install --profile data-science --timeout 60  # limits",
                       "belljar kernel install --files '*.csv'  # tables beside the notebook",
                       "belljar kernel install --language bash --language r  # %%bash and %%r",
                       "belljar kernel install --name short --timeout 5  # another kernel"});
  return {parser, [arguments] { return ExecuteKernel(*arguments); }};
}

Command MakeUninstallCommand(CLI::App& kernel) {
  auto arguments = std::make_shared<KernelArguments>(KernelArguments{.action = "uninstall"});
  CLI::App* parser = AddCommand(kernel, "uninstall", "Remove a kernel from Jupyter");
  AddText(parser, "--name", arguments->name, "NAME", "name of the kernel (default: belljar)");
  SetExamples(parser, {"belljar kernel uninstall  # the one named belljar",
                       "belljar kernel uninstall --name short  # another kernel"});
  return {parser, [arguments] { return ExecuteKernel(*arguments); }};
}

}  // namespace

std::vector<Command> MakeKernelCommands(CLI::App& app) {
  CLI::App* kernel = AddCommand(app, "kernel", "The Jupyter kernel: notebooks in a live session");
  Command whole{kernel, [&app] {
                  Say(app.help());
                  return kExitUsage;
                }};
  SetExamples(kernel, {"belljar kernel install  # for this user's Jupyter",
                       "belljar kernel uninstall  # remove it",
                       "belljar kernel install --help  # all options"});
  return {std::move(whole), MakeInstallCommand(*kernel), MakeUninstallCommand(*kernel)};
}

}  // namespace belljar::cli
