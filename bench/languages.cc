// belljar-bench-languages: programs of other languages than Python, beside a bare start of the same
// interpreter (fork, exec, wait) in the same rounds.
//
//   [--quick] [--json] [--rounds N]
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bench/measure.h"
#include "bench/options.h"
#include "bench/report.h"
#include "bench/timing.h"
#include "engine/profiles/languages.h"

namespace belljar::bench {
namespace {

constexpr size_t kSpares = 4;

// What is run, and the goal: `ratio` of the bare start and `most` milliseconds; 0: none.
struct Program {
  const char* language;
  const char* name;
  const char* source;
  double ratio = 0;
  double most = 0;
};
constexpr Program kPrograms[] = {
    {"bash", "bash echo", "echo hello", 1.5, 4},
    {"perl", "perl print", "print \"hello\\n\";"},
    {"javascript", "node 1+1", "console.log(1+1)", 1.3, 0},
    {"r", "R 1+1", "1+1", 0, 5},
    {"c", "gcc, then hello", "#include <stdio.h>\nint main(void) { puts(\"hello\"); }", 1.2, 0},
};

// Milliseconds of one command with its output on /dev/null; negative: it failed.
double TimeCommand(const std::vector<std::string>& command) {
  std::vector<char*> words;
  for (const std::string& word : command) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  for (const int fd : {0, 1, 2}) {
    posix_spawn_file_actions_addopen(&actions, fd, "/dev/null", O_RDWR, 0);
  }
  const auto start = std::chrono::steady_clock::now();
  pid_t pid = -1;
  const int failed = posix_spawn(&pid, words[0], &actions, nullptr, words.data(), environ);
  int status = 0;
  const bool ended = failed == 0 && waitpid(pid, &status, 0) == pid && status == 0;
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
  posix_spawn_file_actions_destroy(&actions);
  return ended ? took.count() : -1;
}

struct Measured {
  Program program;
  core::Profile profile;
  std::unique_ptr<outside::Sandbox> sandbox;
  host::Request request;
  std::string folder;  // of the source, for the bare start
  Series bare;
  Series belljar;
};

std::vector<std::string> Filled(std::vector<std::string> command, const Measured& measured) {
  for (std::string& word : command) {
    if (word == "{file}") word = measured.folder + "/" + measured.profile.program->file;
    if (word == "{binary}") word = measured.folder + "/program";
  }
  return command;
}

double TimeBare(const Measured& measured) {
  double total = 0;
  const core::ProgramRule& program = *measured.profile.program;
  if (!program.compile.empty()) total += TimeCommand(Filled(program.compile, measured));
  const double ran = TimeCommand(Filled(program.command, measured));
  return ran < 0 ? ran : total + ran;
}

std::vector<Measured> Installed() {
  const installation::Installation installation = OrExit(installation::Installation::Find());
  const profiles::LanguageCatalogue catalogue =
      OrExit(profiles::LanguageCatalogue::Open(installation));
  std::vector<Measured> all;
  for (const Program& program : kPrograms) {
    const core::Profile language = *OrExit(catalogue.Find(program.language));
    core::Result<core::Profile> installed = profiles::Installed(language);
    if (!installed) {
      fprintf(stderr, "%s\n", installed.error().ToString().c_str());
      continue;
    }
    char folder[] = "/tmp/belljar-bench-XXXXXX";
    if (!mkdtemp(folder)) continue;
    std::ofstream(std::string(folder) + "/" + installed->program->file) << program.source;
    host::Request request = WithDefaults(*installed, program.source);
    all.push_back(
        {program, *installed, OpenOrExit(*installed, kSpares), std::move(request), folder, {}, {}});
  }
  return all;
}

// Of the launcher of a language, and of its waiting workers.
struct Memory {
  std::string language;
  SandboxMemory of;
};
std::vector<Memory> MeasureMemory() {
  const profiles::LanguageCatalogue catalogue =
      OrExit(profiles::LanguageCatalogue::Open(OrExit(installation::Installation::Find())));
  std::vector<Memory> all;
  for (const char* const name : {"bash", "javascript", "r"}) {
    const core::Result<std::optional<core::Profile>> language = catalogue.FindInstalled(name);
    if (!language) continue;  // told by Installed
    const std::unique_ptr<outside::Sandbox> sandbox = OpenOrExit(**language, kSpares);
    Settle(*sandbox, kSpares);
    all.push_back({name, ProportionalMemory(*sandbox, kSpares)});
  }
  return all;
}

Series Once(double value) {
  Series series;
  series.Add(value);
  return series;
}

int Main(int argc, char** argv) {
  const BenchOptions options = ReadBenchOptions(argc, argv, 60, 10);
  WarnWhenBusy();
  const std::vector<Memory> memory = MeasureMemory();
  std::vector<Measured> all = Installed();
  for (int round = 0; round < options.rounds; ++round) {
    for (Measured& each : all) {
      Settle(*each.sandbox, kSpares);
      each.bare.Add(TimeBare(each));
      Settle(*each.sandbox, kSpares);
      each.belljar.Add(TimeRun(*each.sandbox, each.request).total);
    }
  }
  BenchReport report;
  report.machine = MachineName(Interpreter());
  for (Measured& each : all) {
    const std::string name = each.program.name;
    const double ratio = each.belljar.median() / each.bare.median();
    if (each.program.ratio > 0) {
      report.goals.push_back(
          {name + ", as a multiple of its bare start", "", ratio, each.program.ratio});
    }
    if (each.program.most > 0) {
      report.goals.push_back({name, "ms", each.belljar.median(), each.program.most});
    }
    report.rows.push_back({name + ": bare", "ms", each.bare});
    report.rows.push_back({name + ": Belljar", "ms", each.belljar});
    if (name == "bash echo") {
      const Load load =
          MeasureLoad(*each.sandbox, each.request, 8, std::chrono::seconds(options.quick ? 1 : 5));
      report.goals.push_back({"bash programs a second, 8 clients", "", load.per_second, 300, true});
    }
  }
  for (const auto& [language, of] : memory) {
    report.rows.push_back({language + ": memory of the launcher", "MiB", Once(of.zygote)});
    report.rows.push_back({language + ": memory of a waiting worker", "MiB", Once(of.spare)});
    report.goals.push_back({language + ": memory of the launcher", "MiB", of.zygote, 2});
  }
  Print(report, options.json);
  return 0;
}

}  // namespace
}  // namespace belljar::bench

int main(int argc, char** argv) { return belljar::bench::Main(argc, argv); }
