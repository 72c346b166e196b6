// Verification of a log: whether anything in it was modified, removed, added or reordered since it
// was written, as far as the log itself can show.
//
//   Result<Verification> verified = VerifyLog(folder, keys, expected_heads);
//   for (const Fault& fault : verified->faults) …
//
// A log cannot show that its own end was cut off: that takes the hash of a later line, stored
// elsewhere (`expected_heads`). Whoever has the signing key can write another log.
#ifndef BELLJAR_SERVER_AUDIT_VERIFY_H_
#define BELLJAR_SERVER_AUDIT_VERIFY_H_

#include <cstdint>
#include <string>
#include <vector>

#include "engine/core/result.h"
#include "server/audit/chain.h"
#include "server/audit/signing_key.h"

namespace belljar::server::audit {

struct Fault {
  std::string file;   // path; empty: the log as a whole
  uint64_t line = 0;  // from 1; 0: the file as a whole
  std::string reason;
};

struct Verification {
  // The first fault of each segment: after it, the rest of the segment cannot be judged.
  std::vector<Fault> faults;
  // Traces of a crash, and what cannot be judged yet: not faults.
  std::vector<Fault> notes;
  std::string log;  // its id
  uint64_t segments = 0;
  uint64_t entries = 0;           // lines, except the first and last of each segment
  uint64_t unsigned_entries = 0;  // after the last signature
  std::string head;               // hash of the last line
  std::vector<std::string> keys;  // ids of the keys that signed
};

// In bounded memory. An error: the files cannot be read.
core::Result<Verification> VerifyLog(const std::string& folder, const std::vector<PublicKey>& keys,
                                     const std::vector<std::string>& expected_heads = {});

}  // namespace belljar::server::audit

#endif  // BELLJAR_SERVER_AUDIT_VERIFY_H_
