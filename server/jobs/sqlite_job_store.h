// Jobs in a file of this machine, with SQLite.
//
//   core::Result<std::unique_ptr<JobStore>> store = OpenSqliteJobStore({.path =
//   "/var/lib/…/jobs.db"});
//
// The file has mode 0600; its folder is created with 0700, and must not be writable for others.
// Beside it are PATH-wal, PATH-shm and PATH-servers. Servers of one machine may share it; a network
// file system is refused, since SQLite's log needs memory that all of them map.
#ifndef BELLJAR_SERVER_JOBS_SQLITE_JOB_STORE_H_
#define BELLJAR_SERVER_JOBS_SQLITE_JOB_STORE_H_

#include <chrono>
#include <cstdint>
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
  // How long a write waits for others that write: another server, a backup.
  std::chrono::milliseconds busy_timeout = std::chrono::seconds(5);
  // The file's maximum size; 0: that of the disk.
  core::Bytes size{0};
  // With less space on the disk nothing more is submitted, so that what was accepted can end.
  core::Bytes reserve = core::Bytes::Mebi(64);
  // Tests set the clocks: times are of the first, leases of the second. That one is the machine's
  // since it was started, which nobody sets.
  std::function<Time()> now;
  std::function<std::chrono::milliseconds()> lease_now;
  StepHook step;
};

// Creates the file if there is none. Refuses what is not ours: a symbolic link, a file of another
// user, a database of another program or of a newer version, a damaged one.
core::Result<std::unique_ptr<JobStore>> OpenSqliteJobStore(const SqliteJobOptions& options);

}  // namespace belljar::server::jobs

#endif  // BELLJAR_SERVER_JOBS_SQLITE_JOB_STORE_H_
