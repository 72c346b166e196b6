// NetworkPolicy: which hosts code in a profile with an egress proxy may reach, and how much. Set by
// the operator: a request can only narrow the domains (Request::allowed_domains). The texts are as
// written; engine/egress/egress_rules.h validates them.
#ifndef BELLJAR_ENGINE_HOST_NETWORK_POLICY_H_
#define BELLJAR_ENGINE_HOST_NETWORK_POLICY_H_

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

#include "engine/core/bytes.h"

namespace belljar::host {

// Per run.
struct NetworkBounds {
  size_t connections = 256;  // in total; then the egress proxy is closed
  size_t concurrent = 16;    // open connections to hosts
  core::Bytes sent = core::Bytes::Mebi(64);
  core::Bytes received = core::Bytes::Mebi(512);
  std::chrono::milliseconds connect_timeout{
      10'000};  // for name lookup and connection attempts together
  std::chrono::milliseconds idle_timeout{60'000};  // without traffic in either direction
};

struct NetworkPolicy {
  // "example.org", "*.example.org", "example.org:8443", "example.org:*", "192.0.2.7", "*".
  std::vector<std::string> allowed_domains;
  // Addresses and networks ("10.1.0.0/16") that names may resolve to although they are not public.
  std::vector<std::string> allow_private;
  // "api.example.org=192.0.2.7": fixed address for a name, instead of a DNS lookup.
  std::vector<std::string> resolve;
  NetworkBounds bounds;
};

}  // namespace belljar::host

#endif  // BELLJAR_ENGINE_HOST_NETWORK_POLICY_H_
