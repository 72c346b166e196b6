// EgressProxy: the host's side of a worker's only way out, for one run. A proxy that speaks HTTP
// (CONNECT, and absolute URLs) and SOCKS5 on a listening socket inside the worker's network
// namespace, and allows what EgressRules permit.
//
//   auto service = EgressService::Start(rules);           // one per sandbox: a waiting thread
//   EgressProxy proxy((*service).get(), std::move(listener), std::nullopt);
//   … the guest runs …
//   EgressRecord record = proxy.Close();                  // closes every connection
//
//            guest ──▶ 127.0.0.1:1080 ──▶ ProxyConnection
//                                          │  what is requested?       http_proxy_request, socks5
//                                          │  is it allowed?           allow_list
//                                          │  what is its address?     resolver
//                                          │  is that allowed?         address_policy
//                                          ▼
//                                         host        both ways, bounded  pump
//
// A run that does not use it only costs registering and removing the listener. For a worker in a
// container, which is not served by this machine's kernel, connections are passed in one by one:
//
//   EgressProxy proxy((*service).get(), std::nullopt);
//   proxy.Serve(std::move(connection));                   // at most MaxOpen at a time
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

// The thread that serves all egress proxies of a sandbox. Must outlive them.
class EgressService {
 public:
  // `lookup` resolves names; replaceable for tests.
  static core::Result<std::unique_ptr<EgressService>> Start(EgressRules rules,
                                                            Lookup lookup = LookUpByHost);
  ~EgressService();

  const EgressRules& rules() const { return *rules_; }
  // Connections that an egress proxy serves at a time: those to hosts, and some that are still
  // requesting or being refused.
  size_t MaxOpen() const;

 private:
  friend class EgressProxy;
  class Loop;

  EgressService(EgressRules rules, std::unique_ptr<Loop> loop);

  const std::shared_ptr<const EgressRules> rules_;
  const std::unique_ptr<Loop> loop_;
};

// The restriction that `request` imposes on the rules of its egress proxy; nullopt: none. `service`
// is null if there is no proxy. Restricting a missing proxy or widening the rules is an error of
// the caller.
core::Result<std::optional<AllowList>> Narrower(const EgressService* service,
                                                const host::Request& request);

struct EgressRecord {
  std::vector<host::NetworkEvent> events;  // in the order of the requests
  uint64_t left_out = 0;
};

class EgressProxy {
 public:
  // Serves `listener` immediately. `narrower`: the call's restriction of the rules; nullopt: none.
  EgressProxy(EgressService& service, core::UniqueFd listener, std::optional<AllowList> narrower);
  // Without a listener: connections are passed to Serve.
  EgressProxy(EgressService& service, std::optional<AllowList> narrower);
  EgressProxy(const EgressProxy&) = delete;
  ~EgressProxy();

  // Serves `connection`, a stream socket of any family, as if it had been accepted. Past the rules'
  // maximum number of connections, and after Close, it is closed immediately; the record says so
  // once. Connections beyond MaxOpen are served too: limiting them is up to the caller.
  void Serve(core::UniqueFd connection);

  // Ends everything. A second call returns an empty record.
  EgressRecord Close();

 private:
  class Reception;
  const std::shared_ptr<Reception> reception_;
};

}  // namespace belljar::egress

#endif  // BELLJAR_ENGINE_EGRESS_EGRESS_PROXY_H_
