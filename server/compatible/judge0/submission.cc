#include "server/compatible/judge0/submission.h"

#include <signal.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <initializer_list>
#include <utility>

#include "engine/core/text.h"
#include "engine/host/base64.h"
#include "engine/host/random.h"
#include "server/compatible/judge0/language_ids.h"

namespace belljar::server::compatible::judge0 {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kKibi = 1024;
constexpr size_t kMaxArgumentText = 512;  // bytes of command_line_arguments, as there

enum : int {
  kAccepted = 3,
  kWrongAnswer = 4,
  kTimeLimitExceeded = 5,
  kCompilationError = 6,
  kSegmentationFault = 7,
  kFileTooLarge = 8,
  kArithmeticError = 9,
  kAborted = 10,
  kNonZeroExit = 11,
  kOtherError = 12,
  kInternalError = 13,
};

// --- in -----------------------------------------------------------------------------------------

// A version 4 UUID (RFC 9562): the clients check that.
std::string NewToken() {
  std::array<unsigned char, 16> bytes = host::RandomBytes();
  bytes[6] = static_cast<unsigned char>((bytes[6] & 0x0f) | 0x40);
  bytes[8] = static_cast<unsigned char>((bytes[8] & 0x3f) | 0x80);
  std::string text = core::Hex(bytes);
  for (const size_t at : std::initializer_list<size_t>{8, 13, 18, 23}) text.insert(at, 1, '-');
  return text;
}

// Encoders of some languages insert line breaks.
std::optional<std::string> DecodeLoosely(std::string text) {
  std::erase_if(text, [](char c) { return c == '\n' || c == '\r' || c == ' '; });
  return host::DecodeBase64(text);
}

std::optional<std::string> TakeText(BodyFields& fields, const char* name, bool is_base64) {
  std::optional<std::string> text = fields.Text(name);
  if (!text || !is_base64) return text;
  text = DecodeLoosely(std::move(*text));
  if (!text) fields.Add(name, "is not base64, which base64_encoded=true says it is");
  return text;
}

// A number greater than 0 and no greater than `max`.
void TakeLimit(BodyFields& fields, const char* name, double max, double& limit) {
  const std::optional<double> given = fields.Number(name);
  if (!given) return;
  if (*given <= 0) fields.Add(name, "must be greater than 0");
  if (*given > max) {
    fields.Add(name, "must be less than or equal to " + nlohmann::json(max).dump());
  }
  limit = *given;
}

void RefuseOption(BodyFields& fields, const char* name) {
  if (fields.Boolean(name).value_or(false)) fields.Add(name, "this option cannot be enabled");
}

// What this API can request but this server cannot do is refused, never ignored.
void RefuseTheRest(BodyFields& fields) {
  for (const char* name : {"enable_network", "enable_per_process_and_thread_time_limit",
                           "enable_per_process_and_thread_memory_limit"}) {
    RefuseOption(fields, name);
  }
  if (fields.Number("number_of_runs").value_or(1) != 1) {
    fields.Add("number_of_runs", "must be equal to 1");
  }
  if (!fields.Text("callback_url").value_or("").empty()) {
    fields.Add("callback_url", "callbacks are not allowed; ask for the submission by its token");
  }
  if (!fields.Text("additional_files").value_or("").empty()) {
    fields.Add("additional_files", "additional files are not allowed");
  }
  if (!fields.Text("compiler_options").value_or("").empty()) {
    fields.Add("compiler_options", "setting compiler options is not allowed");
  }
  // The profile has its own limits for these.
  for (const char* name : {"stack_limit", "max_processes_and_or_threads", "max_file_size"}) {
    (void)fields.Number(name);
  }
}

// Python where there is a mistake, since the limits of a language are needed to find others.
const Language& TakeLanguage(BodyFields& fields, const Languages& languages, const Caller& caller,
                             int& id) {
  const std::optional<double> given = fields.Number("language_id");
  if (!given) {
    fields.Add("language_id", "can't be blank");
    return languages.python();
  }
  const bool is_id = *given >= 0 && *given < 1e6 && *given == std::floor(*given);
  const std::string_view name = is_id ? NameOfId(static_cast<int>(*given)) : "";
  if (const Language* const language = languages.Find(name, caller)) {
    id = static_cast<int>(*given);
    return *language;
  }
  const std::string shown =
      is_id ? std::to_string(static_cast<int>(*given)) : nlohmann::json(*given).dump();
  std::string mistake = "language with id " + shown + " doesn't exist";
  if (!name.empty()) {
    mistake += ": " + std::string(name) +
               " is not enabled on this server; an operator enables it with execution.languages";
  }
  fields.Add("language_id", std::move(mistake));
  return languages.python();
}

// --- judging ------------------------------------------------------------------------------------

// Trailing spaces of lines and of the whole output are ignored.
std::string Stripped(std::string_view text) {
  const auto trimmed = [](std::string_view part) {
    const size_t last = part.find_last_not_of(" \t\r\n\v\f");
    return part.substr(0, last == std::string_view::npos ? 0 : last + 1);
  };
  std::string stripped;
  for (const std::string_view line : core::SplitAt(trimmed(text), '\n')) {
    stripped += trimmed(line);
    stripped += '\n';
  }
  return stripped;
}

int StatusOfSignal(int signal) {
  switch (signal) {
    case SIGSEGV: return kSegmentationFault;
    case SIGXFSZ: return kFileTooLarge;
    case SIGFPE: return kArithmeticError;
    case SIGABRT: return kAborted;
    default: return kOtherError;
  }
}

int StatusOfExit(const Submission& submission, const RunReport& report) {
  if (report.exit_code != 0) return kNonZeroExit;
  if (!submission.expected_output) return kAccepted;
  return Stripped(*submission.expected_output) == Stripped(submission.standard_output.value_or(""))
             ? kAccepted
             : kWrongAnswer;
}

std::optional<std::string> UnlessEmpty(std::string text) {
  if (text.empty()) return std::nullopt;
  return text;
}

std::string CompilersText(const Stage& compile) {
  return compile.standard_output + compile.WholeStandardError();
}

void SetStatus(Submission& submission, const RunReport& report) {
  // Within cpu_extra_time a program may end by itself, so that its time is known, but too late.
  if (report.end == Stage::End::kTimeLimit || report.cpu_seconds > submission.cpu_time_limit) {
    submission.status = kTimeLimitExceeded;
    submission.message = "Time limit exceeded";
    return;
  }
  switch (report.end) {
    case Stage::End::kExited:
      submission.status = StatusOfExit(submission, report);
      submission.exit_code = report.exit_code;
      if (report.exit_code != 0) {
        submission.message = "Exited with error status " + std::to_string(report.exit_code);
      }
      return;
    case Stage::End::kMemoryLimit:
      submission.status = kOtherError;
      submission.exit_signal = report.signal;
      submission.message = "Memory limit exceeded: " + report.note;
      return;
    case Stage::End::kSignal:
      submission.status = StatusOfSignal(report.signal);
      submission.exit_signal = report.signal;
      submission.message = "Caught fatal signal " + std::to_string(report.signal);
      return;
    case Stage::End::kTimeLimit:
    case Stage::End::kNotRun:
    case Stage::End::kLost: break;
  }
  submission.status = kInternalError;
  submission.message = report.note;
}

// As in Judge0, such a submission has nothing else.
void SetCompilationError(Submission& submission, const Stage& compile) {
  if (compile.end == Stage::End::kLost) {
    submission.status = kInternalError;
    submission.message = compile.note;
    return;
  }
  submission.status = kCompilationError;
  std::string& output = submission.compile_output.emplace(CompilersText(compile));
  if (compile.end == Stage::End::kTimeLimit) {
    output = "Compilation time limit exceeded.";
  } else if (output.empty()) {
    output = compile.note;
  }
}

// --- out ----------------------------------------------------------------------------------------

std::string TimeText(Submission::Clock::time_point time) {
  const auto since = time.time_since_epoch();
  const auto seconds = std::chrono::floor<std::chrono::seconds>(since);
  char fraction[8];
  std::snprintf(
      fraction, sizeof fraction, ".%03dZ",
      static_cast<int>(
          std::chrono::duration_cast<std::chrono::milliseconds>(since - seconds).count()));
  return core::UtcText(Submission::Clock::time_point(seconds), "%Y-%m-%dT%H:%M:%S") + fraction;
}

// Decimal numbers are strings in this API.
std::string DecimalText(double number) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3f", number);
  return text;
}

struct Rendering {
  const Submission& submission;
  bool is_base64;

  Json Text(const std::optional<std::string>& text) const {
    if (!text) return nullptr;
    return is_base64 ? host::EncodeBase64(*text) : core::ValidUtf8(*text);
  }
  template <typename T>
  Json IfRun(const T& value) const {
    const bool has_run = submission.finished && submission.status != kCompilationError;
    return has_run ? Json(value) : Json();
  }
  template <typename T>
  static Json Maybe(const std::optional<T>& value) {
    return value ? Json(*value) : Json();
  }
};

Json StatusJson(int id) {
  return {{"id", id}, {"description", kSubmissionStatuses[id - 1].description}};
}

struct Attribute {
  std::string_view name;
  bool is_default;  // present if the reader names no attributes
  Json (*of)(const Rendering&);
};

// The default ones first, the others in the order of their documentation.
constexpr Attribute kAttributes[] = {
    {"stdout", true, [](const Rendering& r) { return r.Text(r.submission.standard_output); }},
    {"time", true, [](const Rendering& r) { return r.IfRun(DecimalText(r.submission.time)); }},
    {"memory", true, [](const Rendering& r) { return r.IfRun(r.submission.memory); }},
    {"stderr", true, [](const Rendering& r) { return r.Text(r.submission.standard_error); }},
    {"token", true, [](const Rendering& r) { return Json(r.submission.token); }},
    {"compile_output", true,
     [](const Rendering& r) { return r.Text(r.submission.compile_output); }},
    {"message", true, [](const Rendering& r) { return r.Text(r.submission.message); }},
    {"status", true, [](const Rendering& r) { return StatusJson(r.submission.status); }},
    {"source_code", false,
     [](const Rendering& r) { return r.Text(std::optional(r.submission.source_code)); }},
    {"language_id", false, [](const Rendering& r) { return Json(r.submission.language_id); }},
    {"compiler_options", false, [](const Rendering&) { return Json(); }},
    {"command_line_arguments", false,
     [](const Rendering& r) { return Rendering::Maybe(r.submission.command_line_arguments); }},
    {"stdin", false, [](const Rendering& r) { return r.Text(r.submission.standard_input); }},
    {"expected_output", false,
     [](const Rendering& r) { return r.Text(r.submission.expected_output); }},
    {"cpu_time_limit", false,
     [](const Rendering& r) { return Json(DecimalText(r.submission.cpu_time_limit)); }},
    {"cpu_extra_time", false,
     [](const Rendering& r) { return Json(DecimalText(r.submission.cpu_extra_time)); }},
    {"wall_time_limit", false,
     [](const Rendering& r) { return Json(DecimalText(r.submission.wall_time_limit)); }},
    {"memory_limit", false,
     [](const Rendering& r) { return Json(std::llround(r.submission.memory_limit)); }},
    {"stack_limit", false, [](const Rendering&) { return Json(); }},
    {"max_processes_and_or_threads", false, [](const Rendering&) { return Json(); }},
    {"enable_per_process_and_thread_time_limit", false,
     [](const Rendering&) { return Json(false); }},
    {"enable_per_process_and_thread_memory_limit", false,
     [](const Rendering&) { return Json(false); }},
    {"max_file_size", false, [](const Rendering&) { return Json(); }},
    {"redirect_stderr_to_stdout", false,
     [](const Rendering& r) { return Json(r.submission.redirect_stderr_to_stdout); }},
    {"enable_network", false, [](const Rendering&) { return Json(false); }},
    {"number_of_runs", false, [](const Rendering&) { return Json(1); }},
    {"additional_files", false, [](const Rendering&) { return Json(); }},
    {"callback_url", false, [](const Rendering&) { return Json(); }},
    {"exit_code", false,
     [](const Rendering& r) { return Rendering::Maybe(r.submission.exit_code); }},
    {"exit_signal", false,
     [](const Rendering& r) { return Rendering::Maybe(r.submission.exit_signal); }},
    {"status_id", false, [](const Rendering& r) { return Json(r.submission.status); }},
    {"language", false,
     [](const Rendering& r) {
       return LanguageJson(r.submission.language_id, *r.submission.language, false);
     }},
    {"created_at", false, [](const Rendering& r) { return Json(TimeText(r.submission.created)); }},
    {"finished_at", false,
     [](const Rendering& r) {
       return r.submission.finished ? Json(TimeText(*r.submission.finished)) : Json();
     }},
    {"wall_time", false,
     [](const Rendering& r) { return r.IfRun(DecimalText(r.submission.wall_time)); }},
};

}  // namespace

Submission ReadSubmission(BodyFields& fields, bool is_base64, const Languages& languages,
                          const Caller& caller) {
  Submission submission;
  submission.token = NewToken();
  std::optional<std::string> source = TakeText(fields, "source_code", is_base64);
  if (!source || source->empty()) fields.Add("source_code", "can't be blank");
  submission.source_code = std::move(source).value_or("");
  submission.language = &TakeLanguage(fields, languages, caller, submission.language_id);
  const ApiTerms& terms = submission.language->terms;
  const core::Bytes max_source = terms.limits.source;
  if (submission.source_code.size() > max_source.count) {
    fields.Add("source_code", "is too long (maximum is " + max_source.ToString() + ")");
  }
  submission.standard_input = TakeText(fields, "stdin", is_base64);
  submission.expected_output = TakeText(fields, "expected_output", is_base64);
  submission.command_line_arguments = fields.Text("command_line_arguments");
  if (submission.command_line_arguments &&
      submission.command_line_arguments->size() > kMaxArgumentText) {
    fields.Add("command_line_arguments",
               "is too long (maximum is " + std::to_string(kMaxArgumentText) + " characters)");
  }
  const double max_seconds = std::chrono::duration<double>(terms.maximum.timeout).count();
  submission.memory_limit = static_cast<double>(terms.limits.memory.count) / kKibi;
  TakeLimit(fields, "cpu_time_limit", max_seconds, submission.cpu_time_limit);
  if (const auto extra = fields.Number("cpu_extra_time"); extra && *extra == 0) {
    submission.cpu_extra_time = 0;
  } else {
    TakeLimit(fields, "cpu_extra_time", max_seconds, submission.cpu_extra_time);
  }
  TakeLimit(fields, "wall_time_limit", max_seconds, submission.wall_time_limit);
  TakeLimit(fields, "memory_limit", static_cast<double>(terms.maximum.memory.count) / kKibi,
            submission.memory_limit);
  submission.redirect_stderr_to_stdout =
      fields.Boolean("redirect_stderr_to_stdout").value_or(false);
  RefuseTheRest(fields);
  return submission;
}

Program ProgramOf(const Submission& submission) {
  const ApiTerms& terms = submission.language->terms;
  Program program;
  program.code = submission.source_code;
  program.standard_input = submission.standard_input.value_or("");
  program.arguments = ShellWords(submission.command_line_arguments.value_or(""));
  program.seconds = ClampedSeconds(submission.wall_time_limit, terms);
  program.cpu_seconds = submission.cpu_time_limit + submission.cpu_extra_time;
  program.memory_bytes = ClampedBytes(submission.memory_limit * kKibi, terms);
  return program;
}

Submission Judged(Submission submission, const RunEnd& end) {
  submission.finished = Submission::Clock::now();
  const auto* const report = std::get_if<RunReport>(&end);
  if (!report) {
    submission.status = kInternalError;
    submission.message = std::get<RunFailure>(end).text;
    return submission;
  }
  if (report->end == Stage::End::kNotRun) {
    SetCompilationError(submission, *report->compile);
    return submission;
  }
  if (report->compile) submission.compile_output = UnlessEmpty(CompilersText(*report->compile));
  submission.standard_output = UnlessEmpty(report->standard_output);
  submission.standard_error = UnlessEmpty(report->WholeStandardError());
  if (submission.redirect_stderr_to_stdout) {
    submission.standard_output =
        UnlessEmpty(report->standard_output + report->WholeStandardError());
    submission.standard_error.reset();
  }
  submission.time = report->cpu_seconds;
  submission.wall_time = report->wall_seconds;
  submission.memory = report->memory_bytes / 1024;
  SetStatus(submission, *report);
  return submission;
}

std::vector<std::string_view> ReadFieldNames(const std::optional<std::string>& names,
                                             std::vector<std::string>& unknown) {
  std::vector<std::string_view> chosen;
  const bool is_all = names == "*";
  if (!names || names->empty() || is_all) {
    for (const Attribute& attribute : kAttributes) {
      if (is_all || attribute.is_default) chosen.push_back(attribute.name);
    }
    return chosen;
  }
  for (const std::string_view name : core::SplitAt(*names, ',')) {
    const auto found = std::ranges::find(kAttributes, name, &Attribute::name);
    if (found == std::end(kAttributes)) {
      unknown.emplace_back(name);
    } else if (std::ranges::find(chosen, found->name) == chosen.end()) {
      chosen.push_back(found->name);
    }
  }
  return chosen;
}

Json AttributesOf(const Submission& submission, std::span<const std::string_view> names,
                  bool is_base64) {
  const Rendering rendering{submission, is_base64};
  Json attributes = Json::object();
  for (const Attribute& attribute : kAttributes) {
    if (std::ranges::find(names, attribute.name) == names.end()) continue;
    attributes[std::string(attribute.name)] = attribute.of(rendering);
  }
  return attributes;
}

std::vector<std::string> ShellWords(std::string_view text) {
  std::vector<std::string> words;
  std::optional<std::string> word;
  char quote = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quote != 0 && c == quote) {
      quote = 0;
    } else if (c == '\\' && quote != '\'' && i + 1 < text.size()) {
      word = word.value_or("") + text[++i];
    } else if (quote == 0 && (c == '\'' || c == '"')) {
      quote = c;
      word = word.value_or("");
    } else if (quote == 0 && (c == ' ' || c == '\t' || c == '\n')) {
      if (word) words.push_back(std::move(*word));
      word.reset();
    } else {
      word = word.value_or("") + c;
    }
  }
  if (word) words.push_back(std::move(*word));
  return words;
}

}  // namespace belljar::server::compatible::judge0
