#include "server/jobs/postgres_job_store.h"

#include <algorithm>
#include <cerrno>
#include <map>
#include <thread>
#include <utility>

#include "engine/core/text.h"
#include "server/jobs/database.h"
#include "server/jobs/job_schema.h"
#include "server/jobs/libpq.h"
#include "server/jobs/sql_job_store.h"

namespace belljar::server::jobs {
namespace {

// clock_timestamp() is the current time; now() is the start of the transaction, which may have
// waited.
#define BELLJAR_POSTGRES_NOW "CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT)"
constexpr SqlDialect kPostgresDialect = {
    .parameter = "$",
    .now = BELLJAR_POSTGRES_NOW,
    .lease_now = BELLJAR_POSTGRES_NOW,
    .claim = "FOR UPDATE SKIP LOCKED",
    .share = "FOR SHARE",
    .greatest = "greatest",
    .identity = "BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY",
    .clustered = ""};
#undef BELLJAR_POSTGRES_NOW

// Advisory locks: "BJjb" and the purpose.
constexpr char kLockSubmits[] = "SELECT pg_advisory_xact_lock(1112173154, 1)";
constexpr char kLockSchema[] = "SELECT pg_advisory_xact_lock(1112173154, 2)";

constexpr std::chrono::milliseconds kFirstPause{50};
constexpr std::chrono::milliseconds kMaxPause{2000};
// Number of statements sent before their answers are read; these fit any socket's buffer, so that
// neither side waits for the other to read.
constexpr size_t kPipelined = 64;

constexpr int kMinServerVersion = 120000;

int NumberOfState(std::string_view state) {
  struct Kind {
    std::string_view prefix;
    int number;
  };
  // SQLSTATE codes (Appendix A of PostgreSQL's manual); the first match counts.
  constexpr Kind kKinds[] = {
      {"53100", ENOSPC},                     // disk full
      {"53200", ENOMEM},  {"53", ENOTCONN},  // too many connections
      {"55P03", EBUSY},                      // lock timeout
      {"57014", EBUSY},                      // statement timeout
      {"40", EBUSY},                         // deadlock, serialization
      {"57P", ENOTCONN},                     // shut down by an administrator, starting up
      {"08", ENOTCONN},                      // connection
      {"25006", EROFS},                      // a standby
      {"28", EACCES},                        // password
      {"42501", EACCES},                     // privileges
      {"XX001", EUCLEAN},                    // damaged data
      {"XX002", EUCLEAN},                    // damaged index
      {"22", EINVAL},                        // text that the database cannot store
      {"54", EINVAL},                        // too large
  };
  for (const Kind& kind : kKinds) {
    if (state.starts_with(kind.prefix)) return kind.number;
  }
  return EIO;
}

// A URL without its secret parts, and what has to be removed from messages.
struct Destination {
  std::string text;  // "host db, port 5432, database belljar, user belljar"
  std::vector<std::string> secrets;
};

core::Result<Destination> ReadUrl(const LibPq& pq, const std::string& url) {
  char* message = nullptr;
  PQconninfoOption* const options = pq.PQconninfoParse(url.c_str(), &message);
  if (options == nullptr) {
    // libpq's message quotes the URL, with the password.
    pq.PQfreemem(message);
    return core::SystemErrorOf(EINVAL, "read the URL of the job database",
                               "it is not of the form postgresql://USER@HOST/DATABASE");
  }
  Destination destination;
  for (const PQconninfoOption* option = options; option->keyword != nullptr; ++option) {
    if (option->val == nullptr || *option->val == '\0') continue;
    const std::string_view keyword = option->keyword;
    // dispchar "*": must not be displayed.
    if (option->dispchar != nullptr && *option->dispchar == '*') {
      destination.secrets.emplace_back(option->val);
    }
    for (const auto& [shown, word] : {std::pair{"host", "host"}, std::pair{"port", "port"},
                                      std::pair{"dbname", "database"}, std::pair{"user", "user"}}) {
      if (keyword != shown) continue;
      if (!destination.text.empty()) destination.text += ", ";
      destination.text += std::string(word) + " " + core::Printable(option->val);
    }
  }
  pq.PQconninfoFree(options);
  return destination;
}

class PostgresDatabase : public Database {
 public:
  PostgresDatabase(const LibPq& pq, const PostgresJobOptions& options, Destination destination)
      : pq_(pq), options_(options), destination_(std::move(destination)) {}
  ~PostgresDatabase() override { Disconnect(); }
  PostgresDatabase(const PostgresDatabase&) = delete;

  core::Result<void> Connect() {
    Disconnect();
    const std::string timeout = std::to_string(std::max<int64_t>(
        2, std::chrono::duration_cast<std::chrono::seconds>(options_.reconnect).count()));
    // Defaults: later values, such as the URL's, take precedence. Detects a host that has vanished.
    const char* const keywords[] = {"connect_timeout",
                                    "application_name",
                                    "tcp_user_timeout",
                                    "keepalives_idle",
                                    "dbname",
                                    "client_encoding",
                                    nullptr};
    const char* const values[] = {timeout.c_str(),      "belljar", "15000", "10",
                                  options_.url.c_str(), "UTF8",    nullptr};
    connection_ = pq_.PQconnectdbParams(keywords, values, 1);
    if (!IsConnected()) {
      const core::Error error = Fail(ENOTCONN, connection_ ? pq_.PQerrorMessage(connection_) : "");
      Disconnect();
      return error;
    }
    if (pq_.PQserverVersion(connection_) < kMinServerVersion) {
      return Fail(EINVAL, "PostgreSQL 12 or later is needed");
    }
    return SetUp();
  }

  core::Result<void> Begin(const SqlLocks& locks) override {
    if (core::Result<void> begun = Do("BEGIN"); !begun) return begun;
    if (locks.submits) {
      if (core::Result<void> locked = Do(kLockSubmits); !locked) return locked;
    }
    if (locks.all_owners) {
      return Discard(Run("SELECT 1 FROM owners ORDER BY owner FOR UPDATE", {}));
    }
    for (const std::string& owner : locks.owners) {
      core::Result<void> locked =
          Discard(Run("SELECT 1 FROM owners WHERE owner = ?1 FOR UPDATE", {owner}));
      if (!locked) return locked;
    }
    return {};
  }
  core::Result<void> Commit() override { return Do("COMMIT"); }
  void Rollback() override {
    if (IsConnected()) (void)Do("ROLLBACK");
  }

  core::Result<SqlRows> RunWith(const char* sql, SqlParameters parameters) override {
    core::Result<const std::string*> name = Prepared(sql);
    if (!name) return name.error();
    const Arguments arguments(parameters);
    return Read(pq_.PQexecPrepared(connection_, (*name)->c_str(), arguments.count(),
                                   arguments.values(), arguments.lengths(), arguments.formats(),
                                   0));
  }

  core::Result<void> RunEach(const char* sql,
                             std::span<const std::vector<SqlParameter>> sets) override {
    core::Result<const std::string*> name = Prepared(sql);
    if (!name) return name.error();
    while (!sets.empty()) {
      const auto part = sets.first(std::min(kPipelined, sets.size()));
      if (core::Result<void> done = RunPart(**name, part); !done) return done;
      sets = sets.subspan(part.size());
    }
    return {};
  }

  core::Result<void> Reconnect() override {
    if (IsConnected()) return {};
    const auto deadline = std::chrono::steady_clock::now() + options_.reconnect;
    std::chrono::milliseconds pause = kFirstPause;
    while (true) {
      core::Result<void> connected = Connect();
      if (connected.ok() || connected.error().error_number != ENOTCONN) return connected;
      if (std::chrono::steady_clock::now() + pause > deadline) return connected;
      std::this_thread::sleep_for(pause);
      pause = std::min(2 * pause, kMaxPause);
    }
  }

  // Leases only: a connection says nothing about whether its server is alive.
  core::Result<void> ShowAlive(int64_t) override { return {}; }
  bool HasEnded(int64_t) override { return false; }

  core::Result<void> Migrate();

 private:
  // Parameters in libpq's form. Text is sent unchanged, with its length.
  class Arguments {
   public:
    explicit Arguments(SqlParameters parameters) {
      numbers_.reserve(parameters.size());
      for (const SqlParameter& parameter : parameters) {
        const char* value = nullptr;
        size_t length = 0;
        int format = 0;
        if (const auto* number = std::get_if<int64_t>(&parameter)) {
          value = numbers_.emplace_back(std::to_string(*number)).c_str();
        } else if (const auto* text = std::get_if<std::string_view>(&parameter)) {
          value = text->data() != nullptr ? text->data() : "";
          length = text->size();
          format = 1;
        }
        values_.push_back(value);
        lengths_.push_back(static_cast<int>(length));
        formats_.push_back(format);
      }
    }
    int count() const { return static_cast<int>(values_.size()); }
    const char* const* values() const { return values_.data(); }
    const int* lengths() const { return lengths_.data(); }
    const int* formats() const { return formats_.data(); }

   private:
    std::vector<std::string> numbers_;
    std::vector<const char*> values_;
    std::vector<int> lengths_;
    std::vector<int> formats_;
  };

  bool IsConnected() const {
    return connection_ != nullptr && !closing_ && pq_.PQstatus(connection_) == CONNECTION_OK;
  }
  void Disconnect() {
    if (connection_ != nullptr) pq_.PQfinish(connection_);
    connection_ = nullptr;
    closing_ = false;
    statements_.clear();
  }

  core::Error Fail(int number, std::string message) const {
    while (!message.empty() && message.back() == '\n') message.pop_back();
    for (const std::string& secret : destination_.secrets) {
      for (size_t at = 0; (at = message.find(secret, at)) != std::string::npos;) {
        message.replace(at, secret.size(), "***");
        at += 3;
      }
    }
    // "…\n\tIs the server running locally …"
    for (const char space : {'\n', '\t'}) std::replace(message.begin(), message.end(), space, ' ');
    return core::SystemErrorOf(number, "job database (" + destination_.text + ")",
                               core::Printable(message));
  }

  static core::Result<void> Discard(const core::Result<SqlRows>& rows) {
    if (!rows) return rows.error();
    return {};
  }

  core::Result<SqlRows> Read(PGresult* answer);
  core::Result<void> Do(const std::string& sql) {
    if (!IsConnected()) return Fail(ENOTCONN, "not connected");
    return Discard(Read(pq_.PQexec(connection_, sql.c_str())));
  }

  core::Result<const std::string*> Prepared(const char* sql) {
    if (!IsConnected()) return Fail(ENOTCONN, "not connected");
    if (const auto known = statements_.find(sql); known != statements_.end()) {
      return &known->second;
    }
    const std::string name = "belljar" + std::to_string(statements_.size());
    const core::Result<SqlRows> prepared = Read(pq_.PQprepare(
        connection_, name.c_str(), InDialect(sql, kPostgresDialect).c_str(), 0, nullptr));
    if (!prepared) return prepared.error();
    return &statements_.emplace(sql, name).first->second;
  }

  core::Result<void> RunPart(const std::string& name,
                             std::span<const std::vector<SqlParameter>> sets);
  core::Result<void> SetUp();

  const LibPq& pq_;
  const PostgresJobOptions options_;
  const Destination destination_;
  PGconn* connection_ = nullptr;
  // The server has closed it, which libpq notices only when it reads the end.
  bool closing_ = false;
  std::map<const char*, std::string> statements_;  // names of prepared statements in this session
};

core::Result<SqlRows> PostgresDatabase::Read(PGresult* answer) {
  const std::unique_ptr<PGresult, decltype(pq_.PQclear)> owned(answer, pq_.PQclear);
  const ExecStatusType status = pq_.PQresultStatus(answer);
  if (status != PGRES_TUPLES_OK && status != PGRES_COMMAND_OK) {
    const char* const state =
        answer != nullptr ? pq_.PQresultErrorField(answer, PG_DIAG_SQLSTATE) : nullptr;
    const char* const primary =
        answer != nullptr ? pq_.PQresultErrorField(answer, PG_DIAG_MESSAGE_PRIMARY) : nullptr;
    const int number = !IsConnected() || state == nullptr ? ENOTCONN : NumberOfState(state);
    closing_ |= number == ENOTCONN;
    return Fail(number, primary != nullptr ? primary : pq_.PQerrorMessage(connection_));
  }
  SqlRows rows;
  const int columns = pq_.PQnfields(answer);
  for (int i = 0; i < pq_.PQntuples(answer); ++i) {
    std::vector<SqlRow::Value> values;
    for (int column = 0; column < columns; ++column) {
      if (pq_.PQgetisnull(answer, i, column) != 0) {
        values.emplace_back(nullptr);
      } else {
        values.emplace_back(std::string(pq_.PQgetvalue(answer, i, column),
                                        static_cast<size_t>(pq_.PQgetlength(answer, i, column))));
      }
    }
    rows.emplace_back(std::move(values));
  }
  return rows;
}

core::Result<void> PostgresDatabase::RunPart(const std::string& name,
                                             std::span<const std::vector<SqlParameter>> sets) {
  if (!IsConnected()) return Fail(ENOTCONN, "not connected");
  if (pq_.PQenterPipelineMode(connection_) == 0) return Fail(EIO, pq_.PQerrorMessage(connection_));
  core::Result<void> result;
  size_t sent = 0;
  for (const std::vector<SqlParameter>& set : sets) {
    const Arguments arguments{SqlParameters(set)};
    if (pq_.PQsendQueryPrepared(connection_, name.c_str(), arguments.count(), arguments.values(),
                                arguments.lengths(), arguments.formats(), 0) == 0) {
      result = Fail(IsConnected() ? EIO : ENOTCONN, pq_.PQerrorMessage(connection_));
      break;
    }
    ++sent;
  }
  if (pq_.PQpipelineSync(connection_) == 0 && result.ok()) {
    result = Fail(IsConnected() ? EIO : ENOTCONN, pq_.PQerrorMessage(connection_));
  }
  // Each statement yields its result and a null; the sync message comes last. After an error, the
  // remaining statements are reported as aborted.
  for (size_t nulls = 0; IsConnected();) {
    PGresult* const answer = pq_.PQgetResult(connection_);
    if (answer == nullptr) {
      if (++nulls > sent) break;
      continue;
    }
    const ExecStatusType status = pq_.PQresultStatus(answer);
    if (status == PGRES_PIPELINE_SYNC || status == PGRES_PIPELINE_ABORTED) {
      pq_.PQclear(answer);
      if (status == PGRES_PIPELINE_SYNC) break;
      continue;
    }
    const core::Result<SqlRows> rows = Read(answer);
    if (!rows && result.ok()) result = rows.error();
  }
  if (!IsConnected()) {
    if (result.ok()) result = Fail(ENOTCONN, pq_.PQerrorMessage(connection_));
    return result;
  }
  if (pq_.PQexitPipelineMode(connection_) == 0 && result.ok()) {
    result = Fail(EIO, pq_.PQerrorMessage(connection_));
  }
  return result;
}

core::Result<void> PostgresDatabase::SetUp() {
  const std::string lock_timeout = std::to_string(options_.lock_timeout.count());
  const std::string settings[] = {
      "SET search_path TO " + options_.schema,
      "SET lock_timeout TO " + lock_timeout,
      "SET statement_timeout TO 60000",
      // If a server stops in the middle, together with its machine, its locks are released.
      "SET idle_in_transaction_session_timeout TO 60000",
      "SET default_transaction_isolation TO 'read committed'",
      // A committed transaction is on the disk. Stricter settings of the database are kept.
      ("SELECT set_config('synchronous_commit', 'on', false)"
       " WHERE current_setting('synchronous_commit') = 'off'"),
  };
  for (const std::string& setting : settings) {
    if (core::Result<void> done = Do(setting); !done) return done;
  }
  return {};
}

core::Result<void> PostgresDatabase::Migrate() {
  if (core::Result<void> begun = Do("BEGIN"); !begun) return begun;
  // For servers that start at the same time.
  if (core::Result<void> locked = Do(kLockSchema); !locked) return locked;
  const core::Result<SqlRows> schema =
      Run("SELECT 1 FROM pg_namespace WHERE nspname = ?1", {options_.schema});
  if (!schema) return schema.error();
  if (schema->empty()) {
    if (core::Result<void> done = Do("CREATE SCHEMA " + options_.schema); !done) return done;
  }
  const core::Result<SqlRows> table = Run(
      "SELECT 1 FROM pg_tables WHERE schemaname = ?1 AND tablename = 'format'", {options_.schema});
  if (!table) return table.error();
  int64_t version = 0;
  if (!table->empty()) {
    const core::Result<SqlRows> rows = Run("SELECT version FROM format", {});
    if (!rows) return rows.error();
    if (!rows->empty()) version = rows->front().Int(0);
  } else {
    if (core::Result<void> done = Do("CREATE TABLE format (version BIGINT NOT NULL)"); !done) {
      return done;
    }
    if (core::Result<void> done = Do("INSERT INTO format VALUES (0)"); !done) return done;
  }
  if (version > kSchemaVersion) {
    return Fail(0, "its tables were created by a newer version of Belljar (format " +
                       std::to_string(version) + ", this one supports " +
                       std::to_string(kSchemaVersion) + ")");
  }
  for (auto step = static_cast<int>(version); step < kSchemaVersion; ++step) {
    for (const char* const sql : SchemaStep(step)) {
      if (core::Result<void> done = Do(InDialect(sql, kPostgresDialect)); !done) return done;
    }
  }
  if (version < kSchemaVersion) {
    core::Result<void> done = Do("UPDATE format SET version = " + std::to_string(kSchemaVersion));
    if (!done) return done;
  }
  return Do("COMMIT");
}

bool IsSchemaName(std::string_view name) {
  return !name.empty() && name.size() <= 63 && name.front() >= 'a' && name.front() <= 'z' &&
         name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") == std::string_view::npos;
}

core::Result<std::unique_ptr<PostgresDatabase>> ConnectTo(const LibPq& pq,
                                                          const PostgresJobOptions& options,
                                                          const Destination& destination) {
  auto database = std::make_unique<PostgresDatabase>(pq, options, destination);
  if (const core::Result<void> connected = database->Reconnect(); !connected) {
    return connected.error();
  }
  return database;
}

}  // namespace

core::Result<std::unique_ptr<JobStore>> OpenPostgresJobStore(const PostgresJobOptions& options) {
  if (!IsSchemaName(options.schema)) {
    return core::SystemErrorOf(
        EINVAL, "open the job database",
        "the schema's name must consist of lower-case letters, digits and _");
  }
  const core::Result<const LibPq*> pq = OpenLibPq();
  if (!pq) return pq.error();
  const core::Result<Destination> destination = ReadUrl(**pq, options.url);
  if (!destination) return destination.error();
  core::Result<std::unique_ptr<PostgresDatabase>> writes = ConnectTo(**pq, options, *destination);
  if (!writes) return writes.error();
  if (core::Result<void> migrated = (*writes)->Migrate(); !migrated) return migrated.error();
  core::Result<std::unique_ptr<PostgresDatabase>> reads = ConnectTo(**pq, options, *destination);
  if (!reads) return reads.error();
  return SqlJobStore::Open(std::move(*writes), std::move(*reads), options.limits, options.step);
}

}  // namespace belljar::server::jobs
