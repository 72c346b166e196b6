// EventStreams: GET /v1/events, the events of a token, or for an operator's those of all, as
// server-sent events. One thread serves all streams: each has a position in the hub, which keeps
// what it has not read yet.
//
//   EventStreams streams(hub, {.version = "0.1.0"});
//   if (Result<void> started = streams.Start(); !started) return started.error();
//   HttpServer::Listen(…, {&streams});
//   streams.EndAll();       // the server drains: the rest is sent, then each stream ends
//
// A client that reads too slowly, so that the hub no longer has its next event, is told so and
// disconnected; with the id of its last event it may try to resume.
#ifndef BELLJAR_SERVER_EVENTS_EVENT_STREAMS_H_
#define BELLJAR_SERVER_EVENTS_EVENT_STREAMS_H_

#include <atomic>
#include <chrono>
#include <cstddef>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "engine/core/result.h"
#include "engine/core/thread.h"
#include "server/core/web.h"
#include "server/events/event_hub.h"

namespace belljar::server::events {

class EventStreams : public WebHandler {
 public:
  struct Options {
    size_t per_owner = 16;
    std::chrono::milliseconds heartbeat{15'000};
    std::string version;  // of the server
  };
  EventStreams(EventHub& hub, Options options);
  // Disconnects the remaining streams.
  ~EventStreams() override;

  core::Result<void> Start();

  const std::vector<WebRoute>& routes() const override;
  void Handle(size_t route, WebRequest request, std::shared_ptr<WebReply> reply) override;

  // Any thread; does not wait for the clients. Further requests are refused.
  void EndAll();
  // Ends the open streams of these callers. They may open new ones, if still permitted.
  void EndOf(const std::vector<std::string>& callers);
  size_t open() const { return open_.load(std::memory_order_relaxed); }

 private:
  // What a client wants to receive.
  struct Filter {
    std::vector<std::string> types;  // patterns; empty: all
    std::string caller;              // empty: all
    std::string execution;
    std::string session;
    bool output = false;

    bool Takes(const Event& event) const;
  };
  struct Query {
    Filter filter;
    std::optional<EventPosition> after;
  };
  struct Stream;
  using Clock = std::chrono::steady_clock;

  static core::Result<Query> Parse(const WebRequest& request);
  void Serve();
  // False: the stream has ended.
  bool Advance(Stream& stream, Clock::time_point now, bool ends);
  void Remove(Stream& stream);

  EventHub& hub_;
  const Options options_;

  std::mutex mutex_;
  std::list<std::unique_ptr<Stream>> new_;  // not yet picked up by the thread
  std::map<std::string, size_t> by_owner_;
  std::vector<std::string> ended_;  // callers whose streams the thread is to end
  bool ends_ = false;               // each stream ends once it has sent everything
  bool stops_ = false;              // the thread ends
  std::atomic<size_t> open_ = 0;
  std::list<std::unique_ptr<Stream>> streams_;  // used by the thread only
  core::Thread thread_;
};

}  // namespace belljar::server::events

#endif  // BELLJAR_SERVER_EVENTS_EVENT_STREAMS_H_
