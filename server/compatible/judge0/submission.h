// Submission: a submission of Judge0's API (its version 1.13.1), from the body that a client sent
// to the attributes that it reads.
#ifndef BELLJAR_SERVER_COMPATIBLE_JUDGE0_SUBMISSION_H_
#define BELLJAR_SERVER_COMPATIBLE_JUDGE0_SUBMISSION_H_

#include <chrono>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "server/compatible/body_fields.h"
#include "server/compatible/languages.h"
#include "server/compatible/program.h"
#include "server/compatible/run_report.h"

namespace belljar::server::compatible::judge0 {

struct SubmissionStatus {
  int id;
  std::string_view description;
};
inline constexpr SubmissionStatus kSubmissionStatuses[] = {
    {1, "In Queue"},
    {2, "Processing"},
    {3, "Accepted"},
    {4, "Wrong Answer"},
    {5, "Time Limit Exceeded"},
    {6, "Compilation Error"},
    {7, "Runtime Error (SIGSEGV)"},
    {8, "Runtime Error (SIGXFSZ)"},
    {9, "Runtime Error (SIGFPE)"},
    {10, "Runtime Error (SIGABRT)"},
    {11, "Runtime Error (NZEC)"},
    {12, "Runtime Error (Other)"},
    {13, "Internal Error"},
    {14, "Exec Format Error"},
};
inline constexpr int kInQueue = 1;

struct Submission {
  using Clock = std::chrono::system_clock;

  std::string token;  // a UUID
  std::string source_code;
  int language_id = 0;
  const Language* language = nullptr;  // never null if there was no mistake
  std::optional<std::string> standard_input;
  std::optional<std::string> expected_output;
  std::optional<std::string> command_line_arguments;
  double cpu_time_limit = 5;
  double cpu_extra_time = 1;
  double wall_time_limit = 10;
  double memory_limit = 0;  // kilobytes
  bool redirect_stderr_to_stdout = false;

  int status = kInQueue;
  Clock::time_point created = Clock::now();
  std::optional<Clock::time_point> finished;
  std::optional<std::string> standard_output;  // nullopt: no output
  std::optional<std::string> standard_error;
  std::optional<std::string> compile_output;
  std::optional<std::string> message;
  std::optional<int> exit_code;
  std::optional<int> exit_signal;
  double time = 0;  // seconds of CPU; only with `finished`, like the next two
  double wall_time = 0;
  uint64_t memory = 0;  // kilobytes
};

// Reads what a client sent, and gives it a token. Adds to the mistakes. Borrows from `languages`.
Submission ReadSubmission(BodyFields& fields, bool is_base64, const Languages& languages,
                          const Caller& caller);

Program ProgramOf(const Submission& submission);

// The submission as it is after its run.
Submission Judged(Submission submission, const RunEnd& end);

// The attributes that a reader asked for: names separated by commas, "*" for all; absent: the
// default ones. Unknown names go to `unknown`.
std::vector<std::string_view> ReadFieldNames(const std::optional<std::string>& names,
                                             std::vector<std::string>& unknown);

nlohmann::ordered_json AttributesOf(const Submission& submission,
                                    std::span<const std::string_view> names, bool is_base64);

// Splits a text like a shell, without expanding anything.
std::vector<std::string> ShellWords(std::string_view text);

}  // namespace belljar::server::compatible::judge0

#endif  // BELLJAR_SERVER_COMPATIBLE_JUDGE0_SUBMISSION_H_
