// Receipts of `belljar run`.
#ifndef BELLJAR_CLI_RECEIPT_H_
#define BELLJAR_CLI_RECEIPT_H_

#include <optional>
#include <string>

#include "engine/core/result.h"
#include "engine/host/outcome.h"
#include "engine/host/request.h"
#include "server/audit/signing_key.h"

namespace belljar::cli {

// The key with which `belljar run` signs: `path`, or this user's own, made on first use.
core::Result<server::audit::SigningKey> OpenReceiptKey(const std::optional<std::string>& path);

// Writes the receipt of a run to `path`, completely or not at all.
core::Result<void> WriteReceipt(const std::string& path, const server::audit::SigningKey& key,
                                const std::string& profile, const host::Request& request,
                                const host::Outcome& outcome);

}  // namespace belljar::cli

#endif  // BELLJAR_CLI_RECEIPT_H_
