// The stores that the tests of server/jobs run with, each with a database of its own.
#ifndef BELLJAR_TESTS_SERVER_JOBS_STORE_SUPPORT_H_
#define BELLJAR_TESTS_SERVER_JOBS_STORE_SUPPORT_H_

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "server/jobs/job_store.h"
#include "tests/support/support.h"

namespace belljar::tests {

// A PostgreSQL of this program's own, on a Unix socket in a temporary folder, with a password.
class PostgresServer {
 public:
  static constexpr char kPassword[] = "pass-phrase-of-the-test";

  // Null if PostgreSQL is not installed.
  static std::unique_ptr<PostgresServer> Start();
  ~PostgresServer();
  PostgresServer(const PostgresServer&) = delete;

  const std::string& url() const { return url_; }
  // Without giving transactions the time to end.
  void Kill();
  bool Run();  // again; on the main thread, with which it ends

 private:
  PostgresServer(std::string programs, std::string folder);
  pid_t Spawn(const std::vector<std::string>& arguments) const;

  const std::string programs_;
  const std::string folder_;
  std::string url_;
  pid_t pid_ = -1;
};

// One server for the whole program, started when it is first needed.
PostgresServer* SharedPostgres();

enum class StoreKind { kSqlite, kPostgres };
inline std::string StoreName(const testing::TestParamInfo<StoreKind>& info) {
  return info.param == StoreKind::kSqlite ? "Sqlite" : "Postgres";
}

// The place of a store that several stores, and several processes, can open.
class StorePlace {
 public:
  explicit StorePlace(StoreKind kind);

  std::string MissingReason() const;  // empty: it can be used
  core::Result<std::unique_ptr<server::jobs::JobStore>> Open(const server::jobs::JobLimits& limits,
                                                             server::jobs::StepHook step = {});

  // SQLite's clocks are moved, PostgreSQL's are waited for.
  void Pass(std::chrono::milliseconds time);

  StoreKind kind() const { return kind_; }
  std::string path() const { return folder_.path() + "/jobs/jobs.db"; }
  const std::string& schema() const { return schema_; }
  // SQLite only.
  std::chrono::milliseconds wall_clock{0};
  std::chrono::milliseconds lease_clock{0};

 private:
  const StoreKind kind_;
  const TemporaryFolder folder_;
  std::string schema_;
};

}  // namespace belljar::tests

#endif  // BELLJAR_TESTS_SERVER_JOBS_STORE_SUPPORT_H_
