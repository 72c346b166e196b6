// OutputPump: forwards the output of attached containers to whoever started them: standard output
// to a separate socket, the end of standard error to a buffer. One thread for all containers of an
// engine, started with the first. If the reader does not read, neither does the pump: the container
// then blocks, not the pump.
#ifndef BELLJAR_CONTAINER_ENGINES_OUTPUT_PUMP_H_
#define BELLJAR_CONTAINER_ENGINES_OUTPUT_PUMP_H_

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "engine/core/fd.h"
#include "engine/core/result.h"
#include "engine/core/thread.h"

namespace belljar::container::engines {

// The last bytes of a stream. Any thread.
class StreamTail {
 public:
  void Append(std::string_view bytes);
  std::string Text() const;

 private:
  mutable std::mutex mutex_;
  std::string text_;
};

class OutputPump {
 public:
  OutputPump();
  OutputPump(const OutputPump&) = delete;
  // Closes every stream.
  ~OutputPump();

  struct Streams {
    core::UniqueFd output;
    std::shared_ptr<StreamTail> errors;
  };
  // `attached`: a stream socket after an upgrade by the Engine API.
  core::Result<Streams> Add(core::UniqueFd attached);

 private:
  class AttachedStream;
  core::Result<void> EnsureThread();

  boost::asio::io_context io_{1};
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_;
  std::mutex mutex_;
  bool is_running_ = false;
  core::Thread thread_;
};

}  // namespace belljar::container::engines

#endif  // BELLJAR_CONTAINER_ENGINES_OUTPUT_PUMP_H_
