// WorkerChannel: receives a running worker's messages: calls of the request's functions, any number
// of them, or that it is done. Every byte is hostile. A worker that stops in the middle of a
// message or does not read its answer blocks nobody; one that gets no answer waits for its end.
//
//   WorkerChannel channel(socket, request, call);
//   poll(socket, channel.events());
//   switch (channel.Move()) {...}
#ifndef BELLJAR_ENGINE_RUN_WORKER_CHANNEL_H_
#define BELLJAR_ENGINE_RUN_WORKER_CHANNEL_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "engine/core/wire.h"
#include "engine/host/request.h"
#include "engine/run/function_calls.h"
#include "engine/run/run_options.h"

namespace belljar::run {

class WorkerChannel {
 public:
  // All borrowed. In a cell, a call without an answer is interrupted, so that the session survives.
  // `may_start_over`: its zygote has omitted modules.
  WorkerChannel(int socket, const host::Request& request, const FunctionCall& call, bool is_cell,
                bool may_start_over = false)
      : socket_(socket),
        calls_(request, call),
        is_cell_(is_cell),
        may_start_over_(may_start_over) {}

  enum class Message {
    kNothing,    // incomplete
    kCall,       // a complete call, for Answer()
    kDone,       // claimed by the worker; verified by the report
    kStartOver,  // claimed by the worker: it needs a module that its zygote has omitted
    kMalformed,  // nothing after it counts
    kEnd,        // the worker is dying, or has closed the channel
  };

  // The poll events for the socket.
  short events() const;
  // Reads and writes as much as possible without blocking.
  Message Move();
  // After kCall: what is called. Valid until Answer().
  std::string_view CalledName() const;
  // After kCall: calls the function, on this thread. The answer, if any, is sent by the next
  // Move(). False: as after kMalformed.
  bool Answer();

 private:
  Message Send();
  Message Receive();
  Message Parse();

  const int socket_;
  const FunctionCalls calls_;
  const bool is_cell_;
  const bool may_start_over_;
  std::string received_;
  core::WorkerSignal signal_;  // header of the message being received
  size_t wanted_ = sizeof(core::WorkerSignal);
  std::string answer_;       // not yet sent
  bool unanswered_ = false;  // its call gets no answer
};

}  // namespace belljar::run

#endif  // BELLJAR_ENGINE_RUN_WORKER_CHANNEL_H_
