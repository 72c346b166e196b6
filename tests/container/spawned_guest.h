// belljar-guest as a process of its own, without a container.
#ifndef BELLJAR_TESTS_CONTAINER_SPAWNED_GUEST_H_
#define BELLJAR_TESTS_CONTAINER_SPAWNED_GUEST_H_

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "container/image/image_files.h"
#include "container/wire/channel.h"
#include "engine/core/socket.h"
#include "engine/installation/installation.h"
#include "tests/support/support.h"

namespace belljar::tests {

inline std::string GuestProgram() {
  return container::image::GuestProgramPath(*installation::Installation::Find());
}

// A belljar-guest of its own, over a socket, or pipes. `prepare` is called in its process before it
// becomes one.
class SpawnedGuest {
 public:
  enum class Over { kSocket, kPipes };

  explicit SpawnedGuest(std::vector<std::string> arguments, Over over = Over::kSocket,
                        std::vector<std::string> before = {},
                        const std::string& program = GuestProgram(),
                        const std::function<void()>& prepare = {}) {
    core::UniqueFd in, out;
    if (over == Over::kSocket) {
      auto pair = core::CreateSocketPair(SOCK_STREAM);
      channel_.emplace(*container::wire::Channel::OfSocket(std::move(pair->first)));
      out.Reset(fcntl(pair->second.get(), F_DUPFD_CLOEXEC, 0));
      in = std::move(pair->second);
    } else {
      int to[2], from[2];
      if (pipe2(to, O_CLOEXEC) != 0 || pipe2(from, O_CLOEXEC) != 0) abort();
      in.Reset(to[0]);
      out.Reset(from[1]);
      channel_.emplace(
          *container::wire::Channel::OfPipes(core::UniqueFd(from[0]), core::UniqueFd(to[1])));
    }
    before.push_back(program);
    before.insert(before.end(), arguments.begin(), arguments.end());
    std::vector<char*> words;
    for (std::string& word : before) words.push_back(word.data());
    words.push_back(nullptr);
    pid_ = fork();
    if (pid_ == 0) {
      dup2(in.get(), STDIN_FILENO);
      dup2(out.get(), STDOUT_FILENO);
      if (prepare) prepare();
      execvp(words[0], words.data());
      _exit(127);
    }
  }
  ~SpawnedGuest() {
    channel_.reset();
    if (pid_ <= 0) return;
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }

  // The line, once.
  container::wire::Channel TakeChannel() { return std::move(*channel_); }
  container::wire::Channel& channel() { return *channel_; }
  void Hang() { channel_.reset(); }
  pid_t pid() const { return pid_; }

  Death AwaitDeath() {
    int status = 0;
    if (!Eventually([&] { return waitpid(pid_, &status, WNOHANG) == pid_; })) {
      ADD_FAILURE() << "the guest is still there";
      return {};
    }
    pid_ = -1;
    return WIFEXITED(status) ? Exited(WEXITSTATUS(status)) : KilledBy(WTERMSIG(status));
  }

 private:
  std::optional<container::wire::Channel> channel_;
  pid_t pid_ = -1;
};

}  // namespace belljar::tests

#endif  // BELLJAR_TESTS_CONTAINER_SPAWNED_GUEST_H_
