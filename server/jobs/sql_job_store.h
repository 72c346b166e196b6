// SqlJobStore: the JobStore of every database that implements database.h. Opened by
// sqlite_job_store.h and postgres_job_store.h.
//
// Uses two connections: one for the writer's thread, and one for reads, which do not wait for the
// disk.
#ifndef BELLJAR_SERVER_JOBS_SQL_JOB_STORE_H_
#define BELLJAR_SERVER_JOBS_SQL_JOB_STORE_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "server/jobs/database.h"
#include "server/jobs/group_writer.h"
#include "server/jobs/job_changes.h"
#include "server/jobs/job_store.h"

namespace belljar::server::jobs {

class SqlJobStore : public JobStore {
 public:
  // Connections to a database that has the tables of job_schema.h.
  static core::Result<std::unique_ptr<JobStore>> Open(std::unique_ptr<Database> writes,
                                                      std::unique_ptr<Database> reads,
                                                      JobLimits limits, StepHook step);
  // Running jobs are marked as interrupted by the next Recover.
  ~SqlJobStore() override;

  core::Result<Submitted> Submit(const Submission& submission) override;
  core::Result<std::vector<Job>> Claim(size_t max) override;
  core::Result<Renewal> Renew() override;
  core::Result<bool> Finish(const Job& claimed, const JobEnd& end) override;
  core::Result<JobCancellation> Cancel(const std::string& owner, const std::string& id) override;
  core::Result<std::optional<std::pair<uint64_t, uint64_t>>> CancelBatch(
      const std::string& owner, const std::string& batch) override;
  core::Result<std::optional<Job>> Find(const std::string& owner, const std::string& id) override;
  core::Result<JobPage> List(const std::string& owner, const JobFilter& filter,
                             const std::string& cursor, size_t max) override;
  core::Result<std::optional<Batch>> FindBatch(const std::string& owner,
                                               const std::string& batch) override;
  core::Result<std::vector<Job>> BatchResults(const std::string& owner, const std::string& batch,
                                              uint64_t after, size_t max) override;
  core::Result<Recovered> Recover() override;
  core::Result<Removed> Expire() override;
  core::Result<JobCounters> Counters() override;

 private:
  SqlJobStore(std::unique_ptr<GroupWriter> writer, std::unique_ptr<Database> reads,
              JobLimits limits)
      : limits_(limits), reads_(std::move(reads)), writer_(std::move(writer)) {}

  // Number of jobs changed in one transaction by operations that may change any number of them:
  // others can write in between.
  static constexpr size_t kPart = 200;
  static constexpr size_t kMaxTurns = 10'000;

  // A job's id, the server that runs it and which attempt that is.
  using Attempt = std::tuple<std::string, int64_t, int64_t>;
  static Attempt AttemptOf(const Job& job) { return {job.id, job.server, job.attempts}; }

  core::Result<SqlRows> Read(const char* sql, std::initializer_list<SqlParameter> parameters);
  // Whether this server's row exists; if not, it is registered, for the first time or again after
  // others treated it as dead.
  core::Result<void> HoldLease(Database& database, const char* sql);
  core::Result<std::vector<std::string>> OwnersInTurn(Database& database);
  core::Result<void> ClaimInTurn(Database& database, size_t max, std::vector<Job>& claimed);
  core::Result<JobCancellation> CancelKnown(Database& database, const JobKey& key);
  core::Result<size_t> ExpirePart(Removed& removed);
  core::Result<size_t> RemoveAged(const std::string& owner, Removed& removed);
  core::Result<size_t> RemoveExcess(Removed& removed);
  // One write of `remove`, which reports in its second argument what it has removed.
  core::Result<size_t> RemovePart(
      SqlLocks locks, Removed& removed,
      const std::function<core::Result<void>(Database&, Removed&)>& remove);
  // In the order of `jobs`, until `excess` bytes are removed.
  core::Result<void> RemoveJobs(Database& database, const std::vector<KeptJob>& jobs,
                                int64_t excess, Removed& removed);

  const JobLimits limits_;

  std::mutex reads_mutex_;
  const std::unique_ptr<Database> reads_;

  // Used by the writer's thread only.
  int64_t server_ = 0;  // 0: not registered yet
  bool lost_ = false;   // and not reported yet
  uint64_t turn_ = 0;
  // By owner, kept even while nothing of the owner's is queued: who submits one job at a time waits
  // like others.
  std::map<std::string, uint64_t> last_turn_;

  std::mutex held_mutex_;
  std::set<Attempt> held_;  // jobs that Claim has returned, or is about to, until they are finished

  const std::unique_ptr<GroupWriter> writer_;  // last: its thread uses the other members
};

}  // namespace belljar::server::jobs

#endif  // BELLJAR_SERVER_JOBS_SQL_JOB_STORE_H_
