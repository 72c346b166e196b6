// PostgreSQL's client library, loaded when first needed: a program that uses only SQLite does not
// need it, and wheels do not contain it.
#ifndef BELLJAR_SERVER_JOBS_LIBPQ_H_
#define BELLJAR_SERVER_JOBS_LIBPQ_H_

#include <libpq-fe.h>

#include "engine/core/result.h"

namespace belljar::server::jobs {

// Each function that is used, as declared in libpq-fe.h. Those for pipelines require libpq 14.
// clang-format would move the lines at each run.
// clang-format off
#define BELLJAR_LIBPQ_FUNCTIONS(X) \
  X(PQconnectdbParams) X(PQconninfoParse) X(PQconninfoFree) X(PQfreemem) X(PQfinish) \
  X(PQstatus) X(PQerrorMessage) X(PQserverVersion) X(PQexec) X(PQprepare) X(PQexecPrepared) \
  X(PQresultStatus) X(PQresultErrorField) X(PQclear) X(PQntuples) X(PQnfields) X(PQgetvalue) \
  X(PQgetlength) X(PQgetisnull) X(PQsendQueryPrepared) X(PQgetResult) X(PQenterPipelineMode) \
  X(PQexitPipelineMode) X(PQpipelineSync)
// clang-format on

struct LibPq {
// NOLINTNEXTLINE(bugprone-macro-parentheses): a declaration
#define BELLJAR_DECLARE(name) decltype(&::name) name = nullptr;
  BELLJAR_LIBPQ_FUNCTIONS(BELLJAR_DECLARE)
#undef BELLJAR_DECLARE
};

// Stays loaded until the process ends. Any thread.
core::Result<const LibPq*> OpenLibPq();

}  // namespace belljar::server::jobs

#endif  // BELLJAR_SERVER_JOBS_LIBPQ_H_
