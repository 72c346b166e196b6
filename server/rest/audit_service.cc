#include "server/rest/audit_service.h"

#include <optional>
#include <utility>

#include "engine/core/text.h"
#include "engine/host/number.h"
#include "server/audit/receipt.h"

namespace belljar::server::rest {
namespace {

constexpr size_t kDefaultEntries = 50, kMaxEntries = 1000;
// Limit on the bytes read for one page by a search that finds little.
constexpr core::Bytes kSearchWork = core::Bytes::Mebi(64);
constexpr size_t kMaxWaiting = 16;

struct AuditTerms {
  audit::Query query;
  uint64_t before = 0;
  size_t limit = kDefaultEntries;
};

core::Error WrongTerm(std::string sentence) {
  return core::MakeError("read the query", std::move(sentence));
}

std::optional<std::string>* TermNamed(audit::Query& query, std::string_view name) {
  const std::pair<const char*, std::optional<std::string>*> terms[] = {
      {"kind", &query.kind},       {"caller", &query.caller}, {"tool", &query.tool},
      {"profile", &query.profile}, {"status", &query.status}, {"execution", &query.execution},
      {"session", &query.session}, {"sha256", &query.sha256}, {"since", &query.since},
      {"until", &query.until}};
  for (const auto& [each, term] : terms) {
    if (name == each) return term;
  }
  return nullptr;
}

core::Result<AuditTerms> AuditTermsOf(const std::string& text) {
  const core::Result<WebParameters> parameters = ParseQuery(text);
  if (!parameters) return parameters.error();
  AuditTerms terms;
  for (const auto& [name, value] : *parameters) {
    const auto number = host::NumberFrom<uint64_t>(value);
    if (std::optional<std::string>* const term = TermNamed(terms.query, name)) {
      *term = value;
    } else if (name == "limit") {
      if (!number || *number < 1 || *number > kMaxEntries) {
        return WrongTerm("limit must be a whole number from 1 to " + std::to_string(kMaxEntries));
      }
      terms.limit = *number;
    } else if (name == "before") {
      if (!number || *number == 0) return WrongTerm("before must be the seq of an entry");
      terms.before = *number;
    } else {
      return WrongTerm("unknown parameter " + core::Quoted(name) +
                       "; allowed are kind, caller, tool, profile, status, execution, "
                       "session, sha256, since, until, limit, before");
    }
  }
  const std::vector<std::string> kinds = audit::EntryKinds();
  if (terms.query.kind && !core::Contains(kinds, *terms.query.kind)) {
    return WrongTerm("unknown kind " + core::Quoted(*terms.query.kind) + "; there are " +
                     core::Joined(kinds));
  }
  for (const std::optional<std::string>& time : {terms.query.since, terms.query.until}) {
    const std::string violation = time ? audit::TimeViolation(*time) : std::string();
    if (!violation.empty()) return WrongTerm(core::Quoted(*time) + " is not a time: " + violation);
  }
  return terms;
}

// Entries are the unmodified lines of the log, so their hashes can be checked.
WebAnswer PageAnswer(const audit::SearchPage& page) {
  std::string body = "{\"entries\":[";
  for (const std::string& line : page.lines) {
    if (body.back() != '[') body += ',';
    body += line;
  }
  body += "],\"next\":" + (page.next == 0 ? "null" : std::to_string(page.next)) + "}";
  return {200, "application/json", std::move(body), ""};
}

}  // namespace

AuditService::AuditService(std::string folder, const audit::ReceiptStore& receipts,
                           const audit::SigningKey& key)
    : folder_(std::move(folder)),
      receipts_(receipts),
      key_(key),
      searches_({.running = 1, .waiting = kMaxWaiting}) {}

AuditService::~AuditService() { searches_.Drain(std::chrono::steady_clock::time_point::max()); }

void AuditService::Search(const WebRequest& request, std::shared_ptr<WebReply> reply) {
  core::Result<AuditTerms> terms = AuditTermsOf(request.query);
  if (!terms) return reply->Finish(Problem(400, terms.error().detail));
  const Caller& caller = request.caller;
  if (!caller.is_operator) {
    if (terms->query.caller && *terms->query.caller != caller.name) {
      return reply->Finish(Problem(403, "only operators can see others' entries"));
    }
    terms->query.caller = caller.name;
  }
  const auto search = [this, terms = std::move(*terms), reply, gone = request.peer_gone] {
    if (gone->cancelled()) return;
    const core::Result<audit::SearchPage> page =
        audit::SearchBackwards(folder_, terms.query, terms.before, terms.limit, kSearchWork);
    // The operator can find out where it is; others need not know.
    if (!page) return reply->Finish(Problem(500, "the audit log cannot be read"));
    reply->Finish(PageAnswer(*page));
  };
  if (searches_.Submit(caller.name, 0, search)) {
    reply->Finish(
        Problem(429, "too many searches of the audit log are waiting", "Retry-After: 1\r\n"));
  }
}

WebAnswer AuditService::Receipt(const WebRequest& request) const {
  const std::string& id = request.parameters[0];
  const audit::ReceiptStore::Found found = receipts_.Find(request.caller.name, id);
  if (found.is_running) {
    return Problem(409, "this execution has not ended", "Retry-After: 1\r\n");
  }
  if (found.statement.empty()) {
    return Problem(404, "no receipt of an execution " + core::Quoted(id) +
                            ": its caller can read it until later executions have replaced it");
  }
  return {200, "application/json", audit::SignStatement(found.statement, key_), ""};
}

}  // namespace belljar::server::rest
