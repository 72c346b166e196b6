// What host and worker say of a program of another language, in place of the JSON of Python's: the
// metadata of a request, and the report.
#ifndef BELLJAR_ENGINE_CORE_PROGRAM_MESSAGES_H_
#define BELLJAR_ENGINE_CORE_PROGRAM_MESSAGES_H_

#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

namespace belljar::core {

// Runs a program, or a cell of a session.
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
  uint64_t max_rss_bytes = 0;     // of it, and of the processes that it has waited for
  uint64_t cpu_microseconds = 0;  // of it, if the kernel does not count it among the children yet
  bool ok() const { return not_started == 0 && exit_code == 0; }
  static auto Members(auto& end) {
    return std::tie(end.not_started, end.exit_code, end.signal, end.max_rss_bytes,
                    end.cpu_microseconds);
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

// A file that a program has left to be shown (core::ProgramRule::shows).
struct ShownFile {
  std::string name;
  std::string media_type;
  uint64_t offset = 0;  // among the artifacts of the capture
  uint64_t size = 0;
  static auto Members(auto& file) {
    return std::tie(file.name, file.media_type, file.offset, file.size);
  }
};

struct ProgramReport {
  ProgramEnd end;
  ProgramError error;             // what it wrote of one, by the patterns of its language
  bool is_compiler = false;       // the program was not run
  bool session_ended = false;     // the interpreter, in this cell
  uint64_t cpu_microseconds = 0;  // of all processes that have ended
  std::string answer;  // of the interpreter of a session, to the cell (core::ProgramRule::session)
  std::string value;   // of the interpreter of a program, in the same form (ProgramRule::warm)
  std::vector<ShownFile> shown;
  uint64_t shown_left_out = 0;  // further files
  static auto Members(auto& report) {
    return std::tie(report.end, report.error, report.is_compiler, report.session_ended,
                    report.cpu_microseconds, report.answer, report.value, report.shown,
                    report.shown_left_out);
  }
};

// Bytes of an answer: what it has besides its result, whose characters may be escaped.
constexpr uint64_t MaxAnswer(uint64_t max_result) { return (uint64_t{64} << 10) + 6 * max_result; }

}  // namespace belljar::core

#endif  // BELLJAR_ENGINE_CORE_PROGRAM_MESSAGES_H_
