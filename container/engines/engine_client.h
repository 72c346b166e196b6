// EngineClient: HTTP to a container engine over its Unix socket. One connection per call: on a Unix
// socket that costs some 50 µs, and no call is affected by the state left by another. Any thread,
// concurrently; each call ends by its deadline.
#ifndef BELLJAR_CONTAINER_ENGINES_ENGINE_CLIENT_H_
#define BELLJAR_CONTAINER_ENGINES_ENGINE_CLIENT_H_

#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>

#include "engine/core/fd.h"
#include "engine/core/result.h"
#include "engine/core/socket.h"

namespace belljar::container::engines {

// One call.
struct EngineCall {
  std::string operation;  // for errors: "start a container"
  std::string method = "GET";
  std::string target;  // "/v1.41/containers/json?all=1"
  std::string body;    // JSON; empty: none
  // Set in what EngineClient gets; nullopt before: DockerEngineOptions::timeout.
  std::optional<std::chrono::milliseconds> timeout;
  size_t max_answer = 1 << 20;  // in bytes; a longer one is an error
};

struct EngineAnswer {
  unsigned status = 0;
  std::string body;
};

class EngineClient {
 public:
  explicit EngineClient(std::string socket) : socket_(std::move(socket)) {}

  const std::string& socket() const { return socket_; }

  // Any status is an answer. Errors say what to do: the socket is missing or not accessible, nobody
  // listens, or the engine closed the connection.
  core::Result<EngineAnswer> Call(const EngineCall& call) const;

  // The same with the first `size` bytes of `file` as the body. `call.timeout` is then the timeout
  // for each piece of it, and for the answer.
  core::Result<EngineAnswer> Upload(const EngineCall& call, int file, uint64_t size,
                                    const std::function<void(uint64_t sent)>& progress) const;

  // Turns the connection into a raw stream (Upgrade: tcp). `refusal`: the engine's answer if it did
  // not upgrade; the descriptor is then empty.
  core::Result<core::UniqueFd> Upgrade(const EngineCall& call, EngineAnswer& refusal) const;

 private:
  const std::string socket_;
};

}  // namespace belljar::container::engines

#endif  // BELLJAR_CONTAINER_ENGINES_ENGINE_CLIENT_H_
