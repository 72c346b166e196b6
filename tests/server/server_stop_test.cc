// The end of a server: nothing that a call uses goes before the call has ended, however long the
// call takes. Under AddressSanitizer.
#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

#include "engine/host/version.h"
#include "server/server.h"

namespace belljar::server::server_stop_test {
namespace {

// What both sides of a test wait for.
class Event {
 public:
  void Raise() { promise_.set_value(); }
  void Await() const { raised_.wait(); }

 private:
  std::promise<void> promise_;
  const std::shared_future<void> raised_ = promise_.get_future().share();
};

// A client that keeps its call from ending: like a tool that ignores its cancellation.
class HeldReply final : public Reply {
 public:
  HeldReply(Event& reached, const Event& let_go) : reached_(reached), let_go_(let_go) {}
  void Notify(std::string) override {}
  void Finish(Answer) override {
    reached_.Raise();
    let_go_.Await();
  }

 private:
  Event& reached_;
  const Event& let_go_;
};

std::unique_ptr<Server> OpenServer(const ServerConfig& config) {
  const auto catalogue = profiles::ProfileCatalogue::Open();
  if (!catalogue) throw std::runtime_error(catalogue.error().ToString());
  auto sandboxes = tools::Sandboxes::Open(config.execution, *catalogue);
  if (!sandboxes) throw std::runtime_error(sandboxes.error().ToString());
  auto log = operations::Log::Open(config.log);
  if (!log) throw std::runtime_error(log.error().ToString());
  auto events = events::EventService::Open(config, host::kBelljarVersion, {});
  if (!events) throw std::runtime_error(events.error().ToString());
  Server::Parts parts;
  parts.log = std::move(*log);
  parts.events = std::move(*events);
  parts.sandboxes = std::move(*sandboxes);
  parts.shutdown_grace = std::chrono::milliseconds(0);
  return std::make_unique<Server>(config, std::move(parts), *catalogue);
}

TEST(ServerStop, ACallThatOutlivesTheShutdownGraceUsesNothingThatIsGone) {
  Event reached, let_go;
  ServerConfig config;
  config.execution.running = 1;
  std::unique_ptr<Server> server = OpenServer(config);
  // It waits behind the call, and is dropped once the server no longer waits for calls to end.
  auto dropped = std::shared_ptr<void>(nullptr, [&](void*) { let_go.Raise(); });
  IncomingMessage message;
  message.text = R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":)"
                 R"({"name":"execute_code","arguments":{"unknown":1}}})";
  message.conversation = "stdio";
  server->service().Handle(std::move(message), std::make_shared<HeldReply>(reached, let_go));
  reached.Await();
  ASSERT_FALSE(server->queue().Submit("", 0, [last = std::move(dropped)] {}));
  server.reset();
  let_go.Await();
}

}  // namespace
}  // namespace belljar::server::server_stop_test
