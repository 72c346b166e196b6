// A call that went well, for tests of those who keep the books. Its strings must turn up in none.
#ifndef BELLJAR_TESTS_SERVER_CALL_RECORDS_H_
#define BELLJAR_TESTS_SERVER_CALL_RECORDS_H_

#include <chrono>

#include "server/calls/observer.h"

namespace belljar::tests {

inline constexpr char kSecretCode[] = "password = 'hunter2-in-the-code'";
inline constexpr char kSecretOutput[] = "hunter2-in-the-output";

inline host::Outcome GoodOutcome() {
  host::Outcome outcome;
  outcome.status = host::Status::kOk;
  outcome.execution_id = "0123abcd";
  outcome.result_json = "4";
  outcome.stdout_stream = {kSecretOutput, 0};
  outcome.usage = {std::chrono::microseconds(1500), std::chrono::microseconds(900), 20 << 20};
  outcome.isolation = {"strict", "on", {{"namespaces", true, ""}, {"landlock", true, "ABI 4"}}};
  return outcome;
}

inline server::CallRecord RecordOf(const host::Outcome& outcome) {
  server::CallRecord record;
  record.tool = "execute_code";
  record.caller = "team-a";
  record.profile = "basic";
  record.code = kSecretCode;
  record.outcome = &outcome;
  record.execution = outcome.execution_id;
  return record;
}

}  // namespace belljar::tests

#endif  // BELLJAR_TESTS_SERVER_CALL_RECORDS_H_
