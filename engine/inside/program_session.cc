#include "engine/inside/program_session.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "engine/core/fd.h"
#include "engine/core/flat.h"
#include "engine/core/program_messages.h"
#include "engine/core/socket.h"
#include "engine/core/wire.h"
#include "engine/inside/capture.h"
#include "engine/inside/command_server.h"
#include "engine/inside/error_lines.h"
#include "engine/inside/host_channel.h"
#include "engine/inside/shown_files.h"
#include "engine/seal/rlimits.h"

namespace belljar::inside {
namespace {

constexpr int kBeginFailed = 91;

std::string_view ExtensionOf(std::string_view file) {
  return file.substr(std::min(file.rfind('.'), file.size()));
}

class Interpreter {
 public:
  Interpreter(const ProgramStart& start, ProgramInit& init)
      : program_(start.program), errors_(start.errors), init_(init) {}

  // Blocks until it waits for its first cell.
  bool Begin() {
    input_.Reset(open("/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
    if (!input_) return false;
    std::optional<Dialogue> started =
        init_.StartDialogue(program_.session, program_.environment, input_);
    if (!started) return false;
    dialogue_ = std::move(*started);
    max_answer_ = core::MaxAnswer(0);
    const bool waits = !RunUntilAnswer() && !line_.empty();
    init_.StopAll();
    return waits;
  }

  core::ProgramReport Execute(const ReceivedRequest& request, uint64_t max_result) {
    std::string file = "/tmp/cell-" + std::to_string(++cells_);
    file += ExtensionOf(program_.file);
    if (const int failed = Place(file, request); failed != 0) {
      return {.end = {.exit_code = 1},
              .error = {.type = "SessionError",
                        .message = std::string("the cell could not be stored: ") +
                                   strerrordesc_np(failed)}};
    }
    max_answer_ = core::MaxAnswer(max_result);
    init_.ForgetTail();
    init_.ContinueAll();
    // It may have ended meanwhile, which the next step finds out.
    (void)core::WriteBytes(dialogue_.requests.get(),
                           file + " " + std::to_string(max_result) + "\n");
    const std::optional<core::ProgramEnd> ended = RunUntilAnswer();
    init_.StopAll();
    (void)unlink(file.c_str());
    core::ProgramReport report{.error = ReadErrorLines(errors_, init_.tail(), file)};
    if (ended) {
      report.end = *ended;
      report.session_ended = true;
    } else {
      report.answer = std::move(line_);
    }
    TakeShownFiles(program_.shows, report);
    return report;
  }

 private:
  // The cell's source, which the interpreter reads, and its standard input. Returns an errno.
  int Place(const std::string& file, const ReceivedRequest& request) const {
    const core::UniqueFd source(
        open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (!source || !core::WriteBytes(source.get(), request.source)) return errno;
    const bool has_input = ftruncate(input_.get(), 0) == 0 && lseek(input_.get(), 0, SEEK_SET) == 0;
    if (!has_input) return errno;
    if (!request.standard_input) return 0;
    if (!core::WriteBytes(input_.get(), *request.standard_input)) return errno;
    return lseek(input_.get(), 0, SEEK_SET) == 0 ? 0 : errno;
  }

  // line_ is the answer, unless the interpreter has ended.
  std::optional<core::ProgramEnd> RunUntilAnswer() {
    line_.clear();
    return init_.RunUntil(dialogue_.answers, [this] {
      std::array<char, 4096> piece{};
      const ssize_t size = read(dialogue_.answers.get(), piece.data(), piece.size());
      if (size < 0 && errno == EINTR) return true;
      if (size <= 0) {
        dialogue_.answers.Reset();  // it is about to end
        return true;
      }
      line_.append(piece.data(), static_cast<size_t>(size));
      return line_.back() != '\n' && line_.size() <= max_answer_;
    });
  }

  const core::ProgramRule& program_;
  const std::vector<ErrorLine>& errors_;
  ProgramInit& init_;
  Dialogue dialogue_;
  core::UniqueFd input_;  // a file, so that each cell's input has an end
  std::string line_;
  uint64_t max_answer_ = 0;
  uint64_t cells_ = 0;
};

// Exits if the host is gone.
core::SessionOrder ReceiveOrder(int socket, core::SessionOrder::Kind kind) {
  core::SessionOrder order;
  if (!core::ReceiveExactly(socket, &order, sizeof order) ||
      order.magic != core::SessionOrder{}.magic || order.kind != kind) {
    _exit(kUnused);
  }
  return order;
}

}  // namespace

void ServeProgramSession(const ProgramStart& start, ProgramInit& init, int socket) {
  const core::SessionOrder begin = ReceiveOrder(socket, core::SessionOrder::kBegin);
  if (!start.plan.without_rlimits) {
    core::Limits limits = start.plan.ceiling;
    limits.memory.count = begin.memory_limit;
    limits.file_size.count = begin.file_size_limit;
    if (!seal::ApplyProgramSessionRlimits(limits)) _exit(kBeginFailed);
  }
  if (start.program.commands) {
    Signal(socket, {core::WorkerSignal::kAwake, 0, 0});
    ServeCommands(socket);
  }
  Interpreter interpreter(start, init);
  if (!interpreter.Begin()) _exit(kBeginFailed);
  Signal(socket, {core::WorkerSignal::kAwake, 0, 0});
  for (bool has_ended = false; !has_ended;) {
    (void)ReceiveOrder(socket, core::SessionOrder::kCell);
    const ReceivedRequest request = ReceiveRequest(socket);
    SetOutputLimit(request.header.output_limit);
    const core::ProgramReport report =
        interpreter.Execute(request, ProgramRequestIn(request).max_result);
    has_ended = report.session_ended;
    Report(socket, core::ToFlat(report));
  }
  AwaitEnd(socket);
}

}  // namespace belljar::inside
