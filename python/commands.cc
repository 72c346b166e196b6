#include "python/commands.h"

#include <pybind11/stl.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/commands/command.h"
#include "python/errors.h"
#include "python/gil.h"
#include "python/objects.h"
#include "python/sessions.h"

namespace belljar::python {
namespace {

namespace py = pybind11;

using Live = std::shared_ptr<LiveSession>;

struct LiveCommand {
  Live session;
  std::shared_ptr<commands::Command> command;
};

// How long a call waits: for ever without a number. As TurnRequest, besides.
struct Waiting {
  std::optional<int64_t> milliseconds;
  bool watches_signals = false;
};

// Calls `use` with a Wait, until it has something other than that nothing has come in time.
// nullopt: nothing has come in all of the time.
template <typename Use>
auto WaitFor(const LiveSession& live, const Waiting& waiting, Use use) {
  if (!live.is_of_this_process()) CheckUsable(live);
  using Value = std::remove_cvref_t<decltype(*use(waiting::Wait()))>;
  const core::Deadline end =
      waiting.milliseconds ? core::Clock::now() + std::chrono::milliseconds(*waiting.milliseconds)
                           : core::Deadline::max();
  for (;;) {
    waiting::Wait wait;
    wait.deadline = end;
    if (waiting.watches_signals)
      wait.deadline = std::min(end, core::Clock::now() + kSignalInterval);
    auto result = WithoutGil([&] { return use(wait); });
    if (result) return std::optional<Value>(std::move(*result));
    if (result.error().error_number != ETIMEDOUT) throw HostFailure{result.error()};
    if (core::Clock::now() >= end) return std::optional<Value>();
    if (PyErr_CheckSignals() != 0) throw py::error_already_set();
  }
}

// The fields of _host.CommandRequest.
commands::CommandRequest RequestFrom(const py::dict& fields) {
  commands::CommandRequest request;
  request.arguments = fields["arguments"].cast<std::vector<std::string>>();
  request.directory = fields["directory"].cast<std::string>();
  request.environment = fields["environment"].cast<std::vector<std::string>>();
  if (!fields["terminal"].is_none()) {
    const auto [columns, rows] = fields["terminal"].cast<std::pair<uint16_t, uint16_t>>();
    request.terminal = commands::TerminalSize{columns, rows};
  }
  request.input = fields["input"].cast<std::optional<std::string>>();
  request.timeout = std::chrono::milliseconds(fields["timeout"].cast<int64_t>());
  request.cpu = std::chrono::milliseconds(fields["cpu"].cast<int64_t>());
  request.buffer.count = fields["buffer"].cast<uint64_t>();
  request.waits_for_reader = fields["waits_for_reader"].cast<bool>();
  return request;
}

LiveCommand Start(const Live& live, const py::dict& fields) {
  CheckUsable(*live);
  const commands::CommandRequest request = RequestFrom(fields);
  const Engine::PendingCall call(*live->engine(), nullptr);
  if (!call) ThrowSandboxClosed();
  // It is executed within milliseconds, or not at all.
  constexpr std::chrono::seconds kPatience{20};
  auto command = WithoutGil([&] {
    waiting::Wait wait;
    wait.deadline = core::Clock::now() + kPatience;
    return live->session().StartCommand(request, wait);
  });
  if (command) return {live, std::move(*command)};
  if (std::string why = live->closed(); !why.empty())
    throw ClosedFailure{core::MakeError("use a session", "it is closed: " + std::move(why))};
  if (command.error().error_number == 0) throw BadArgument{command.error()};
  throw HostFailure{command.error()};
}

py::tuple ExtentObject(const commands::StreamExtent& extent) {
  return py::make_tuple(extent.begin, extent.end, extent.is_closed);
}

// In the order of the fields of CommandStatus in _commands.py.
py::tuple StatusObject(const LiveCommand& live) {
  if (!live.session->is_of_this_process()) CheckUsable(*live.session);
  const commands::CommandStatus status = live.command->status();
  const auto seconds = [](auto duration) {
    return std::chrono::duration<double>(duration).count();
  };
  return py::make_tuple(TextObject(commands::StateName(status.state)),
                        status.exit_code >= 0 ? py::object(py::int_(status.exit_code)) : py::none(),
                        status.signal != 0 ? py::object(py::int_(status.signal)) : py::none(),
                        TextObject(status.why), seconds(status.started.time_since_epoch()),
                        seconds(status.wall_time), seconds(status.cpu_time), status.max_rss_bytes,
                        status.has_processes, ExtentObject(status.output),
                        ExtentObject(status.errors));
}

// None: nothing has come in time.
py::object Read(const LiveCommand& live, bool errors, uint64_t from, size_t max,
                const Waiting& waiting) {
  const auto stream = errors ? commands::Stream::kErrors : commands::Stream::kOutput;
  const std::optional<commands::Piece> piece = WaitFor(
      *live.session, waiting,
      [&](const waiting::Wait& wait) { return live.command->Read(stream, from, max, wait); });
  if (!piece) return py::none();
  return py::make_tuple(py::bytes(piece->bytes), piece->begin, piece->end, piece->is_end);
}

// False: its input is closed.
bool Write(const LiveCommand& live, std::string_view bytes, const Waiting& waiting) {
  bool is_open = true;
  while (is_open && !bytes.empty()) {
    constexpr size_t kPiece = size_t{64} << 10;  // what is written once it is waited for
    const std::string_view piece = bytes.substr(0, kPiece);
    const auto written =
        WaitFor(*live.session, waiting, [&](const waiting::Wait& wait) -> core::Result<bool> {
          const core::Result<void> done = live.command->Write(piece, wait);
          if (done) return true;
          if (done.error().error_number == EPIPE) return false;
          return done.error();
        });
    if (!written) throw HostFailure{core::SystemErrorOf(ETIMEDOUT, "write to a command")};
    is_open = *written;
    bytes.remove_prefix(piece.size());
  }
  return is_open;
}

bool Await(const LiveCommand& live, const Waiting& waiting) {
  return WaitFor(*live.session, waiting,
                 [&](const waiting::Wait& wait) { return live.command->Await(wait); })
      .has_value();
}

std::vector<LiveCommand> CommandsOf(const Live& live) {
  if (!live->is_of_this_process()) CheckUsable(*live);
  std::vector<LiveCommand> all;
  for (auto& each : live->session().Commands()) all.push_back({live, std::move(each)});
  return all;
}

}  // namespace

void DefineCommands(py::module_& module) {
  py::class_<Waiting>(module, "Waiting")
      .def(py::init([](std::optional<int64_t> milliseconds, bool watches_signals) {
             return Waiting{milliseconds, watches_signals};
           }),
           py::arg("milliseconds"), py::arg("watch_signals"));
  py::class_<LiveCommand>(module, "LiveCommand")
      .def_property_readonly("number",
                             [](const LiveCommand& live) { return live.command->number(); })
      .def_property_readonly("arguments",
                             [](const LiveCommand& live) {
                               py::list texts;
                               for (const std::string& each : live.command->request().arguments)
                                 texts.append(TextObject(each));
                               return texts;
                             })
      .def("status", &StatusObject)
      .def("read", &Read)
      .def("write",
           [](const LiveCommand& live, const py::bytes& bytes, const Waiting& waiting) {
             return Write(live, std::string_view(bytes), waiting);
           })
      .def("wait", &Await)
      .def("close_input",
           [](const LiveCommand& live) { OrHostFailure(live.command->CloseInput()); })
      .def("signal", [](const LiveCommand& live,
                        int number) { return OrHostFailure(live.command->Signal(number)); })
      .def("resize",
           [](const LiveCommand& live, uint16_t columns, uint16_t rows) {
             OrBadArgument(live.command->Resize({columns, rows}));
           })
      .def("kill", [](const LiveCommand& live) { live.command->Kill(); });
  module.def("start_command", &Start);
  module.def("commands_of", &CommandsOf);
}

}  // namespace belljar::python
