#include "server/events/event_streams.h"

#include <algorithm>
#include <utility>

#include "engine/core/text.h"

namespace belljar::server::events {
namespace {

// A stream with more unsent bytes than this gets no more; and how much it gets at a time.
constexpr size_t kMaxUnsent = 256 << 10;
constexpr size_t kBatchBytes = 64 << 10;
constexpr size_t kBatchEvents = 256;
// When to check again for room in a stream, and whether clients have left: neither causes an event.
constexpr std::chrono::milliseconds kPollInterval{50};
constexpr std::chrono::milliseconds kClientCheckInterval{1000};
// A comment. Without an empty line, which some clients take as the end of an event without data
// (httpx-sse 0.4).
constexpr char kHeartbeat[] = ":\n";
constexpr size_t kMaxTypes = 64;
constexpr size_t kMaxId = 128;

std::string Text(const EventHub::Item& item) {
  std::string text;
  if (!item.id.empty()) text.append("id: ").append(item.id).append("\n");
  text.append("event: ").append(NameOf(item.event->data)).append("\n");
  return text.append("data: ").append(ToJson(*item.event)).append("\n\n");
}

core::Error BadQuery(std::string_view what) { return core::MakeError("", std::string(what)); }

core::Result<std::vector<std::string>> ParseTypes(const std::string& value) {
  std::vector<std::string> types;
  for (const std::string_view type : core::SplitAt(value, ',')) {
    if (!IsEventPattern(type)) {
      return BadQuery("types: no events match " + core::Quoted(type) +
                      "; write names, or patterns such as execution.*, separated by commas");
    }
    if (types.size() == kMaxTypes) return BadQuery("types: too many");
    types.emplace_back(type);
  }
  return types;
}

}  // namespace

struct EventStreams::Stream {
  std::shared_ptr<WebReply> reply;
  std::shared_ptr<Cancellation> peer_gone;
  std::string caller;
  Filter filter;
  EventHub::Reader reader;
  Clock::time_point last_sent;
  bool is_blocked = false;
  bool has_more = false;
};

bool EventStreams::Filter::Takes(const Event& event) const {
  const EventData& data = event.data;
  // Events about the stream itself.
  if (std::holds_alternative<Gap>(data)) return true;
  if (!caller.empty() && event.owner != caller) return false;
  if (!execution.empty() && ExecutionOf(data) != execution) return false;
  if (!session.empty() && SessionOf(data) != session) return false;
  if (std::holds_alternative<ExecutionOutput>(data)) return output;
  return types.empty() || std::any_of(types.begin(), types.end(), [&](const std::string& type) {
           return Matches(type, NameOf(data));
         });
}

EventStreams::EventStreams(EventHub& hub, Options options)
    : hub_(hub), options_(std::move(options)) {}

EventStreams::~EventStreams() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = stops_ = true;
  }
  hub_.Wake();
  thread_.Join();
  for (auto* streams : {&new_, &streams_}) {
    for (const auto& stream : *streams) Remove(*stream);
  }
}

core::Result<void> EventStreams::Start() {
  return thread_.Start("serve events", [this] { Serve(); });
}

const std::vector<WebRoute>& EventStreams::routes() const {
  static const std::vector<WebRoute> kRoutes = {{WebMethod::kGet, "/v1/events"}};
  return kRoutes;
}

core::Result<EventStreams::Query> EventStreams::Parse(const WebRequest& request) {
  core::Result<WebParameters> parameters = ParseQuery(request.query);
  if (!parameters) return parameters.error();
  Query query;
  // As sent by a browser when it reconnects; "after" is for clients that cannot send headers.
  std::optional<std::string> after = request.headers.last_event_id;
  for (auto& [name, value] : *parameters) {
    if (name == "types") {
      core::Result<std::vector<std::string>> types = ParseTypes(value);
      if (!types) return types.error();
      query.filter.types = std::move(*types);
    } else if (name == "caller") {
      if (value.empty() || value.size() > kMaxId) return BadQuery("caller: write a token's name");
      query.filter.caller = value;
    } else if (name == "execution" || name == "session") {
      if (value.empty() || value.size() > kMaxId) return BadQuery(name + ": write an id");
      (name == "session" ? query.filter.session : query.filter.execution) = value;
    } else if (name == "output") {
      if (value != "true" && value != "false") return BadQuery("output: write true or false");
      query.filter.output = value == "true";
    } else if (name == "after") {
      if (!after) after = value;
    } else {
      return BadQuery("unknown parameter " + core::Quoted(name) +
                      "; allowed are after, types, caller, execution, session and output");
    }
  }
  if (!after || after->empty()) return query;
  query.after = EventPosition::Parse(*after);
  if (!query.after) return BadQuery("Last-Event-ID or after: write the id of an event");
  return query;
}

void EventStreams::Handle(size_t, WebRequest request, std::shared_ptr<WebReply> reply) {
  core::Result<Query> query = Parse(request);
  if (!query) return reply->Finish(Problem(400, query.error().ToString()));
  auto stream = std::make_unique<Stream>();
  stream->caller = request.caller.name;
  stream->filter = std::move(query->filter);
  stream->peer_gone = std::move(request.peer_gone);
  stream->last_sent = Clock::now();
  {
    const std::lock_guard lock(mutex_);
    if (ends_) {
      return reply->Finish(Problem(503, "the server is shutting down", "Retry-After: 1\r\n"));
    }
    size_t& of_owner = by_owner_[stream->caller];
    if (of_owner >= options_.per_owner) {
      return reply->Finish(Problem(429,
                                   "this token has " + std::to_string(options_.per_owner) +
                                       " event streams already: close one first",
                                   "Retry-After: 1\r\n"));
    }
    ++of_owner;
  }
  open_.fetch_add(1, std::memory_order_relaxed);
  const std::string owner(request.caller.is_operator ? EventHub::kAll : stream->caller);
  stream->reader = hub_.Open(owner, query->after, stream->filter.output);
  // Lets a client resume before there is any event. Not after a position: it has one.
  const EventHub::Item opened{
      query->after ? std::string() : hub_.LastId(owner),
      std::make_shared<const Event>(
          Event{std::chrono::system_clock::now(), stream->caller, StreamOpened{options_.version}})};
  reply->Begin({200, "text/event-stream", Text(opened), ""});
  stream->reply = std::move(reply);
  {
    const std::lock_guard lock(mutex_);
    new_.push_back(std::move(stream));
  }
  hub_.Wake();
}

void EventStreams::EndAll() {
  {
    const std::lock_guard lock(mutex_);
    if (ends_) return;
    ends_ = true;
  }
  hub_.Wake();
}

void EventStreams::EndOf(const std::vector<std::string>& callers) {
  {
    const std::lock_guard lock(mutex_);
    ended_.insert(ended_.end(), callers.begin(), callers.end());
  }
  hub_.Wake();
}

void EventStreams::Remove(Stream& stream) {
  hub_.Close(stream.reader);
  open_.fetch_sub(1, std::memory_order_relaxed);
  const std::lock_guard lock(mutex_);
  const auto found = by_owner_.find(stream.caller);
  if (--found->second == 0) by_owner_.erase(found);
}

bool EventStreams::Advance(Stream& stream, Clock::time_point now, bool ends) {
  if (stream.peer_gone->cancelled()) return false;
  stream.is_blocked = !stream.reply->AwaitRoom(kMaxUnsent, now);
  stream.has_more = false;
  // It will never get what it lost: waiting any longer would only lose more.
  if (stream.is_blocked && !hub_.FellBehind(stream.reader)) {
    if (ends) stream.reply->End();
    return !ends;
  }
  const EventHub::Batch batch = hub_.Read(stream.reader, kBatchEvents, kBatchBytes);
  std::string text;
  for (const EventHub::Item& item : batch.items) {
    if (stream.filter.Takes(*item.event)) text += Text(item);
  }
  if (text.empty() && now >= stream.last_sent + options_.heartbeat) text = kHeartbeat;
  if (!text.empty()) {
    stream.reply->Write(std::move(text));
    stream.last_sent = now;
  }
  stream.has_more = batch.has_more;
  if (!batch.fell_behind && !(ends && !batch.has_more)) return true;
  stream.reply->End();
  return false;
}

void EventStreams::Serve() {
  for (;;) {
    const uint64_t version = hub_.version();
    bool ends = false;
    std::vector<std::string> ended;
    {
      const std::lock_guard lock(mutex_);
      if (stops_) return;
      ends = ends_;
      streams_.splice(streams_.end(), new_);
      ended.swap(ended_);
    }
    const Clock::time_point now = Clock::now();
    Clock::time_point next =
        streams_.empty() ? now + options_.heartbeat : now + kClientCheckInterval;
    for (auto at = streams_.begin(); at != streams_.end();) {
      Stream& stream = **at;
      const bool is_ended = core::Contains(ended, stream.caller);
      if (is_ended) stream.reply->End();
      if (is_ended || !Advance(stream, now, ends)) {
        Remove(stream);
        at = streams_.erase(at);
        continue;
      }
      next = std::min(next, stream.has_more     ? now
                            : stream.is_blocked ? now + kPollInterval
                                                : stream.last_sent + options_.heartbeat);
      ++at;
    }
    hub_.Await(version, next);
  }
}

}  // namespace belljar::server::events
