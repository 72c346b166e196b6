#include "tests/container/child_engine.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <thread>

#include "engine/core/socket.h"
#include "engine/core/text.h"
#include "engine/host/random.h"
#include "engine/installation/installation.h"

namespace belljar::tests {
namespace {

core::Result<core::Process> Spawn(std::vector<std::string> command, int line, int errors) {
  std::vector<char*> words;
  for (std::string& word : command) words.push_back(word.data());
  words.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, line, 0);
  posix_spawn_file_actions_adddup2(&actions, line, 1);
  posix_spawn_file_actions_adddup2(&actions, errors, 2);
  pid_t pid = -1;
  const int error = posix_spawnp(&pid, words[0], &actions, nullptr, words.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) return core::SystemErrorOf(error, "start " + command[0]);
  return core::Process(pid, core::UniqueFd(static_cast<int>(syscall(SYS_pidfd_open, pid, 0))));
}

std::string TextOf(int fd) {
  char buffer[4096];
  const ssize_t got = pread(fd, buffer, sizeof buffer, 0);
  return got > 0 ? std::string(buffer, static_cast<size_t>(got)) : std::string();
}

}  // namespace

std::string ChildEngine::GuestProgram() {
  const std::string zygote = installation::Installation::Find()->zygote;
  return zygote.substr(0, zygote.rfind('/')) + "/belljar-guest";
}

void ChildEngine::Stop() {
  const std::lock_guard lock(mutex_);
  stopped_ = true;
  for (auto& [id, child] : children_) {
    child.running = false;
    if (!child.process) continue;
    child.process.Kill();
    // Or a run could still be given to one that is about to die.
    EXPECT_TRUE(core::WaitReadable(child.process.ended_fd(),
                                   core::Clock::now() + std::chrono::seconds(60)));
  }
}

void ChildEngine::StartAgain() {
  const std::lock_guard lock(mutex_);
  stopped_ = false;
}

void ChildEngine::Hold() {
  const std::lock_guard lock(mutex_);
  is_held_ = true;
}

void ChildEngine::LetGo() {
  const std::lock_guard lock(mutex_);
  is_held_ = false;
  let_go_.notify_all();
}

void ChildEngine::SetProgram(std::vector<std::string> command) {
  const std::lock_guard lock(mutex_);
  program_ = std::move(command);
}

void ChildEngine::SetOutOfMemory() {
  const std::lock_guard lock(mutex_);
  out_of_memory_ = true;
}

std::string ChildEngine::AddLeftOver(std::map<std::string, std::string> labels, bool running) {
  const std::lock_guard lock(mutex_);
  const std::string id = core::Hex(host::RandomBytes());
  Child& child = children_[id];
  child.labels = std::move(labels);
  child.running = running;
  return id;
}

size_t ChildEngine::starts() const {
  const std::lock_guard lock(mutex_);
  return starts_;
}

size_t ChildEngine::peak() const {
  const std::lock_guard lock(mutex_);
  return peak_;
}

std::vector<std::string> ChildEngine::ids() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> ids;
  for (const auto& [id, ignored] : children_) ids.push_back(id);
  return ids;
}

pid_t ChildEngine::pid_of(const std::string& id) const {
  const std::lock_guard lock(mutex_);
  const auto found = children_.find(id);
  return found == children_.end() ? -1 : found->second.process.pid();
}

container::engines::ContainerSpec ChildEngine::last_spec() const {
  const std::lock_guard lock(mutex_);
  return last_spec_;
}

core::Result<void> ChildEngine::IsThere() const {
  const std::lock_guard lock(mutex_);
  if (!stopped_) return {};
  return core::SystemErrorOf(ECONNREFUSED, "connect to the container engine",
                             "nothing listens there: the engine has stopped; start it");
}

std::vector<std::string> ChildEngine::CommandOf(
    const container::engines::ContainerSpec& spec) const {
  if (!program_.empty()) return program_;
  std::vector<std::string> command = spec.command;
  command[0] = GuestProgram();
  return command;
}

core::Result<container::engines::EngineFacts> ChildEngine::Check() {
  if (core::Result<void> there = IsThere(); !there) return there.error();
  container::engines::EngineFacts facts;
  facts.name = "Child Engine";
  facts.runtimes = {"child"};
  return facts;
}

core::Result<std::optional<container::engines::EngineImage>> ChildEngine::FindImage(
    const std::string&) {
  return std::optional<container::engines::EngineImage>();
}

core::Result<std::string> ChildEngine::LoadImage(int, const container::engines::LoadProgress&) {
  return core::MakeError("load the image", "there are none here");
}

core::Result<void> ChildEngine::RemoveImage(const std::string&) { return {}; }

core::Result<container::engines::StartedContainer> ChildEngine::Start(
    const container::engines::ContainerSpec& spec) {
  {
    std::unique_lock lock(mutex_);
    let_go_.wait(lock, [&] { return !is_held_; });
  }
  if (core::Result<void> there = IsThere(); !there) return there.error();
  core::Result<std::pair<core::UniqueFd, core::UniqueFd>> line =
      core::CreateSocketPair(SOCK_STREAM);
  if (!line) return line.error();
  auto errors = std::make_shared<core::UniqueFd>(memfd_create("errors", MFD_CLOEXEC));
  const std::lock_guard lock(mutex_);
  core::Result<core::Process> process = Spawn(CommandOf(spec), line->second.get(), errors->get());
  if (!process) return process.error();
  container::engines::StartedContainer container;
  container.id = core::Hex(host::RandomBytes());
  container.input = core::UniqueFd(fcntl(line->first.get(), F_DUPFD_CLOEXEC, 0));
  container.output = std::move(line->first);
  container.errors = [errors] { return TextOf(errors->get()); };
  ++starts_;
  last_spec_ = spec;
  Child& child = children_[container.id];
  child.process = std::move(*process);
  child.labels = spec.labels;
  peak_ = std::max(peak_, children_.size());
  return container;
}

core::Result<void> ChildEngine::Kill(const std::string& id) {
  if (core::Result<void> there = IsThere(); !there) return there;
  const std::lock_guard lock(mutex_);
  const auto found = children_.find(id);
  if (found != children_.end()) found->second.process.Kill();
  return {};
}

core::Result<container::engines::ContainerExit> ChildEngine::Wait(
    const std::string& id, std::chrono::milliseconds timeout) {
  if (core::Result<void> there = IsThere(); !there) return there.error();
  core::UniqueFd end;
  {
    const std::lock_guard lock(mutex_);
    const auto found = children_.find(id);
    if (found == children_.end())
      return core::MakeError("wait for a container", "there is no such one");
    end.Reset(fcntl(found->second.process.ended_fd(), F_DUPFD_CLOEXEC, 0));
  }
  if (core::Result<void> ended = core::WaitReadable(end.get(), core::Clock::now() + timeout);
      !ended) {
    return ended.error();
  }
  siginfo_t info{};
  if (waitid(P_PIDFD, static_cast<id_t>(end.get()), &info, WEXITED | WNOWAIT) != 0) {
    return core::SystemError("wait for a container");
  }
  const std::lock_guard lock(mutex_);
  container::engines::ContainerExit exit;
  exit.exit_code = info.si_code == CLD_EXITED ? info.si_status : 128 + info.si_status;
  exit.out_of_memory = out_of_memory_ && exit.exit_code == 128 + SIGKILL;
  return exit;
}

core::Result<bool> ChildEngine::RanOutOfMemory(const std::string&) {
  if (core::Result<void> there = IsThere(); !there) return there.error();
  const std::lock_guard lock(mutex_);
  return out_of_memory_;
}

core::Result<std::vector<container::engines::ListedContainer>> ChildEngine::List(
    const std::string& label, const std::string& value) {
  if (core::Result<void> there = IsThere(); !there) return there.error();
  const std::lock_guard lock(mutex_);
  std::vector<container::engines::ListedContainer> containers;
  for (const auto& [id, child] : children_) {
    const auto found = child.labels.find(label);
    if (found == child.labels.end() || found->second != value) continue;
    containers.push_back({.id = id, .labels = child.labels, .running = child.running});
  }
  return containers;
}

core::Result<void> ChildEngine::Remove(const std::string& id) {
  if (core::Result<void> there = IsThere(); !there) return there;
  Child child;
  const std::lock_guard lock(mutex_);
  const auto found = children_.find(id);
  if (found == children_.end()) return {};
  child = std::move(found->second);
  children_.erase(found);
  if (child.process) child.process.Destroy();
  return {};
}

}  // namespace belljar::tests
