// StdioTransport: exchanges messages with one client, one per line, over two descriptors. Writes
// nothing but protocol messages.
//
//   StdioTransport transport(STDIN_FILENO, STDOUT_FILENO, handler);
//   transport.Run(stop_fd);      // until the client disconnects or stop_fd is readable
#ifndef BELLJAR_SERVER_STDIO_STDIO_TRANSPORT_H_
#define BELLJAR_SERVER_STDIO_STDIO_TRANSPORT_H_

#include <memory>
#include <string>
#include <string_view>

#include "engine/core/bytes.h"
#include "engine/core/result.h"
#include "server/core/exchange.h"

namespace belljar::server::stdio {

class StdioTransport {
 public:
  enum class End {
    kPeer,     // the client has closed its end or no longer reads
    kInput,    // the end of a file, whose calls are still to be answered
    kStopped,  // stop_fd
  };

  // Longer lines are answered with an error and skipped.
  static constexpr core::Bytes kMaxLine = core::Bytes::Mebi(20);

  // The descriptors are borrowed. `handler` must outlive this object.
  StdioTransport(int input, int output, MessageHandler& handler);
  ~StdioTransport();

  // Reads messages and passes them to the handler until the end. When the client disconnects, all
  // its calls are cancelled; at the end of a file, whoever named it reads on. Call once. Replies
  // are accepted on any thread until this object is destroyed; later ones are dropped.
  core::Result<End> Run(int stop_fd);

 private:
  class Output;
  class LineReply;

  // Processes the complete lines in `bytes` and keeps the rest.
  void Take(std::string_view bytes);
  void HandLine(std::string line);

  const int input_;
  MessageHandler& handler_;
  const std::shared_ptr<Output> output_;
  std::string line_;
  bool skipping_ = false;
};

}  // namespace belljar::server::stdio

#endif  // BELLJAR_SERVER_STDIO_STDIO_TRANSPORT_H_
