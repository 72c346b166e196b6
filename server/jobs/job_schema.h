// The tables of jobs, and jobs as their rows. Written once for all databases (database.h).
#ifndef BELLJAR_SERVER_JOBS_JOB_SCHEMA_H_
#define BELLJAR_SERVER_JOBS_JOB_SCHEMA_H_

#include <span>

#include "server/jobs/database.h"
#include "server/jobs/job.h"

namespace belljar::server::jobs {

inline constexpr int kSchemaVersion = 1;

// The statements that upgrade `version` to the next one; version 0 is an empty database.
// Precondition: 0 <= version < kSchemaVersion.
std::span<const char* const> SchemaStep(int version);

// In this order in each statement read by ReadJob. Texts are in separate tables: changing a row
// rewrites all of it.
#define BELLJAR_JOB_COLUMNS                                                       \
  "id, owner, number, kind, priority, deadline, retry, state, cancel, submitted," \
  " started, ended, attempts, batch, position, finish, key, server"
#define BELLJAR_JOB_REQUEST                                           \
  ", (SELECT request FROM requests WHERE requests.owner = jobs.owner" \
  " AND requests.number = jobs.number)"
#define BELLJAR_JOB_RESULT                                          \
  ", (SELECT result FROM results WHERE results.owner = jobs.owner"  \
  " AND results.number = jobs.number)"                              \
  ", (SELECT failure FROM results WHERE results.owner = jobs.owner" \
  " AND results.number = jobs.number)"
enum class JobTexts { kNone, kRequest, kRequestAndResult };
Job ReadJob(const SqlRow& row, JobTexts texts);

int64_t ToMilliseconds(Time time);
Time FromMilliseconds(int64_t milliseconds);

}  // namespace belljar::server::jobs

#endif  // BELLJAR_SERVER_JOBS_JOB_SCHEMA_H_
