#include "server/core/cancellation.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <thread>

#include "tests/support/support.h"

namespace belljar::server::cancellation_test {
namespace {

bool IsReadable(int fd) {
  pollfd readable{fd, POLLIN, 0};
  return poll(&readable, 1, 0) == 1;
}

TEST(Cancellation, IsSeenThroughTheDescriptorWhicheverComesFirst) {
  Cancellation later, before;
  EXPECT_FALSE(IsReadable(*later.fd()));
  EXPECT_FALSE(later.cancelled());
  for (Cancellation* each : {&later, &before}) {
    each->Cancel();
    each->Cancel();
    EXPECT_TRUE(each->cancelled());
    EXPECT_TRUE(IsReadable(*each->fd()));
    EXPECT_TRUE(IsReadable(*each->fd()));
  }
}

TEST(Cancellation, FromAnotherThreadWakesWhoWaits) {
  for (int round = 0; round < 200; ++round) {
    Cancellation cancellation;
    std::thread canceller([&] { cancellation.Cancel(); });
    pollfd readable{*cancellation.fd(), POLLIN, 0};
    EXPECT_EQ(poll(&readable, 1, 20'000), 1);
    canceller.join();
  }
}

// A run that got -1 instead could not be cancelled, and nobody would know.
TEST(Cancellation, WithoutADescriptorLeftIsAnError) {
  EXPECT_EQ(tests::InChild([] {
              const core::UniqueFd free(dup(STDERR_FILENO));
              rlimit limit{};
              if (!free || getrlimit(RLIMIT_NOFILE, &limit) != 0) return 1;
              limit.rlim_cur = static_cast<rlim_t>(free.get());
              if (setrlimit(RLIMIT_NOFILE, &limit) != 0) return 2;
              Cancellation cancellation;
              const core::Result<int> none = cancellation.fd();
              if (none || none.error().error_number != EMFILE) return 3;
              if (cancellation.fd()) return 4;
              cancellation.Cancel();
              limit.rlim_cur += 2;
              if (setrlimit(RLIMIT_NOFILE, &limit) != 0) return 5;
              const core::Result<int> fd = cancellation.fd();
              return fd && IsReadable(*fd) ? 42 : 6;
            }),
            tests::Exited(42));
}

}  // namespace
}  // namespace belljar::server::cancellation_test
