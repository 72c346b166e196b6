#include "bench/floor.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <nlohmann/json.hpp>

#include "bench/options.h"
#include "bench/timing.h"
#include "engine/core/text.h"

extern char** environ;

namespace belljar::bench {
namespace {

std::vector<char*> Arguments(const std::vector<std::string>& command) {
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  return arguments;
}

}  // namespace

Floor::Floor(const std::vector<std::string>& command) {
  int in[2], out[2];
  if (pipe2(in, O_CLOEXEC) != 0 || pipe2(out, O_CLOEXEC) != 0) Exit("no pipe");
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, in[0], 0);
  posix_spawn_file_actions_adddup2(&actions, out[1], 1);
  if (posix_spawn(&pid_, command[0].c_str(), &actions, nullptr, Arguments(command).data(),
                  environ) != 0) {
    Exit("cannot start " + command[0]);
  }
  posix_spawn_file_actions_destroy(&actions);
  close(in[0]);
  close(out[1]);
  requests_.Reset(in[1]);
  samples_.Reset(out[0]);
}

Floor::~Floor() {
  requests_.Reset();
  waitpid(pid_, nullptr, 0);
}

double Floor::Sample(char kind) {
  uint64_t nanoseconds = 0;
  if (write(requests_.get(), &kind, 1) != 1 ||
      read(samples_.get(), &nanoseconds, sizeof nanoseconds) != sizeof nanoseconds) {
    Exit("a floor program has died");
  }
  return nanoseconds == 0 ? -1 : static_cast<double>(nanoseconds) / 1e6;
}

std::vector<std::string> BarePythonFloor() { return {ProgramBeside("belljar-bench-floor-python")}; }

std::vector<std::string> PythonFloor(const core::Profile& profile) {
  std::vector<std::string> command = {ProgramBeside("belljar-bench-floor-python")};
  // Without modules that replace a library module: the zygote does not import the library's
  // asyncio, with its sockets, either; and without modules whose import would pull that in.
  const nlohmann::json document = nlohmann::json::parse(profile.document);
  const nlohmann::json& modules = document.at("modules");
  for (const auto& [name, module] : modules.items()) {
    const std::string top(core::TopLevelName(name));
    const nlohmann::json& whole = modules.contains(top) ? modules[top] : module;
    if (!whole.value("synthetic", false)) command.push_back(name);
  }
  return command;
}

double TimeCommand(const std::vector<std::string>& command) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
  const Clock::time_point start = Clock::now();
  pid_t pid;
  const int failed =
      posix_spawnp(&pid, command[0].c_str(), &actions, nullptr, Arguments(command).data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  int status = 1;
  if (failed != 0 || waitpid(pid, &status, 0) != pid || status != 0) return -1;
  return MillisecondsSince(start);
}

}  // namespace belljar::bench
