// belljar-bench-jobs [--folder FOLDER] [--postgres URL] [--jobs N]: what durable jobs cost.
//
//   floor     one write of 4 KiB that is on the disk when it returns (fdatasync)
//   one by one, 8, 64
//             so many threads, each of which submits a job, claims one and finishes it: wall time
//             per job, that is of three durable writes; and the CPU time of this process
//   batch     N jobs in one submission, claimed and finished by 16 threads: wall time per job
//
// The folder's file system is what is measured: not a tmpfs.
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "bench/timing.h"
#include "engine/core/fd.h"
#include "server/jobs/postgres_job_store.h"
#include "server/jobs/sqlite_job_store.h"

namespace belljar::bench {
namespace {

namespace jobs = server::jobs;

const std::string kRequest = R"({"code":")" + std::string(1000, 'x') + R"("})";
const std::string kResult = R"({"stdout":")" + std::string(500, 'y') + R"("})";

double Microseconds(Clock::duration time) {
  return std::chrono::duration<double, std::micro>(time).count();
}

double CpuMicroseconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto of = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) * 1e6 + static_cast<double>(time.tv_usec);
  };
  return of(usage.ru_utime) + of(usage.ru_stime);
}

void PrintFloor(const std::string& folder) {
  const std::string path = folder + "/floor";
  const core::UniqueFd file(open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  const std::string page(4096, 'x');
  std::vector<double> times;
  for (int i = 0; i < 200; ++i) {
    const auto start = Clock::now();
    if (!core::WriteBytes(file.get(), page) || fdatasync(file.get()) != 0) Exit("cannot write");
    times.push_back(Microseconds(Clock::now() - start));
  }
  unlink(path.c_str());
  std::sort(times.begin(), times.end());
  printf("%-28s %10.0f us (p90 %.0f)\n", "floor: write, fdatasync", times[100], times[180]);
}

void Finish(jobs::JobStore& store, const jobs::Job& job) {
  if (!OrExit(store.Finish(job, {.state = jobs::JobState::kSucceeded, .result = kResult}))) {
    Exit("a job was taken away");
  }
}

void MeasureThreads(const char* name, jobs::JobStore& store, size_t threads, int jobs_of_all) {
  std::atomic<int> left = jobs_of_all;
  const double cpu = CpuMicroseconds();
  const auto start = Clock::now();
  InThreads(threads, [&](size_t thread) {
    while (left.fetch_sub(1) > 0) {
      OrExit(store.Submit(
          {.owner = "owner" + std::to_string(thread % 4), .jobs = {{"execution", kRequest}}}));
      for (const jobs::Job& job : OrExit(store.Claim(1))) Finish(store, job);
    }
  });
  const double wall = Microseconds(Clock::now() - start);
  printf("%-10s %3zu threads         %10.0f us a job, CPU %.0f us\n", name, threads,
         wall / jobs_of_all, (CpuMicroseconds() - cpu) / jobs_of_all);
}

void MeasureBatch(const char* name, jobs::JobStore& store, int count) {
  const double cpu = CpuMicroseconds();
  const auto start = Clock::now();
  OrExit(store.Submit(
      {.owner = "ann",
       .jobs = std::vector<jobs::NewJob>(static_cast<size_t>(count), {"execution", kRequest}),
       .batch = true}));
  const double submitted = Microseconds(Clock::now() - start);
  InThreads(16, [&](size_t) {
    while (true) {
      const std::vector<jobs::Job> claimed = OrExit(store.Claim(1));
      if (claimed.empty()) return;
      for (const jobs::Job& job : claimed) Finish(store, job);
    }
  });
  const double wall = Microseconds(Clock::now() - start);
  printf("%-10s batch of %-10d %10.0f us a job, CPU %.0f us; submitting all took %.0f ms\n", name,
         count, wall / count, (CpuMicroseconds() - cpu) / count, submitted / 1000);
}

void Measure(const char* name, jobs::JobStore& store, int count) {
  MeasureThreads(name, store, 1, count / 4);
  MeasureThreads(name, store, 8, count);
  MeasureThreads(name, store, 64, count);
  MeasureBatch(name, store, count);
}

int Main(int argc, char** argv) {
  std::string folder = std::filesystem::current_path(), url;
  int count = 2000;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string_view option = argv[i];
    if (option == "--folder") folder = argv[i + 1];
    if (option == "--postgres") url = argv[i + 1];
    if (option == "--jobs") count = std::max(4, atoi(argv[i + 1]));
  }
  std::string own = folder + "/belljar-bench-XXXXXX";
  if (mkdtemp(own.data()) == nullptr) Exit("cannot make a folder in " + folder);
  double load[1] = {};
  getloadavg(load, 1);
  printf("load average %.1f\n", load[0]);
  PrintFloor(own);
  {
    const auto store = OrExit(jobs::OpenSqliteJobStore({.path = own + "/jobs.db"}));
    Measure("SQLite", *store, count);
  }
  std::filesystem::remove_all(own);
  if (!url.empty()) {
    const auto store = OrExit(jobs::OpenPostgresJobStore({.url = url, .schema = "belljar_bench"}));
    Measure("PostgreSQL", *store, count);
  }
  return 0;
}

}  // namespace
}  // namespace belljar::bench

int main(int argc, char** argv) { return belljar::bench::Main(argc, argv); }
