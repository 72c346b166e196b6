#include "server/events/webhooks.h"

#include <algorithm>
#include <cerrno>
#include <deque>
#include <utility>

#include "engine/core/text.h"
#include "engine/host/base64.h"
#include "engine/host/digest.h"
#include "engine/host/version.h"
#include "server/events/http_post.h"
#include "server/events/sender_thread.h"

namespace belljar::server::events {
namespace {

using Clock = std::chrono::steady_clock;

bool IsDelivered(unsigned status) { return status >= 200 && status < 300; }

// 410: the receiver wants no more (Standard Webhooks).
constexpr unsigned kGone = 410;

}  // namespace

std::string SignWebhook(std::string_view secret, std::string_view id, std::string_view timestamp,
                        std::string_view body) {
  std::string content;
  content.append(id).append(".").append(timestamp).append(".").append(body);
  return "v1," + host::EncodeBase64(host::HmacSha256(secret, content));
}

class Webhooks::Endpoint : public SenderThread {
 public:
  Endpoint(const WebhookConfig& config, HttpTarget target, std::string epoch,
           FailureListener on_failure)
      : config_(config),
        epoch_(std::move(epoch)),
        on_failure_(std::move(on_failure)),
        post_(std::move(target)) {}

  core::Result<void> Start() {
    return Run("deliver webhooks", [this] { Work(); });
  }

  void Take(const std::shared_ptr<const Event>& event) {
    if (!Wants(*event)) return;
    {
      const std::lock_guard lock(mutex_);
      if (ends_ || is_gone_) return;
      if (waiting_.size() >= kMaxWaiting) {
        waiting_.pop_front();
        ++missed_;
        ++counters_.dropped;
      }
      waiting_.push_back(event);
    }
    changed_.notify_one();
  }

  Counters counters() const {
    const std::lock_guard lock(mutex_);
    Counters counters = counters_;
    counters.webhook = config_.name;
    counters.waiting = waiting_.size();
    return counters;
  }

 private:
  bool Wants(const Event& event) const {
    if (!config_.tokens.empty() && !core::Contains(config_.tokens, event.owner)) return false;
    return config_.events.empty() ||
           std::any_of(config_.events.begin(), config_.events.end(),
                       [&](const std::string& each) { return Matches(each, NameOf(event.data)); });
  }

  // The next item: a gap where events are missing. Null: nothing more will come.
  std::shared_ptr<const Event> Next() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return ends_ || missed_ > 0 || !waiting_.empty(); });
    if (missed_ > 0) {
      const uint64_t missed = std::exchange(missed_, 0);
      return std::make_shared<const Event>(
          Event{std::chrono::system_clock::now(), {}, Gap{"slow", missed}});
    }
    if (waiting_.empty()) return nullptr;
    std::shared_ptr<const Event> event = std::move(waiting_.front());
    waiting_.pop_front();
    return event;
  }

  void Work() {
    while (const std::shared_ptr<const Event> event = Next()) {
      // Unique, and the same for each attempt: lets the receiver detect duplicates.
      const std::string id = "msg_" + epoch_ + "_" + std::to_string(++number_);
      if (!Deliver(id, *event)) break;
    }
    const std::lock_guard lock(mutex_);
    counters_.dropped += waiting_.size();
    waiting_.clear();
  }

  // False: further attempts are pointless.
  bool Deliver(const std::string& id, const Event& event) {
    const std::string body = ToJson(event);
    host::Backoff backoff = kBackoff;
    for (unsigned attempt = 1;; ++attempt) {
      const core::Result<unsigned> status = Attempt(id, body);
      if (status && IsDelivered(*status)) {
        const std::lock_guard lock(mutex_);
        ++counters_.delivered;
        return true;
      }
      if (!status && status.error().error_number == ECANCELED) return false;
      const bool is_gone = status && *status == kGone;
      const bool dropped = is_gone || attempt >= config_.attempts;
      Note(event, WhyFailed(status), attempt, dropped, is_gone);
      if (is_gone) return false;
      if (dropped) return true;
      backoff.Fail(Clock::now());
      if (!Sleep(backoff.RandomWait())) return false;
    }
  }

  core::Result<unsigned> Attempt(const std::string& id, const std::string& body) {
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    const std::string timestamp =
        std::to_string(std::chrono::duration_cast<std::chrono::seconds>(now).count());
    return post_.Send({{"Content-Type", "application/json"},
                       {"User-Agent", std::string("belljar/") + host::kBelljarVersion},
                       {"webhook-id", id},
                       {"webhook-timestamp", timestamp},
                       {"webhook-signature", SignWebhook(config_.secret, id, timestamp, body)}},
                      body, Clock::now() + config_.timeout, stop_);
  }

  void Note(const Event& event, std::string why, unsigned attempts, bool dropped, bool is_gone) {
    {
      const std::lock_guard lock(mutex_);
      ++counters_.failed;
      is_gone_ = is_gone;
      if (dropped) {
        ++counters_.dropped;
        // A gap that was not delivered still counts the events it stood for.
        const auto* gap = std::get_if<Gap>(&event.data);
        missed_ += gap ? gap->missed.value_or(0) : 1;
      }
    }
    if (on_failure_) {
      on_failure_(
          {config_.name, std::string(NameOf(event.data)), std::move(why), attempts, dropped});
    }
  }

  const WebhookConfig config_;
  const std::string epoch_;
  const FailureListener on_failure_;
  HttpPost post_;
  uint64_t number_ = 0;

  std::deque<std::shared_ptr<const Event>> waiting_;
  uint64_t missed_ = 0;  // since the last event that was delivered
  Counters counters_;
  bool is_gone_ = false;
};

core::Result<std::unique_ptr<Webhooks>> Webhooks::Start(EventHub& hub,
                                                        const std::vector<WebhookConfig>& configs,
                                                        const FailureListener& on_failure) {
  std::unique_ptr<Webhooks> webhooks(new Webhooks());
  for (const WebhookConfig& config : configs) {
    core::Result<HttpTarget> target = HttpTarget::Parse(config.url, config.allow_private);
    if (!target) return core::MakeError("webhook " + config.name, target.error().detail);
    auto endpoint = std::make_shared<Endpoint>(config, std::move(*target), hub.epoch(), on_failure);
    webhooks->endpoints_.push_back(endpoint);
    if (core::Result<void> started = endpoint->Start(); !started) return started.error();
    hub.AddListener(
        [endpoint](const std::shared_ptr<const Event>& event) { endpoint->Take(event); });
  }
  return webhooks;
}

void Webhooks::Finish(Clock::time_point deadline) {
  for (const auto& endpoint : endpoints_) endpoint->Finish();
  for (const auto& endpoint : endpoints_) endpoint->Join(deadline);
}

// Stopped explicitly, since the hub refers to the endpoints, too.
Webhooks::~Webhooks() {
  for (const auto& endpoint : endpoints_) endpoint->Stop();
}

std::vector<Webhooks::Counters> Webhooks::counters() const {
  std::vector<Counters> all;
  for (const auto& endpoint : endpoints_) all.push_back(endpoint->counters());
  return all;
}

}  // namespace belljar::server::events
