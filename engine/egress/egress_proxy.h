// Egress proxy: the host's side of a worker's one way out, for one run. A proxy that speaks HTTP
// (CONNECT, and whole URLs) and SOCKS5 at a listening socket inside the worker's network namespace,
// and lets through what EgressRules allow.
//
//   auto service = EgressService::Start(rules);           // one for a sandbox: a thread that waits
//   Egress proxy egress proxy((*service).get(), std::move(listener), std::nullopt);
//   … the guest runs …
//   EgressRecord record = egress proxy.Close();                   // every connection is cut, none
//   is left
//
//            guest ──▶ 127.0.0.1:1080 ──▶ Session: what does it ask for?  http_proxy_request,
//            socks5
//                                          │  may it?                     allow_list
//                                          │  where is that?              resolver
//                                          │  may it go there?            address_policy
//                                          ▼
//                                         host        both ways, bounded  pump
//
// A run that does not use it costs a registration with the kernel and its end. A worker that this
// machine's kernel does not serve, in a container, has its connections brought here one by one:
//
//   Egress proxy egress proxy((*service).get(), std::nullopt);
//   egress proxy.Serve(std::move(connection));                  // of MaxOpen at a time
#ifndef BELLJAR_ENGINE_EGRESS_EGRESS_PROXY_H_
#define BELLJAR_ENGINE_EGRESS_EGRESS_PROXY_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "engine/core/fd.h"
#include "engine/core/result.h"
#include "engine/egress/allow_list.h"
#include "engine/egress/egress_rules.h"
#include "engine/egress/resolver.h"
#include "engine/host/outcome.h"
#include "engine/host/request.h"

namespace belljar::egress {

// The thread that serves all egress proxies of a sandbox. Outlives them.
class EgressService {
 public:
  // `lookup` finds addresses of names; tests have their own.
  static core::Result<std::unique_ptr<EgressService>> Start(EgressRules rules,
                                                            Lookup lookup = LookUpByHost);
  ~EgressService();

  const EgressRules& rules() const { return *rules_; }
  // Connections that an egress proxy serves at a time: those to hosts, and some that ask or are
  // refused.
  size_t MaxOpen() const;

 private:
  friend class EgressProxy;
  class Loop;

  EgressService(EgressRules rules, std::unique_ptr<Loop> loop);

  const std::shared_ptr<const EgressRules> rules_;
  const std::unique_ptr<Loop> loop_;
};

// What `request` lets through of the rules of its egress proxy; nullopt: all. `service` is null
// where there is none, and then a request that narrows it is an error, the caller's, as is one that
// widens it.
core::Result<std::optional<AllowList>> Narrower(const EgressService* service,
                                                const host::Request& request);

struct EgressRecord {
  std::vector<host::NetworkEvent> events;  // in the order in which they were asked for
  uint64_t left_out = 0;
};

class EgressProxy {
 public:
  // Serves `listener` at once. `narrower`: what the call allows of the rules; nullopt: all.
  EgressProxy(EgressService& service, core::UniqueFd listener, std::optional<AllowList> narrower);
  // One without: what it serves is brought to it.
  EgressProxy(EgressService& service, std::optional<AllowList> narrower);
  EgressProxy(const EgressProxy&) = delete;
  ~EgressProxy();

  // Takes `connection`, a stream socket of any family, for an accepted one. Past the rules' bound
  // of connections the record says so, once, and it is closed at once, as each after Close is.
  // Those beyond MaxOpen are served too: it is for whoever brings them to wait.
  void Serve(core::UniqueFd connection);

  // Ends all of it. A second time there is nothing to tell.
  EgressRecord Close();

 private:
  class Reception;
  const std::shared_ptr<Reception> reception_;
};

}  // namespace belljar::egress

#endif  // BELLJAR_ENGINE_EGRESS_EGRESS_PROXY_H_
