#include "server/audit/receipt.h"

#include <optional>
#include <utility>

#include "engine/core/text.h"
#include "engine/host/base64.h"
#include "engine/host/json_reader.h"
#include "engine/host/version.h"

namespace belljar::server::audit {
namespace {

using Json = nlohmann::json;

constexpr host::JsonBounds kBounds = {.depth = 16, .values = 100'000};
constexpr size_t kMaxSignatures = 16;

void AppendSubject(std::string& to, std::string_view name, std::string_view sha256) {
  if (to.back() == '}') to += ',';
  to += "{\"name\":";
  AppendText(to, name);
  to += ",\"digest\":{\"sha256\":";
  AppendText(to, sha256);
  to += "}}";
}

std::string Subjects(const AuditedExecution& execution) {
  std::string list = "[";
  const auto add = [&](const char* name, const std::optional<Digest>& digest) {
    if (digest) AppendSubject(list, name, digest->sha256);
  };
  add(kOutputSubject, execution.standard_output);
  add(kErrorsSubject, execution.standard_error);
  add(kResultSubject, execution.result);
  for (const NamedDigest& artifact : execution.artifacts) {
    if (artifact.sha256.empty()) continue;  // unknown, since its content was not read
    AppendSubject(list, kArtifactSubject + artifact.name, artifact.sha256);
  }
  // A statement needs at least one subject: that of a run without an outcome is its code.
  if (list.back() == '[') AppendSubject(list, "code", execution.code.sha256);
  return list + "]";
}

core::Error Wrong(std::string why) { return core::MakeError("receipt", std::move(why)); }

// Null: absent, or of another type.
const Json* Member(const Json& object, const char* name, Json::value_t type) {
  const auto found = object.is_object() ? object.find(name) : object.end();
  return found != object.end() && found->type() == type ? &*found : nullptr;
}

std::string Text(const Json& object, const char* name) {
  const Json* const text = Member(object, name, Json::value_t::string);
  return text ? text->get<std::string>() : std::string();
}

core::Result<Json> ReadObject(std::string_view text, const char* what) {
  auto reading = host::ReadJson(text, kBounds);
  Json* const object = std::get_if<Json>(&reading);
  if (!object || !object->is_object()) return Wrong(std::string(what) + " is not a JSON object");
  return std::move(*object);
}

// The id of the key whose signature is valid. An envelope's own statements about its keys are only
// hints, and not needed.
std::optional<std::string> SignerOf(const Json& envelope, std::string_view payload,
                                    const std::vector<PublicKey>& keys) {
  const Json* const signatures = Member(envelope, "signatures", Json::value_t::array);
  if (!signatures || signatures->size() > kMaxSignatures) return std::nullopt;
  for (const Json& each : *signatures) {
    const std::string signature = Text(each, "sig");
    for (const PublicKey& key : keys) {
      if (key.Verifies(kReceiptType, payload, signature)) return key.id();
    }
  }
  return std::nullopt;
}

}  // namespace

std::string StatementOf(const ReceiptTerms& terms, const AuditedExecution& execution) {
  std::string text = "{\"_type\":";
  const auto member = [&text](const char* name, std::string_view value) {
    text += ",\"";
    text += name;
    text += "\":";
    AppendText(text, value);
  };
  AppendText(text, kStatementType);
  text += ",\"subject\":" + Subjects(execution);
  member("predicateType", kPredicateType);
  text += ",\"predicate\":{\"time\":";
  AppendText(text, TimeNow());
  member("belljar", host::kBelljarVersion);
  member("python", host::kPythonVersion);
  member("profile", terms.profile);
  if (!terms.caller.empty()) member("caller", terms.caller);
  return text + ",\"execution\":" + ObjectOf(execution) + "}}";
}

std::string SignStatement(const std::string& statement, const SigningKey& key) {
  return "{\"payload\":\"" + host::EncodeBase64(statement) + "\",\"payloadType\":\"" +
         kReceiptType + "\",\"signatures\":[{\"keyid\":\"" + key.public_key().id() +
         "\",\"sig\":\"" + key.Sign(kReceiptType, statement) + "\"}]}\n";
}

std::string MakeReceipt(const ReceiptTerms& terms, const AuditedExecution& execution,
                        const SigningKey& key) {
  return SignStatement(StatementOf(terms, execution), key);
}

core::Result<Receipt> VerifyReceipt(std::string_view envelope, const std::vector<PublicKey>& keys) {
  if (envelope.size() > kMaxReceipt) return Wrong("it is too long");
  core::Result<Json> object = ReadObject(envelope, "it");
  if (!object) return object.error();
  if (Text(*object, "payloadType") != kReceiptType) {
    return Wrong(std::string("it is not an envelope of ") + kReceiptType);
  }
  const std::optional<std::string> payload = DecodeCanonical(Text(*object, "payload"));
  if (!payload) return Wrong("its payload is not base64");
  std::optional<std::string> signer = SignerOf(*object, *payload, keys);
  if (!signer) {
    return Wrong(
        "it has no valid signature of the given key: it was modified, or another key signed it");
  }
  core::Result<Json> statement = ReadObject(*payload, "its payload");
  if (!statement) return statement.error();
  if (Text(*statement, "_type") != kStatementType ||
      Text(*statement, "predicateType") != kPredicateType ||
      !Member(*statement, "subject", Json::value_t::array) ||
      !Member(*statement, "predicate", Json::value_t::object)) {
    return Wrong("the signed content is not a statement about an execution");
  }
  return Receipt{std::move(*signer), std::move(*statement)};
}

std::string SubjectDigest(const Receipt& receipt, std::string_view name) {
  for (const Json& subject : receipt.statement["subject"]) {
    if (Text(subject, "name") != name) continue;
    const Json* const digest = Member(subject, "digest", Json::value_t::object);
    return digest ? Text(*digest, "sha256") : std::string();
  }
  return "";
}

std::string InputDigest(const Receipt& receipt, std::string_view name) {
  const Json* const execution =
      Member(receipt.statement["predicate"], "execution", Json::value_t::object);
  const Json* const input =
      execution ? Member(*execution, std::string(name).c_str(), Json::value_t::object) : nullptr;
  return input ? Text(*input, "sha256") : std::string();
}

}  // namespace belljar::server::audit
