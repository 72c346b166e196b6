// Door: the host's side of a worker's one way out, for one run. A proxy that speaks HTTP (CONNECT,
// and whole URLs) and SOCKS5 at a listening socket inside the worker's network namespace, and lets
// through what DoorRules allow.
//
//   auto service = DoorService::Start(rules);           // one for a sandbox: a thread that waits
//   Door door((*service).get(), std::move(listener), std::nullopt);
//   … the guest runs …
//   DoorRecord record = door.Close();                   // every connection is cut, none is left
//
//            guest ──▶ 127.0.0.1:1080 ──▶ Session: what does it ask for?  http_ask, socks5
//                                          │  may it?                     allow_list
//                                          │  where is that?              resolver
//                                          │  may it go there?            address_judge
//                                          ▼
//                                         host        both ways, bounded  pump
//
// A run that does not use it costs a registration with the kernel and its end. A worker that this
// machine's kernel does not serve, in a container, has its connections brought here one by one:
//
//   Door door((*service).get(), std::nullopt);
//   door.Serve(std::move(connection));                  // of MostOpen at a time
#ifndef BELLJAR_ENGINE_DOOR_DOOR_H_
#define BELLJAR_ENGINE_DOOR_DOOR_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "engine/core/fd.h"
#include "engine/core/outcome.h"
#include "engine/core/request.h"
#include "engine/core/result.h"
#include "engine/door/allow_list.h"
#include "engine/door/door_rules.h"
#include "engine/door/resolver.h"

namespace belljar {

// The thread that serves all doors of a sandbox. Outlives them.
class DoorService {
 public:
  // `lookup` finds addresses of names; tests have their own.
  static Result<std::unique_ptr<DoorService>> Start(DoorRules rules, Lookup lookup = LookUpByHost);
  ~DoorService();

  const DoorRules& rules() const { return *rules_; }
  // Connections that a door serves at a time: those to hosts, and some that ask or are refused.
  size_t MostOpen() const;

 private:
  friend class Door;
  class Loop;

  DoorService(DoorRules rules, std::unique_ptr<Loop> loop);

  const std::shared_ptr<const DoorRules> rules_;
  const std::unique_ptr<Loop> loop_;
};

// What `request` lets through of the rules of its door; nullopt: all. `service` is null where there
// is none, and then a request that narrows it is an error, the caller's, as is one that widens it.
Result<std::optional<AllowList>> Narrower(const DoorService* service, const Request& request);

struct DoorRecord {
  std::vector<NetworkEvent> events;  // in the order in which they were asked for
  uint64_t left_out = 0;
};

class Door {
 public:
  // Serves `listener` at once. `narrower`: what the call allows of the rules; nullopt: all.
  Door(DoorService& service, UniqueFd listener, std::optional<AllowList> narrower);
  // One without: what it serves is brought to it.
  Door(DoorService& service, std::optional<AllowList> narrower);
  Door(const Door&) = delete;
  ~Door();

  // Takes `connection`, a stream socket of any family, for an accepted one. Past the rules' bound
  // of connections the record says so, once, and it is closed at once, as each after Close is.
  // Those beyond MostOpen are served too: it is for whoever brings them to wait.
  void Serve(UniqueFd connection);

  // Ends all of it. A second time there is nothing to tell.
  DoorRecord Close();

 private:
  class Reception;
  const std::shared_ptr<Reception> reception_;
};

}  // namespace belljar

#endif  // BELLJAR_ENGINE_DOOR_DOOR_H_
