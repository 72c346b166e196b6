// EventHub: keeps the latest events of each owner, and of all together, and passes them on.
// Publishers never wait for readers: readers fetch at their own pace, and are told what they have
// missed.
//
//   EventHub hub({.events = 1000, .bytes = 1 << 20});
//   hub.Publish("team-a", ExecutionStarted{…});                  // any thread
//   EventHub::Reader reader = hub.Open("team-a", *position, false);
//   for (const EventHub::Item& item : hub.Read(reader, …).items) …
//
// An event has an id, EPOCH-NUMBER: the epoch changes with each start of the server, and the
// numbers of an owner are consecutive. Each owner has its own numbers, so that nobody learns how
// much others run. Among the events of all it has another id, of another epoch.
#ifndef BELLJAR_SERVER_EVENTS_EVENT_HUB_H_
#define BELLJAR_SERVER_EVENTS_EVENT_HUB_H_

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "server/events/event.h"

namespace belljar::server::events {

// A reader's position: a parsed id.
struct EventPosition {
  std::string epoch;
  uint64_t number = 0;
  // nullopt: not an id of any server.
  static std::optional<EventPosition> Parse(std::string_view id);
};

class EventHub {
 public:
  // Per owner; output has its own limit of the same size.
  struct Bounds {
    size_t events = 1000;
    size_t bytes = 1 << 20;
  };
  // In place of an owner: all of them. No owner has this name. Kept from their first reader on.
  static constexpr std::string_view kAll = "*";

  explicit EventHub(Bounds bounds);
  EventHub(const EventHub&) = delete;

  const std::string& epoch() const { return epoch_; }

  // Any thread; does not block. `owner` is one of a few names that the operator chose.
  void Publish(std::string_view owner, EventData data);
  // Guest output is kept separately: it cannot displace other events.
  void PublishOutput(std::string_view owner, ExecutionOutput output);
  // Whether any reader of this owner, or of all, wants output.
  bool WantsOutput(std::string_view owner) const;

  // Called with each event except output, on the publishing thread. Set before the first event.
  using Listener = std::function<void(const std::shared_ptr<const Event>&)>;
  void AddListener(Listener listener) { listeners_.push_back(std::move(listener)); }

  // A position in the events of one owner. Must be closed.
  class Reader {
   private:
    friend class EventHub;
    std::string owner_;
    uint64_t next_ = 1;
    uint64_t next_output_ = 1;
    bool output_ = false;
    std::optional<Gap> gap_;  // between the position that it was opened at and next_
  };
  // Starts after `position`, or with the next event.
  Reader Open(const std::string& owner, const std::optional<EventPosition>& position, bool output);
  void Close(const Reader& reader);

  struct Item {
    std::string id;  // empty: not a position to resume from
    std::shared_ptr<const Event> event;
  };
  struct Batch {
    std::vector<Item> items;
    bool has_more = false;
    // The reader was too slow: the last item is a gap, and events before it were lost.
    bool fell_behind = false;
  };
  // The next events, at most `count` and about `bytes`.
  Batch Read(Reader& reader, size_t count, size_t bytes);
  // Whether events that the reader has not read yet are no longer kept.
  bool FellBehind(const Reader& reader) const;
  // The id of the owner's last event.
  std::string LastId(const std::string& owner) const;

  // For the one thread that serves readers: blocks until, since `version`, something was published
  // for a reader or Wake was called, or until `deadline`.
  uint64_t version() const;
  void Await(uint64_t version, std::chrono::steady_clock::time_point deadline);
  void Wake();

  uint64_t published() const { return published_.load(std::memory_order_relaxed); }

 private:
  struct Stored {
    uint64_t order;
    std::shared_ptr<const Event> event;
  };
  // The events from number last - events.size() + 1 to number last.
  struct Ring {
    std::deque<Stored> events;
    size_t bytes = 0;
    uint64_t last = 0;

    uint64_t first() const { return last - events.size() + 1; }
    void Push(Stored stored, const Bounds& bounds);
    const Stored* At(uint64_t number) const;
  };
  struct Owner {
    Ring events;
    Ring output;
    uint64_t order = 0;  // of both together
    size_t readers = 0;
    size_t output_readers = 0;
  };
  void Add(const std::shared_ptr<const Event>& event, Ring Owner::*ring);
  const std::string& EpochOf(std::string_view owner) const;
  std::string IdOf(std::string_view owner, uint64_t number) const;
  Item GapItem(const Reader& reader, Gap gap, std::string id) const;

  const Bounds bounds_;
  const std::string epoch_;
  const std::string epoch_of_all_;
  std::vector<Listener> listeners_;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::string, Owner, std::less<>> owners_;
  uint64_t version_ = 0;
  std::atomic<size_t> output_readers_ = 0;
  std::atomic<uint64_t> published_ = 0;
};

}  // namespace belljar::server::events

#endif  // BELLJAR_SERVER_EVENTS_EVENT_HUB_H_
