#include "cli/repl/cell.h"

#include <array>
#include <cstdio>

#include "cli/console.h"
#include "cli/exit_code.h"
#include "cli/finding_text.h"
#include "cli/outcome_text.h"
#include "cli/repl/commands.h"
#include "cli/sandbox_choice.h"
#include "cli/source_file.h"

namespace belljar::cli::repl {
namespace {

std::string DurationText(std::chrono::microseconds duration) {
  const double seconds = static_cast<double>(duration.count()) / 1e6;
  std::array<char, 32> text{};
  if (seconds < 1) {
    (void)std::snprintf(text.data(), text.size(), "%.1f ms", seconds * 1e3);
  } else {
    (void)std::snprintf(text.data(), text.size(), "%.2f s", seconds);
  }
  return text.data();
}

std::string UsageText(const host::Usage& usage) {
  return "time: " + DurationText(usage.wall_time) + ", of the CPU " + DurationText(usage.cpu_time) +
         ", memory " + WithThousands(usage.max_rss_bytes >> 20) + " MiB\n";
}

// What the prompt adds to the messages of `belljar run`.
std::string SessionText(const host::Outcome& outcome, bool is_python) {
  std::string text;
  // The interpreters of other languages have said on standard error what went wrong, if it was not
  // the exit status of a command or an interrupt.
  if (!is_python && outcome.exit_code && outcome.error && outcome.stderr_stream.text.empty()) {
    text +=
        "belljar: " + PrintableLines(outcome.error->type + ": " + outcome.error->message) + "\n";
  }
  if (is_python && outcome.exit_code) {
    text += "belljar: the cell exited with " + std::to_string(*outcome.exit_code) +
            "; the session continues, %quit ends it\n";
  }
  if (!outcome.session) return text;
  if (outcome.session->restored) {
    text += "belljar: the cell was undone: the session is as it was before\n";
  }
  if (!outcome.session->note.empty()) {
    text += "belljar: " + PrintableLines(outcome.session->note) + "\n";
  }
  return text;
}

int FailCell(Live& live, const core::Error& error) {
  live.printer.Failure(error);
  if (!live.branches.current().session->closed().empty()) {
    live.printer.Message("belljar: this session has ended; %reset starts a new one\n");
  }
  return kExitFailure;
}

int Show(Live& live, host::Outcome& outcome, const std::string& filename, bool is_timed) {
  int code = ExitOfStatus(outcome.status);
  const uint64_t cell = live.branches.current().cells;
  NameProfiles(live.sandbox.profile().name, outcome);
  if (outcome.result_repr) {
    const std::string title = "Out[" + std::to_string(cell) + "]: ";
    live.printer.Result(live.is_interactive ? live.printer.In(title, Color::kRed) : "",
                        *outcome.result_repr);
  }
  Saver::Report saved = live.saver.Save(outcome, cell);
  live.printer.Report(OutcomeText(outcome, filename) + SessionText(outcome, !live.program()) +
                      saved.text);
  if (saved.error) {
    live.printer.Failure(*saved.error);
    code = kExitFailure;
  }
  if (is_timed) live.printer.Message(UsageText(outcome.usage));
  return code;
}

}  // namespace

int RunCell(Live& live, const CellText& text, bool is_timed) {
  Branch& branch = live.branches.current();
  host::Request request = live.request;
  request.filename = "<cell " + std::to_string(NextCell(live)) + ">";
  if (text.is_too_long()) {
    SourceFile source{request.filename, "", true, text.size()};
    live.printer.Report(
        FindingText(request.filename, TooLongFinding(source, request.limits.source)));
    return kExitRefused;
  }
  request.source = text.is_repeated() ? TimeitCode(text.source()) : text.source();
  Printer::Output output(live.printer);
  run::RunOptions options;
  options.cancel_fd = live.interruption.fd();
  options.sink = &output.sink();
  if (live.ask) {
    request.functions.emplace_back(host::kAsksInput);
    options.call = run::AnsweringInput([&](const run::InputQuestion& question) {
      output.Flush();  // what is typed is shown after the question
      return live.ask(question);
    });
  }
  core::Result<host::Outcome> outcome = live.sandbox.RunCell(*branch.session, request, options);
  output.Finish();
  if (!outcome) return FailCell(live, outcome.error());
  if (outcome->session) branch.cells = outcome->session->cell;
  return Show(live, *outcome, request.filename, is_timed);
}

}  // namespace belljar::cli::repl
