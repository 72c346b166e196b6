// Witness: stands between a transport and the service, and holds every message to the protocol:
// one answer, valid JSON on one line, the right id, a kind that fits. The service behind it is the
// real one with the real tools; only their workers are stood in for (stand_in.cc).
#ifndef BELLJAR_TESTS_FUZZ_WITNESS_H_
#define BELLJAR_TESTS_FUZZ_WITNESS_H_

#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "server/core/exchange.h"

namespace belljar::tests {

// What there was of one message, once it has its answer.
struct Exchanged {
  std::string text;
  bool over_http = false;
  std::vector<std::string> notifications;
  server::Answer answer;

  // All that a client gets to read, in order. Each has been checked.
  std::vector<std::string> Texts() const;
};

// One JSON text on one line.
void CheckLine(std::string_view line);

class Witness final : public server::MessageHandler {
 public:
  explicit Witness(MessageHandler& inner) : inner_(inner) {}

  void Handle(server::IncomingMessage message, std::shared_ptr<server::Reply> reply) override;
  bool End(const server::Caller& caller, const std::string& conversation) override {
    return inner_.End(caller, conversation);
  }

  // Waits until every message has its answer; the exchanges since the last time, as they ended.
  std::vector<Exchanged> Finished();
  bool waits() const;

 private:
  class Heard;

  MessageHandler& inner_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  size_t waiting_ = 0;
  std::vector<Exchanged> finished_;
};

// The service of the whole program, made at its first use.
Witness& ServiceUnderTest();

}  // namespace belljar::tests

#endif  // BELLJAR_TESTS_FUZZ_WITNESS_H_
