// A worker that is made for one taker alone: whoever loses it on the way, the taker is told.
#include "engine/pool/order.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <memory>
#include <thread>
#include <utility>

#include "engine/core/socket.h"
#include "engine/waiting/wait.h"

namespace belljar::pool::order_test {
namespace {

constexpr char kTake[] = "take a worker";

waiting::Wait Until(core::Deadline deadline) {
  waiting::Wait wait;
  wait.deadline = deadline;
  return wait;
}

waiting::Wait Long() { return Until(core::Clock::now() + std::chrono::minutes(1)); }

TEST(Orders, AreSettledBeforeOrWhileSomebodyWaits) {
  Order early((core::UniqueFd()));
  early.Settle(workers::Worker{});
  early.Settle(core::MakeError(kTake, "the first time counts"));
  EXPECT_TRUE(early.Await(Long(), kTake));
  const auto order = std::make_shared<Order>(core::UniqueFd());
  std::thread keeper([order] { order->Settle(workers::Worker{}); });
  EXPECT_TRUE(order->Await(Long(), kTake));
  keeper.join();
}

TEST(Orders, OneThatIsDroppedFails) {
  const auto order = std::make_shared<Order>(core::UniqueFd());
  { const std::shared_ptr<Order> carried = Carried(order); }
  const core::Result<workers::Worker> made = order->Await(Long(), kTake);
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().detail, "it was lost on the way; try again");
  // Not one that was settled before.
  const auto other = std::make_shared<Order>(core::UniqueFd());
  {
    const std::shared_ptr<Order> carried = Carried(other);
    carried->Settle(workers::Worker{});
  }
  EXPECT_TRUE(other->Await(Long(), kTake));
}

TEST(Orders, NothingIsKeptForATakerThatIsGone) {
  const auto order = std::make_shared<Order>(core::UniqueFd());
  const core::Result<workers::Worker> late = order->Await(Until(core::Clock::now()), kTake);
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().error_number, ETIMEDOUT);
  workers::Worker worker;
  auto pair = core::CreateSocketPair(SOCK_STREAM);
  ASSERT_TRUE(pair);
  worker.socket = std::move(pair->first);
  order->Settle(std::move(worker));
  char byte;
  EXPECT_EQ(read(pair->second.get(), &byte, 1), 0);  // closed: the worker is gone
}

}  // namespace
}  // namespace belljar::pool::order_test
