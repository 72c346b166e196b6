// Live: the state shared by the parts of a prompt.
#ifndef BELLJAR_CLI_REPL_LIVE_H_
#define BELLJAR_CLI_REPL_LIVE_H_

#include <optional>
#include <string_view>

#include "cli/interruption.h"
#include "cli/repl/branches.h"
#include "cli/repl/printer.h"
#include "cli/repl/saver.h"
#include "engine/host/request.h"
#include "engine/outside/sandbox.h"
#include "engine/run/input.h"

namespace belljar::cli::repl {

struct Live {
  outside::Sandbox& sandbox;
  Interruption& interruption;
  Printer& printer;
  Saver& saver;
  Branches& branches;
  host::Request request;  // for each cell, except for its source and its name
  bool is_interactive = false;
  std::chrono::milliseconds input_timeout{};
  run::AskForInput ask = {};  // asks the person at the terminal, if there is one

  // Null for Python.
  const core::ProgramRule* program() const {
    const std::optional<core::ProgramRule>& rule = sandbox.profile().program;
    return rule ? &*rule : nullptr;
  }
  // Empty for Python.
  std::string_view language() const {
    return program() ? std::string_view(sandbox.profile().name) : std::string_view();
  }
};

// The number of the next cell.
inline uint64_t NextCell(Live& live) { return live.branches.current().cells + 1; }

}  // namespace belljar::cli::repl

#endif  // BELLJAR_CLI_REPL_LIVE_H_
