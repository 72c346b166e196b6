// belljar-bench-network: cost and throughput of the egress proxy.
//
//   unused    a run of profile network that opens no connection, against one of profile basic, in
//             turns: medians, and the median of the differences
//   opening   opening and closing the egress proxy, the additional work of such a run
//   carried   megabytes per second between a client and a server on loopback, in each direction,
//             directly and through a tunnel of the egress proxy; and the CPU time
#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <vector>

#include "bench/measure.h"
#include "bench/timing.h"
#include "engine/egress/egress_proxy.h"
#include "engine/outside/sandbox.h"
#include "engine/profiles/profile_catalogue.h"

namespace belljar::bench {
namespace {

constexpr size_t kCarried = size_t{2} << 30;

core::UniqueFd Listen(uint16_t& port) {
  core::UniqueFd fd(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof address;
  if (bind(fd.get(), reinterpret_cast<sockaddr*>(&address), length) != 0 ||
      listen(fd.get(), 16) != 0 ||
      getsockname(fd.get(), reinterpret_cast<sockaddr*>(&address), &length) != 0) {
    Exit("no listening socket");
  }
  port = ntohs(address.sin_port);
  return fd;
}

core::UniqueFd Connect(uint16_t port) {
  core::UniqueFd fd(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(port);
  if (connect(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) {
    Exit("no connection");
  }
  return fd;
}

enum class Direction { kDown, kUp };

void GiveAll(int fd) {
  const std::vector<char> block(1 << 20, 'x');
  while (send(fd, block.data(), block.size(), MSG_NOSIGNAL) > 0) {
  }
}

// Sends a confirmation when everything has arrived.
void TakeAll(int fd) {
  std::vector<char> block(1 << 20);
  for (size_t taken = 0; taken < kCarried;) {
    const ssize_t got = recv(fd, block.data(), block.size(), 0);
    if (got <= 0) return;
    taken += static_cast<size_t>(got);
  }
  (void)send(fd, "!", 1, MSG_NOSIGNAL);
}

// Serves clients one at a time, in a separate process.
pid_t Serve(int listener, Direction direction) {
  const pid_t child = fork();
  if (child != 0) return child;
  for (;;) {
    const core::UniqueFd peer(accept4(listener, nullptr, nullptr, SOCK_CLOEXEC));
    direction == Direction::kDown ? GiveAll(peer.get()) : TakeAll(peer.get());
  }
}

void Drain(int fd, size_t size) {
  std::vector<char> buffer(1 << 20);
  while (size > 0) {
    const ssize_t got = recv(fd, buffer.data(), std::min(buffer.size(), size), 0);
    if (got <= 0) Exit("the connection ended early");
    size -= static_cast<size_t>(got);
  }
}

void Fill(int fd, size_t size) {
  const std::vector<char> block(1 << 20, 'x');
  while (size > 0) {
    const ssize_t sent = send(fd, block.data(), std::min(block.size(), size), MSG_NOSIGNAL);
    if (sent <= 0) Exit("the connection ended early");
    size -= static_cast<size_t>(sent);
  }
  Drain(fd, 1);
}

void Tunnel(int fd, uint16_t port) {
  const std::string ask =
      "CONNECT bench.test:" + std::to_string(port) + " HTTP/1.1\r\nHost: bench.test\r\n\r\n";
  if (send(fd, ask.data(), ask.size(), 0) < 0) Exit("the egress proxy does not accept the request");
  std::string head;
  while (!head.ends_with("\r\n\r\n")) {
    char c;
    if (recv(fd, &c, 1, 0) != 1) Exit("the egress proxy does not answer");
    head += c;
  }
  if (!head.starts_with("HTTP/1.1 200 ")) Exit(head);
}

host::NetworkPolicy Policy() {
  host::NetworkPolicy policy;
  policy.allowed_domains = {"bench.test:*"};
  policy.allow_private = {"127.0.0.1"};
  policy.resolve = {"bench.test=127.0.0.1"};
  policy.bounds.received = policy.bounds.sent = core::Bytes{kCarried * 16};
  return policy;
}

void Carry(Direction direction) {
  uint16_t port = 0;
  const core::UniqueFd listener = Listen(port);
  const pid_t server = Serve(listener.get(), direction);
  const std::unique_ptr<egress::EgressService> service =
      OrExit(egress::EgressService::Start(OrExit(egress::EgressRules::Make(Policy()))));
  uint16_t egress_port = 0;
  egress::EgressProxy egress(*service, Listen(egress_port), std::nullopt);
  for (int round = 0; round < 3; ++round) {
    for (const bool through : {false, true}) {
      const core::UniqueFd fd = Connect(through ? egress_port : port);
      if (through) Tunnel(fd.get(), port);
      rusage before{}, after{};
      getrusage(RUSAGE_SELF, &before);
      const Clock::time_point start = Clock::now();
      direction == Direction::kDown ? Drain(fd.get(), kCarried) : Fill(fd.get(), kCarried);
      const double seconds = MillisecondsSince(start) / 1e3;
      getrusage(RUSAGE_SELF, &after);
      const auto spent = [](const timeval& from, const timeval& to) {
        return static_cast<double>(to.tv_sec - from.tv_sec) +
               static_cast<double>(to.tv_usec - from.tv_usec) * 1e-6;
      };
      printf("carried %-4s %-8s %7.0f MB/s   of %.2f s: user %.2f s, kernel %.2f s (client%s)\n",
             direction == Direction::kDown ? "down" : "up", through ? "by egress proxy" : "direct",
             kCarried / seconds / 1e6, seconds, spent(before.ru_utime, after.ru_utime),
             spent(before.ru_stime, after.ru_stime), through ? " and egress proxy" : "");
    }
  }
  kill(server, SIGKILL);
  waitpid(server, nullptr, 0);
}

void Opening() {
  const std::unique_ptr<egress::EgressService> service =
      OrExit(egress::EgressService::Start(OrExit(egress::EgressRules::Make(Policy()))));
  Series microseconds;
  for (int i = 0; i < 2000; ++i) {
    uint16_t port = 0;
    core::UniqueFd listener = Listen(port);
    const Clock::time_point start = Clock::now();
    egress::EgressProxy egress(*service, std::move(listener), std::nullopt);
    (void)egress.Close();
    microseconds.Add(MillisecondsSince(start) * 1e3);
  }
  printf("opening and closing an egress proxy: p50 %.1f us\n", microseconds.median());
}

std::unique_ptr<outside::Sandbox> Open(const profiles::ProfileCatalogue& catalogue,
                                       const std::string& profile) {
  outside::SandboxOptions options;
  options.profile = OrExit(catalogue.Choose(profile));
  options.network = Policy();
  return OrExit(outside::Sandbox::Open(std::move(options)));
}

double Run(outside::Sandbox& sandbox) {
  return TimeRun(sandbox, WithDefaults(sandbox.profile(), "1 + 1")).total;
}

void Unused() {
  const profiles::ProfileCatalogue catalogue = OrExit(profiles::ProfileCatalogue::Open());
  const std::unique_ptr<outside::Sandbox> basic = Open(catalogue, "basic");
  const std::unique_ptr<outside::Sandbox> network = Open(catalogue, "network");
  Series without, with;
  std::vector<double> added;  // may be negative
  for (int i = 0; i < 400; ++i) {
    // Lets the spares refill, which is not part of the measured run.
    usleep(20'000);
    const double one = Run(i % 2 == 0 ? *basic : *network);
    usleep(20'000);
    const double other = Run(i % 2 == 0 ? *network : *basic);
    without.Add(i % 2 == 0 ? one : other);
    with.Add(i % 2 == 0 ? other : one);
    added.push_back(i % 2 == 0 ? other - one : one - other);
  }
  std::sort(added.begin(), added.end());
  printf("unused: basic p50 %.3f ms, network p50 %.3f ms, added p50 %.3f ms\n", without.median(),
         with.median(), added[added.size() / 2]);
}

}  // namespace
}  // namespace belljar::bench

int main() {
  belljar::bench::Opening();
  belljar::bench::Carry(belljar::bench::Direction::kDown);
  belljar::bench::Carry(belljar::bench::Direction::kUp);
  belljar::bench::Unused();
}
