// belljar-bench-service [--quick] [--json] [--rounds N]
//
// What the HTTP API costs: one execution beside the same over MCP, many at once beside the library,
// a batch of tests beside a pool of plain subprocesses, jobs and the audit log beside a server
// without them, and the memory of an idle server. Each figure and its floor are of the same run, in
// turns where both are short.
#include <sys/wait.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "bench/measure.h"
#include "bench/options.h"
#include "bench/report.h"
#include "bench/server.h"
#include "bench/timing.h"
#include "engine/profiles/profile_catalogue.h"

namespace belljar::bench {
namespace {

using Json = nlohmann::ordered_json;
constexpr auto kHttp = ServerProcess::Transport::kHttp;

constexpr size_t kAtOnce = 256;
constexpr char kPrint[] = "print(1)";
// Each ends with a value, as the library's loop expects.
constexpr char kShort[] = "print(1)\n1";
constexpr char kBusy[] =
    "import time\nend = time.process_time() + 0.05\nwhile time.process_time() < end:\n    pass\n1";

std::string Post(const std::string& path, const Json& body, const std::string& headers = "") {
  const std::string text = body.dump();
  return "POST " + path + " HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n" +
         headers + "Content-Length: " + std::to_string(text.size()) + "\r\n\r\n" + text;
}

std::string McpCall(const std::string& code, const char* detail) {
  return Post("/mcp",
              {{"jsonrpc", "2.0"},
               {"id", 1},
               {"method", "tools/call"},
               {"params",
                {{"_meta",
                  {{"io.modelcontextprotocol/protocolVersion", "2026-07-28"},
                   {"io.modelcontextprotocol/clientCapabilities", Json::object()}}},
                 {"name", "execute_code"},
                 {"arguments", {{"code", code}, {"detail", detail}}}}}},
              "Accept: application/json, text/event-stream\r\nMCP-Protocol-Version: 2026-07-28\r\n"
              "Mcp-Method: tools/call\r\nMcp-Name: execute_code\r\n");
}

std::string RestCall(const std::string& code, const char* detail) {
  return Post("/v1/executions", {{"code", code}, {"detail", detail}});
}

double TimeAsk(HttpConnection& connection, const std::string& request, const char* expected) {
  const Clock::time_point start = Clock::now();
  const std::string& answer = connection.Ask(request);
  const double time = MillisecondsSince(start);
  if (answer.find(expected) == std::string::npos) Exit("unexpected answer: " + answer);
  return time;
}

size_t Count(const std::string& text, std::string_view part) {
  size_t count = 0;
  for (size_t at = 0; (at = text.find(part, at)) != text.npos; at += part.size()) ++count;
  return count;
}

// --- one at a time ------------------------------------------------------------------------------

struct Latency {
  Series mcp, rest;
};
Latency MeasureLatency(const ServerProcess& server, const char* detail, int rounds) {
  HttpConnection connection(server);
  const std::string mcp = McpCall(kPrint, detail), rest = RestCall(kPrint, detail);
  Latency latency;
  for (int round = -20; round < rounds; ++round) {
    const double of_mcp = TimeAsk(connection, mcp, "\"success\"");
    const double of_rest = TimeAsk(connection, rest, "\"success\":true");
    if (round < 0) continue;
    latency.mcp.Add(of_mcp);
    latency.rest.Add(of_rest);
  }
  return latency;
}

// --- many at once -------------------------------------------------------------------------------

struct Crowd {
  double per_second = 0;
  Series latency;
};
// `total` requests by kAtOnce connections, each of which sends its next one at once.
Crowd MeasureCrowd(const ServerProcess& server, const std::string& code, int total) {
  const std::string request =
      Post("/run_code", {{"code", code}, {"language", "python"}, {"run_timeout", 30}});
  std::vector<HttpConnection> connections;
  for (size_t i = 0; i < kAtOnce; ++i) connections.emplace_back(server);
  std::vector<std::vector<double>> times(kAtOnce);
  std::atomic<int> left = total;
  const auto start = Clock::now();
  InThreads(kAtOnce, [&](size_t i) {
    while (left.fetch_sub(1) > 0) {
      times[i].push_back(TimeAsk(connections[i], request, "\"status\":\"Success\""));
    }
  });
  Crowd crowd;
  crowd.per_second = total / MillisecondsSince(start) * 1e3;
  for (const std::vector<double>& each : times) {
    for (const double time : each) crowd.latency.Add(time);
  }
  return crowd;
}

// --- a batch ------------------------------------------------------------------------------------

struct Test {
  std::string program, stdin_text, expected;
};

// Functions as in HumanEval: each reads its argument from standard input. With `count` tests of 100
// programs, which differ in a constant.
std::vector<Test> MakeTests(size_t count) {
  struct Kind {
    const char* body;  // of f(n), with K for the constant
    long (*result)(long n, long k);
  };
  static const Kind kKinds[] = {
      {"    return sum(i for i in range(n) if i % 3 == 0) + K",
       [](long n, long k) {
         long sum = k;
         for (long i = 0; i < n; i += 3) sum += i;
         return sum;
       }},
      {"    a, b = 0, 1\n    for _ in range(n):\n        a, b = b, a + b\n    return a % 1000 + K",
       [](long n, long k) {
         long a = 0, b = 1;
         for (long i = 0; i < n; ++i) {
           const long next = (a + b) % 1000;
           a = b;
           b = next;
         }
         return a % 1000 + k;
       }},
      {"    return len([c for c in str(n ** 5) if c in '02468']) + K",
       [](long n, long k) {
         const std::string digits = std::to_string(n * n * n * n * n);
         return static_cast<long>(std::count_if(digits.begin(), digits.end(),
                                                [](char c) { return (c - '0') % 2 == 0; })) +
                k;
       }},
      {"    seen = {}\n    for i in range(n):\n        seen.setdefault(i % 7, []).append(i)\n"
       "    return max(len(each) for each in seen.values()) + K",
       [](long n, long k) { return (n + 6) / 7 + k; }},
      {"    return sorted(((i * 37) % 101 for i in range(n)), reverse=True)[0] + K",
       [](long n, long k) {
         long most = 0;
         for (long i = 0; i < n; ++i) most = std::max(most, i * 37 % 101);
         return most + k;
       }},
  };
  std::vector<Test> tests;
  for (size_t i = 0; i < count; ++i) {
    const Kind& kind = kKinds[i % std::size(kKinds)];
    const long k = static_cast<long>(i % 100 / std::size(kKinds));
    const long n = 1 + static_cast<long>(i / 100) % 60;
    std::string body = kind.body;
    body.replace(body.find('K'), 1, std::to_string(k));
    tests.push_back({"def f(n):\n" + body + "\n\nprint(f(int(input())))\n",
                     std::to_string(n) + "\n", std::to_string(kind.result(n, k)) + "\n"});
  }
  return tests;
}

double TimeBatch(const ServerProcess& server, const std::vector<Test>& tests) {
  Json executions = Json::array();
  for (const Test& test : tests) {
    executions.push_back({{"code", test.program}, {"stdin", test.stdin_text}, {"detail", "lean"}});
  }
  const std::string request = Post("/v1/batches", {{"executions", executions}});
  HttpConnection connection(server);
  const Clock::time_point start = Clock::now();
  const std::string& answer = connection.Ask(request);
  const double time = MillisecondsSince(start);
  if (Count(answer, "\"success\":true") != tests.size()) Exit("a test of the batch has failed");
  size_t right = 0;
  for (const Test& test : tests) {
    const std::string text = test.expected.substr(0, test.expected.size() - 1);
    right += answer.find("\"stdout\":\"" + text + "\\n\"") != answer.npos;
  }
  if (right != tests.size()) Exit("a test of the batch had another output");
  return time;
}

double TimePool(const std::vector<Test>& tests) {
  Json list = Json::array();
  for (const Test& test : tests) list.push_back({test.program, test.stdin_text, test.expected});
  const std::string input = std::filesystem::temp_directory_path() / "belljar-bench-pool.json";
  std::ofstream(input) << list.dump();
  const std::string command =
      std::string(BELLJAR_BENCH_PYTHON) + " -I " + BELLJAR_BENCH_POOL + " < " + input;
  FILE* const pipe = popen(command.c_str(), "r");
  double seconds = -1;
  if (pipe == nullptr || fscanf(pipe, "%lf", &seconds) != 1) seconds = -1;
  const int status = pipe != nullptr ? pclose(pipe) : -1;
  std::filesystem::remove(input);
  if (status != 0 || seconds < 0) Exit("the pool of subprocesses has failed");
  return seconds * 1e3;
}

// --- jobs ---------------------------------------------------------------------------------------

struct Cost {
  double wall = 0;  // ms each
  double cpu = 0;   // ms each, of the server's process
};

Cost MeasureDirect(const ServerProcess& server, int count) {
  const Json executions(static_cast<size_t>(count), Json({{"code", kPrint}}));
  const std::string request = Post("/v1/batches", {{"executions", executions}});
  HttpConnection connection(server);
  const double cpu = CpuOfProcess(server.pid());
  const auto start = Clock::now();
  const std::string& answer = connection.Ask(request);
  const double wall = MillisecondsSince(start);
  if (Count(answer, "\"success\":true") != static_cast<size_t>(count)) Exit("an execution is lost");
  return {wall / count, (CpuOfProcess(server.pid()) - cpu) / count};
}

Cost MeasureJobs(const ServerProcess& server, int count) {
  const Json executions(static_cast<size_t>(count), Json({{"code", kPrint}}));
  HttpConnection connection(server);
  const double cpu = CpuOfProcess(server.pid());
  const auto start = Clock::now();
  const std::string accepted = connection.Ask(
      Post("/v1/batches", {{"executions", executions}}, "Prefer: respond-async\r\n"));
  const size_t at = accepted.find("/v1/batches/");
  if (at == accepted.npos) Exit("unexpected answer: " + accepted);
  const std::string request = "GET " + accepted.substr(at, accepted.find('\r', at) - at) +
                              " HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n";
  const std::string all = "\"succeeded\":" + std::to_string(count);
  while (connection.Ask(request).find(all) == std::string::npos) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    if (Clock::now() - start > std::chrono::minutes(5)) Exit("a job does not end");
  }
  const double wall = MillisecondsSince(start);
  return {wall / count, (CpuOfProcess(server.pid()) - cpu) / count};
}

// --- all of it ----------------------------------------------------------------------------------

std::string Temporary() {
  // On a disk: /tmp may be memory.
  std::string folder = std::filesystem::current_path() / "belljar-bench-XXXXXX";
  if (mkdtemp(folder.data()) == nullptr) Exit("cannot make a folder here");
  return folder;
}

BenchReport Run(const BenchOptions& options) {
  const std::string command =
      std::filesystem::path(ProgramBeside("belljar")).parent_path().parent_path() / "belljar";
  BenchReport report;
  report.machine = MachineName("CPython of " BELLJAR_BENCH_PYTHON);
  const auto row = [&](const std::string& name, const char* unit, const Series& series) {
    report.rows.push_back({name, unit, series});
  };
  const auto one = [&](const std::string& name, const char* unit, double value) {
    Series series;
    series.Add(value);
    row(name, unit, series);
  };

  {
    const ServerProcess server(command, kHttp);
    HttpClient(server).Call();
    std::this_thread::sleep_for(std::chrono::seconds(2));
    one("memory of an idle server, all processes", "MiB", ProportionalMemory(server));
    one("its own process alone", "MiB", OwnMemory(server));
    report.goals.push_back({"memory of an idle server", "MiB", report.rows[0].series.median(), 60});
    for (const char* detail : {"lean", "full"}) {
      const Latency latency = MeasureLatency(server, detail, options.rounds);
      row(std::string("MCP over HTTP, ") + detail, "ms", latency.mcp);
      row(std::string("POST /v1/executions, ") + detail, "ms", latency.rest);
      report.goals.push_back({std::string("an execution beside MCP, p50, ") + detail, "x",
                              latency.rest.median() / latency.mcp.median(), 1});
    }
  }
  const core::Profile profile = OrExit(OrExit(profiles::ProfileCatalogue::Open()).Choose("basic"));
  for (const auto& [name, code, total] :
       {std::tuple{"print(1)", kShort, options.quick ? 512 : 2048},
        std::tuple{"50 ms of CPU", kBusy, options.quick ? 256 : 512}}) {
    const size_t clients = std::max(4u, 2 * std::thread::hardware_concurrency());
    double library = 0;
    {
      const auto sandbox = OpenOrExit(profile, 4);
      Settle(*sandbox, 4);
      library = MeasureLoad(*sandbox, WithDefaults(profile, code), clients,
                            std::chrono::seconds(options.quick ? 2 : 6))
                    .per_second;
    }
    const std::string config = Temporary();
    std::ofstream(config + "/belljar.toml") << "[fronts]\nsandbox_fusion = \"basic\"\n";
    const ServerProcess server(command, kHttp,
                               {"--config", config + "/belljar.toml", "--queue", "1000"});
    const Crowd crowd = MeasureCrowd(server, code, total);
    std::filesystem::remove_all(config);
    one(std::string("library, ") + name, "per s", library);
    one(std::string("256 /run_code at once, ") + name, "per s", crowd.per_second);
    row(std::string("time of one of the 256, ") + name, "ms", crowd.latency);
    report.goals.push_back({std::string("256 /run_code at once beside the library, ") + name, "x",
                            crowd.per_second / library, 0.9, true});
  }
  {
    const ServerProcess server(command, kHttp);
    const std::vector<Test> tests = MakeTests(options.quick ? 1000 : 10'000);
    HttpClient(server).Call();
    const double batch = TimeBatch(server, tests), pool = TimePool(tests);
    const std::string name = std::to_string(tests.size()) + " tests of 100 programs";
    one("batch, " + name, "ms", batch);
    one("pool of plain subprocesses, " + name, "ms", pool);
    report.goals.push_back({"a batch beside plain subprocesses", "x", batch / pool, 1});
  }
  const std::string folder = Temporary();
  {
    const ServerProcess plain(command, kHttp);
    const ServerProcess with_jobs(command, kHttp, {"--jobs", folder + "/jobs.db"});
    const ServerProcess audited(command, kHttp, {"--audit", "--audit-folder", folder + "/audit"});
    Series direct, jobs, direct_cpu, jobs_cpu, unaudited, with_audit;
    const int rounds = options.quick ? 2 : 5, count = options.quick ? 300 : 1000;
    const std::chrono::seconds duration(options.quick ? 1 : 3);
    for (int round = 0; round < rounds; ++round) {
      const Cost without = MeasureDirect(with_jobs, count), with = MeasureJobs(with_jobs, count);
      direct.Add(without.wall);
      direct_cpu.Add(without.cpu);
      jobs.Add(with.wall);
      jobs_cpu.Add(with.cpu);
      unaudited.Add(MeasureServerLoad(plain, 8, duration).per_second);
      with_audit.Add(MeasureServerLoad(audited, 8, duration).per_second);
    }
    one("an execution of a batch", "ms", direct.median());
    one("a job of a batch", "ms", jobs.median());
    one("CPU of the server, an execution", "ms", direct_cpu.median());
    one("CPU of the server, a job", "ms", jobs_cpu.median());
    one("calls, eight clients", "per s", unaudited.median());
    one("calls, eight clients, audited", "per s", with_audit.median());
    report.goals.push_back(
        {"a job beside an execution", "x", jobs.median() / direct.median(), 1.3});
    report.goals.push_back(
        {"a call with the audit log", "x", unaudited.median() / with_audit.median(), 1.1});
  }
  std::filesystem::remove_all(folder);
  return report;
}

}  // namespace
}  // namespace belljar::bench

int main(int argc, char** argv) {
  using namespace belljar::bench;
  const BenchOptions options = ReadBenchOptions(argc, argv, 2000, 300);
  WarnWhenBusy();
  Print(Run(options), options.json);
  return 0;
}
