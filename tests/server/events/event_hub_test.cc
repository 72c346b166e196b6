// EventHub: what is kept, who sees it, and that nothing is missed without a word.
#include "server/events/event_hub.h"

#include <gtest/gtest.h>

#include <thread>

namespace belljar::server::events::event_hub_test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using std::chrono::steady_clock;

ExecutionStarted Started(const std::string& id) { return {id, "execute_code"}; }

// "e1 e2 gap(3) …", of all that is there.
std::string ReadAll(EventHub& hub, EventHub::Reader& reader, std::vector<std::string>* ids = {}) {
  std::string text;
  for (;;) {
    const EventHub::Batch batch = hub.Read(reader, 3, 1 << 20);
    for (const EventHub::Item& item : batch.items) {
      if (!text.empty()) text += " ";
      if (ids) ids->push_back(item.id);
      if (const auto* gap = std::get_if<Gap>(&item.event->data)) {
        text += "gap:" + gap->cause;
        if (gap->missed) text += ":" + std::to_string(*gap->missed);
      } else if (const auto* output = std::get_if<ExecutionOutput>(&item.event->data)) {
        text += "'" + output->text + "'";
      } else {
        text += ExecutionOf(item.event->data);
      }
    }
    if (!batch.has_more || batch.fell_behind) return text;
  }
}

class Hub : public ::testing::Test {
 protected:
  void Publish(int from, int to, const std::string& owner = "a") {
    for (int i = from; i <= to; ++i) hub_.Publish(owner, Started("e" + std::to_string(i)));
  }
  EventHub::Reader Open(const std::string& after = "", bool output = false) {
    return hub_.Open("a", after.empty() ? std::nullopt : EventPosition::Parse(after), output);
  }
  EventHub hub_{{.events = 5, .bytes = 1 << 20}};
};

TEST_F(Hub, AReaderGetsWhatHappensFromNowOnInOrder) {
  Publish(1, 2);
  EventHub::Reader reader = Open();
  EXPECT_EQ(ReadAll(hub_, reader), "");
  Publish(3, 6);
  std::vector<std::string> ids;
  EXPECT_EQ(ReadAll(hub_, reader, &ids), "e3 e4 e5 e6");
  EXPECT_EQ(ids[0], hub_.epoch() + "-3");
  EXPECT_EQ(ids[3], hub_.epoch() + "-6");
  EXPECT_EQ(ReadAll(hub_, reader), "");
  hub_.Close(reader);
}

TEST_F(Hub, OwnersSeeOnlyTheirOwnEventsAndNumbers) {
  EventHub::Reader reader = Open();
  Publish(1, 3, "b");
  Publish(4, 4);
  std::vector<std::string> ids;
  EXPECT_EQ(ReadAll(hub_, reader, &ids), "e4");
  EXPECT_EQ(ids, std::vector<std::string>{hub_.epoch() + "-1"});
  EXPECT_EQ(hub_.LastId("nobody"), hub_.epoch() + "-0");
}

TEST_F(Hub, OneReaderMaySeeAllAndItsIdsAreItsOwn) {
  EventHub::Reader all = hub_.Open(std::string(EventHub::kAll), std::nullopt, true);
  EventHub::Reader anna = hub_.Open("anna", std::nullopt, false);
  hub_.Publish("anna", ExecutionStarted{"a1", "t"});
  hub_.Publish("bert", ExecutionStarted{"b1", "t"});
  EXPECT_TRUE(hub_.WantsOutput("bert"));
  hub_.PublishOutput("bert", ExecutionOutput{"b1", "said"});
  hub_.Publish("anna", ExecutionStarted{"a2", "t"});
  const EventHub::Batch seen = hub_.Read(all, 100, 1 << 20);
  ASSERT_EQ(seen.items.size(), 4u);
  std::string owners;
  for (const EventHub::Item& item : seen.items) owners += item.event->owner + " ";
  EXPECT_EQ(owners, "anna bert bert anna ");
  const EventHub::Batch own = hub_.Read(anna, 100, 1 << 20);
  EXPECT_EQ(own.items.size(), 2u);
  // An id of one is no position in the other, whose numbers differ.
  const auto of_all = EventPosition::Parse(seen.items[0].id),
             of_anna = EventPosition::Parse(own.items[0].id);
  ASSERT_TRUE(of_all && of_anna);
  EXPECT_NE(of_all->epoch, of_anna->epoch);
  for (const auto& [owner, position] :
       {std::pair(std::string("anna"), *of_all), {std::string(EventHub::kAll), *of_anna}}) {
    EventHub::Reader reader = hub_.Open(owner, position, false);
    const EventHub::Batch batch = hub_.Read(reader, 100, 1 << 20);
    ASSERT_FALSE(batch.items.empty());
    EXPECT_EQ(std::get<Gap>(batch.items[0].event->data).cause, "restart") << owner;
    EXPECT_EQ(batch.items[0].event->owner, owner == "anna" ? "anna" : "");
    hub_.Close(reader);
  }
  EventHub::Reader resumed = hub_.Open(std::string(EventHub::kAll), of_all, false);
  EXPECT_EQ(hub_.Read(resumed, 100, 1 << 20).items.size(), 2u);  // output is not kept
  for (const EventHub::Reader& reader : {all, anna, resumed}) hub_.Close(reader);
  EXPECT_FALSE(hub_.WantsOutput("bert"));
}

TEST_F(Hub, ThoseOfAllAreKeptFromTheirFirstReaderOn) {
  const std::string all(EventHub::kAll);
  Publish(1, 3);
  EXPECT_TRUE(hub_.LastId(all).ends_with("-0"));
  EventHub::Reader first = hub_.Open(all, std::nullopt, false);
  Publish(4, 5);
  EXPECT_TRUE(hub_.LastId(all).ends_with("-2"));
  EXPECT_EQ(hub_.Read(first, 100, 1 << 20).items.size(), 2u);
  hub_.Close(first);
}

TEST_F(Hub, AReaderResumesWithoutLossOrRepetition) {
  Publish(1, 4);
  for (int at = 0; at <= 4; ++at) {
    EventHub::Reader reader = Open(hub_.epoch() + "-" + std::to_string(at));
    std::string rest;
    for (int i = at + 1; i <= 4; ++i) rest += (rest.empty() ? "e" : " e") + std::to_string(i);
    EXPECT_EQ(ReadAll(hub_, reader), rest);
  }
}

TEST_F(Hub, WhatIsNoLongerKeptIsAGap) {
  Publish(1, 12);
  EventHub::Reader reader = Open(hub_.epoch() + "-3");
  std::vector<std::string> ids;
  EXPECT_EQ(ReadAll(hub_, reader, &ids), "gap:expired:4 e8 e9 e10 e11 e12");
  // Whoever resumes after the gap does not get it again.
  EXPECT_EQ(ids[0], hub_.epoch() + "-7");
  EventHub::Reader again = Open(ids[0]);
  EXPECT_EQ(ReadAll(hub_, again), "e8 e9 e10 e11 e12");
}

TEST_F(Hub, AnIdOfAnotherServerIsAGap) {
  Publish(1, 2);
  EventHub::Reader reader = Open("0123456789abcdef-2");
  std::vector<std::string> ids;
  EXPECT_EQ(ReadAll(hub_, reader, &ids), "gap:restart e1 e2");
  EXPECT_EQ(ids[0], hub_.epoch() + "-0");
  // An id of this hub, but from the future: not possible by a clock set back, but by a copied id.
  EventHub::Reader ahead = Open(hub_.epoch() + "-3");
  EXPECT_EQ(ReadAll(hub_, ahead), "gap:restart e1 e2");
  EXPECT_NE(EventHub({}).epoch(), hub_.epoch());
}

TEST_F(Hub, ASlowReaderIsToldWhatItLost) {
  EventHub::Reader reader = Open();
  Publish(1, 5);
  EXPECT_FALSE(hub_.FellBehind(reader));
  Publish(6, 8);
  EXPECT_TRUE(hub_.FellBehind(reader));
  const EventHub::Batch batch = hub_.Read(reader, 10, 1 << 20);
  EXPECT_TRUE(batch.fell_behind);
  ASSERT_EQ(batch.items.size(), 1u);
  EXPECT_EQ(batch.items[0].id, "");
  EXPECT_EQ(std::get<Gap>(batch.items[0].event->data).missed, 3u);
}

TEST_F(Hub, BytesAreBounded) {
  EventHub hub({.events = 1'000'000, .bytes = 20'000});
  EventHub::Reader reader = hub.Open("a", std::nullopt, false);
  for (int i = 0; i < 100; ++i) hub.Publish("a", Started(std::string(1000, 'x')));
  EXPECT_TRUE(hub.FellBehind(reader));
  EventHub::Reader oldest = hub.Open("a", EventPosition::Parse(hub.epoch() + "-0"), false);
  const EventHub::Batch batch = hub.Read(oldest, 1000, 1 << 30);
  EXPECT_GE(batch.items.size(), 5u);
  EXPECT_LE(batch.items.size(), 20u);
  // One that is larger than all may be is still there.
  hub.Publish("a", Started(std::string(100'000, 'x')));
  EventHub::Reader last = hub.Open("a", EventPosition::Parse(hub.epoch() + "-100"), false);
  EXPECT_EQ(hub.Read(last, 10, 1).items.size(), 1u);
}

TEST_F(Hub, OutputIsOnlyForThoseWhoAskAndPushesNothingOut) {
  EventHub::Reader plain = Open();
  EXPECT_FALSE(hub_.WantsOutput("a"));
  EventHub::Reader reader = Open("", true);
  EXPECT_TRUE(hub_.WantsOutput("a"));
  EXPECT_FALSE(hub_.WantsOutput("b"));
  Publish(1, 1);
  hub_.PublishOutput("a", {"e1", "x"});
  Publish(2, 2);
  hub_.PublishOutput("a", {"e1", "y"});
  std::vector<std::string> ids;
  EXPECT_EQ(ReadAll(hub_, reader, &ids), "e1 'x' e2 'y'");
  EXPECT_EQ(ids[1], "");
  for (int i = 0; i < 20; ++i) hub_.PublishOutput("a", {"e1", std::to_string(i)});
  EXPECT_EQ(ReadAll(hub_, plain), "e1 e2");
  EXPECT_EQ(ReadAll(hub_, reader), "gap:output:15 '15' '16' '17' '18' '19'");
  hub_.Close(reader);
  EXPECT_FALSE(hub_.WantsOutput("a"));
}

TEST_F(Hub, PositionsAreParsedStrictly) {
  const auto position = EventPosition::Parse("0123456789abcdef-18446744073709551615");
  ASSERT_TRUE(position);
  EXPECT_EQ(position->epoch, "0123456789abcdef");
  EXPECT_EQ(position->number, UINT64_MAX);
  for (const char* bad :
       {"", "1", "0123456789abcdef", "0123456789abcdef-", "0123456789abcdef--1",
        "0123456789abcdef-1 ", "0123456789abcdef-+1", "0123456789ABCDEF-1", "0123456789abcdeg-1",
        "0123456789abcdef-18446744073709551616", "0123456789abcdef_1", "23456789abcdef-1"}) {
    EXPECT_FALSE(EventPosition::Parse(bad)) << bad;
  }
  // The largest number there is does not wrap around.
  EventHub::Reader reader = Open(hub_.epoch() + "-18446744073709551615");
  EXPECT_EQ(ReadAll(hub_, reader), "gap:restart");
}

TEST_F(Hub, WakesTheReadersThreadOnlyIfThereAreReaders) {
  const uint64_t before = hub_.version();
  Publish(1, 3);
  EXPECT_EQ(hub_.version(), before);
  EventHub::Reader reader = Open();
  std::thread publisher([&] {
    std::this_thread::sleep_for(milliseconds(50));  // sleeps: it waits by then, or need not
    Publish(4, 4);
  });
  hub_.Await(before, steady_clock::now() + std::chrono::hours(1));  // longer than a test may take
  publisher.join();
  EXPECT_EQ(ReadAll(hub_, reader), "e4");
}

TEST(HubThreads, NothingIsLostOrMixedUp) {
  constexpr int kThreads = 4, kEach = 500;
  EventHub hub({.events = kEach, .bytes = 64 << 20});
  std::vector<EventHub::Reader> readers;
  readers.reserve(kThreads);
  for (int i = 0; i < kThreads; ++i) {
    readers.push_back(hub.Open(std::to_string(i), std::nullopt, false));
  }
  std::atomic<int> heard = 0;
  hub.AddListener([&](const std::shared_ptr<const Event>&) { ++heard; });
  std::vector<std::thread> threads;
  threads.reserve(kThreads);
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] {
      for (int k = 0; k < kEach; ++k) hub.Publish(std::to_string(i), Started(std::to_string(k)));
    });
  }
  std::vector<int> next(kThreads, 0);
  const auto deadline = steady_clock::now() + seconds(60);
  int total = 0;
  while (total < kThreads * kEach && steady_clock::now() < deadline) {
    for (int i = 0; i < kThreads; ++i) {
      for (const EventHub::Item& item : hub.Read(readers[i], 7, 1 << 20).items) {
        EXPECT_EQ(item.event->owner, std::to_string(i));
        EXPECT_EQ(ExecutionOf(item.event->data), std::to_string(next[i]++));
        ++total;
      }
    }
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(total, kThreads * kEach);
  EXPECT_EQ(heard, kThreads * kEach);
}

}  // namespace
}  // namespace belljar::server::events::event_hub_test
