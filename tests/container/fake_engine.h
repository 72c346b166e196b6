// FakeEngine: answers like a container engine on a Unix socket, or does not: what a test says. One
// thread; one connection after the other.
#ifndef BELLJAR_TESTS_CONTAINER_FAKE_ENGINE_H_
#define BELLJAR_TESTS_CONTAINER_FAKE_ENGINE_H_

#include <atomic>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "engine/core/fd.h"
#include "tests/support/support.h"

namespace belljar::tests {

struct FakeRequest {
  std::string line;  // "GET /version HTTP/1.1"
  std::string body;
};

class FakeEngine {
 public:
  // Bytes to answer a request with; the connection is closed behind them. `connection`: to go on
  // with, for what an answer cannot say.
  using Answer = std::function<std::string(const FakeRequest&, int connection)>;

  explicit FakeEngine(Answer answer);
  FakeEngine(const FakeEngine&) = delete;
  ~FakeEngine();

  std::string socket() const { return folder_.path() + "/engine.sock"; }
  std::vector<FakeRequest> requests() const;

  // True once the test is over: what waits should end.
  bool closing() const { return closing_; }

 private:
  void Serve();
  void Converse(int connection);

  TemporaryFolder folder_;
  const Answer answer_;
  core::UniqueFd listener_;
  std::atomic<bool> closing_ = false;
  mutable std::mutex mutex_;
  std::vector<FakeRequest> requests_;
  std::thread thread_;
};

// "HTTP/1.1 200 …" with a length and that body.
std::string HttpAnswer(int status, const std::string& body);

}  // namespace belljar::tests

#endif  // BELLJAR_TESTS_CONTAINER_FAKE_ENGINE_H_
