#include "tests/server/jobs/store_support.h"

#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>

#include "server/jobs/postgres_job_store.h"
#include "server/jobs/sqlite_job_store.h"

namespace belljar::tests {

namespace fs = std::filesystem;
namespace jobs = server::jobs;

namespace {

// Where Debian's package has initdb and postgres; empty: nowhere.
std::string PostgresPrograms() {
  std::string newest;
  std::error_code code;
  for (const fs::directory_entry& entry : fs::directory_iterator("/usr/lib/postgresql", code)) {
    const std::string folder = entry.path().string() + "/bin";
    if (access((folder + "/initdb").c_str(), X_OK) == 0) newest = std::max(newest, folder);
  }
  return newest;
}

// PostgreSQL does not run as root.
const passwd* UnprivilegedUser() {
  const passwd* const own = getpwnam("postgres");    // NOLINT(concurrency-mt-unsafe)
  return own != nullptr ? own : getpwnam("nobody");  // NOLINT(concurrency-mt-unsafe)
}

bool IsRoot() { return geteuid() == 0; }

}  // namespace

PostgresServer::PostgresServer(std::string programs, std::string folder)
    : programs_(std::move(programs)),
      folder_(std::move(folder)),
      url_("postgresql://belljar:" + std::string(kPassword) + "@/postgres?host=" + folder_) {}

pid_t PostgresServer::Spawn(const std::vector<std::string>& arguments) const {
  std::vector<char*> words;
  words.reserve(arguments.size() + 1);
  for (const std::string& argument : arguments)
    words.push_back(const_cast<char*>(argument.c_str()));
  words.push_back(nullptr);
  const passwd* const user = UnprivilegedUser();
  const pid_t pid = fork();
  if (pid != 0) return pid;
  if (IsRoot() && (user == nullptr || setgroups(0, nullptr) != 0 || setgid(user->pw_gid) != 0 ||
                   setuid(user->pw_uid) != 0)) {
    _exit(127);
  }
  // After setuid, which clears it. It also comes when the thread that called fork ends.
  prctl(PR_SET_PDEATHSIG, SIGINT);
  const int log = open((folder_ + "/log").c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
  dup2(log, STDOUT_FILENO);
  dup2(log, STDERR_FILENO);
  if (chdir(folder_.c_str()) != 0) _exit(127);
  execv(words[0], words.data());
  _exit(127);
}

std::unique_ptr<PostgresServer> PostgresServer::Start() {
  const std::string programs = PostgresPrograms();
  if (programs.empty()) return nullptr;
  char name[] = "/tmp/belljar-postgres-XXXXXX";
  if (mkdtemp(name) == nullptr) return nullptr;
  const std::string folder = name;
  std::ofstream(folder + "/password") << kPassword;
  if (const passwd* const user = UnprivilegedUser(); IsRoot() && user != nullptr) {
    for (const std::string& path : {folder, folder + "/password"}) {
      if (chown(path.c_str(), user->pw_uid, user->pw_gid) != 0) return nullptr;
    }
  }
  std::unique_ptr<PostgresServer> server(new PostgresServer(programs, folder));
  const pid_t made = server->Spawn({programs + "/initdb", "-D", folder + "/data", "-U", "belljar",
                                    "-A", "scram-sha-256", "--pwfile=" + folder + "/password", "-E",
                                    "UTF8", "--locale=C.UTF-8", "--no-sync"});
  int status = 0;
  waitpid(made, &status, 0);
  if (status != 0 || !server->Run()) {
    std::ifstream log(folder + "/log");
    ADD_FAILURE() << std::string(std::istreambuf_iterator<char>(log), {});
    return nullptr;
  }
  return server;
}

bool PostgresServer::Run() {
  pid_ = Spawn({programs_ + "/postgres", "-D", folder_ + "/data", "-k", folder_, "-c",
                "listen_addresses=", "-c", "max_connections=40", "-c", "shared_buffers=16MB"});
  // Its socket is there before it accepts connections, for which OpenPostgresJobStore waits.
  return pid_ > 0 &&
         Eventually([&] { return access((folder_ + "/.s.PGSQL.5432").c_str(), F_OK) == 0; });
}

void PostgresServer::Kill() {
  if (pid_ <= 0) return;
  kill(pid_, SIGQUIT);  // "immediate shutdown"
  waitpid(pid_, nullptr, 0);
  pid_ = -1;
}

PostgresServer::~PostgresServer() {
  Kill();
  std::error_code code;
  fs::remove_all(folder_, code);
}

namespace {

class SharedServer : public testing::Environment {
 public:
  void TearDown() override { server.reset(); }
  std::unique_ptr<PostgresServer> server;
  bool tried = false;
};
SharedServer* const shared_server =
    static_cast<SharedServer*>(testing::AddGlobalTestEnvironment(new SharedServer));

}  // namespace

PostgresServer* SharedPostgres() {
  if (!shared_server->tried) {
    shared_server->tried = true;
    shared_server->server = PostgresServer::Start();
  }
  return shared_server->server.get();
}

StorePlace::StorePlace(StoreKind kind) : kind_(kind) {
  static int places = 0;
  schema_ = "test_" + std::to_string(++places);
  wall_clock = std::chrono::duration_cast<std::chrono::milliseconds>(
      std::chrono::system_clock::now().time_since_epoch());
  lease_clock = std::chrono::hours(1);
}

std::string StorePlace::MissingReason() const {
  if (kind_ == StoreKind::kPostgres && SharedPostgres() == nullptr) {
    return "PostgreSQL is not installed (tools/packages.txt)";
  }
  return {};
}

core::Result<std::unique_ptr<jobs::JobStore>> StorePlace::Open(const jobs::JobLimits& limits,
                                                               jobs::StepHook step) {
  if (kind_ == StoreKind::kSqlite) {
    return jobs::OpenSqliteJobStore({.path = path(),
                                     .limits = limits,
                                     .busy_timeout = std::chrono::seconds(20),
                                     .now = [this] { return jobs::Time(wall_clock); },
                                     .lease_now = [this] { return lease_clock; },
                                     .step = std::move(step)});
  }
  return jobs::OpenPostgresJobStore({.url = SharedPostgres()->url(),
                                     .limits = limits,
                                     .schema = schema_,
                                     .reconnect = std::chrono::seconds(20),
                                     .lock_timeout = std::chrono::seconds(20),
                                     .step = std::move(step)});
}

void StorePlace::Pass(std::chrono::milliseconds time) {
  wall_clock += time;
  lease_clock += time;
  if (kind_ == StoreKind::kPostgres) std::this_thread::sleep_for(time);  // sleeps: its clock
}

}  // namespace belljar::tests
