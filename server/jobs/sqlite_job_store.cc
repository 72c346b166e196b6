#include "server/jobs/sqlite_job_store.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <ctime>
#include <unordered_map>
#include <utility>

#include "engine/core/fd.h"
#include "engine/core/text.h"
#include "server/jobs/database.h"
#include "server/jobs/job_schema.h"
#include "server/jobs/sql_job_store.h"

// Parts of Debian's archive besides SQL tables, which each new connection would register: full-text
// search, R-trees, JSON and views of the file itself. With these definitions the linker does not
// pull in the archive's: a third less code, and none that reads a file prepared by someone else.
// Weak, for an archive that is a single object.
extern "C" {
#define BELLJAR_WITHOUT(name) \
  int name(sqlite3*);         \
  __attribute__((weak)) int name(sqlite3*) { return SQLITE_OK; }
BELLJAR_WITHOUT(sqlite3Fts3Init)
BELLJAR_WITHOUT(sqlite3Fts5Init)
BELLJAR_WITHOUT(sqlite3RtreeInit)
BELLJAR_WITHOUT(sqlite3StmtVtabInit)
BELLJAR_WITHOUT(sqlite3DbstatRegister)
BELLJAR_WITHOUT(sqlite3JsonTableFunctions)
void sqlite3RegisterJsonFunctions();
__attribute__((weak)) void sqlite3RegisterJsonFunctions() {}
}

namespace belljar::server::jobs {
namespace {

// "BJjb": distinguishes our files from those of other programs (PRAGMA application_id).
constexpr int64_t kApplicationId = 0x424A6A62;

constexpr SqlDialect kSqliteDialect = {.parameter = "?",
                                       .now = "belljar_now()",
                                       .lease_now = "belljar_lease_now()",
                                       .claim = "",  // there is one writer at a time
                                       .share = "",
                                       .greatest = "max",
                                       .identity = "INTEGER PRIMARY KEY AUTOINCREMENT",
                                       .clustered = "WITHOUT ROWID"};

struct SqliteCloser {
  void operator()(sqlite3* connection) const { sqlite3_close_v2(connection); }
};
struct StatementCloser {
  void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};
using Connection = std::unique_ptr<sqlite3, SqliteCloser>;
using SqliteStatement = std::unique_ptr<sqlite3_stmt, StatementCloser>;

struct SqliteClocks {
  std::function<Time()> now;
  std::function<std::chrono::milliseconds()> lease_now;
};

int ErrorNumberOf(int code) {
  switch (code & 0xff) {
    case SQLITE_FULL: return ENOSPC;
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
    case SQLITE_PROTOCOL: return EBUSY;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB: return EUCLEAN;
    case SQLITE_READONLY: return EROFS;
    case SQLITE_NOMEM: return ENOMEM;
    case SQLITE_TOOBIG:
    case SQLITE_CONSTRAINT: return EINVAL;
    default: return EIO;
  }
}

core::Error SqliteError(sqlite3* connection, int code, const std::string& path) {
  int number = ErrorNumberOf(code);
  std::string detail = connection != nullptr ? sqlite3_errmsg(connection) : sqlite3_errstr(code);
  if (number == EIO && connection != nullptr) {
    if (const int system = sqlite3_system_errno(connection); system != 0) number = system;
  }
  switch (number) {
    case ENOSPC: detail = "no space is left for it"; break;
    case EBUSY: detail = "another program has locked the file for too long"; break;
    case EUCLEAN: detail = "the file is damaged: " + detail; break;
    default: break;
  }
  return core::SystemErrorOf(number, "job database " + core::Quoted(path), detail);
}

// --- the files -------------------------------------------------------------------------------

core::Error RefusedFile(const std::string& path, const std::string& why) {
  return core::MakeError("open job database " + core::Quoted(path), why);
}

// Flushes to disk: the names of files created in it.
core::Result<void> WriteFolder(const std::string& folder) {
  const core::UniqueFd opened(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!opened || fsync(opened.get()) != 0) {
    return core::SystemError("write folder " + core::Quoted(folder));
  }
  return {};
}

// The folder's real path: SQLite refuses symbolic links in the whole path, and a folder may be
// behind one (/var/run).
core::Result<std::string> PrepareFolder(const std::string& path) {
  const size_t slash = path.rfind('/');
  std::string folder = slash == std::string::npos ? "." : path.substr(0, slash);
  if (folder.empty()) folder = "/";
  if (mkdir(folder.c_str(), 0700) == 0) {
    if (core::Result<void> written = WriteFolder(folder + "/.."); !written) return written.error();
  } else if (errno != EEXIST) {
    return core::SystemError("create folder " + core::Quoted(folder));
  }
  const std::unique_ptr<char, decltype(&free)> real(realpath(folder.c_str(), nullptr), free);
  if (!real) return core::SystemError("find folder " + core::Quoted(folder));
  const core::UniqueFd opened(open(real.get(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  struct stat about {};
  if (!opened || fstat(opened.get(), &about) != 0) {
    return core::SystemError("open folder " + core::Quoted(folder));
  }
  // Whoever can write to the folder can replace the file.
  if ((about.st_uid != geteuid() && about.st_uid != 0) || (about.st_mode & 0022) != 0) {
    return RefusedFile(path, "its folder must be this user's, and not writable for others");
  }
  struct statfs system {};
  if (fstatfs(opened.get(), &system) != 0) {
    return core::SystemError("examine folder " + core::Quoted(folder));
  }
  constexpr long kSmb2 = static_cast<long>(0xFE534D42);
  constexpr long kCifs = static_cast<long>(0xFF534D42);
  if (system.f_type == NFS_SUPER_MAGIC || system.f_type == kSmb2 || system.f_type == kCifs) {
    return RefusedFile(path, "it is on a network file system; use PostgreSQL for several machines");
  }
  return std::string(real.get());
}

// Creates the file if it is missing, and checks it by its name: opening and closing a file that
// SQLite has open drops all its locks (POSIX).
core::Result<void> PrepareFile(const std::string& folder, const std::string& path) {
  struct stat about {};
  if (lstat(path.c_str(), &about) != 0) {
    if (errno != ENOENT) return core::SystemError("examine " + core::Quoted(path));
    const core::UniqueFd created(open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
    if (!created && errno != EEXIST) return core::SystemError("create " + core::Quoted(path));
    if (core::Result<void> written = WriteFolder(folder); !written) return written;
    if (lstat(path.c_str(), &about) != 0) return core::SystemError("examine " + core::Quoted(path));
  }
  if (!S_ISREG(about.st_mode)) return RefusedFile(path, "it is not a regular file");
  if (about.st_uid != geteuid()) return RefusedFile(path, "it belongs to another user");
  if (about.st_nlink != 1) return RefusedFile(path, "it has more than one name (hard links)");
  // SQLite gives its other files the same mode.
  if ((about.st_mode & 07777) != 0600 && chmod(path.c_str(), 0600) != 0) {
    return core::SystemError("change the mode of " + core::Quoted(path));
  }
  return {};
}

// Each server locks the byte of its number in a file. The kernel releases the lock when its process
// ends, for whatever reason. It is a lock of an open file description (OFD), so that two stores in
// one process are distinct.
class ServerLocks {
 public:
  explicit ServerLocks(core::UniqueFd file) : file_(std::move(file)) {}

  core::Result<void> Lock(int64_t server) const {
    struct flock byte = Byte(server);
    if (fcntl(file_.get(), F_OFD_SETLK, &byte) != 0) {
      return core::SystemError("lock the job database's file of servers");
    }
    return {};
  }
  // Not for this store's own server.
  bool IsFree(int64_t server) const {
    struct flock byte = Byte(server);
    return fcntl(file_.get(), F_OFD_GETLK, &byte) == 0 && byte.l_type == F_UNLCK;
  }

 private:
  static struct flock Byte(int64_t server) {
    struct flock byte {};
    byte.l_type = F_WRLCK;
    byte.l_whence = SEEK_SET;
    byte.l_start = server;
    byte.l_len = 1;
    return byte;
  }

  core::UniqueFd file_;
};

// --- one connection --------------------------------------------------------------------------

class SqliteDatabase : public Database {
 public:
  SqliteDatabase(std::string path, Connection connection, std::unique_ptr<SqliteClocks> clocks)
      : path_(std::move(path)), clocks_(std::move(clocks)), connection_(std::move(connection)) {}

  // Settings for the connection that writes.
  void SetServers(core::UniqueFd file) { servers_.emplace(std::move(file)); }
  void SetReserve(core::Bytes reserve) { reserve_ = reserve; }

  core::Result<void> Begin(const SqlLocks& locks) override {
    if (locks.submits && !HasReserve()) {
      return core::SystemErrorOf(ENOSPC, "job database " + core::Quoted(path_),
                                 "less than " + reserve_.ToString() + " of its disk are free");
    }
    return Do("BEGIN IMMEDIATE");
  }
  core::Result<void> Commit() override { return Do("COMMIT"); }
  void Rollback() override {
    // After some errors SQLite has already rolled back.
    if (sqlite3_get_autocommit(connection_.get()) == 0) (void)Do("ROLLBACK");
  }

  core::Result<SqlRows> RunWith(const char* sql, SqlParameters parameters) override {
    core::Result<sqlite3_stmt*> statement = Prepared(sql);
    if (!statement) return statement.error();
    return Step(*statement, parameters);
  }

  core::Result<void> RunEach(const char* sql,
                             std::span<const std::vector<SqlParameter>> sets) override {
    for (const std::vector<SqlParameter>& set : sets) {
      if (const core::Result<SqlRows> done = RunWith(sql, SqlParameters(set)); !done) {
        return done.error();
      }
    }
    return {};
  }

  core::Result<void> Reconnect() override { return {}; }
  core::Result<void> ShowAlive(int64_t server) override { return servers_->Lock(server); }
  bool HasEnded(int64_t server) override { return servers_->IsFree(server); }

  core::Result<void> Do(const char* sql) {
    const core::Result<SqlRows> done = RunWith(sql, SqlParameters());
    if (!done) return done.error();
    return {};
  }
  // A statement built from values and run once.
  core::Result<SqlRows> RunOnce(const std::string& sql) {
    core::Result<SqliteStatement> statement = Prepare(sql);
    if (!statement) return statement.error();
    return Step(statement->get(), {});
  }

 private:
  bool HasReserve() const {
    struct statvfs disk {};
    if (reserve_.count == 0 || statvfs(path_.c_str(), &disk) != 0) return true;
    return disk.f_bavail * disk.f_frsize >= reserve_.count;
  }

  core::Result<SqliteStatement> Prepare(const std::string& sql) {
    sqlite3_stmt* statement = nullptr;
    const int code =
        sqlite3_prepare_v3(connection_.get(), sql.c_str(), static_cast<int>(sql.size() + 1),
                           SQLITE_PREPARE_PERSISTENT, &statement, nullptr);
    if (code != SQLITE_OK) return SqliteError(connection_.get(), code, path_);
    return SqliteStatement(statement);
  }

  core::Result<sqlite3_stmt*> Prepared(const char* sql) {
    SqliteStatement& kept = statements_[sql];
    if (!kept) {
      core::Result<SqliteStatement> prepared = Prepare(InDialect(sql, kSqliteDialect));
      if (!prepared) return prepared.error();
      kept = std::move(*prepared);
    }
    return kept.get();
  }

  core::Result<SqlRows> Step(sqlite3_stmt* statement, SqlParameters parameters) {
    int code = Bind(statement, parameters);
    SqlRows rows;
    if (code == SQLITE_OK) {
      while ((code = sqlite3_step(statement)) == SQLITE_ROW) rows.push_back(ReadRow(statement));
    }
    core::Result<SqlRows> result(std::move(rows));
    if (code != SQLITE_DONE) result = SqliteError(connection_.get(), code, path_);
    sqlite3_reset(statement);
    sqlite3_clear_bindings(statement);
    return result;
  }

  // Texts are not copied: they outlive the statement's run, but its bindings do not.
  static int Bind(sqlite3_stmt* statement, SqlParameters parameters) {
    int index = 0;
    for (const SqlParameter& parameter : parameters) {
      ++index;
      int code = SQLITE_OK;
      if (const auto* number = std::get_if<int64_t>(&parameter)) {
        code = sqlite3_bind_int64(statement, index, *number);
      } else if (const auto* text = std::get_if<std::string_view>(&parameter)) {
        // Null would be NULL.
        const char* const data = text->data() != nullptr ? text->data() : "";
        code =
            sqlite3_bind_text64(statement, index, data, text->size(), SQLITE_STATIC, SQLITE_UTF8);
      } else {
        code = sqlite3_bind_null(statement, index);
      }
      if (code != SQLITE_OK) return code;
    }
    return SQLITE_OK;
  }

  static SqlRow ReadRow(sqlite3_stmt* statement) {
    std::vector<SqlRow::Value> values;
    const int columns = sqlite3_column_count(statement);
    values.reserve(static_cast<size_t>(columns));
    for (int i = 0; i < columns; ++i) {
      switch (sqlite3_column_type(statement, i)) {
        case SQLITE_NULL: values.emplace_back(nullptr); break;
        case SQLITE_INTEGER:
          values.emplace_back(int64_t{sqlite3_column_int64(statement, i)});
          break;
        default: {
          const auto* const text = reinterpret_cast<const char*>(sqlite3_column_text(statement, i));
          const auto size = static_cast<size_t>(sqlite3_column_bytes(statement, i));
          values.emplace_back(text != nullptr ? std::string(text, size) : std::string());
        }
      }
    }
    return SqlRow(std::move(values));
  }

  const std::string path_;
  const std::unique_ptr<SqliteClocks> clocks_;  // used by functions of the connection
  std::optional<ServerLocks> servers_;
  core::Bytes reserve_;
  Connection connection_;
  std::unordered_map<const char*, SqliteStatement> statements_;  // destroyed before the connection
};

void CallNow(sqlite3_context* context, int, sqlite3_value**) {
  const auto* const clocks = static_cast<const SqliteClocks*>(sqlite3_user_data(context));
  sqlite3_result_int64(context, ToMilliseconds(clocks->now()));
}
void CallLeaseNow(sqlite3_context* context, int, sqlite3_value**) {
  const auto* const clocks = static_cast<const SqliteClocks*>(sqlite3_user_data(context));
  sqlite3_result_int64(context, clocks->lease_now().count());
}

Time WallClock() {
  return std::chrono::time_point_cast<std::chrono::milliseconds>(std::chrono::system_clock::now());
}
// Nobody sets this clock, all processes of the machine share it, and it advances in standby.
std::chrono::milliseconds BootClock() {
  timespec time{};
  clock_gettime(CLOCK_BOOTTIME, &time);
  return std::chrono::duration_cast<std::chrono::milliseconds>(
      std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec));
}

core::Result<std::unique_ptr<SqliteDatabase>> Connect(const SqliteJobOptions& options,
                                                      const std::string& path) {
  sqlite3* opened = nullptr;
  const int code =
      sqlite3_open_v2(path.c_str(), &opened,
                      SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOFOLLOW | SQLITE_OPEN_NOMUTEX |
                          SQLITE_OPEN_PRIVATECACHE | SQLITE_OPEN_EXRESCODE,
                      nullptr);
  Connection connection(opened);
  if (code != SQLITE_OK) return SqliteError(opened, code, path);
  auto clocks = std::make_unique<SqliteClocks>();
  clocks->now = options.now ? options.now : WallClock;
  clocks->lease_now = options.lease_now ? options.lease_now : BootClock;
  constexpr int kFlags = SQLITE_UTF8 | SQLITE_DIRECTONLY;
  sqlite3_create_function_v2(opened, "belljar_now", 0, kFlags, clocks.get(), CallNow, nullptr,
                             nullptr, nullptr);
  sqlite3_create_function_v2(opened, "belljar_lease_now", 0, kFlags, clocks.get(), CallLeaseNow,
                             nullptr, nullptr, nullptr);
  sqlite3_busy_timeout(opened, static_cast<int>(options.busy_timeout.count()));
  // A file modified by someone else cannot make SQLite run its content.
  sqlite3_db_config(opened, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(opened, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  return std::make_unique<SqliteDatabase>(path, std::move(connection), std::move(clocks));
}

core::Result<int64_t> Pragma(SqliteDatabase& database, const std::string& pragma) {
  const core::Result<SqlRows> rows = database.RunOnce("PRAGMA " + pragma);
  if (!rows) return rows.error();
  return rows->empty() ? int64_t{0} : rows->front().Int(0);
}

// Only a new file gets our tables: one without tables but with another program's id is not ours.
core::Result<void> Migrate(SqliteDatabase& database, const std::string& path) {
  const core::Result<int64_t> application = Pragma(database, "application_id");
  if (!application) return application.error();
  const core::Result<int64_t> version = Pragma(database, "user_version");
  if (!version) return version.error();
  const core::Result<SqlRows> tables = database.RunOnce("SELECT count(*) FROM sqlite_schema");
  if (!tables) return tables.error();
  const bool is_new = *application == 0 && *version == 0 && tables->front().Int(0) == 0;
  if (!is_new && *application != kApplicationId) {
    return RefusedFile(path, "it belongs to another program");
  }
  if (*version > kSchemaVersion) {
    return RefusedFile(path, "it was created by a newer version of Belljar (format " +
                                 std::to_string(*version) + ", this one supports " +
                                 std::to_string(kSchemaVersion) + ")");
  }
  for (auto step = static_cast<int>(*version); step < kSchemaVersion; ++step) {
    for (const char* const sql : SchemaStep(step)) {
      if (core::Result<void> done = database.Do(sql); !done) return done;
    }
  }
  for (const std::string& pragma : {"application_id = " + std::to_string(kApplicationId),
                                    "user_version = " + std::to_string(kSchemaVersion)}) {
    if (*version == kSchemaVersion) break;
    if (const core::Result<int64_t> set = Pragma(database, pragma); !set) return set.error();
  }
  return {};
}

core::Result<void> Prepare(SqliteDatabase& database, const SqliteJobOptions& options,
                           const std::string& path) {
  const std::string pragmas[] = {
      // Readers do not wait for the writer, and a commit is one write at the end of the log.
      "journal_mode = WAL",
      // The log is on the disk when a commit returns. NORMAL could lose the last commits in a power
      // failure. Those of Submit must not be lost, since the client was told; nor those of Claim,
      // or the job would run twice without being reported as interrupted; nor those of Finish,
      // whose result the client may have read. So it applies to all of them, and group_writer.h
      // makes it cheap.
      "synchronous = FULL",
      "cell_size_check = ON",
      // The log is truncated to this size once its content is in the database.
      "journal_size_limit = 67108864",
  };
  for (const std::string& pragma : pragmas) {
    if (const core::Result<int64_t> set = Pragma(database, pragma); !set) return set.error();
  }
  if (options.size.count != 0) {
    const core::Result<int64_t> page = Pragma(database, "page_size");
    if (!page) return page.error();
    const core::Result<int64_t> limit =
        Pragma(database, "max_page_count = " +
                             std::to_string(options.size.count / static_cast<uint64_t>(*page)));
    if (!limit) return limit.error();
  }
  if (core::Result<void> begun = database.Begin({}); !begun) return begun;
  core::Result<void> migrated = Migrate(database, path);
  if (migrated.ok()) migrated = database.Commit();
  if (!migrated) {
    database.Rollback();
    return migrated;
  }
  // A damaged file is refused now, not when a job in the damaged part is needed.
  const core::Result<SqlRows> check = database.RunOnce("PRAGMA quick_check(1)");
  if (!check) return check.error();
  if (check->empty() || check->front().Text(0) != "ok") {
    return core::SystemErrorOf(
        EUCLEAN, "job database " + core::Quoted(path),
        "the file is damaged: " + (check->empty() ? "" : check->front().Text(0)));
  }
  return {};
}

}  // namespace

core::Result<std::unique_ptr<JobStore>> OpenSqliteJobStore(const SqliteJobOptions& options) {
  const core::Result<std::string> folder = PrepareFolder(options.path);
  if (!folder) return folder.error();
  const size_t slash = options.path.rfind('/');
  const std::string name =
      slash == std::string::npos ? options.path : options.path.substr(slash + 1);
  if (name.empty()) return RefusedFile(options.path, "it has no name");
  const std::string path = *folder + "/" + name;
  if (core::Result<void> prepared = PrepareFile(*folder, path); !prepared) return prepared.error();

  core::Result<std::unique_ptr<SqliteDatabase>> writes = Connect(options, path);
  if (!writes) return writes.error();
  if (core::Result<void> prepared = Prepare(**writes, options, path); !prepared) {
    return prepared.error();
  }
  core::UniqueFd servers(
      open((path + "-servers").c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!servers) return core::SystemError("open " + core::Quoted(path + "-servers"));
  (*writes)->SetServers(std::move(servers));
  (*writes)->SetReserve(options.reserve);

  core::Result<std::unique_ptr<SqliteDatabase>> reads = Connect(options, path);
  if (!reads) return reads.error();
  if (const core::Result<int64_t> set = Pragma(**reads, "query_only = ON"); !set) {
    return set.error();
  }
  return SqlJobStore::Open(std::move(*writes), std::move(*reads), options.limits, options.step);
}

}  // namespace belljar::server::jobs
