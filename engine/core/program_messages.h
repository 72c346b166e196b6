// What host and worker say of a program of another language, in place of the JSON of Python's: the
// metadata of a request, and the report.
#ifndef BELLJAR_ENGINE_CORE_PROGRAM_MESSAGES_H_
#define BELLJAR_ENGINE_CORE_PROGRAM_MESSAGES_H_

#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

namespace belljar::core {

// Of a program, or of a cell of a session.
struct ProgramRequest {
  std::string file;
  std::vector<std::string> arguments;
  std::vector<std::string> environment;  // "NAME=value"
  std::string warm;                      // what a program that was started ahead reads (JSON)
  uint64_t max_result = 0;               // bytes
  static auto Members(auto& request) {
    return std::tie(request.file, request.arguments, request.environment, request.warm,
                    request.max_result);
  }
};

// How a program or its compiler ended.
struct ProgramEnd {
  int32_t not_started = 0;  // errno
  int32_t exit_code = 0;    // 128 + number for a signal, as shells say
  int32_t signal = 0;
  uint64_t max_rss_bytes = 0;  // of it, and of the processes that it has waited for
  bool ok() const { return not_started == 0 && exit_code == 0; }
  static auto Members(auto& end) {
    return std::tie(end.not_started, end.exit_code, end.signal, end.max_rss_bytes);
  }
};

// Empty or 0: unknown.
struct ProgramError {
  std::string type;
  std::string message;
  int32_t line = 0;
  int32_t column = 0;
  static auto Members(auto& error) {
    return std::tie(error.type, error.message, error.line, error.column);
  }
};

struct ProgramReport {
  ProgramEnd end;
  ProgramError error;             // what it wrote of one, by the patterns of its language
  bool is_compiler = false;       // the program was not run
  bool session_ended = false;     // the interpreter, in this cell
  uint64_t cpu_microseconds = 0;  // of all processes that have ended
  std::string answer;  // of the interpreter of a session, to the cell (core::ProgramRule::session)
  static auto Members(auto& report) {
    return std::tie(report.end, report.error, report.is_compiler, report.session_ended,
                    report.cpu_microseconds, report.answer);
  }
};

// Bytes of an answer: what it has besides its result, whose characters may be escaped.
constexpr uint64_t MaxAnswer(uint64_t max_result) { return (uint64_t{64} << 10) + 6 * max_result; }

}  // namespace belljar::core

#endif  // BELLJAR_ENGINE_CORE_PROGRAM_MESSAGES_H_
