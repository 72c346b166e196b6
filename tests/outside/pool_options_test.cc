#include "engine/outside/pool_options.h"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/prctl.h>
#include <sys/socket.h>

#include <cerrno>

#include "engine/installation/installation.h"
#include "engine/profiles/languages.h"
#include "engine/seal/seccomp.h"
#include "tests/support/support.h"

namespace belljar::outside::pool_options_test {
namespace {

constexpr int kAsExpected = 0;
constexpr int kNoSetup = 99;

core::Profile Shell() {
  const auto catalogue =
      tests::Had(profiles::LanguageCatalogue::Open(tests::Had(installation::Installation::Find())));
  return *tests::Had(catalogue.Find("shell"));
}

// Runs `body` under the filter of the shell's programs.
tests::Death AsProgram(bool has_namespaces, const std::function<int()>& body) {
  const core::Profile shell = Shell();
  std::vector<core::SyscallRule> allowed = shell.allowed_syscalls;
  if (!has_namespaces) RemoveSockets(allowed);
  const auto filter =
      tests::Had(seal::CompileFilter(allowed, shell.hostile_syscalls, {.processes = true}));
  return tests::InChild([&] {
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || !seal::InstallFilter(filter))
      return kNoSetup;
    return body();
  });
}

bool IsRefused(int result) { return result < 0 && errno == EPERM; }

TEST(Sockets, AProgramInANetworkNamespaceOfItsOwnHasTcpAndUdp) {
  EXPECT_EQ(AsProgram(true,
                      [] {
                        if (socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0) < 0)
                          return 10;
                        if (socket(AF_INET, SOCK_STREAM, IPPROTO_TCP) < 0) return 11;
                        if (IsRefused(socket(AF_INET6, SOCK_DGRAM, IPPROTO_UDP))) return 12;
                        if (!IsRefused(socket(AF_INET, SOCK_RAW, IPPROTO_ICMP))) return 13;
                        if (!IsRefused(socket(AF_INET, SOCK_DGRAM, IPPROTO_ICMP))) return 14;
                        if (!IsRefused(socket(AF_UNIX, SOCK_STREAM, 0))) return 15;
                        if (!IsRefused(socket(AF_NETLINK, SOCK_RAW, 0))) return 16;
                        if (!IsRefused(socket(AF_PACKET, SOCK_RAW, 0))) return 17;
                        if (!IsRefused(socket(AF_INET, SOCK_SEQPACKET, 0))) return 18;
                        if (!IsRefused(socket(AF_INET, SOCK_STREAM, IPPROTO_SCTP))) return 19;
                        return kAsExpected;
                      }),
            tests::Exited(kAsExpected));
}

TEST(Sockets, WithoutOneThereIsNoneButAPair) {
  EXPECT_EQ(AsProgram(false,
                      [] {
                        int pair[2];
                        if (socketpair(AF_UNIX, SOCK_DGRAM, 0, pair) != 0) return 10;
                        for (const int family : {AF_INET, AF_INET6, AF_UNIX}) {
                          for (const int type : {SOCK_STREAM, SOCK_DGRAM}) {
                            if (!IsRefused(socket(family, type, 0))) return 11;
                          }
                        }
                        const sockaddr abstract{AF_UNIX, {}};
                        if (!IsRefused(bind(pair[0], &abstract, sizeof abstract))) return 12;
                        if (!IsRefused(connect(pair[0], &abstract, sizeof abstract))) return 13;
                        if (!IsRefused(listen(pair[0], 1))) return 14;
                        if (!IsRefused(accept4(pair[0], nullptr, nullptr, 0))) return 15;
                        return kAsExpected;
                      }),
            tests::Exited(kAsExpected));
}

}  // namespace
}  // namespace belljar::outside::pool_options_test
