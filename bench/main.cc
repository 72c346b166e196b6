// belljar-bench [--quick] [--json] [--rounds N]
//
// Measures the floors of this machine and Belljar alternately, round by round, so that drift
// affects all of them equally.
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <string>
#include <thread>
#include <utility>

#include "bench/floor.h"
#include "bench/measure.h"
#include "bench/options.h"
#include "bench/report.h"
#include "bench/server.h"
#include "bench/timing.h"
#include "engine/profiles/profile_catalogue.h"

namespace belljar::bench {
namespace {

namespace fs = std::filesystem;

constexpr size_t kSpares = 4;  // the default of Sandbox

constexpr int kSlowEvery = 8;  // rounds

// The rows, in printing order.
struct Rows {
  Row small{"fork + exit + wait of a small C process", "ms", {}};
  Row bare{"fork + exit + wait of a bare CPython, without site (B)", "ms", {}};
  Row fork{"fork + exit + wait of CPython with the same modules", "ms", {}};
  Row fork_run{"the same, running 1+1", "ms", {}};
  Row fork_sealed{"the same, with every namespace, Landlock and seccomp", "ms", {}};
  Row cold{"python3 -I -S -c pass, cold", "ms", {}};
  Row bwrap{"bwrap --unshare-all python3 -I -S -c pass", "ms", {}};
  Row run{"belljar, library: 1+1, spares ready", "ms", {}};
  Row run_worker{"  of it from sending to the report read", "ms", {}};
  Row exception{"belljar, library: an exception, spares ready", "ms", {}};
  Row refused{"belljar, library: a refused program, spares ready", "ms", {}};
  Row back_to_back{"belljar, library: 1+1, back to back", "ms", {}};
  Row first{"belljar, library: open to first result", "ms", {}};
  Row command{"belljar run -c 'print(1)', the whole command", "ms", {}};
  Row load_1{"belljar, executions a second, 1 client", "/s", {}};
  Row load_2{"belljar, executions a second, 2 clients", "/s", {}};
  Row load_8{"belljar, executions a second, 8 clients", "/s", {}};
  Row all_cpu{"CPU of a run, all processes together", "ms", {}};
  Row worker_cpu{"CPU of a worker, clone to reaped", "ms", {}};
  Row host_cpu{"CPU of the host a run", "ms", {}};
  Row zygote_cpu{"CPU of the zygote a run", "ms", {}};
  Row memory{"private memory of a waiting spare", "MiB", {}};
  Row waits_8{"belljar, library: a run among 8 clients", "ms", {}};
  Row waits_64{"belljar, library: a run among 64 clients", "ms", {}};
  Row beside_busy{"belljar, library: 1+1 beside runs that use all cores", "ms", {}};
  Row first_of_two{"two profiles at once, 4 clients each: basic", "/s", {}};
  Row second_of_two{"two profiles at once, 4 clients each: filesystem", "/s", {}};
  Row ping{"belljar serve, stdio: ping", "ms", {}};
  Row stdio{"belljar serve, stdio: execute_code, spares ready", "ms", {}};
  Row validate{"belljar serve, stdio: validate_code, ten lines", "ms", {}};
  Row http{"belljar serve, HTTP keep-alive: execute_code", "ms", {}};
  Row http_1{"belljar serve, HTTP: calls a second, 1 client", "/s", {}};
  Row http_8{"belljar serve, HTTP: calls a second, 8 clients", "/s", {}};
  Row server_cpu{"CPU of the server's own process a call, 8 clients", "ms", {}};
  Row stdio_ready{"belljar serve, stdio: start to initialize answered", "ms", {}};
  Row stdio_first{"belljar serve, stdio: start to first result", "ms", {}};
  Row http_ready{"belljar serve, HTTP: start to /readyz", "ms", {}};
  Row idle{"belljar serve, idle: proportional memory in all", "MiB", {}};

  std::vector<Row> All() const {
    return {small,       bare,         fork,          fork_run,   fork_sealed, cold,
            bwrap,       run,          run_worker,    exception,  refused,     back_to_back,
            first,       command,      load_1,        load_2,     load_8,      all_cpu,
            worker_cpu,  host_cpu,     zygote_cpu,    memory,     waits_8,     waits_64,
            beside_busy, first_of_two, second_of_two, ping,       stdio,       validate,
            http,        http_1,       http_8,        server_cpu, stdio_ready, stdio_first,
            http_ready,  idle};
  }
};

// Servers do not report when all spares are ready again: about ten times as long as that takes.
void SettleServers() { std::this_thread::sleep_for(std::chrono::milliseconds(15)); }

std::string CommandOf(const installation::Installation& installation) {
  return fs::path(installation.zygote).parent_path() / "belljar";
}

// For servers that are idle after some work. Must run before this process loads an interpreter,
// because shared pages count in part.
Series MeasureIdleMemory(const std::string& command) {
  Series series;
  for (int i = 0; i < 3; ++i) {
    const ServerProcess server(command, ServerProcess::Transport::kHttp);
    HttpClient client(server);
    for (int call = 0; call < 50; ++call) client.Call();
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    series.Add(ProportionalMemory(server));
  }
  return series;
}

class Bench {
 public:
  Bench(const BenchOptions& options, const profiles::ProfileCatalogue& catalogue,
        Series idle_memory)
      : options_(options),
        load_(options.quick ? 400 : 1500),
        catalogue_(catalogue),
        profile_(OrExit(catalogue.Choose("basic"))),
        one_plus_one_(WithDefaults(profile_, "1+1")),
        exception_(WithDefaults(profile_, "[].pop()")),
        refused_(WithDefaults(profile_, "import socket")),
        small_({ProgramBeside("belljar-bench-floor-c")}),
        bare_(BarePythonFloor()),
        python_(PythonFloor(profile_)),
        sandbox_(OpenOrExit(profile_, kSpares)),
        command_(CommandOf(catalogue.installation())),
        stdio_server_(command_, ServerProcess::Transport::kStdio),
        http_server_(command_, ServerProcess::Transport::kHttp),
        stdio_(stdio_server_),
        http_(http_server_) {
    rows_.idle.series = std::move(idle_memory);
  }

  BenchReport Run() {
    for (int round = 0; round < options_.rounds; ++round) {
      Round();
      if (round % kSlowEvery == 0) SlowRound();
    }
    for (int i = 0; i < 3; ++i) LoadRound();
    return {MachineName(interpreter_), rows_.All(), Goals(), rows_.fork.name, rows_.bare.name};
  }

 private:
  void Round() {
    Settle(*sandbox_, kSpares);
    rows_.small.series.Add(small_.Sample('f'));
    rows_.bare.series.Add(bare_.Sample('f'));
    rows_.fork.series.Add(python_.Sample('f'));
    rows_.fork_run.series.Add(python_.Sample('r'));
    rows_.fork_sealed.series.Add(python_.Sample('s'));
    Settle(*sandbox_, kSpares);
    const RunTime time = TimeRun(*sandbox_, one_plus_one_);
    rows_.run.series.Add(time.total);
    rows_.run_worker.series.Add(time.worker);
    Settle(*sandbox_, kSpares);
    rows_.exception.series.Add(TimeRun(*sandbox_, exception_, host::Status::kException).total);
    Settle(*sandbox_, kSpares);
    rows_.refused.series.Add(TimeRun(*sandbox_, refused_, host::Status::kRefused).total);
    SettleServers();
    rows_.ping.series.Add(Time([&] { stdio_.Ping(); }));
    rows_.stdio.series.Add(Time([&] { stdio_.Call(); }));
    SettleServers();
    rows_.validate.series.Add(Time([&] { stdio_.Validate(); }));
    SettleServers();
    rows_.http.series.Add(Time([&] { http_.Call(); }));
    SettleServers();
  }

  void SlowRound() {
    Settle(*sandbox_, kSpares);
    rows_.cold.series.Add(TimeCommand({interpreter_, "-I", "-S", "-c", "pass"}));
    rows_.bwrap.series.Add(
        TimeCommand({"bwrap", "--unshare-all", "--ro-bind", "/", "/", "--proc", "/proc", "--dev",
                     "/dev", interpreter_, "-I", "-S", "-c", "pass"}));
    rows_.first.series.Add(TimeFirstResult(one_plus_one_, profile_));
    rows_.command.series.Add(TimeCommand({command_, "run", "-c", "print(1)"}));
    Settle(*sandbox_, kSpares);
    for (const double mebibytes : PrivateMemoryOfSpares(*sandbox_)) {
      rows_.memory.series.Add(mebibytes);
    }
    const ServerStart stdio = TimeServerStart(command_, ServerProcess::Transport::kStdio);
    rows_.stdio_ready.series.Add(stdio.ready);
    rows_.stdio_first.series.Add(stdio.result);
    rows_.http_ready.series.Add(TimeServerStart(command_, ServerProcess::Transport::kHttp).ready);
    // More than there are spares, so that most runs must wait for a clone.
    for (int i = 0; i < 20; ++i)
      rows_.back_to_back.series.Add(TimeRun(*sandbox_, one_plus_one_).total);
  }

  void LoadRound() {
    const std::pair<int, Row*> kLoads[] = {
        {1, &rows_.load_1}, {2, &rows_.load_2}, {8, &rows_.load_8}};
    for (const auto& [clients, row] : kLoads) {
      Settle(*sandbox_, kSpares);
      const Load load = MeasureLoad(*sandbox_, one_plus_one_, clients, load_);
      row->series.Add(load.per_second);
      if (clients != 2) continue;
      rows_.worker_cpu.series.Add(load.worker_cpu);
      rows_.host_cpu.series.Add(load.host_cpu);
      rows_.zygote_cpu.series.Add(load.zygote_cpu);
      rows_.all_cpu.series.Add(load.worker_cpu + load.host_cpu + load.zygote_cpu);
    }
    for (const auto& [clients, row] : {std::pair(8, &rows_.waits_8), {64, &rows_.waits_64}}) {
      Settle(*sandbox_, kSpares);
      MeasureLatencies(*sandbox_, one_plus_one_, clients, load_, row->series);
    }
    BesideBusyRound();
    TwoProfilesRound();
    for (const auto& [clients, row] : {std::pair(1, &rows_.http_1), std::pair(8, &rows_.http_8)}) {
      SettleServers();
      const ServerLoad load = MeasureServerLoad(http_server_, clients, load_);
      row->series.Add(load.per_second);
      if (clients == 8) rows_.server_cpu.series.Add(load.server_cpu);
    }
  }

  // As many programs that only compute as there are cores, from a sandbox of their own.
  void BesideBusyRound() {
    const std::unique_ptr<outside::Sandbox> busy = OpenOrExit(profile_, 1);
    const auto end = Clock::now() + load_;
    std::vector<std::thread> threads;
    for (unsigned core = 0; core < std::thread::hardware_concurrency(); ++core) {
      threads.emplace_back([&] {
        const host::Request request = WithDefaults(profile_, "sum(range(3_000_000))");
        while (Clock::now() < end) TimeRun(*busy, request);
      });
    }
    Settle(*sandbox_, kSpares);
    while (Clock::now() < end) {
      rows_.beside_busy.series.Add(TimeRun(*sandbox_, one_plus_one_).total);
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    for (std::thread& thread : threads) thread.join();
  }

  // Whether one of them gets more than its share.
  void TwoProfilesRound() {
    const core::Profile second = OrExit(catalogue_.Choose("filesystem"));
    const std::unique_ptr<outside::Sandbox> other = OpenOrExit(second, kSpares);
    Settle(*sandbox_, kSpares);
    Settle(*other, kSpares);
    std::thread thread([&] {
      rows_.second_of_two.series.Add(
          MeasureLoad(*other, WithDefaults(second, "1+1"), 4, load_).per_second);
    });
    rows_.first_of_two.series.Add(MeasureLoad(*sandbox_, one_plus_one_, 4, load_).per_second);
    thread.join();
  }

  // A row's median as a multiple of B.
  double TimesB(const Row& row) const { return row.series.median() / rows_.bare.series.median(); }

  std::vector<Goal> Goals() const {
    const double best = std::max(
        {rows_.load_1.series.median(), rows_.load_2.series.median(), rows_.load_8.series.median()});
    return {
        {"p50 of a run, as a multiple of that CPython's fork", "x",
         rows_.run.series.median() / rows_.fork.series.median(), 1.0},
        {"CPU of a worker", "ms", rows_.worker_cpu.series.median(), 1.5},
        {"executions a second, best of 1, 2 and 8 clients", "/s", best, 1000, true},
        {"private memory of a waiting spare", "MiB", rows_.memory.series.median(), 1.2},
        {"open to first result", "ms", rows_.first.series.median(), 150},
        {"p50 of execute_code over stdio, as that multiple", "x",
         rows_.stdio.series.median() / rows_.fork.series.median(), 1.0},
        {"p50 of execute_code over HTTP, as that multiple", "x",
         rows_.http.series.median() / rows_.fork.series.median(), 1.5},
        {"calls a second over HTTP, 8 clients", "/s", rows_.http_8.series.median(), 1200, true},
        {"idle server, proportional memory in all", "MiB", rows_.idle.series.median(), 60},
        {"start of a server to ready, the slower transport", "ms",
         std::max(rows_.stdio_ready.series.median(), rows_.http_ready.series.median()), 200},
        {"CPU of a run, all processes together, as a multiple of B", "x", TimesB(rows_.all_cpu),
         2.5},
        {"p50 of a run, spares ready, as a multiple of B", "x", TimesB(rows_.run), 1.0},
        {"executions a second, 8 clients", "/s", rows_.load_8.series.median(), 1500, true},
        {"execute_code over stdio beyond a ping, as a multiple of B", "x",
         TimesB(rows_.stdio) - TimesB(rows_.ping), 1.5},
        {"an exception, as a multiple of a run", "x",
         rows_.exception.series.median() / rows_.run.series.median(), 1.3},
        {"a refused program, as a multiple of a run", "x",
         rows_.refused.series.median() / rows_.run.series.median(), 1.3},
        {"validate_code over stdio, as a multiple of execute_code", "x",
         rows_.validate.series.median() / rows_.stdio.series.median(), 1.3},
        {"the whole command", "ms", rows_.command.series.median(), 50},
    };
  }

  const BenchOptions options_;
  const std::chrono::milliseconds load_;
  const profiles::ProfileCatalogue& catalogue_;
  const core::Profile profile_;
  const host::Request one_plus_one_, exception_, refused_;
  Floor small_;
  Floor bare_;
  Floor python_;
  std::unique_ptr<outside::Sandbox> sandbox_;
  const std::string command_;
  const ServerProcess stdio_server_;
  const ServerProcess http_server_;
  StdioClient stdio_;
  HttpClient http_;
  const std::string interpreter_ = Interpreter();
  Rows rows_;
};

}  // namespace
}  // namespace belljar::bench

int main(int argc, char** argv) {
  using namespace belljar::bench;
  const BenchOptions options = ReadBenchOptions(argc, argv, 400, 60);
  const belljar::profiles::ProfileCatalogue catalogue =
      OrExit(belljar::profiles::ProfileCatalogue::Open());
  WarnWhenBusy();
  Series idle = MeasureIdleMemory(CommandOf(catalogue.installation()));
  Print(Bench(options, catalogue, std::move(idle)).Run(), options.json);
  return 0;
}
