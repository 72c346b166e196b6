#include "tests/container/fake_engine.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <utility>

namespace belljar::tests {

FakeEngine::FakeEngine(Answer answer) : answer_(std::move(answer)) {
  listener_ = core::UniqueFd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  strncpy(address.sun_path, socket().c_str(), sizeof address.sun_path - 1);
  if (bind(listener_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 ||
      listen(listener_.get(), 16) != 0) {
    abort();
  }
  thread_ = std::thread([this] { Serve(); });
}

FakeEngine::~FakeEngine() {
  closing_ = true;
  thread_.join();
}

std::vector<FakeRequest> FakeEngine::requests() const {
  const std::lock_guard lock(mutex_);
  return requests_;
}

void FakeEngine::Serve() {
  while (!closing_) {
    pollfd waiting{listener_.get(), POLLIN, 0};
    if (poll(&waiting, 1, 20) <= 0) continue;
    const core::UniqueFd connection(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (connection) Converse(connection.get());
  }
}

void FakeEngine::Converse(int connection) {
  std::string text;
  size_t head = std::string::npos;
  size_t length = 0;
  char buffer[64 << 10];
  while (!closing_ && (head == std::string::npos || text.size() < head + 4 + length)) {
    pollfd waiting{connection, POLLIN, 0};
    if (poll(&waiting, 1, 20) <= 0) continue;
    const ssize_t got = read(connection, buffer, sizeof buffer);
    if (got <= 0) return;
    text.append(buffer, static_cast<size_t>(got));
    if (head != std::string::npos) continue;
    head = text.find("\r\n\r\n");
    const size_t field = text.find("Content-Length: ");
    if (head != std::string::npos && field < head) length = strtoul(&text[field + 16], nullptr, 10);
  }
  if (closing_) return;
  FakeRequest request{text.substr(0, text.find("\r\n")), text.substr(head + 4)};
  {
    const std::lock_guard lock(mutex_);
    requests_.push_back(request);
  }
  const std::string answer = answer_(request, connection);
  (void)!send(connection, answer.data(), answer.size(), MSG_NOSIGNAL);
}

std::string HttpAnswer(int status, const std::string& body) {
  return "HTTP/1.1 " + std::to_string(status) +
         " Said\r\nContent-Type: application/json\r\nContent-Length: " +
         std::to_string(body.size()) + "\r\n\r\n" + body;
}

}  // namespace belljar::tests
