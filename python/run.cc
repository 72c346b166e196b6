#include "python/run.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "engine/core/text.h"
#include "engine/host/deferred_tasks.h"
#include "engine/profiles/languages.h"
#include "engine/profiles/unnamed_profile.h"
#include "python/errors.h"
#include "python/gil.h"
#include "python/objects.h"
#include "python/request_objects.h"
#include "python/result_objects.h"

namespace belljar::python {
namespace {

namespace py = pybind11;

// The Python code that the run calls. No exception may cross the engine's frames in between, so the
// first one is kept, ends the run, and is thrown when these frames have been left.
class Callbacks {
 public:
  Callbacks(const RunRequest& requested, const Canceller& cancellation, bool watches_signals)
      : cancellation_(cancellation),
        stream_(requested.stream),
        call_(requested.call),
        watches_signals_(watches_signals) {
    sink_.on_stdout = [this](std::string_view bytes) { Show("stdout", bytes, unshown_stdout_); };
    sink_.on_stderr = [this](std::string_view bytes) { Show("stderr", bytes, unshown_stderr_); };
  }
  Callbacks(const Callbacks&) = delete;

  // The options borrow from this object and from `deferred`.
  run::RunOptions Options(host::DeferredTasks* deferred) {
    run::RunOptions options;
    options.deferred = deferred;
    if (!stream_.is_none()) options.sink = &sink_;
    if (watches_signals_) options.interrupted = [this] { return AskSignals(); };
    if (!call_.is_none()) {
      options.call = [this](std::string_view name, std::string_view arguments) {
        return Call(name, arguments);
      };
    }
    return options;
  }

  // Requires the GIL. Call it after the run: passes on incomplete characters, throws exceptions.
  void Finish() {
    if (!failure_) ShowRest("stdout", unshown_stdout_);
    if (!failure_) ShowRest("stderr", unshown_stderr_);
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  template <typename Step>
  void InPython(Step step) {
    WithGil([&] {
      if (failure_) return;  // the run is ending: no more callbacks
      try {
        step();
      } catch (const std::exception&) {
        failure_ = std::current_exception();
        cancellation_.Cancel();
      }
    });
  }

  // Whether a signal handler has raised.
  bool AskSignals() {
    InPython([] {
      if (PyErr_CheckSignals() != 0) throw py::error_already_set();
    });
    return failure_ != nullptr;
  }

  std::string Call(std::string_view name, std::string_view arguments) {
    std::string answer;  // empty if the run is ending
    InPython([&] {
      answer = py::cast<std::string>(CallPython(call_, TextObject(name), TextObject(arguments)));
    });
    return answer;
  }

  // A character may arrive in two pieces.
  void Show(const char* name, std::string_view bytes, std::string& unshown) {
    unshown += bytes;
    const size_t whole = core::CompletePrefix(unshown);
    if (whole == 0) return;
    InPython([&] {
      CallPython(stream_, TextObject(name), TextObject(std::string_view(unshown).substr(0, whole)));
    });
    unshown.erase(0, whole);
  }

  void ShowRest(const char* name, std::string& unshown) {
    if (unshown.empty() || stream_.is_none()) return;
    InPython([&] { CallPython(stream_, TextObject(name), TextObject(unshown)); });
  }

  const Canceller& cancellation_;
  const py::object stream_;
  const py::object call_;
  const bool watches_signals_;
  run::OutputSink sink_;
  std::string unshown_stdout_;
  std::string unshown_stderr_;
  std::exception_ptr failure_;
};

void CheckProcess(const Engine& engine) {
  if (engine.is_of_this_process()) return;
  throw HostFailure{core::MakeError(
      "run in a sandbox",
      "the sandbox belongs to the parent process of this fork; it cannot be used here")};
}

HostFailure IsClosed() {
  return {core::MakeError("run in a sandbox", "it is closed, or the interpreter is ending")};
}

using MakeObject = py::object (*)(const host::Outcome&);

void NameProfiles(const Engine& engine, host::Outcome& outcome) {
  profiles::NameProfiles(
      engine.profile().name,
      [](const std::string& name) { return "Pass profile=\"" + name + "\"."; }, outcome);
}

py::object RunFor(MakeObject make, Engine& engine, const py::dict& options,
                  const Canceller* cancellation, bool watches_signals) {
  CheckProcess(engine);
  const Engine::PendingCall call(engine, cancellation);
  if (!call) throw IsClosed();
  const RunRequest requested = RunRequestFrom(options, engine);
  Callbacks callbacks(requested, call.cancellation(), watches_signals);
  // Ending the worker and spawning the next one would compete for the CPU with creating the result,
  // so they come after it.
  auto deferred = std::make_unique<host::DeferredTasks>();
  core::Result<host::Outcome> outcome = WithoutGil(
      [&] { return engine.Run(requested.request, callbacks.Options(deferred.get()), call); });
  if (!engine.is_of_this_process()) (void)deferred.release();  // the parent's to do
  CheckProcess(engine);
  callbacks.Finish();
  if (!outcome) throw HostFailure{outcome.error()};
  NameProfiles(engine, *outcome);
  py::object result = make(*outcome);
  WithoutGil([&] { deferred.reset(); });
  return result;
}

// The language of a cell; empty: the session's own.
std::string LanguageIn(const py::dict& requested) {
  return requested.contains("language") ? py::cast<std::string>(requested["language"])
                                        : std::string();
}

}  // namespace

py::object Run(Engine& engine, const py::dict& requested, const Canceller* cancellation,
               bool watches_signals) {
  return RunFor(ResultObject, engine, requested, cancellation, watches_signals);
}

py::object Validate(Engine& engine, const py::dict& requested, bool watches_signals) {
  return RunFor(ValidationObject, engine, requested, nullptr, watches_signals);
}

// A checkpoint follows each cell, on a thread of the engine: nothing is deferred to this one.
py::object RunCell(LiveSession& live, const py::dict& requested, const Canceller* cancellation,
                   const TurnRequest& turn) {
  CheckUsable(live);
  const Engine& engine = *live.engine();
  const Engine::PendingCall call(*live.engine(), cancellation);
  if (!call) ThrowSandboxClosed();
  const LiveSession::Language language = live.LanguageOf(LanguageIn(requested));
  const RunRequest cell = RunRequestFrom(requested, *language.engine, language.limits);
  Callbacks callbacks(cell, call.cancellation(), turn.watches_signals);
  core::Result<host::Outcome> outcome = [&] {
    const LiveSession::WithinCell within(live);
    return WithoutGil([&] {
      return engine.RunCell(live.session(), cell.request, callbacks.Options(nullptr),
                            turn.patience(), call);
    });
  }();
  if (!engine.is_of_this_process()) CheckUsable(live);  // a callback has forked
  callbacks.Finish();
  if (!outcome) ThrowSessionError(live, outcome.error());
  NameProfiles(engine, *outcome);
  return ResultObject(*outcome);
}

std::string AddKernel(LiveSession& live, const std::shared_ptr<Engine>& engine,
                      const py::dict& requested, bool watches_signals) {
  CheckUsable(live);
  const Engine::PendingCall call(*live.engine(), nullptr);
  const Engine::PendingCall other(*engine, nullptr);
  if (!call || !other) ThrowSandboxClosed();
  std::string language = profiles::LanguageOf(engine->profile());
  if (core::Contains(live.session().languages(), language)) return language;
  const SessionRequest asked = SessionRequestFrom(requested, *engine);
  Callbacks callbacks({}, call.cancellation(), watches_signals);
  core::Result<void> added = WithoutGil([&]() -> core::Result<void> {
    core::Result<sessions::Kernel> kernel =
        engine->OpenKernel(asked.options, callbacks.Options(nullptr), other);
    if (!kernel) return kernel.error();
    live.Add(language, {engine, asked.limits});
    return live.session().AddKernel(*kernel);
  });
  callbacks.Finish();
  if (!added) ThrowSessionError(live, added.error());
  return language;
}

std::shared_ptr<LiveSession> OpenSession(const std::shared_ptr<Engine>& engine,
                                         const py::dict& requested, bool watches_signals) {
  CheckProcess(*engine);
  const Engine::PendingCall call(*engine, nullptr);
  if (!call) throw IsClosed();
  OrBadArgument(CheckSessions(engine->opened()));
  const SessionRequest asked = SessionRequestFrom(requested, *engine);
  Callbacks callbacks({}, call.cancellation(), watches_signals);
  core::Result<std::shared_ptr<sessions::Session>> session = WithoutGil(
      [&] { return engine->OpenSession(asked.options, callbacks.Options(nullptr), call); });
  callbacks.Finish();
  return HoldSession(engine, OrHostFailure(std::move(session)), asked.limits);
}

bool WaitUntilReady(Engine& engine, double seconds) {
  CheckProcess(engine);
  const Engine::PendingCall call(engine, nullptr);
  if (!call) throw IsClosed();
  // At most a day: larger values do not fit the clock's type.
  const auto time = std::chrono::duration<double>(std::min(seconds, 86'400.0));
  const core::Deadline deadline =
      core::Clock::now() + std::chrono::duration_cast<core::Clock::duration>(time);
  for (;;) {
    const core::Deadline look = std::min(deadline, core::Clock::now() + kSignalInterval);
    const core::Result<void> ready = WithoutGil([&] { return engine.WaitForSpare(look); });
    if (ready) return true;
    if (ready.error().error_number != ETIMEDOUT) throw HostFailure{ready.error()};
    if (PyErr_CheckSignals() != 0) throw py::error_already_set();
    if (call.cancellation().is_cancelled()) throw IsClosed();
    if (core::Clock::now() >= deadline) return false;
  }
}

}  // namespace belljar::python
