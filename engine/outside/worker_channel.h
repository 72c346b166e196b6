// WorkerChannel: what a worker says while it runs, which is that it calls a function of the
// request's, any number of times, or that it is done. Every byte of it is hostile; a worker that
// stops in the middle of a word, or does not take its answer, holds nobody up; one that gets none
// waits for its end.
//
//   WorkerChannel line(socket, request, call);
//   poll(socket, channel.events());
//   switch (channel.Move()) {...}
#ifndef BELLJAR_ENGINE_OUTSIDE_WORKER_CHANNEL_H_
#define BELLJAR_ENGINE_OUTSIDE_WORKER_CHANNEL_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "engine/core/wire.h"
#include "engine/host/request.h"
#include "engine/outside/backend.h"
#include "engine/outside/function_calls.h"

namespace belljar::outside {

class WorkerChannel {
 public:
  // All borrowed.
  WorkerChannel(int socket, const host::Request& request, const FunctionCall& call)
      : socket_(socket), calls_(request, call) {}

  enum class Word {
    kNothing,   // not all of it is here yet
    kCall,      // a whole call: Answer() makes it
    kDone,      // what it claims, the report has to show
    kNonsense,  // nothing after it counts
    kEnd,       // it is dying, or has closed the channel
  };

  // What to poll the socket for.
  short events() const;
  // Reads and writes as much as goes without waiting.
  Word Move();
  // After kCall: calls the function, on this thread. Its answer, if there is one, goes with the
  // next Move().
  void Answer();

 private:
  Word Send();
  Word Receive();
  Word Judge();
  std::string_view CalledName() const;

  const int socket_;
  const FunctionCalls calls_;
  std::string received_;
  core::WorkerSignal signal_;  // how what is being received begins
  size_t wanted_ = sizeof(core::WorkerSignal);
  std::string answer_;       // not yet sent
  bool unanswered_ = false;  // its call will not be
};

}  // namespace belljar::outside

#endif  // BELLJAR_ENGINE_OUTSIDE_WORKER_CHANNEL_H_
