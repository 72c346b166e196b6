#include "server/core/cancellation.h"

#include <gtest/gtest.h>
#include <poll.h>

#include <thread>

namespace belljar {
namespace {

bool IsReadable(int fd) {
  pollfd readable{fd, POLLIN, 0};
  return poll(&readable, 1, 0) == 1;
}

TEST(Cancellation, IsSeenThroughTheDescriptorWhicheverComesFirst) {
  Cancellation later, before;
  EXPECT_FALSE(IsReadable(later.fd()));
  EXPECT_FALSE(later.cancelled());
  for (Cancellation* each : {&later, &before}) {
    each->Cancel();
    each->Cancel();
    EXPECT_TRUE(each->cancelled());
    EXPECT_TRUE(IsReadable(each->fd()));
    EXPECT_TRUE(IsReadable(each->fd()));
  }
}

TEST(Cancellation, FromAnotherThreadWakesWhoWaits) {
  for (int round = 0; round < 200; ++round) {
    Cancellation cancellation;
    std::thread canceller([&] { cancellation.Cancel(); });
    pollfd readable{cancellation.fd(), POLLIN, 0};
    EXPECT_EQ(poll(&readable, 1, 20'000), 1);
    canceller.join();
  }
}

}  // namespace
}  // namespace belljar
