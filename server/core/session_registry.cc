#include "server/core/session_registry.h"

#include <sys/sysinfo.h>

#include <algorithm>
#include <charconv>

#include "engine/core/fd.h"
#include "engine/core/limits.h"
#include "engine/core/text.h"

namespace belljar::server {
namespace {

using std::chrono::duration_cast;
using std::chrono::milliseconds;
using std::chrono::seconds;

// A sentence for the caller.
core::Error Refusal(std::string sentence) { return core::MakeError(std::move(sentence), ""); }

// Half of what this process and its children may have: the machine's memory, or the container's
// limit (memory.max of cgroup v2, which a cgroup namespace shows at the root).
core::Bytes HalfOfMemory() {
  struct sysinfo machine;
  if (sysinfo(&machine) != 0) abort();  // its only error is a bad pointer
  uint64_t bytes = uint64_t{machine.totalram} * machine.mem_unit;
  if (const core::Result<std::string> text = core::ReadFile("/sys/fs/cgroup/memory.max", 100)) {
    uint64_t max = 0;  // "max": none
    const std::from_chars_result read =
        std::from_chars(text->data(), text->data() + text->size(), max);
    if (read.ec == std::errc() && max > 0) bytes = std::min(bytes, max);
  }
  return core::Bytes::Mebi(std::max<uint64_t>(bytes / 2 >> 20, 1));
}

std::string SessionsText(size_t count) {
  return std::to_string(count) + (count == 1 ? " open session" : " open sessions");
}

}  // namespace

std::string DurationInWords(std::chrono::steady_clock::duration time) {
  const auto in = [](auto count, const char* unit) {
    return std::to_string(count) + " " + unit + (count == 1 ? "" : "s");
  };
  const int64_t milli = duration_cast<milliseconds>(time).count();
  if (milli < 1000) return in(milli, "millisecond");
  const int64_t whole = milli / 1000;
  if (whole % 3600 == 0) return in(whole / 3600, "hour");
  return whole % 60 == 0 || whole >= 3600 ? in(whole / 60, "minute") : in(whole, "second");
}

struct SessionRegistry::Entry {
  std::string owner;
  std::shared_ptr<RegisteredSession> session;
  uint64_t number = 0;  // in the order of Add
  Time opened;
  Time last_used;
  size_t uses = 0;
  uint64_t memory = 0;  // as measured: its share of its family's memory
};

SessionRegistry::SessionRegistry(const SessionsConfig& config, Clocks clocks)
    : config_(config),
      max_memory_(config.total_memory ? *config.total_memory : HalfOfMemory()),
      clocks_(std::move(clocks)),
      limits_{config.per_owner, config.total, config.idle, config.lifetime} {}

SessionRegistry::~SessionRegistry() {
  {
    const std::lock_guard lock(mutex_);
    stops_ = true;
  }
  wake_.notify_all();
  thread_.Join();
  CloseAll("the server was stopped");
}

// --- limits -------------------------------------------------------------------------------------

SessionRegistry::Places::~Places() {
  if (left_ == 0) return;
  const std::lock_guard lock(registry_.mutex_);
  registry_.owners_[owner_].reserved -= left_;
  registry_.reserved_ -= left_;
}

core::Result<SessionRegistry::Places> SessionRegistry::Reserve(const std::string& owner,
                                                               size_t count) {
  std::unique_lock lock(mutex_);
  RemoveDue();
  Measure(lock);
  Owner& own = owners_[owner];
  const size_t held = own.open + own.reserved;
  if (held + count > limits_.per_owner) {
    CloseRemoved(lock);
    return Refusal("the limit is " + SessionsText(limits_.per_owner) + " for each caller, and " +
                   std::to_string(held) + (held == 1 ? " is" : " are") +
                   " open: close_session closes one, and list_sessions lists them");
  }
  while (entries_.size() + reserved_ + count > limits_.total) {
    if (MakeRoom(owner, held + count)) continue;
    CloseRemoved(lock);
    return Refusal("the limit of this server is " + SessionsText(limits_.total) +
                   ", and none of them is idle: call again later");
  }
  if (!FreeMemory(owner)) {
    CloseRemoved(lock);
    return Refusal("the sessions of this server have reached the limit of " +
                   max_memory_.ToString() +
                   " for the memory of all together: close one of yours with close_session, or "
                   "call again later");
  }
  own.reserved += count;
  reserved_ += count;
  CloseRemoved(lock);
  return Places(*this, owner, count);
}

// Requires mutex_. An owner never loses a session to one who has more.
bool SessionRegistry::MakeRoom(const std::string& owner, size_t held_by_owner) {
  auto longest = entries_.end();
  for (auto entry = entries_.begin(); entry != entries_.end(); ++entry) {
    Entry& each = *entry->second;
    each.last_used = LastUseOf(each);
    const size_t open = owners_[each.owner].open;
    if (each.owner == owner || each.uses > 0 || open <= held_by_owner) continue;
    if (longest != entries_.end()) {
      const Entry& other = *longest->second;
      const size_t others = owners_[other.owner].open;
      if (open < others || (open == others && each.last_used >= other.last_used)) continue;
    }
    longest = entry;
  }
  if (longest == entries_.end()) return false;
  const std::string idle = DurationInWords(clocks_.steady() - longest->second->last_used);
  Remove(longest,
         "the server was full, and nobody had used it for " + idle + ": another caller needed room",
         Cause::kEvicted);
  return true;
}

// Unlocks the mutex meanwhile. Others continue with the previous figures.
void SessionRegistry::Measure(std::unique_lock<std::mutex>& lock) {
  const Time now = clocks_.steady();
  if (measured_ && now < *measured_ + kMeasureInterval) return;
  struct Family {
    std::shared_ptr<RegisteredSession> any;
    uint64_t sessions = 0;
    uint64_t memory = 0;
  };
  std::map<std::string, Family> families;
  for (const auto& [key, entry] : entries_) {
    Family& family = families[entry->session->family()];
    family.any = entry->session;
    ++family.sessions;
  }
  if (families.empty()) return;
  measured_ = now;
  lock.unlock();
  for (auto& [name, family] : families) {
    family.memory = family.any->family_memory();
    family.any.reset();  // may hold the last reference
  }
  lock.lock();
  for (const auto& [key, entry] : entries_) {
    const auto family = families.find(entry->session->family());
    if (family != families.end()) entry->memory = family->second.memory / family->second.sessions;
  }
}

// Requires mutex_. Closes sessions until the others are within the total limit. Returns false if
// that is not possible. An owner never loses a session to one who has more memory, nor to a request
// of its own: it is told to choose which one to close.
bool SessionRegistry::FreeMemory(const std::string& owner) {
  for (;;) {
    uint64_t total = 0;
    std::map<std::string, uint64_t> by_owner;
    for (const auto& [key, entry] : entries_) {
      total += entry->memory;
      by_owner[entry->owner] += entry->memory;
    }
    if (total < max_memory_.count) return true;
    auto longest = entries_.end();
    for (auto entry = entries_.begin(); entry != entries_.end(); ++entry) {
      Entry& each = *entry->second;
      each.last_used = LastUseOf(each);
      const uint64_t has = by_owner[each.owner];
      if (each.owner == owner || each.uses > 0 || has <= by_owner[owner]) continue;
      if (longest != entries_.end()) {
        const Entry& other = *longest->second;
        const uint64_t others = by_owner[other.owner];
        if (has < others || (has == others && each.last_used >= other.last_used)) continue;
      }
      longest = entry;
    }
    if (longest == entries_.end()) return false;
    const std::string idle = DurationInWords(clocks_.steady() - longest->second->last_used);
    Remove(longest,
           "the server's memory for sessions was full, and nobody had used it for " + idle +
               ": another caller needed room",
           Cause::kEvicted);
  }
}

SessionRegistry::Use SessionRegistry::Add(Places& places,
                                          std::shared_ptr<RegisteredSession> session) {
  auto entry = std::make_shared<Entry>();
  entry->owner = places.owner_;
  entry->session = std::move(session);
  entry->uses = 1;
  const std::lock_guard lock(mutex_);
  entry->number = added_++;
  entry->opened = entry->last_used = clocks_.steady();
  Owner& own = owners_[places.owner_];
  --places.left_;
  --own.reserved;
  --reserved_;
  ++own.open;
  entries_.emplace(Key{entry->owner, entry->session->id()}, entry);
  return Use(*this, std::move(entry));
}

// --- use ----------------------------------------------------------------------------------------

SessionRegistry::Use::Use(const Use& other) : registry_(other.registry_), entry_(other.entry_) {
  const std::lock_guard lock(registry_->mutex_);
  ++entry_->uses;
}

SessionRegistry::Use::~Use() {
  if (entry_) registry_->EndUse(*entry_);
}

const std::shared_ptr<RegisteredSession>& SessionRegistry::Use::session() const {
  return entry_->session;
}

void SessionRegistry::EndUse(Entry& entry) {
  {
    const std::lock_guard lock(mutex_);
    entry.last_used = clocks_.steady();
    if (--entry.uses > 0) return;
  }
  wake_.notify_all();  // its due time starts now
}

core::Result<SessionRegistry::Use> SessionRegistry::Find(const std::string& owner,
                                                         const std::string& id) {
  std::unique_lock lock(mutex_);
  const auto found = FindOpen(owner, id);
  if (found == entries_.end()) {
    const core::Error none = NoSuch(owner, id);
    CloseRemoved(lock);
    return none;
  }
  Entry& entry = *found->second;
  if (clocks_.steady() >= entry.opened + limits_.lifetime) {
    CloseRemoved(lock);
    return Refusal("session " + core::Quoted(id) + " has reached its lifetime of " +
                   DurationInWords(limits_.lifetime) + " and closes when its last call ends");
  }
  ++entry.uses;
  Use use(*this, found->second);
  CloseRemoved(lock);
  return use;
}

// Requires mutex_.
core::Error SessionRegistry::NoSuch(const std::string& owner, const std::string& id) const {
  const auto own = owners_.find(owner);
  if (own != owners_.end()) {
    const std::deque<Gone>& gone = own->second.gone;
    const auto found =
        std::find_if(gone.rbegin(), gone.rend(), [&](const Gone& each) { return each.id == id; });
    if (found != gone.rend()) {
      return Refusal("session " + core::Quoted(id) + " was closed at " +
                     core::UtcText(found->when) + ": " + found->why + "; what it held is lost");
    }
  }
  return Refusal("there is no session " + core::Quoted(id) + "; list_sessions lists yours");
}

std::vector<SessionRegistry::Listed> SessionRegistry::List(const std::string& owner) {
  std::unique_lock lock(mutex_);
  RemoveDue();
  const Time now = clocks_.steady();
  std::vector<std::pair<uint64_t, Listed>> numbered;
  for (auto entry = entries_.lower_bound({owner, ""});
       entry != entries_.end() && entry->first.first == owner;) {
    Entry& each = *entry->second;
    if (std::string why = each.session->ended(); !why.empty()) {
      entry = Remove(entry, std::move(why));
      continue;
    }
    const bool is_running = each.session->is_running();
    if (is_running) each.last_used = now;
    const bool is_used = each.uses > 0 || is_running;
    numbered.push_back(
        {each.number,
         {each.session, is_used,
          duration_cast<seconds>(is_used ? seconds(0) : now - each.last_used),
          duration_cast<seconds>(std::max(EndOf(each) - now, Time::duration::zero()))}});
    ++entry;
  }
  CloseRemoved(lock);
  std::ranges::sort(numbered, {}, [](const auto& each) { return each.first; });
  std::vector<Listed> list;
  for (auto& [number, listed] : numbered) list.push_back(std::move(listed));
  return list;
}

void SessionRegistry::SetLimits(const Limits& limits) {
  std::unique_lock lock(mutex_);
  limits_ = limits;
  RemoveDue();
  CloseRemoved(lock);
  wake_.notify_all();  // the due times of sessions have changed
}

SessionRegistry::Limits SessionRegistry::limits() const {
  const std::lock_guard lock(mutex_);
  return limits_;
}

size_t SessionRegistry::open() const {
  const std::lock_guard lock(mutex_);
  return entries_.size();
}

// --- ends ---------------------------------------------------------------------------------------

core::Result<void> SessionRegistry::Close(const std::string& owner, const std::string& id,
                                          const std::string& why) {
  std::unique_lock lock(mutex_);
  const auto found = FindOpen(owner, id);
  core::Result<void> closed;
  if (found == entries_.end()) {
    closed = NoSuch(owner, id);
  } else {
    Remove(found, why);
  }
  CloseRemoved(lock);
  return closed;
}

void SessionRegistry::CloseAll(const std::string& why) {
  CloseIf([](const std::string&, const RegisteredSession&) { return true; }, why);
}

void SessionRegistry::CloseIf(
    const std::function<bool(const std::string&, const RegisteredSession&)>& is_meant,
    const std::string& why) {
  std::unique_lock lock(mutex_);
  for (auto entry = entries_.begin(); entry != entries_.end();) {
    const Entry& each = *entry->second;
    entry = is_meant(each.owner, *each.session) ? Remove(entry, why) : std::next(entry);
  }
  CloseRemoved(lock);
}

// Requires mutex_. Returns the next entry.
SessionRegistry::Entries::iterator SessionRegistry::Remove(Entries::iterator entry, std::string why,
                                                           Cause cause) {
  Owner& own = owners_[entry->second->owner];
  --own.open;
  own.gone.push_back({entry->second->session->id(), clocks_.wall(), why});
  if (own.gone.size() > kRemembered) own.gone.pop_front();
  removed_.push_back({std::move(entry->second), std::move(why), cause});
  return entries_.erase(entry);
}

// Requires mutex_. The session, unless it ended by itself.
SessionRegistry::Entries::iterator SessionRegistry::FindOpen(const std::string& owner,
                                                             const std::string& id) {
  RemoveDue();
  const auto found = entries_.find({owner, id});
  if (found == entries_.end()) return found;
  std::string why = found->second->session->ended();
  if (why.empty()) return found;
  Remove(found, std::move(why));
  return entries_.end();
}

// Requires mutex_. When it will close if it is not used until then.
SessionRegistry::Time SessionRegistry::EndOf(const Entry& entry) const {
  return std::min(entry.last_used + limits_.idle, entry.opened + limits_.lifetime);
}

// Requires mutex_. What runs in it uses it.
SessionRegistry::Time SessionRegistry::LastUseOf(const Entry& entry) const {
  return entry.session->is_running() ? clocks_.steady() : entry.last_used;
}

// Requires mutex_.
void SessionRegistry::RemoveDue() {
  const Time now = clocks_.steady();
  for (auto entry = entries_.begin(); entry != entries_.end();) {
    Entry& each = *entry->second;
    if (each.uses == 0 && now >= EndOf(each)) each.last_used = LastUseOf(each);
    if (each.uses > 0 || now < EndOf(each)) {
      ++entry;
    } else if (now >= each.opened + limits_.lifetime) {
      entry = Remove(entry, "it had reached its lifetime of " + DurationInWords(limits_.lifetime),
                     Cause::kEvicted);
    } else {
      entry =
          Remove(entry, "nobody had used it for " + DurationInWords(limits_.idle), Cause::kEvicted);
    }
  }
}

// Leaves it to the thread, if there is one. Otherwise unlocks the mutex while closing.
void SessionRegistry::CloseRemoved(std::unique_lock<std::mutex>& lock) {
  if (removed_.empty()) return;
  if (thread_ && !stops_) {
    wake_.notify_all();
    return;
  }
  while (!removed_.empty()) CloseOne(lock);
}

// Precondition: there is one. Unlocks the mutex while closing it.
void SessionRegistry::CloseOne(std::unique_lock<std::mutex>& lock) {
  Removed removed = std::move(removed_.front());
  removed_.pop_front();
  lock.unlock();
  removed.entry->session->Close(removed.why);
  if (on_close_) {
    on_close_(removed.entry->owner, *removed.entry->session, removed.cause, removed.why);
  }
  removed.entry.reset();
  lock.lock();
}

void SessionRegistry::CloseDue() {
  std::unique_lock lock(mutex_);
  RemoveDue();
  CloseRemoved(lock);
}

core::Result<void> SessionRegistry::Start() {
  return thread_.Start("watch the sessions", [this] { Watch(); });
}

// The thread's function.
void SessionRegistry::Watch() {
  std::unique_lock lock(mutex_);
  while (!stops_) {
    RemoveDue();
    if (!removed_.empty()) {
      CloseOne(lock);
      continue;
    }
    std::optional<Time> next;
    for (const auto& [key, entry] : entries_) {
      if (entry->uses == 0) next = std::min(next.value_or(Time::max()), EndOf(*entry));
    }
    if (next) {
      wake_.wait_until(lock, *next);
    } else {
      wake_.wait(lock);
    }
  }
}

}  // namespace belljar::server
