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
// A run that does not use it costs a registration with the kernel and its end.
#ifndef BELLJAR_ENGINE_DOOR_DOOR_H_
#define BELLJAR_ENGINE_DOOR_DOOR_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "engine/core/fd.h"
#include "engine/core/outcome.h"
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

 private:
  friend class Door;
  class Loop;

  DoorService(DoorRules rules, std::unique_ptr<Loop> loop);

  const std::shared_ptr<const DoorRules> rules_;
  const std::unique_ptr<Loop> loop_;
};

struct DoorRecord {
  std::vector<NetworkEvent> events;  // in the order in which they were asked for
  uint64_t left_out = 0;
};

class Door {
 public:
  // Serves `listener` at once. `narrower`: what the call allows of the rules; nullopt: all.
  Door(DoorService& service, UniqueFd listener, std::optional<AllowList> narrower);
  Door(const Door&) = delete;
  ~Door();

  // Ends all of it. A second time there is nothing to tell.
  DoorRecord Close();

 private:
  class Reception;
  const std::shared_ptr<Reception> reception_;
};

}  // namespace belljar

#endif  // BELLJAR_ENGINE_DOOR_DOOR_H_
