// AuditService: the audit log and receipts over HTTP. Operators see all entries; everybody else
// sees their own. The log is read from its files, on a thread of this object.
#ifndef BELLJAR_SERVER_REST_AUDIT_SERVICE_H_
#define BELLJAR_SERVER_REST_AUDIT_SERVICE_H_

#include <memory>
#include <optional>
#include <string>

#include "server/audit/receipt_store.h"
#include "server/audit/search.h"
#include "server/audit/signing_key.h"
#include "server/calls/call_queue.h"
#include "server/core/web.h"

namespace belljar::server::rest {

// Any thread, concurrently.
class AuditService {
 public:
  // `receipts` and `key` are borrowed.
  AuditService(std::string folder, const audit::ReceiptStore& receipts,
               const audit::SigningKey& key);
  // Waits for the request that is being answered.
  ~AuditService();

  // As for a CallQueue.
  const std::optional<core::Error>& start_error() const { return searches_.start_error(); }

  void Search(const WebRequest& request, std::shared_ptr<WebReply> reply);
  // The receipt of the execution that the first parameter names.
  WebAnswer Receipt(const WebRequest& request) const;

 private:
  const std::string folder_;
  const audit::ReceiptStore& receipts_;
  const audit::SigningKey& key_;
  CallQueue searches_;
};

}  // namespace belljar::server::rest

#endif  // BELLJAR_SERVER_REST_AUDIT_SERVICE_H_
