#include "cli/receipt.h"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "cli/commands.h"
#include "cli/console.h"
#include "cli/exit_code.h"
#include "cli/validate/atomic_file.h"
#include "engine/core/fd.h"
#include "engine/core/text.h"
#include "engine/host/digest.h"
#include "engine/host/state_path.h"
#include "server/audit/receipt.h"

namespace belljar::cli {
namespace {

namespace audit = server::audit;
using StringList = std::vector<std::string>;

constexpr size_t kMaxCompared = size_t{1} << 30;  // of a file that is compared
constexpr char kOwnKey[] = "receipt-key.pem";

struct ReceiptArguments {
  std::optional<std::string> file;
  StringList keys;
  std::optional<std::string> code;
  std::optional<std::string> standard_input;
  std::optional<std::string> standard_output;
  StringList artifacts;  // PATH=FILE
  bool json = false;
};

// A file to compare with the receipt's digest of `what`.
struct Comparison {
  std::string what;
  std::string file;
  std::string digest;  // from the receipt; empty: it has none
};

core::Result<std::vector<audit::PublicKey>> ReceiptKeys(const StringList& files) {
  StringList paths = files;
  if (paths.empty()) {
    const std::string own = host::StatePath(kOwnKey);
    if (own.empty() || access(audit::PublicPathOf(own).c_str(), F_OK) != 0) {
      return UsersError(
          "this user has not signed any receipts; name the signer's public key with --key");
    }
    paths = {audit::PublicPathOf(own)};
  }
  std::vector<audit::PublicKey> keys;
  for (const std::string& path : paths) {
    core::Result<audit::PublicKey> key = audit::PublicKey::Read(path);
    if (!key) return UsersError(key.error().ToString());
    keys.push_back(std::move(*key));
  }
  return keys;
}

// Errors are the user's.
core::Result<std::vector<Comparison>> ComparisonsOf(const ReceiptArguments& arguments,
                                                    const audit::Receipt& receipt) {
  std::vector<Comparison> comparisons;
  if (arguments.code) {
    comparisons.push_back({"code", *arguments.code, audit::InputDigest(receipt, "code")});
  }
  if (arguments.standard_input) {
    comparisons.push_back(
        {"stdin", *arguments.standard_input, audit::InputDigest(receipt, "stdin")});
  }
  if (arguments.standard_output) {
    comparisons.push_back({audit::kOutputSubject, *arguments.standard_output,
                           audit::SubjectDigest(receipt, audit::kOutputSubject)});
  }
  for (const std::string& each : arguments.artifacts) {
    const size_t at = each.find('=');
    if (at == std::string::npos || at == 0 || at + 1 == each.size()) {
      return UsersError("--artifact " + core::Quoted(each) +
                        ": write PATH=FILE, the artifact's path in the receipt and a file");
    }
    const std::string name = audit::kArtifactSubject + each.substr(0, at);
    comparisons.push_back({name, each.substr(at + 1), audit::SubjectDigest(receipt, name)});
  }
  return comparisons;
}

// What is wrong; empty: the file is the one described by the receipt.
core::Result<std::string> CompareWithReceipt(const Comparison& comparison) {
  const core::Result<std::string> bytes = core::ReadFile(comparison.file, kMaxCompared);
  if (!bytes) return bytes.error();
  const std::string what = core::Printable(comparison.what);
  if (comparison.digest.empty()) return "the receipt lists no " + what;
  if (host::Sha256(*bytes) == comparison.digest) return std::string();
  return core::Quoted(comparison.file) + " is not the " + what + " listed in the receipt";
}

std::string StatementText(const nlohmann::json& object, const char* name) {
  const auto found = object.is_object() ? object.find(name) : object.end();
  if (found == object.end()) return "";
  return core::Printable(found->is_string() ? found->get<std::string>() : found->dump());
}

nlohmann::json StatementPart(const nlohmann::json& object, const char* name) {
  const auto found = object.is_object() ? object.find(name) : object.end();
  return found == object.end() ? nlohmann::json() : *found;
}

std::string ReceiptLayers(const nlohmann::json& isolation) {
  std::string held, missing;
  for (const nlohmann::json& layer : StatementPart(isolation, "layers")) {
    std::string& list = StatementPart(layer, "held") == true ? held : missing;
    list += (list.empty() ? "" : ", ") + StatementText(layer, "name");
  }
  std::string policy = StatementText(isolation, "policy");
  if (policy.empty())
    policy = StatementText(isolation, "language") == "full" ? "off" : "on";  // 0.1
  return StatementText(isolation, "mode") + ", language policy " + policy +
         "; observed: " + (held.empty() ? "none" : held) +
         (missing.empty() ? "" : "; missing: " + missing);
}

std::string ReceiptText(const audit::Receipt& receipt) {
  const nlohmann::json& predicate = receipt.statement["predicate"];
  const nlohmann::json execution = StatementPart(predicate, "execution");
  std::string text =
      "execution " + StatementText(execution, "id") + ": " + StatementText(execution, "status");
  if (const std::string reason = StatementText(execution, "reason"); !reason.empty()) {
    text += " (" + reason + ")";
  }
  text += "\n  at         " + StatementText(predicate, "time") + "\n  by         belljar " +
          StatementText(predicate, "belljar") + ", CPython " + StatementText(predicate, "python") +
          ", profile " + StatementText(predicate, "profile");
  if (const nlohmann::json isolation = StatementPart(execution, "isolation");
      isolation.is_object()) {
    text += "\n  isolation  " + ReceiptLayers(isolation);
  }
  text += "\n  code       sha256 " + audit::InputDigest(receipt, "code");
  for (const nlohmann::json& subject : receipt.statement["subject"]) {
    text += "\n  made       " + StatementText(subject, "name") + " sha256 " +
            StatementText(StatementPart(subject, "digest"), "sha256");
  }
  return text + "\n  signed     by key " + core::Printable(receipt.key) + "\n";
}

int ReportReceipt(const audit::Receipt& receipt, const StringList& faults, bool json) {
  const int code = faults.empty() ? kExitOk : kExitFindings;
  if (json) {
    const nlohmann::json object = {{"ok", faults.empty()},
                                   {"faults", faults},
                                   {"key", receipt.key},
                                   {"statement", receipt.statement}};
    return Answer(JsonText(object), code);
  }
  std::string text = ReceiptText(receipt);
  for (const std::string& fault : faults) text += fault + "\n";
  return Answer(text + (faults.empty() ? "the signature is valid\n" : ""), code);
}

int NotGenuine(const ReceiptArguments& arguments, const core::Error& error) {
  if (arguments.json) {
    const nlohmann::json object = {{"ok", false},
                                   {"faults", nlohmann::json::array({error.ToString()})}};
    return Answer(object.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace) + "\n",
                  kExitFindings);
  }
  return Answer(core::Quoted(*arguments.file) + ": " + error.ToString() + "\n", kExitFindings);
}

int VerifyReceiptFile(const ReceiptArguments& arguments) {
  const core::Result<std::vector<audit::PublicKey>> keys = ReceiptKeys(arguments.keys);
  if (!keys) return UsageError("receipt verify", keys.error().ToString());
  const core::Result<std::string> text = core::ReadFile(*arguments.file, audit::kMaxReceipt);
  if (!text) return UsageError("receipt verify", text.error().ToString());
  const core::Result<audit::Receipt> receipt = audit::VerifyReceipt(*text, *keys);
  if (!receipt) return NotGenuine(arguments, receipt.error());
  const core::Result<std::vector<Comparison>> comparisons = ComparisonsOf(arguments, *receipt);
  if (!comparisons) return UsageError("receipt verify", comparisons.error().ToString());
  StringList faults;
  for (const Comparison& comparison : *comparisons) {
    core::Result<std::string> fault = CompareWithReceipt(comparison);
    if (!fault) return UsageError("receipt verify", fault.error().ToString());
    if (!fault->empty()) faults.push_back(std::move(*fault));
  }
  return ReportReceipt(*receipt, faults, arguments.json);
}

Command MakeReceiptVerifyCommand(CLI::App& above) {
  auto arguments = std::make_shared<ReceiptArguments>();
  CLI::App* parser = AddCommand(above, "verify", "Verify a receipt; needs no server");
  AddText(parser, "FILE", arguments->file, kFileType, "the receipt")->required();
  AddRepeatable(parser, "--key", arguments->keys, kFileType,
                "public key of the signer; repeatable (default: this user's own)");
  AddText(parser, "--code", arguments->code, kFileType, "the program to compare");
  AddText(parser, "--stdin", arguments->standard_input, kFileType,
          "its standard input, to compare");
  AddText(parser, "--stdout", arguments->standard_output, kFileType,
          "its standard output, to compare");
  AddRepeatable(parser, "--artifact", arguments->artifacts, "PATH=FILE",
                "an artifact's path in the receipt, and the file to compare; repeatable");
  AddFlag(parser, "--json", arguments->json, "print one JSON object, with the statement");
  SetExamples(parser,
              {"belljar receipt verify receipt.json  # of belljar run --receipt receipt.json",
               "belljar receipt verify receipt.json --code program.py  # for this program?",
               "belljar receipt verify receipt.json --key server.pub  # from a server"});
  return {parser, [arguments] { return VerifyReceiptFile(*arguments); }};
}

}  // namespace

std::vector<Command> MakeReceiptCommands(CLI::App& app) {
  CLI::App* parser = AddCommand(app, "receipt", "Verify signed receipts of executions");
  Command whole{parser, [&app] {
                  Say(app.help());
                  return kExitUsage;
                }};
  SetExamples(parser, {"belljar run program.py --receipt receipt.json  # write one",
                       "belljar receipt verify receipt.json  # verify it",
                       "belljar receipt verify --help  # all options"});
  return {std::move(whole), MakeReceiptVerifyCommand(*parser)};
}

core::Result<audit::SigningKey> OpenReceiptKey(const std::optional<std::string>& path) {
  if (path) return audit::SigningKey::OpenOrMake(*path);
  const std::string own = host::StatePath(kOwnKey);
  if (own.empty()) return UsersError("no home folder; name a key with --receipt-key");
  std::error_code code;
  std::filesystem::create_directories(std::filesystem::path(own).parent_path(), code);
  if (code) return core::SystemErrorOf(code.value(), "make a key in " + core::Quoted(own));
  return audit::SigningKey::OpenOrMake(own);
}

core::Result<void> WriteReceipt(const std::string& path, const audit::SigningKey& key,
                                const std::string& profile, const host::Request& request,
                                const host::Outcome& outcome) {
  core::Result<validate::AtomicFile> file = validate::AtomicFile::Create(path);
  if (!file) return file.error();
  const std::string receipt =
      audit::MakeReceipt({profile, ""}, audit::Describe(request, &outcome), key);
  if (core::Result<void> written = file->Write(receipt); !written) return written;
  return file->Commit();
}

}  // namespace belljar::cli
