#include "engine/inside/program_session.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "engine/core/fd.h"
#include "engine/core/socket.h"
#include "engine/core/wire.h"
#include "engine/inside/capture.h"
#include "engine/inside/error_lines.h"
#include "engine/inside/host_channel.h"
#include "engine/inside/program_report.h"
#include "engine/inside/shown_files.h"
#include "engine/seal/rlimits.h"

namespace belljar::inside {
namespace {

constexpr int kBeginFailed = 91;

CellReport Failure(std::string message) {
  CellReport report;
  report.end.exit_code = 1;
  report.error.emplace(ProgramError{.type = "SessionError", .message = std::move(message)});
  return report;
}

class Interpreter {
 public:
  Interpreter(const ProgramRunner& runner, ProgramInit& init) : runner_(runner), init_(init) {}

  // Blocks until it waits for its first cell.
  bool Begin() {
    input_.Reset(open("/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
    if (!input_) return false;
    std::optional<Dialogue> started =
        init_.StartDialogue(runner_.session, runner_.environment, input_);
    if (!started) return false;
    dialogue_ = std::move(*started);
    max_answer_ = MaxAnswer(0);
    const bool waits = !RunUntilAnswer() && !line_.empty();
    init_.StopAll();
    return waits;
  }

  CellReport Execute(const ReceivedRequest& request, size_t max_result) {
    const std::string file = "/tmp/cell-" + std::to_string(++cells_) +
                             std::filesystem::path(runner_.file).extension().string();
    if (const int failed = Place(file, request); failed != 0) {
      return Failure(std::string("the cell could not be stored: ") + strerrordesc_np(failed));
    }
    max_answer_ = MaxAnswer(max_result);
    init_.ForgetTail();
    init_.ContinueAll();
    // It may have ended meanwhile, which the next step finds out.
    (void)core::WriteBytes(dialogue_.requests.get(),
                           file + " " + std::to_string(max_result) + "\n");
    const std::optional<End> ended = RunUntilAnswer();
    init_.StopAll();
    (void)unlink(file.c_str());
    CellReport report = ended ? Ended(*ended) : Answered();
    report.shown = TakeShownFiles(runner_.shows, report.notes);
    if (report.end.exit_code != 0 && !report.error) {
      report.error = ReadErrorLines(runner_.errors, init_.tail(), file);
    }
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
  std::optional<End> RunUntilAnswer() {
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

  static CellReport Ended(const End& end) {
    CellReport report;
    report.end = end;
    report.has_ended = true;
    return report;
  }

  CellReport Answered() {
    try {
      return ReadAnswer(line_);
    } catch (const nlohmann::json::exception&) {
      init_.Abandon();
      CellReport report = Failure("the interpreter's answer was malformed");
      report.has_ended = true;
      return report;
    }
  }

  const ProgramRunner& runner_;
  ProgramInit& init_;
  Dialogue dialogue_;
  core::UniqueFd input_;  // a file, so that each cell's input has an end
  std::string line_;
  size_t max_answer_ = 0;
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

CellReport ReadAnswer(const std::string& line) {
  CellReport report;
  const nlohmann::json json = nlohmann::json::parse(line);
  report.end.exit_code = json.value("exit_code", 0) & 0xff;
  if (json.value("interrupted", false)) {
    report.end.exit_code = 128 + SIGINT;
    report.error.emplace(ProgramError{.type = "Interrupted", .message = "interrupted"});
  }
  if (const auto error = json.find("error"); error != json.end()) {
    report.end.exit_code = 1;
    report.error.emplace(ProgramError{.type = error->value("type", ""),
                                      .message = error->value("message", ""),
                                      .line = error->value("line", 0),
                                      .column = error->value("column", 0)});
  }
  if (json.contains("result")) report.result = json.at("result").get<std::string>();
  if (json.contains("repr")) report.result_repr = json.at("repr").get<std::string>();
  if (json.contains("notes")) json.at("notes").get_to(report.notes);
  return report;
}

void ServeProgramSession(const ProgramStart& start, ProgramInit& init, int socket) {
  const core::SessionOrder begin = ReceiveOrder(socket, core::SessionOrder::kBegin);
  if (!start.plan.without_rlimits) {
    core::Limits limits = start.plan.ceiling;
    limits.memory.count = begin.memory_limit;
    limits.file_size.count = begin.file_size_limit;
    if (!seal::ApplyProgramSessionRlimits(limits)) _exit(kBeginFailed);
  }
  Interpreter interpreter(start.runner, init);
  if (!interpreter.Begin()) _exit(kBeginFailed);
  Signal(socket, {core::WorkerSignal::kAwake, 0, 0});
  for (bool has_ended = false; !has_ended;) {
    (void)ReceiveOrder(socket, core::SessionOrder::kCell);
    const ReceivedRequest request = ReceiveRequest(socket);
    SetOutputLimit(request.header.output_limit);
    const nlohmann::json metadata = nlohmann::json::parse(request.metadata);
    const CellReport report = interpreter.Execute(request, metadata.at("max_result").get<size_t>());
    has_ended = report.has_ended;
    Report(socket, ReportOfCell(report, metadata.at("max_report").get<size_t>()));
  }
  AwaitEnd(socket);
}

}  // namespace belljar::inside
