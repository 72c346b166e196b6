// OutputForwarder: forwards a guest's output while it runs, in whole characters.
#ifndef BELLJAR_SERVER_TOOLS_OUTPUT_FORWARDER_H_
#define BELLJAR_SERVER_TOOLS_OUTPUT_FORWARDER_H_

#include <functional>
#include <string>
#include <string_view>

#include "engine/run/run_options.h"

namespace belljar::server::tools {

class OutputForwarder {
 public:
  // `receiver` is borrowed.
  explicit OutputForwarder(const std::function<void(std::string_view)>& receiver);
  OutputForwarder(const OutputForwarder&) = delete;
  OutputForwarder& operator=(const OutputForwarder&) = delete;

  // For the thread that runs the guest. Stdout and stderr are merged in the order of arrival.
  const run::OutputSink& sink() const { return sink_; }

 private:
  void Take(std::string& pending, std::string_view bytes);

  const std::function<void(std::string_view)>& receiver_;
  std::string pending_stdout_;  // an incomplete character
  std::string pending_stderr_;
  run::OutputSink sink_;
};

}  // namespace belljar::server::tools

#endif  // BELLJAR_SERVER_TOOLS_OUTPUT_FORWARDER_H_
