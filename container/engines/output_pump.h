// OutputPump: carries what attached containers say to whoever started them: standard output to a
// socket of its own, the end of standard error to a tail that is kept. One thread for all
// containers of an engine. What the reader does not take is not read: the container then blocks,
// not the pump.
#ifndef BELLJAR_CONTAINER_ENGINES_OUTPUT_PUMP_H_
#define BELLJAR_CONTAINER_ENGINES_OUTPUT_PUMP_H_

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include "engine/core/fd.h"
#include "engine/core/result.h"

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
  // `attached`: a stream socket as the Engine API leaves it after an upgrade.
  core::Result<Streams> Add(core::UniqueFd attached);

 private:
  class Session;

  boost::asio::io_context io_{1};
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_;
  std::thread thread_;
};

}  // namespace belljar::container::engines

#endif  // BELLJAR_CONTAINER_ENGINES_OUTPUT_PUMP_H_
