// Printer: what the prompt displays. Results and the guest's output go to standard output, messages
// to standard error; on a terminal, coloured and with control characters escaped.
#ifndef BELLJAR_CLI_REPL_PRINTER_H_
#define BELLJAR_CLI_REPL_PRINTER_H_

#include <optional>
#include <string>
#include <string_view>

#include "cli/colors.h"
#include "cli/guest_output.h"
#include "cli/interruption.h"
#include "cli/repl/terminal_text.h"
#include "engine/core/result.h"
#include "engine/run/run_options.h"

namespace belljar::cli::repl {

class Printer {
 public:
  // `colors`: "auto", "always" or "never". `interruption` must outlive it.
  Printer(Interruption& interruption, std::string_view colors);

  // Our own text, in complete lines. Parts of it that are not ours must already be printable.
  void Answer(std::string_view text);
  void Message(std::string_view text);
  // "belljar: error: …" with what the user can do.
  void Failure(const core::Error& error);
  // From the guest: a result after `title`, which is ours; and OutcomeText of a cell.
  void Result(std::string_view title, std::string_view text);
  void Report(std::string_view text);

  // In the colours of standard output.
  std::string In(std::string_view text, Color color) const;

  // The guest's output of one cell, while it runs.
  class Output {
   public:
    explicit Output(Printer& printer);
    const run::OutputSink& sink() const { return sink_; }
    // Blocks until what has come so far is written.
    void Flush() { output_.Flush(); }
    // Blocks until all of it is written, and begins a new line on a terminal.
    void Finish();

   private:
    Printer& printer_;
    GuestOutput output_;
    TerminalText out_;
    TerminalText err_;
    run::OutputSink sink_;
  };

  // The first error of standard output.
  const std::optional<core::Error>& error() const { return error_; }

 private:
  void Write(std::string_view text);

  Interruption& interruption_;
  const bool out_is_terminal_;
  const bool err_is_terminal_;
  const bool out_has_colors_;
  const bool err_has_colors_;
  std::optional<core::Error> error_;
};

// A text of several lines from the guest, made printable.
std::string PrintableLines(std::string_view text);

}  // namespace belljar::cli::repl

#endif  // BELLJAR_CLI_REPL_PRINTER_H_
