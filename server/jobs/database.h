// Database: one connection to a database, as used by sql_job_store.h. Its statements are written
// once, in what SQLite and PostgreSQL have in common, with placeholders for the differences:
//
//   ?1, ?2            parameters
//   @now              milliseconds of the wall clock that times are taken from
//   @lease_now        milliseconds of the clock used for leases
//   @claim            rows that another server is about to change are skipped
//   @share            the row is not deleted before the transaction ends
//   @greatest         the function of that name
//   @identity         the type of a key that the database numbers, never reusing a number
//   @clustered        rows are stored in the order of the primary key
//
// One thread at a time.
#ifndef BELLJAR_SERVER_JOBS_DATABASE_H_
#define BELLJAR_SERVER_JOBS_DATABASE_H_

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "engine/core/result.h"

namespace belljar::server::jobs {

// A parameter; text is borrowed. nullptr: NULL.
using SqlParameter = std::variant<std::nullptr_t, int64_t, std::string_view>;
using SqlParameters = std::span<const SqlParameter>;

class SqlRow {
 public:
  using Value = std::variant<std::nullptr_t, int64_t, std::string>;
  explicit SqlRow(std::vector<Value> values) : values_(std::move(values)) {}

  bool IsNull(size_t column) const {
    return std::holds_alternative<std::nullptr_t>(values_.at(column));
  }
  // 0 and empty for NULL. Text that is a number counts as one: PostgreSQL returns text.
  int64_t Int(size_t column) const;
  std::string Text(size_t column) const;

 private:
  std::vector<Value> values_;
};
using SqlRows = std::vector<SqlRow>;

// What the placeholders stand for.
struct SqlDialect {
  std::string_view parameter;  // in place of '?'
  std::string_view now, lease_now, claim, share, greatest, identity, clustered;
};
std::string InDialect(std::string_view sql, const SqlDialect& dialect);

// What a write transaction locks at its start, in a fixed order, so that servers cannot deadlock.
struct SqlLocks {
  bool submits = false;  // it reads the totals over all owners
  bool all_owners = false;
  std::vector<std::string> owners;  // sorted
};

class Database {
 public:
  virtual ~Database() = default;

  // Write transactions. After any error in one, call Rollback. If an error's number is ENOTCONN,
  // the connection is lost, and with it the transaction, unless Commit failed.
  virtual core::Result<void> Begin(const SqlLocks& locks) = 0;
  virtual core::Result<void> Commit() = 0;
  virtual void Rollback() = 0;

  // `sql` must have static lifetime: the statement is prepared once. Outside a transaction it is
  // one of its own.
  virtual core::Result<SqlRows> RunWith(const char* sql, SqlParameters parameters) = 0;
  core::Result<SqlRows> Run(const char* sql, std::initializer_list<SqlParameter> parameters) {
    return RunWith(sql, SqlParameters(parameters.begin(), parameters.size()));
  }

  // The same statement for each set of parameters, without returning rows; in few round trips.
  virtual core::Result<void> RunEach(const char* sql,
                                     std::span<const std::vector<SqlParameter>> sets) = 0;

  // Reconnects after ENOTCONN, waiting for the database for a while.
  virtual core::Result<void> Reconnect() = 0;

  // Called after the row of a server was added in the open transaction: from now on other servers
  // can see whether its process is alive, if the database supports that.
  virtual core::Result<void> ShowAlive(int64_t server) = 0;
  // Whether the server has certainly ended; false: unknown.
  virtual bool HasEnded(int64_t server) = 0;
};

}  // namespace belljar::server::jobs

#endif  // BELLJAR_SERVER_JOBS_DATABASE_H_
