// AuditedTool: a tool whose calls are refused while the audit log cannot be written, so that
// nothing runs without an entry. With sync "always", no answer is sent before its entry is on the
// disk.
#ifndef BELLJAR_SERVER_AUDIT_AUDITED_TOOL_H_
#define BELLJAR_SERVER_AUDIT_AUDITED_TOOL_H_

#include <memory>
#include <vector>

#include "server/audit/audit_log.h"
#include "server/calls/tool.h"

namespace belljar::server::audit {

// Wraps the tools that use a worker; others are returned unchanged. `log` is borrowed.
std::vector<std::unique_ptr<Tool>> WithAudit(std::vector<std::unique_ptr<Tool>> tools,
                                             AuditLog& log);

}  // namespace belljar::server::audit

#endif  // BELLJAR_SERVER_AUDIT_AUDITED_TOOL_H_
