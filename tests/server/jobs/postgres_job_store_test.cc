// Jobs in PostgreSQL: its end and return, its locks, and what errors say.
#include "server/jobs/postgres_job_store.h"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <functional>
#include <future>
#include <thread>

#include "server/jobs/libpq.h"
#include "tests/server/jobs/store_support.h"

namespace belljar::server::jobs::postgres_job_store_test {
namespace {

using std::chrono::milliseconds;
using tests::Had;
using tests::PostgresServer;

class PostgresJobStoreTest : public testing::Test {
 protected:
  void SetUp() override {
    if (tests::SharedPostgres() == nullptr) {
      BELLJAR_SKIP_OR_FAIL("PostgreSQL is not installed (tools/packages.txt)");
    }
    static int schemas = 0;
    options_.url = tests::SharedPostgres()->url();
    options_.schema = "own_" + std::to_string(++schemas);
  }
  std::unique_ptr<JobStore> Open() { return Had(OpenPostgresJobStore(options_)); }
  core::Error Refusal() {
    const auto store = OpenPostgresJobStore(options_);
    if (store) throw std::runtime_error("it was opened");
    return store.error();
  }
  static core::Result<Submitted> Submit(JobStore& store) {
    return store.Submit({.owner = "ann", .jobs = {{"execution", "1"}}});
  }

  // A connection of another program.
  class Other {
   public:
    explicit Other(const std::string& url) : pq_(*Had(OpenLibPq())) {
      const char* const keywords[] = {"dbname", nullptr};
      const char* const values[] = {url.c_str(), nullptr};
      connection_ = pq_.PQconnectdbParams(keywords, values, 1);
    }
    ~Other() { pq_.PQfinish(connection_); }
    void Run(const std::string& sql) {
      PGresult* const result = pq_.PQexec(connection_, sql.c_str());
      const ExecStatusType status = pq_.PQresultStatus(result);
      EXPECT_TRUE(status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK)
          << pq_.PQerrorMessage(connection_);
      pq_.PQclear(result);
    }

   private:
    const LibPq& pq_;
    PGconn* connection_ = nullptr;
  };

  PostgresJobOptions options_{.reconnect = std::chrono::seconds(30),
                              .lock_timeout = milliseconds(200)};
};

TEST_F(PostgresJobStoreTest, TheDatabaseGoesAndComesBack) {
  const auto store = Open();
  const std::string id = Had(Submit(*store)).ids[0];
  const Job job = Had(store->Claim(1)).at(0);
  tests::SharedPostgres()->Kill();
  core::Result<bool> finished = false;
  core::Result<std::optional<Job>> found = std::optional<Job>();
  std::thread waiting([&] {
    finished = store->Finish(job, {.result = "7"});
    found = store->Find("ann", id);
  });
  std::this_thread::sleep_for(milliseconds(500));  // sleeps: they try meanwhile
  ASSERT_TRUE(tests::SharedPostgres()->Run());
  waiting.join();
  ASSERT_TRUE(finished.ok()) << finished.error().ToString();
  EXPECT_TRUE(*finished);
  ASSERT_TRUE(found.ok()) << found.error().ToString();
  EXPECT_EQ((*found)->result, "7");
  EXPECT_TRUE(Submit(*store).ok());
}

// Whether the transaction was committed is not known; it is carried out once all the same.
TEST_F(PostgresJobStoreTest, AConnectionThatIsLostInACommitLosesAndRepeatsNothing) {
  std::atomic<bool> armed = false;
  std::promise<void> written, killed;
  options_.step = [&](std::string_view step) {
    if (step != "written" || !armed.exchange(false)) return;
    written.set_value();
    killed.get_future().wait();
  };
  const auto store = Open();
  const auto interrupt = [&](const std::function<void()>& call) {
    written = {};
    killed = {};
    armed = true;
    std::thread calling(call);
    written.get_future().wait();
    tests::SharedPostgres()->Kill();
    killed.set_value();
    EXPECT_TRUE(tests::SharedPostgres()->Run());
    calling.join();
  };
  std::string id;
  interrupt([&] { id = Had(Submit(*store)).ids.at(0); });
  std::vector<Job> claimed;
  interrupt([&] { claimed = Had(store->Claim(5)); });
  ASSERT_EQ(claimed.size(), 1U);
  EXPECT_EQ(claimed[0].id, id);
  EXPECT_EQ(claimed[0].attempts, 1U);
  bool finished = false;
  interrupt([&] { finished = Had(store->Finish(claimed[0], {.result = "1"})); });
  EXPECT_TRUE(finished);
  EXPECT_EQ(Had(store->Counters()).by_state,
            (std::array<uint64_t, kJobStates>{0, 0, 1, 0, 0, 0, 0}));
}

TEST_F(PostgresJobStoreTest, ADatabaseThatIsGoneIsAnError) {
  options_.reconnect = milliseconds(300);
  const auto store = Open();
  Had(Submit(*store));
  tests::SharedPostgres()->Kill();
  const auto refused = Submit(*store);
  const auto unread = store->Counters();
  ASSERT_TRUE(tests::SharedPostgres()->Run());
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().error_number, ENOTCONN) << refused.error().ToString();
  ASSERT_FALSE(unread);
  EXPECT_EQ(unread.error().error_number, ENOTCONN) << unread.error().ToString();
  EXPECT_TRUE(tests::Eventually([&] { return Submit(*store).ok(); }));
  EXPECT_EQ(Had(store->Counters()).by_state[0], 2U) << "nothing was lost, nothing done twice";
}

TEST_F(PostgresJobStoreTest, LockedTablesAreAnErrorAndLoseNothing) {
  const auto store = Open();
  Had(Submit(*store));
  Other other(options_.url);
  other.Run("BEGIN");
  other.Run("LOCK TABLE " + options_.schema + ".owners IN EXCLUSIVE MODE");
  const auto refused = Submit(*store);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().error_number, EBUSY) << refused.error().ToString();
  other.Run("ROLLBACK");
  EXPECT_TRUE(Submit(*store).ok());
  EXPECT_EQ(Had(store->Counters()).by_state[0], 2U);
}

// A job that was claimed by a transaction whose answer was lost, so that nobody runs it.
TEST_F(PostgresJobStoreTest, WhatNobodyWasToldToRunIsQueuedAgain) {
  const auto store = Open();
  Had(Submit(*store));
  const Job known = Had(store->Claim(1)).at(0);
  const std::string unknown = Had(Submit(*store)).ids[0];
  Other(options_.url)
      .Run("UPDATE " + options_.schema + ".jobs SET state = 1, attempts = 1, server = " +
           std::to_string(known.server) + " WHERE id = '" + unknown + "'");
  Had(store->Renew());
  const Job again = Had(store->Find("ann", unknown)).value();
  EXPECT_EQ(again.state, JobState::kQueued);
  EXPECT_EQ(again.attempts, 0U);
  EXPECT_EQ(Had(store->Find("ann", known.id))->state, JobState::kRunning);
}

TEST_F(PostgresJobStoreTest, ServersThatStartTogetherMakeTheTablesOnce) {
  options_.lock_timeout = std::chrono::seconds(30);  // each waits for those before it
  std::vector<std::thread> threads;
  std::vector<std::string> failures(6);
  threads.reserve(failures.size());
  for (std::string& failure : failures) {
    threads.emplace_back([&] {
      const auto store = OpenPostgresJobStore(options_);
      if (!store) failure = store.error().ToString();
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(failures, std::vector<std::string>(6));
}

TEST_F(PostgresJobStoreTest, TablesOfANewerVersionAreRefused) {
  Open();
  Other(options_.url).Run("UPDATE " + options_.schema + ".format SET version = 999");
  EXPECT_EQ(
      Refusal().detail,
      "its tables were created by a newer version of Belljar (format 999, this one supports 1)");
}

TEST_F(PostgresJobStoreTest, ErrorsDoNotShowThePassword) {
  options_.reconnect = milliseconds(50);
  const std::string good = options_.url;
  const std::string password = PostgresServer::kPassword;
  const auto replace = [&](const std::string& part, const std::string& by) {
    options_.url = good;
    options_.url.replace(options_.url.find(part), part.size(), by);
    core::Error error = Refusal();
    EXPECT_EQ(error.ToString().find(password), std::string::npos) << error.ToString();
    return error;
  };
  core::Error missing = replace("/postgres?", "/missing?");
  // Until then it refuses everybody.
  EXPECT_TRUE(tests::Eventually([&] {
    if (missing.detail.find("is starting up") == std::string::npos) return true;
    missing = Refusal();
    return false;
  }));
  EXPECT_NE(missing.detail.find("database \"missing\" does not exist"), std::string::npos)
      << missing.ToString();
  replace("host=/tmp", "host=/tmp/nowhere");
  // What libpq cannot read it quotes as a whole.
  EXPECT_EQ(replace("?host=", "?nonsense=").detail,
            "it is not of the form postgresql://USER@HOST/DATABASE");
  EXPECT_EQ(replace("@/", "@[::1/").detail,
            "it is not of the form postgresql://USER@HOST/DATABASE");
  const core::Error wrong = replace(password, "another-one");
  EXPECT_EQ(wrong.ToString().find("another-one"), std::string::npos) << wrong.ToString();
  options_.url = good;
  options_.schema = "x; DROP SCHEMA public";
  EXPECT_EQ(Refusal().error_number, EINVAL);
}

}  // namespace
}  // namespace belljar::server::jobs::postgres_job_store_test
