// Measures `belljar serve` from the client side. The clients are cheap: blocking descriptors and
// prebuilt requests.
#ifndef BELLJAR_BENCH_SERVER_H_
#define BELLJAR_BENCH_SERVER_H_

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/core/fd.h"

namespace belljar::bench {

// A server, started by the constructor and stopped by the destructor. Any error ends the program.
class ServerProcess {
 public:
  enum class Transport { kStdio, kHttp };

  // `command` is the path of belljar; `options` are more of its arguments. Does not wait until the
  // server is ready.
  ServerProcess(const std::string& command, Transport transport,
                const std::vector<std::string>& options = {});
  ~ServerProcess();
  ServerProcess(const ServerProcess&) = delete;

  pid_t pid() const { return pid_; }
  uint16_t port() const { return port_; }  // for HTTP
  int input() const { return input_.get(); }
  int output() const { return output_.get(); }

 private:
  pid_t pid_ = -1;
  uint16_t port_ = 0;
  core::UniqueFd input_;   // the server's, for stdio
  core::UniqueFd output_;  // the server's, for stdio
};

// One client over the server's standard input and output.
class StdioClient {
 public:
  // Returns once the server has answered `initialize`.
  explicit StdioClient(const ServerProcess& server);
  // Calls execute_code("result = 2 + 2") and checks the answer.
  void Call();
  // Asks for what the server answers at once.
  void Ping();
  // Calls validate_code with ten lines and checks the answer.
  void Validate();

 private:
  // Sends a line; ends the program unless the next line of the server contains `expected`.
  void Ask(const std::string& line, std::string_view expected, const char* what);

  const int input_;
  const int output_;
  std::string unread_;
};

// One keep-alive connection for requests of any kind.
class HttpConnection {
 public:
  // Returns once the server is ready (GET /readyz) and connected.
  explicit HttpConnection(const ServerProcess& server);
  // The whole answer, with its header. `request` is complete, and may be answered by a stream.
  const std::string& Ask(const std::string& request);

 private:
  core::UniqueFd socket_;
  std::string answer_;
};

// One that calls execute_code over MCP.
class HttpClient {
 public:
  // Returns once the server is ready (GET /readyz) and connected.
  explicit HttpClient(const ServerProcess& server);
  void Call();

 private:
  HttpConnection connection_;
  const std::string request_;
};

// Calls per second with several connections, each of which sends the next call at once.
struct ServerLoad {
  double per_second = 0;
  double server_cpu = 0;  // ms per call: of the server process itself
};
ServerLoad MeasureServerLoad(const ServerProcess& server, int clients,
                             std::chrono::milliseconds duration);

// Proportional set sizes of the server and its descendants in MiB; negative if not readable. Other
// processes with the same libraries reduce it, so measure it first.
double ProportionalMemory(const ServerProcess& server);
// The same of the server's own process alone.
double OwnMemory(const ServerProcess& server);

// Milliseconds from the start of a new server.
struct ServerStart {
  double ready = 0;   // to the answer to `initialize`, or to status 200 from /readyz
  double result = 0;  // to the first answer to execute_code
};
ServerStart TimeServerStart(const std::string& command, ServerProcess::Transport transport);

}  // namespace belljar::bench

#endif  // BELLJAR_BENCH_SERVER_H_
