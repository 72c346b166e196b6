#include "bench/server.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <thread>

#include "bench/measure.h"
#include "bench/timing.h"

extern char** environ;

namespace belljar::bench {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::seconds kTimeout{30};
constexpr std::string_view kRight = "\"result\":4";

// --- requests -----------------------------------------------------------------------------------

constexpr char kInitialize[] =
    R"({"jsonrpc":"2.0","id":"i","method":"initialize","params":{"protocolVersion":"2025-11-25",)"
    R"("capabilities":{},"clientInfo":{"name":"belljar-bench","version":"1"}}})";
constexpr char kInitialized[] = R"({"jsonrpc":"2.0","method":"notifications/initialized"})";
constexpr char kCall[] =
    R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"execute_code",)"
    R"("arguments":{"code":"result = 2 + 2"}}})";
constexpr char kPing[] = R"({"jsonrpc":"2.0","id":2,"method":"ping"})";
constexpr char kValidate[] =
    R"({"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"validate_code",)"
    R"("arguments":{"code":"import math\n\nclass Circle:\n    def __init__(self, radius):\n)"
    R"(        self.radius = radius\n\n    def area(self):\n)"
    R"(        return math.pi * self.radius ** 2\n\nprint(Circle(2).area())\n"}}})";
constexpr char kStatelessCall[] =
    R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"_meta":{)"
    R"("io.modelcontextprotocol/protocolVersion":"2026-07-28",)"
    R"("io.modelcontextprotocol/clientCapabilities":{}},"name":"execute_code",)"
    R"("arguments":{"code":"result = 2 + 2"}}})";

std::string HttpRequest(const ServerProcess& server) {
  const std::string body = kStatelessCall;
  return "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:" + std::to_string(server.port()) +
         "\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\n"
         "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: execute_code\r\n"
         "Content-Length: " +
         std::to_string(body.size()) + "\r\n\r\n" + body;
}

// --- descriptors --------------------------------------------------------------------------------

void WriteAll(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(fd, text.data(), text.size());
    if (written <= 0) Exit("the server has closed its end");
    text.remove_prefix(static_cast<size_t>(written));
  }
}

void ReadMore(int fd, std::string& text) {
  std::array<char, 16384> part;
  const ssize_t size = read(fd, part.data(), part.size());
  if (size <= 0) Exit("the server has closed its end; received: " + text);
  text.append(part.data(), static_cast<size_t>(size));
}

sockaddr_in Loopback(uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(port);
  return address;
}

// A port that was free a moment ago. The server could choose one, but would report it only in its
// log.
uint16_t FreePort() {
  const core::UniqueFd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address = Loopback(0);
  socklen_t size = sizeof address;
  if (bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), size) != 0 ||
      getsockname(socket.get(), reinterpret_cast<sockaddr*>(&address), &size) != 0) {
    Exit("no port on 127.0.0.1");
  }
  return ntohs(address.sin_port);
}

// Empty if nobody listens.
core::UniqueFd Connect(uint16_t port) {
  core::UniqueFd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const sockaddr_in address = Loopback(port);
  if (connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    return core::UniqueFd();
  }
  const int on = 1;
  setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  return socket;
}

// The length of the whole answer, whose header has been received.
size_t AnswerSize(const std::string& answer) {
  const size_t end = answer.find("\r\n\r\n");
  constexpr std::string_view kLength = "\r\ncontent-length:";
  std::string header = answer.substr(0, end);
  for (char& c : header) c = static_cast<char>(tolower(c));
  const size_t at = header.find(kLength);
  if (at == std::string::npos) Exit("an answer without Content-Length: " + answer);
  return end + 4 + strtoull(header.c_str() + at + kLength.size(), nullptr, 10);
}

bool IsStream(const std::string& answer) {
  return answer.substr(0, answer.find("\r\n\r\n")).find("chunked") != std::string::npos;
}

void ReadAnswer(int socket, std::string& answer) {
  answer.clear();
  while (answer.find("\r\n\r\n") == std::string::npos) ReadMore(socket, answer);
  if (IsStream(answer)) {
    while (!answer.ends_with("\r\n0\r\n\r\n")) ReadMore(socket, answer);
    return;
  }
  const size_t size = AnswerSize(answer);
  while (answer.size() < size) ReadMore(socket, answer);
}

bool IsReady(const ServerProcess& server) {
  const core::UniqueFd socket = Connect(server.port());
  if (!socket) return false;
  WriteAll(socket.get(), "GET /readyz HTTP/1.1\r\nHost: 127.0.0.1:" +
                             std::to_string(server.port()) + "\r\nConnection: close\r\n\r\n");
  std::string answer;
  ReadAnswer(socket.get(), answer);
  return answer.starts_with("HTTP/1.1 200 ");
}

// --- /proc --------------------------------------------------------------------------------------

// The number after `name` at the start of a line; negative if there is none.
double FieldOf(const fs::path& file, std::string_view name) {
  std::ifstream stream(file);
  for (std::string line; std::getline(stream, line);) {
    if (line.starts_with(name)) return atof(line.c_str() + name.size());
  }
  return -1;
}

// `root` and all its descendants.
std::set<pid_t> Tree(pid_t root) {
  std::map<pid_t, pid_t> parents;
  for (const fs::directory_entry& entry : fs::directory_iterator("/proc")) {
    const pid_t pid = atoi(entry.path().filename().c_str());
    if (pid > 0) parents[pid] = static_cast<pid_t>(FieldOf(entry.path() / "status", "PPid:"));
  }
  std::set<pid_t> tree = {root};
  for (size_t before = 0; before != tree.size();) {
    before = tree.size();
    for (const auto& [pid, parent] : parents) {
      if (tree.contains(parent)) tree.insert(pid);
    }
  }
  return tree;
}

}  // namespace

ServerProcess::ServerProcess(const std::string& command, Transport transport,
                             const std::vector<std::string>& options) {
  std::vector<std::string> words = {command, "serve"};
  if (transport == Transport::kHttp) {
    port_ = FreePort();
    words.insert(words.end(), {"--http", "127.0.0.1:" + std::to_string(port_)});
  }
  words.insert(words.end(), options.begin(), options.end());
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);

  int in[2], out[2];
  if (pipe2(in, O_CLOEXEC) != 0 || pipe2(out, O_CLOEXEC) != 0) Exit("no pipe");
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, in[0], 0);
  posix_spawn_file_actions_adddup2(&actions, out[1], 1);
  posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
  const int failed =
      posix_spawn(&pid_, command.c_str(), &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(in[0]);
  close(out[1]);
  input_.Reset(in[1]);
  output_.Reset(out[0]);
  if (failed != 0) Exit("cannot start " + command);
}

ServerProcess::~ServerProcess() {
  kill(pid_, SIGTERM);
  waitpid(pid_, nullptr, 0);
}

StdioClient::StdioClient(const ServerProcess& server)
    : input_(server.input()), output_(server.output()) {
  Ask(kInitialize, "\"protocolVersion\"", "initialize");
  WriteAll(input_, std::string(kInitialized) + "\n");
}

void StdioClient::Ask(const std::string& line, std::string_view expected, const char* what) {
  WriteAll(input_, line + "\n");
  size_t end;
  while ((end = unread_.find('\n')) == std::string::npos) ReadMore(output_, unread_);
  const std::string answer = unread_.substr(0, end);
  unread_.erase(0, end + 1);
  if (answer.find(expected) == answer.npos) {
    Exit("unexpected answer to " + std::string(what) + ": " + answer);
  }
}

void StdioClient::Call() { Ask(kCall, kRight, "a call"); }
void StdioClient::Ping() { Ask(kPing, "\"result\":{}", "ping"); }
void StdioClient::Validate() { Ask(kValidate, "\"valid\":true", "validate_code"); }

HttpConnection::HttpConnection(const ServerProcess& server) {
  const auto deadline = Clock::now() + kTimeout;
  while (!IsReady(server)) {
    if (Clock::now() > deadline) Exit("the server does not become ready");
    std::this_thread::sleep_for(std::chrono::microseconds(500));
  }
  socket_ = Connect(server.port());
  if (!socket_) Exit("the server does not accept connections");
}

const std::string& HttpConnection::Ask(const std::string& request) {
  WriteAll(socket_.get(), request);
  ReadAnswer(socket_.get(), answer_);
  return answer_;
}

HttpClient::HttpClient(const ServerProcess& server)
    : connection_(server), request_(HttpRequest(server)) {}

void HttpClient::Call() {
  const std::string& answer = connection_.Ask(request_);
  if (answer.find(kRight) == std::string::npos) Exit("unexpected answer to a call: " + answer);
}

ServerLoad MeasureServerLoad(const ServerProcess& server, int clients,
                             std::chrono::milliseconds duration) {
  std::vector<HttpClient> connections;
  for (int i = 0; i < clients; ++i) connections.emplace_back(server);
  const double cpu_before = CpuOfProcess(server.pid());
  const Clock::time_point start = Clock::now();
  std::atomic<int> calls = 0;
  InThreads(connections.size(), [&](size_t i) {
    while (Clock::now() - start < duration) {
      connections[i].Call();
      ++calls;
    }
  });
  const double elapsed = MillisecondsSince(start);
  const double count = calls;
  return {count / elapsed * 1e3, (CpuOfProcess(server.pid()) - cpu_before) / count};
}

double OwnMemory(const ServerProcess& server) {
  const double size = FieldOf("/proc/" + std::to_string(server.pid()) + "/smaps_rollup", "Pss:");
  return size < 0 ? -1 : size / 1024;
}

double ProportionalMemory(const ServerProcess& server) {
  double kibibytes = 0;
  for (const pid_t pid : Tree(server.pid())) {
    const double size = FieldOf("/proc/" + std::to_string(pid) + "/smaps_rollup", "Pss:");
    if (size < 0) return -1;
    kibibytes += size;
  }
  return kibibytes / 1024;
}

ServerStart TimeServerStart(const std::string& command, ServerProcess::Transport transport) {
  const Clock::time_point start = Clock::now();
  const ServerProcess server(command, transport);
  ServerStart time;
  if (transport == ServerProcess::Transport::kStdio) {
    StdioClient client(server);
    time.ready = MillisecondsSince(start);
    client.Call();
  } else {
    HttpClient client(server);
    time.ready = MillisecondsSince(start);
    client.Call();
  }
  time.result = MillisecondsSince(start);
  return time;
}

}  // namespace belljar::bench
