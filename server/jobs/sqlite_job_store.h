// Jobs in a local file, with SQLite.
//
//   core::Result<std::unique_ptr<JobStore>> store = OpenSqliteJobStore({.path =
//   "/var/lib/…/jobs.db"});
//
// The file has mode 0600; its folder is created with 0700, and must not be writable by others. Next
// to it are PATH-wal, PATH-shm and PATH-servers. Servers on one machine may share it; a network
// file system is refused, since SQLite's log needs memory shared by all of them.
#ifndef BELLJAR_SERVER_JOBS_SQLITE_JOB_STORE_H_
#define BELLJAR_SERVER_JOBS_SQLITE_JOB_STORE_H_

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "engine/core/bytes.h"
#include "engine/core/result.h"
#include "server/jobs/job_store.h"

namespace belljar::server::jobs {

struct SqliteJobOptions {
  std::string path;
  JobLimits limits;
  // How long a write waits for other writers: another server, a backup.
  std::chrono::milliseconds busy_timeout = std::chrono::seconds(5);
  // The file's maximum size; 0: limited by the disk only.
  core::Bytes size{0};
  // With less free disk space, nothing more is submitted, so that accepted jobs can end.
  core::Bytes reserve = core::Bytes::Mebi(64);
  // Set by tests: the first clock is used for times, the second for leases. The latter counts from
  // the machine's start, and nobody sets it.
  std::function<Time()> now;
  std::function<std::chrono::milliseconds()> lease_now;
  StepHook step;
};

// Creates the file if there is none. Refuses anything foreign: a symbolic link, another user's
// file, a database of another program or of a newer version, a damaged one.
core::Result<std::unique_ptr<JobStore>> OpenSqliteJobStore(const SqliteJobOptions& options);

}  // namespace belljar::server::jobs

#endif  // BELLJAR_SERVER_JOBS_SQLITE_JOB_STORE_H_
