#include "cli/repl/printer.h"

#include <unistd.h>

#include "cli/console.h"

namespace belljar::cli::repl {

Printer::Printer(Interruption& interruption, std::string_view colors)
    : interruption_(interruption),
      out_is_terminal_(isatty(STDOUT_FILENO) == 1),
      err_is_terminal_(isatty(STDERR_FILENO) == 1),
      out_has_colors_(UsesColors(colors, STDOUT_FILENO)),
      err_has_colors_(UsesColors(colors, STDERR_FILENO)) {}

void Printer::Write(std::string_view text) {
  if (error_) return;
  if (core::Result<void> written = WriteAll(STDOUT_FILENO, text); !written) {
    error_ = written.error();
  }
}

void Printer::Answer(std::string_view text) { Write(text); }

void Printer::Message(std::string_view text) {
  Say(err_has_colors_ ? ColoredReport(text) : std::string(text));
}

void Printer::Failure(const core::Error& error) {
  Message(PrintableLines("belljar: error: " + error.ToString()) + "\n");
}

void Printer::Result(std::string_view title, std::string_view text) {
  const bool has_lines = !title.empty() && text.find('\n') != text.npos;
  Write(std::string(title) + (has_lines ? "\n" : "") + ForTerminal(text, out_is_terminal_) + "\n");
}

void Printer::Report(std::string_view text) {
  // Colours are added last: the text contains no escape sequences by then.
  const std::string shown = ForTerminal(text, err_is_terminal_ || err_has_colors_);
  Say(err_has_colors_ ? ColoredReport(shown) : shown);
}

std::string Printer::In(std::string_view text, Color color) const {
  return out_has_colors_ ? Colored(text, color) : std::string(text);
}

Printer::Output::Output(Printer& printer)
    : printer_(printer),
      output_(printer.interruption_),
      out_(printer.out_is_terminal_),
      err_(printer.err_is_terminal_) {
  const run::OutputSink& raw = output_.sink();
  sink_.on_stdout = [this, &raw](std::string_view bytes) { raw.on_stdout(out_.Add(bytes)); };
  sink_.on_stderr = [this, &raw](std::string_view bytes) { raw.on_stderr(err_.Add(bytes)); };
}

void Printer::Output::Finish() {
  const run::OutputSink& raw = output_.sink();
  std::string out_rest = out_.Finish();
  std::string err_rest = err_.Finish();
  if (printer_.out_is_terminal_ && !out_.is_at_start()) out_rest += "\n";
  if (printer_.err_is_terminal_ && !err_.is_at_start()) err_rest += "\n";
  if (!out_rest.empty()) raw.on_stdout(out_rest);
  if (!err_rest.empty()) raw.on_stderr(err_rest);
  core::Result<void> written = output_.Finish();
  if (!written && !printer_.error_) printer_.error_ = written.error();
}

std::string PrintableLines(std::string_view text) { return ForTerminal(text, true); }

}  // namespace belljar::cli::repl
