#include "server/calls/pending_lines.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>
#include <utility>

#include "engine/core/fd.h"
#include "engine/core/socket.h"
#include "engine/core/text.h"

namespace belljar::server {

struct PendingLines::Question {
  core::UniqueFd answered{eventfd(0, EFD_CLOEXEC)};
  std::mutex mutex;
  std::optional<std::string> line;
};

std::shared_ptr<PendingLines::Question> PendingLines::Add(const std::string& owner, uint64_t& id) {
  auto question = std::make_shared<Question>();
  if (!question->answered) return nullptr;
  const std::lock_guard lock(mutex_);
  id = ++last_id_;
  pending_.emplace(Key(owner, id), question);
  return question;
}

std::shared_ptr<PendingLines::Question> PendingLines::Remove(const std::string& owner,
                                                             uint64_t id) {
  const std::lock_guard lock(mutex_);
  const auto found = pending_.extract({owner, id});
  return found ? found.mapped() : nullptr;
}

AskForLine PendingLines::For(std::string owner, std::shared_ptr<Cancellation> cancellation,
                             Ask ask) {
  struct Call {
    const std::string owner;
    const std::shared_ptr<Cancellation> cancellation;
    const Ask ask;
    core::Clock::duration left;
  };
  auto call = std::make_shared<Call>(
      Call{std::move(owner), std::move(cancellation), std::move(ask), timeout_});
  return [this, call](const std::string& prompt) -> std::optional<std::string> {
    const core::Result<int> cancel_fd =
        call->cancellation ? call->cancellation->fd() : core::Result<int>(-1);
    if (!cancel_fd) return std::nullopt;
    uint64_t id = 0;
    const std::shared_ptr<Question> question = Add(call->owner, id);
    if (!question) return std::nullopt;
    const core::Deadline asked_at = core::Clock::now();
    call->ask(id, prompt);
    pollfd polled[] = {{question->answered.get(), POLLIN, 0}, {*cancel_fd, POLLIN, 0}};
    while (poll(polled, 2, core::PollTimeout(asked_at + call->left)) < 0 && errno == EINTR) {
    }
    call->left -= core::Clock::now() - asked_at;
    (void)Remove(call->owner, id);
    const std::lock_guard lock(question->mutex);
    return std::move(question->line);
  };
}

bool PendingLines::Answer(const std::string& owner, uint64_t id, std::optional<std::string> line) {
  const std::shared_ptr<Question> question = Remove(owner, id);
  if (!question) return false;
  if (line && line->size() > kMaxLine) {
    line->resize(core::CompletePrefix(std::string_view(*line).substr(0, kMaxLine)));
  }
  {
    const std::lock_guard lock(question->mutex);
    question->line = std::move(line);
  }
  const uint64_t one = 1;
  (void)!write(question->answered.get(), &one, sizeof one);
  return true;
}

}  // namespace belljar::server
