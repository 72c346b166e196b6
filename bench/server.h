// `belljar serve` under measurement, as its clients meet it. The clients cost little: blocking
// descriptors, and requests that are written once.
#ifndef BELLJAR_BENCH_SERVER_H_
#define BELLJAR_BENCH_SERVER_H_

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "engine/core/fd.h"

namespace belljar::bench {

// A server, started now and ended with this. Everything that goes wrong ends the program.
class ServerProcess {
 public:
  enum class Transport { kStdio, kHttp };

  // `command` is the path of belljar. Does not wait until the server is ready.
  ServerProcess(const std::string& command, Transport transport);
  ~ServerProcess();
  ServerProcess(const ServerProcess&) = delete;

  pid_t pid() const { return pid_; }
  uint16_t port() const { return port_; }  // of HTTP
  int input() const { return input_.get(); }
  int output() const { return output_.get(); }

 private:
  pid_t pid_ = -1;
  uint16_t port_ = 0;
  core::UniqueFd input_;   // the server's, of stdio
  core::UniqueFd output_;  // the server's, of stdio
};

// One conversation over a server's standard input and output.
class StdioClient {
 public:
  // Returns once the server has answered `initialize`.
  explicit StdioClient(const ServerProcess& server);
  // execute_code("result = 2 + 2"), and its answer read and looked at.
  void Call();

 private:
  void Send(const std::string& line) const;
  std::string Receive();

  const int input_;
  const int output_;
  std::string unread_;
};

// One connection that is kept.
class HttpClient {
 public:
  // Returns once the server is ready (GET /readyz), and connected.
  explicit HttpClient(const ServerProcess& server);
  void Call();

 private:
  core::UniqueFd socket_;
  const std::string request_;
  std::string answer_;
};

// Calls a second of so many connections, each of which asks again at once.
struct ServerLoad {
  double per_second = 0;
  double server_cpu = 0;  // ms a call: of the server's own process
};
ServerLoad MeasureServerLoad(const ServerProcess& server, int clients,
                             std::chrono::milliseconds duration);

// MiB: the proportional set sizes of the server and of everything below it; negative where they may
// not be read. Other processes with the same libraries make it smaller: measure it first.
double ProportionalMemory(const ServerProcess& server);

// Milliseconds from the start of a new server.
struct ServerStart {
  double ready = 0;   // to the answer to `initialize` or to a 200 of /readyz
  double result = 0;  // to the first answer to execute_code
};
ServerStart TimeServerStart(const std::string& command, ServerProcess::Transport transport);

}  // namespace belljar::bench

#endif  // BELLJAR_BENCH_SERVER_H_
