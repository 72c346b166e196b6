#include "python/live_session.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace belljar::python {
namespace {

// The cells that this thread is within, the innermost last.
thread_local std::vector<const sessions::Session*> t_cells;

}  // namespace

LiveSession::LiveSession(std::shared_ptr<Engine> engine, std::shared_ptr<sessions::Session> session,
                         core::RequestedLimits limits)
    : engine_(std::move(engine)),
      session_(std::move(session)),
      limits_(limits),
      packages_(engine_->opened().packages) {}

LiveSession::~LiveSession() {
  if (is_of_this_process()) return;
  // Its mutexes may be held by threads that do not exist, its descriptors refer to other files.
  static auto* const inherited = new std::vector<std::shared_ptr<sessions::Session>>();
  inherited->push_back(std::move(session_));
}

LiveSession::Language LiveSession::LanguageOf(const std::string& name) const {
  const std::lock_guard lock(mutex_);
  const auto found = std::find_if(others_.rbegin(), others_.rend(),
                                  [&](const auto& each) { return each.first == name; });
  return found != others_.rend() ? found->second : Language{engine_, limits_};
}

void LiveSession::Add(const std::string& name, Language language) {
  const std::lock_guard lock(mutex_);
  others_.emplace_back(name, std::move(language));
}

std::string LiveSession::closed() const {
  if (!is_of_this_process()) return "it belongs to the parent process of this fork";
  return session_->closed();
}

void LiveSession::Close(std::string why) const {
  if (is_of_this_process()) session_->Close(std::move(why));
}

LiveSession::WithinCell::WithinCell(const LiveSession& session) {
  t_cells.push_back(session.session_.get());
}

LiveSession::WithinCell::~WithinCell() { t_cells.pop_back(); }

bool LiveSession::is_within_cell() const {
  return std::ranges::find(t_cells, session_.get()) != t_cells.end();
}

}  // namespace belljar::python
