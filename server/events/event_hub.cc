#include "server/events/event_hub.h"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "engine/core/text.h"
#include "engine/host/number.h"
#include "engine/host/random.h"

namespace belljar::server::events {
namespace {

constexpr size_t kEpochDigits = 16;

std::string NewEpoch() {
  const auto bytes = host::RandomBytes();
  return core::Hex(std::span(bytes).first(kEpochDigits / 2));
}

std::shared_ptr<const Event> Now(std::string_view owner, EventData data) {
  return std::make_shared<const Event>(
      Event{std::chrono::system_clock::now(), std::string(owner), std::move(data)});
}

}  // namespace

std::optional<EventPosition> EventPosition::Parse(std::string_view id) {
  const auto is_hex = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); };
  if (id.size() < kEpochDigits + 2 || id[kEpochDigits] != '-') return std::nullopt;
  const std::string_view epoch = id.substr(0, kEpochDigits);
  const auto number = host::NumberFrom<uint64_t>(id.substr(kEpochDigits + 1));
  if (!number || !std::all_of(epoch.begin(), epoch.end(), is_hex)) return std::nullopt;
  return EventPosition{std::string(epoch), *number};
}

EventHub::EventHub(Bounds bounds)
    : bounds_(bounds), epoch_(NewEpoch()), epoch_of_all_(NewEpoch()) {}

void EventHub::Ring::Push(Stored stored, const Bounds& bounds) {
  bytes += SizeOf(*stored.event);
  events.push_back(std::move(stored));
  ++last;
  while (events.size() > bounds.events || (bytes > bounds.bytes && events.size() > 1)) {
    bytes -= SizeOf(*events.front().event);
    events.pop_front();
  }
}

const EventHub::Stored* EventHub::Ring::At(uint64_t number) const {
  return number >= first() && number <= last ? &events[number - first()] : nullptr;
}

void EventHub::Add(const std::shared_ptr<const Event>& event, Ring Owner::*ring) {
  const std::lock_guard lock(mutex_);
  size_t readers = 0;
  for (const std::string_view name : {std::string_view(event->owner), kAll}) {
    auto found = owners_.find(name);
    if (found == owners_.end()) {
      if (name == kAll) continue;  // nobody has read those of all, and so has a position there
      found = owners_.emplace(name, Owner()).first;
    }
    Owner& owner = found->second;
    // Nobody would clear it.
    if (ring == &Owner::output && owner.output_readers == 0) continue;
    (owner.*ring).Push({++owner.order, event}, bounds_);
    readers += owner.readers;
  }
  if (readers == 0) return;
  ++version_;
  changed_.notify_one();
}

void EventHub::Publish(std::string_view owner, EventData data) {
  const std::shared_ptr<const Event> event = Now(owner, std::move(data));
  published_.fetch_add(1, std::memory_order_relaxed);
  Add(event, &Owner::events);
  for (const Listener& listener : listeners_) listener(event);
}

void EventHub::PublishOutput(std::string_view owner, ExecutionOutput output) {
  Add(Now(owner, std::move(output)), &Owner::output);
}

bool EventHub::WantsOutput(std::string_view owner) const {
  if (output_readers_.load(std::memory_order_relaxed) == 0) return false;
  const std::lock_guard lock(mutex_);
  return std::ranges::any_of(std::array{owner, kAll}, [this](std::string_view name) {
    const auto found = owners_.find(name);
    return found != owners_.end() && found->second.output_readers > 0;
  });
}

EventHub::Reader EventHub::Open(const std::string& owner,
                                const std::optional<EventPosition>& position, bool output) {
  const std::lock_guard lock(mutex_);
  Owner& events = owners_[owner];
  Reader reader;
  reader.owner_ = owner;
  reader.output_ = output;
  reader.next_ = events.events.last + 1;
  reader.next_output_ = events.output.last + 1;
  ++events.readers;
  if (output) {
    ++events.output_readers;
    output_readers_.fetch_add(1, std::memory_order_relaxed);
  }
  if (!position) return reader;
  const uint64_t first = events.events.first();
  if (position->epoch != EpochOf(owner) || position->number > events.events.last) {
    reader.gap_ = Gap{"restart", std::nullopt};
    reader.next_ = first;
  } else if (position->number + 1 < first) {
    reader.gap_ = Gap{"expired", first - position->number - 1};
    reader.next_ = first;
  } else {
    reader.next_ = position->number + 1;
  }
  return reader;
}

void EventHub::Close(const Reader& reader) {
  const std::lock_guard lock(mutex_);
  Owner& owner = owners_[reader.owner_];
  --owner.readers;
  if (!reader.output_) return;
  output_readers_.fetch_sub(1, std::memory_order_relaxed);
  if (--owner.output_readers > 0) return;
  owner.output.events.clear();
  owner.output.bytes = 0;
}

const std::string& EventHub::EpochOf(std::string_view owner) const {
  return owner == kAll ? epoch_of_all_ : epoch_;
}

std::string EventHub::IdOf(std::string_view owner, uint64_t number) const {
  return EpochOf(owner) + "-" + std::to_string(number);
}

EventHub::Item EventHub::GapItem(const Reader& reader, Gap gap, std::string id) const {
  return {std::move(id), Now(reader.owner_ == kAll ? "" : reader.owner_, std::move(gap))};
}

EventHub::Batch EventHub::Read(Reader& reader, size_t count, size_t bytes) {
  Batch batch;
  const std::lock_guard lock(mutex_);
  const Owner& owner = owners_[reader.owner_];
  // After the gap, a reader continues at the first kept event.
  if (std::optional<Gap> gap = std::exchange(reader.gap_, std::nullopt)) {
    batch.items.push_back(GapItem(reader, std::move(*gap), IdOf(reader.owner_, reader.next_ - 1)));
  }
  if (reader.next_ < owner.events.first()) {
    // Without an id: the events that it can still get follow its last event.
    batch.items.push_back(
        GapItem(reader, {"slow", owner.events.first() - reader.next_}, std::string()));
    batch.fell_behind = true;
    return batch;
  }
  const uint64_t first_output = owner.output.first();
  if (reader.output_ && reader.next_output_ < first_output) {
    batch.items.push_back(
        GapItem(reader, {"output", first_output - reader.next_output_}, std::string()));
    reader.next_output_ = first_output;
  }
  size_t size = 0;
  for (;;) {
    const Stored* event = owner.events.At(reader.next_);
    const Stored* output = reader.output_ ? owner.output.At(reader.next_output_) : nullptr;
    if (!event && !output) return batch;
    if (batch.items.size() >= count || size >= bytes) {
      batch.has_more = true;
      return batch;
    }
    const bool is_output = !event || (output && output->order < event->order);
    const Stored& next = is_output ? *output : *event;
    batch.items.push_back(
        {is_output ? std::string() : IdOf(reader.owner_, reader.next_), next.event});
    ++(is_output ? reader.next_output_ : reader.next_);
    size += SizeOf(*next.event);
  }
}

bool EventHub::FellBehind(const Reader& reader) const {
  const std::lock_guard lock(mutex_);
  const auto found = owners_.find(reader.owner_);
  return found != owners_.end() && reader.next_ < found->second.events.first();
}

std::string EventHub::LastId(const std::string& owner) const {
  const std::lock_guard lock(mutex_);
  const auto found = owners_.find(owner);
  return IdOf(owner, found == owners_.end() ? 0 : found->second.events.last);
}

uint64_t EventHub::version() const {
  const std::lock_guard lock(mutex_);
  return version_;
}

void EventHub::Await(uint64_t version, std::chrono::steady_clock::time_point deadline) {
  std::unique_lock lock(mutex_);
  changed_.wait_until(lock, deadline, [&] { return version_ != version; });
}

void EventHub::Wake() {
  const std::lock_guard lock(mutex_);
  ++version_;
  changed_.notify_all();
}

}  // namespace belljar::server::events
