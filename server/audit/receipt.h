// Receipts: a signed statement about one execution, which anybody with the public key can verify
// without a server: an in-toto Statement v1 in a DSSE envelope, as JSON.
//
//   std::string receipt = MakeReceipt({"data-science", "team-a"}, Describe(request, &outcome),
//   key); Result<Receipt> verified = VerifyReceipt(receipt, {key.public_key()});
//
// Its subjects are the outputs: standard output and error, the result and the artifacts, by
// SHA-256. Its predicate contains the hashes of the inputs, the limits, the observed layers,
// versions, times and how the execution ended. It contains no code and no output.
#ifndef BELLJAR_SERVER_AUDIT_RECEIPT_H_
#define BELLJAR_SERVER_AUDIT_RECEIPT_H_

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "engine/core/result.h"
#include "server/audit/entry.h"
#include "server/audit/signing_key.h"

namespace belljar::server::audit {

inline constexpr char kReceiptType[] = "application/vnd.in-toto+json";
inline constexpr char kStatementType[] = "https://in-toto.io/Statement/v1";
inline constexpr char kPredicateType[] = "https://github.com/belljar/belljar/execution/v1";
// Maximum size of a receipt that is read.
inline constexpr size_t kMaxReceipt = size_t{8} << 20;

// Names of the subjects; artifacts follow the last one.
inline constexpr char kOutputSubject[] = "stdout";
inline constexpr char kErrorsSubject[] = "stderr";
inline constexpr char kResultSubject[] = "result";
inline constexpr char kArtifactSubject[] = "artifacts/";

struct ReceiptTerms {
  std::string profile;
  std::string caller;  // empty: not named
};

// The unsigned statement. Its time is now.
std::string StatementOf(const ReceiptTerms& terms, const AuditedExecution& execution);
// The envelope of a statement, as one line.
std::string SignStatement(const std::string& statement, const SigningKey& key);
// Both steps.
std::string MakeReceipt(const ReceiptTerms& terms, const AuditedExecution& execution,
                        const SigningKey& key);

struct Receipt {
  std::string key;           // id of the key that signed it
  nlohmann::json statement;  // whether it has the types and members of a statement
};

// The statement, whose signature is valid for one of `keys`; an error says what is wrong. Nothing
// in an envelope without such a signature is read.
core::Result<Receipt> VerifyReceipt(std::string_view envelope, const std::vector<PublicKey>& keys);

// The SHA-256 of a subject; empty: no such subject.
std::string SubjectDigest(const Receipt& receipt, std::string_view name);
// The SHA-256 of an input: "code", "stdin"; empty: no such input.
std::string InputDigest(const Receipt& receipt, std::string_view name);

}  // namespace belljar::server::audit

#endif  // BELLJAR_SERVER_AUDIT_RECEIPT_H_
