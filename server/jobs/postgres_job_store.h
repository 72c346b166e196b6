// Jobs in PostgreSQL, for several servers on several machines.
//
//   core::Result<std::unique_ptr<JobStore>> store =
//       OpenPostgresJobStore({.url = "postgresql://belljar@db/belljar"});
//
// Times and leases use the database's clock. Tables are in a separate schema, which is created if
// the user may do so. If the connection is lost, reconnecting is tried for some time before a call
// fails. Prepared statements are used, so a pooler in between must preserve sessions.
#ifndef BELLJAR_SERVER_JOBS_POSTGRES_JOB_STORE_H_
#define BELLJAR_SERVER_JOBS_POSTGRES_JOB_STORE_H_

#include <chrono>
#include <memory>
#include <string>

#include "engine/core/result.h"
#include "server/jobs/job_store.h"

namespace belljar::server::jobs {

struct PostgresJobOptions {
  // In libpq's form: a URL, or "host=… dbname=…". It may contain a password, which no error shows.
  std::string url;
  JobLimits limits;
  std::string schema = "belljar";  // lower-case letters, digits and _
  // How long a call waits for a database that does not respond.
  std::chrono::milliseconds reconnect = std::chrono::seconds(10);
  // How long a statement waits for other servers.
  std::chrono::milliseconds lock_timeout = std::chrono::seconds(5);
  StepHook step;
};

core::Result<std::unique_ptr<JobStore>> OpenPostgresJobStore(const PostgresJobOptions& options);

}  // namespace belljar::server::jobs

#endif  // BELLJAR_SERVER_JOBS_POSTGRES_JOB_STORE_H_
