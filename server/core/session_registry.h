// SessionRegistry: the open sessions of a server: their owners, their number, and how long they
// stay open.
//
//   SessionRegistry registry(config.sessions);
//   registry.Start();
//   Result<SessionRegistry::Places> places = registry.Reserve(caller.name);   // the limits
//   SessionRegistry::Use use = registry.Add(*places, session);                // opened meanwhile
//   Result<SessionRegistry::Use> use = registry.Find(caller.name, id);        // a later call
//
// A session belongs to its owner. For anyone else it does not exist: errors, and the time that they
// take, are the same. While in use, it is closed neither for its age nor to make room. Calls for a
// closed session report when and why it was closed.
#ifndef BELLJAR_SERVER_CORE_SESSION_REGISTRY_H_
#define BELLJAR_SERVER_CORE_SESSION_REGISTRY_H_

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
#include <utility>
#include <vector>

#include "engine/core/result.h"
#include "engine/core/thread.h"
#include "server/core/config.h"

namespace belljar::server {

// "30 minutes", "90 seconds": whole units, rounded down.
std::string DurationInWords(std::chrono::steady_clock::duration time);

// A session as the registry sees it. Any thread, concurrently.
class RegisteredSession {
 public:
  virtual ~RegisteredSession() = default;
  virtual const std::string& id() const = 0;  // unguessable
  // Why it ended by itself; empty: it has not.
  virtual std::string ended() const = 0;
  // Ends it and whatever is running in it. Call once; may take some time.
  virtual void Close(const std::string& why) = 0;
  // Whether something runs in it that no call waits for. Then it is not idle.
  virtual bool is_running() const { return false; }
  // Bytes used by all sessions of its family: one that was opened, and its branches. Takes a few
  // milliseconds, without waiting for the session's current work.
  virtual uint64_t family_memory() const { return 0; }
  virtual const std::string& family() const { return id(); }
};

class SessionRegistry {
 private:
  struct Entry;

 public:
  struct Clocks {
    std::function<std::chrono::steady_clock::time_point()> steady = std::chrono::steady_clock::now;
    std::function<std::chrono::system_clock::time_point()> wall = std::chrono::system_clock::now;
  };
  // Number of closed sessions remembered per owner, with the reason; the oldest are forgotten.
  static constexpr size_t kRemembered = 256;
  // The memory of sessions is measured before some are opened, at most this often.
  static constexpr std::chrono::seconds kMeasureInterval{3};

  explicit SessionRegistry(const SessionsConfig& config) : SessionRegistry(config, Clocks()) {}
  SessionRegistry(const SessionsConfig& config, Clocks clocks);
  // Closes all sessions. No Use and no Places may exist.
  ~SessionRegistry();
  SessionRegistry(const SessionRegistry&) = delete;

  // Starts a thread that closes sessions when they are due. Without it, CloseDue does the same when
  // it is called.
  core::Result<void> Start();
  void CloseDue();
  // kEvicted: by the registry, for its age, to make room or for memory.
  enum class Cause { kClosed, kEvicted };
  // Called once for each session that is closed, with the reason, on any thread.
  using Listener = std::function<void(const std::string& owner, const RegisteredSession& session,
                                      Cause cause, const std::string& why)>;
  void SetCloseListener(Listener listener) { on_close_ = std::move(listener); }

  // Places reserved for sessions about to be opened. Unused ones are released.
  class Places {
   public:
    Places(Places&& other) noexcept
        : registry_(other.registry_),
          owner_(std::move(other.owner_)),
          left_(std::exchange(other.left_, 0)) {}
    Places& operator=(Places&&) = delete;
    ~Places();

   private:
    friend class SessionRegistry;
    Places(SessionRegistry& registry, std::string owner, size_t count)
        : registry_(registry), owner_(std::move(owner)), left_(count) {}
    SessionRegistry& registry_;
    std::string owner_;
    size_t left_;
  };

  // Keeps a session alive, even if it is closed. Each copy counts as another use.
  class Use {
   public:
    Use(const Use& other);
    Use(Use&& other) noexcept : registry_(other.registry_), entry_(std::move(other.entry_)) {}
    Use& operator=(const Use&) = delete;
    ~Use();
    RegisteredSession& operator*() const { return *session(); }
    const std::shared_ptr<RegisteredSession>& session() const;

   private:
    friend class SessionRegistry;
    Use(SessionRegistry& registry, std::shared_ptr<Entry> entry)
        : registry_(&registry), entry_(std::move(entry)) {}
    SessionRegistry* registry_;
    std::shared_ptr<Entry> entry_;
  };

  // If the server is full, closes the longest idle session of the owner with the most sessions,
  // unless the caller would then have as many. If the sessions exceed the total memory, closes the
  // longest idle ones of the owner with the most memory, unless that is the caller. An error is the
  // caller's: a sentence about the limit.
  core::Result<Places> Reserve(const std::string& owner, size_t count = 1);
  // Takes one of the places. Precondition: one is left.
  Use Add(Places& places, std::shared_ptr<RegisteredSession> session);

  // An error is the caller's: a sentence on why there is no such session.
  core::Result<Use> Find(const std::string& owner, const std::string& id);

  // Does not wait for its end.
  core::Result<void> Close(const std::string& owner, const std::string& id, const std::string& why);

  // All owners' sessions, used or not.
  void CloseAll(const std::string& why);
  // Those for which `is_meant` is true, of its owner and itself, used or not.
  void CloseIf(const std::function<bool(const std::string&, const RegisteredSession&)>& is_meant,
               const std::string& why);

  struct Listed {
    std::shared_ptr<RegisteredSession> session;
    bool is_used = false;
    std::chrono::seconds idle{0};
    std::chrono::seconds closes_in{0};  // if it is not used until then
  };
  // The oldest first.
  std::vector<Listed> List(const std::string& owner);

  size_t open() const;
  // The initial configuration, unchanged by SetLimits.
  const SessionsConfig& config() const { return config_; }

  struct Limits {
    size_t per_owner = 0;
    size_t total = 0;
    std::chrono::milliseconds idle{0};
    std::chrono::milliseconds lifetime{0};
  };
  // Applies to open sessions, too: those that are due now are closed, but none because there are
  // now too many.
  void SetLimits(const Limits& limits);
  Limits limits() const;

 private:
  using Time = std::chrono::steady_clock::time_point;
  struct Gone {
    std::string id;
    std::chrono::system_clock::time_point when;
    std::string why;
  };
  struct Owner {
    size_t reserved = 0;
    size_t open = 0;
    std::deque<Gone> gone;  // the oldest first
  };
  using Key = std::pair<std::string, std::string>;  // owner, id
  using Entries = std::map<Key, std::shared_ptr<Entry>>;

  Entries::iterator Remove(Entries::iterator entry, std::string why, Cause cause = Cause::kClosed);
  Entries::iterator FindOpen(const std::string& owner, const std::string& id);
  void RemoveDue();
  Time EndOf(const Entry& entry) const;
  Time LastUseOf(const Entry& entry) const;
  bool MakeRoom(const std::string& owner, size_t held_by_owner);
  void Measure(std::unique_lock<std::mutex>& lock);
  bool FreeMemory(const std::string& owner);
  void EndUse(Entry& entry);
  void CloseRemoved(std::unique_lock<std::mutex>& lock);
  void CloseOne(std::unique_lock<std::mutex>& lock);
  void Watch();
  core::Error NoSuch(const std::string& owner, const std::string& id) const;

  const SessionsConfig config_;
  const core::Bytes max_memory_;
  const Clocks clocks_;
  Listener on_close_;

  mutable std::mutex mutex_;
  std::condition_variable wake_;
  Limits limits_;
  Entries entries_;
  std::map<std::string, Owner> owners_;
  size_t reserved_ = 0;
  uint64_t added_ = 0;
  std::optional<Time> measured_;  // when
  struct Removed {
    std::shared_ptr<Entry> entry;
    std::string why;
    Cause cause;
  };
  std::deque<Removed> removed_;  // to be closed, without the mutex
  bool stops_ = false;
  core::Thread thread_;
};

}  // namespace belljar::server

#endif  // BELLJAR_SERVER_CORE_SESSION_REGISTRY_H_
