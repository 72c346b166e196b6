#include <sys/stat.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/console.h"
#include "cli/exit_code.h"
#include "engine/core/fd.h"
#include "engine/core/text.h"
#include "engine/host/digest.h"
#include "engine/host/json_reader.h"
#include "server/audit/chain.h"
#include "server/audit/log_folder.h"
#include "server/audit/search.h"
#include "server/audit/signing_key.h"
#include "server/audit/verify.h"

namespace belljar::cli {
namespace {

namespace fs = std::filesystem;
namespace audit = server::audit;
using StringList = std::vector<std::string>;

constexpr size_t kShownDigits = 16;  // of a hash, in text
constexpr size_t kShownPiece = size_t{64} << 10;
constexpr size_t kMaxProgram = size_t{64} << 20;

// --- what the commands share --------------------------------------------------------------------

void AddFolderOption(CLI::App* parser, std::optional<std::string>& folder) {
  AddText(parser, "--folder", folder, "DIR",
          "the log's folder (default: \"audit\" in this user's state folder)");
}

void AddKeyOption(CLI::App* parser, StringList& keys) {
  AddRepeatable(
      parser, "--key", keys, kFileType,
      "public key obtained independently of the log; repeatable (default: those next to it)");
}

core::Result<std::string> LogFolderOf(const std::optional<std::string>& given) {
  std::string folder = given.value_or(audit::DefaultFolder());
  if (folder.empty()) return UsersError("no home folder; name the log with --folder");
  return folder;
}

core::Result<std::vector<audit::PublicKey>> LogKeys(const StringList& files,
                                                    const std::string& folder) {
  if (files.empty()) return audit::ReadKeys(folder);
  std::vector<audit::PublicKey> keys;
  for (const std::string& file : files) {
    core::Result<audit::PublicKey> key = audit::PublicKey::Read(file);
    if (!key) return key.error();
    keys.push_back(std::move(*key));
  }
  return keys;
}

std::string ShortHash(const std::string& hash) {
  return hash.size() > kShownDigits ? hash.substr(0, kShownDigits) + "…" : hash;
}

// --- entries as text
// ------------------------------------------------------------------------------

std::string EntryMember(const nlohmann::json& object, const char* name) {
  const auto found = object.find(name);
  if (found == object.end()) return "";
  return core::Printable(found->is_string() ? found->get<std::string>() : found->dump());
}

void AddFact(std::string& text, const char* name, const std::string& value) {
  if (!value.empty()) text += std::string("  ") + name + " " + value;
}

std::string EntryLayers(const nlohmann::json& isolation) {
  std::string missing;
  for (const nlohmann::json& layer : isolation.value("layers", nlohmann::json::array())) {
    if (!layer.is_object() || layer.value("held", true)) continue;
    missing += (missing.empty() ? "" : ", ") + EntryMember(layer, "name");
  }
  const std::string mode = EntryMember(isolation, "mode");
  return missing.empty() ? mode : mode + " without " + missing;
}

std::string ExecutionText(const nlohmann::json& execution) {
  std::string text = "  " + EntryMember(execution, "status");
  AddFact(text, "reason", EntryMember(execution, "reason"));
  if (const auto usage = execution.find("usage"); usage != execution.end()) {
    AddFact(text, "seconds", EntryMember(*usage, "wall_time"));
  }
  if (const auto code = execution.find("code"); code != execution.end()) {
    AddFact(text, "code", ShortHash(EntryMember(*code, "sha256")));
  }
  if (const auto isolation = execution.find("isolation"); isolation != execution.end()) {
    AddFact(text, "isolation", EntryLayers(*isolation));
  }
  AddFact(text, "id", EntryMember(execution, "id"));
  return text;
}

// One line without its end. Whatever an entry contains, it is displayed as text.
std::string EntryText(std::string_view line) {
  auto reading = host::ReadJson(line, {});
  const nlohmann::json* const entry = std::get_if<nlohmann::json>(&reading);
  if (!entry || !entry->is_object()) return core::Printable(line);
  std::string text = EntryMember(*entry, "time") + "  " + EntryMember(*entry, "seq") + "  " +
                     EntryMember(*entry, "kind");
  for (const char* name : {"caller", "tool", "profile", "action"}) {
    if (const std::string value = EntryMember(*entry, name); !value.empty()) text += "  " + value;
  }
  const auto execution = entry->find("execution");
  if (execution != entry->end() && execution->is_object()) text += ExecutionText(*execution);
  for (const char* name : {"session", "detail", "count", "segment", "through", "log", "key"}) {
    AddFact(text, name, EntryMember(*entry, name));
  }
  for (const nlohmann::json& setting : entry->value("settings", nlohmann::json::array())) {
    if (!setting.is_object()) continue;
    text += "  " + EntryMember(setting, "name") + "=" + EntryMember(setting, "value");
  }
  return text;
}

std::string Shown(std::string_view line, bool json) {
  return (json ? std::string(line) : EntryText(line)) + "\n";
}

// --- show ---------------------------------------------------------------------------------------

struct LogShowArguments {
  std::optional<std::string> folder;
  size_t last = 20;
  bool json = false;
};

int ShowLog(const LogShowArguments& arguments) {
  const core::Result<std::string> folder = LogFolderOf(arguments.folder);
  if (!folder) return UsageError("audit show", folder.error().ToString());
  const core::Result<StringList> lines = audit::LastLines(*folder, {}, arguments.last);
  if (!lines) return OwnFailure(lines.error());
  std::string text;
  for (const std::string& line : *lines) text += Shown(line, arguments.json);
  return Answer(text, kExitOk);
}

Command MakeLogShowCommand(CLI::App& above) {
  auto arguments = std::make_shared<LogShowArguments>();
  CLI::App* parser = AddCommand(above, "show", "Show the last entries of the audit log");
  AddFolderOption(parser, arguments->folder);
  parser->add_option("--last", arguments->last, "number of entries")
      ->type_name("N")
      ->check(CLI::Range(1, 100'000))
      ->capture_default_str();
  AddFlag(parser, "--json", arguments->json, "print entries as in the log, one per line");
  SetExamples(parser,
              {"belljar audit show  # the log of belljar serve --audit",
               "belljar audit show --folder /var/lib/belljar/audit --last 100  # another log",
               "belljar audit show --json  # for a program"});
  return {parser, [arguments] { return ShowLog(*arguments); }};
}

// --- search -------------------------------------------------------------------------------------

struct LogSearchArguments {
  std::optional<std::string> folder;
  audit::Query query;
  std::optional<std::string> code;
  bool json = false;
};

// Errors are the user's.
core::Result<audit::Query> LogQuery(const LogSearchArguments& arguments) {
  audit::Query query = arguments.query;
  for (const auto& [name, time] : {std::pair("--since", query.since), {"--until", query.until}}) {
    const std::string violation = time ? audit::TimeViolation(*time) : "";
    if (!violation.empty()) {
      return UsersError(std::string(name) + " " + core::Quoted(*time) + ": " + violation);
    }
  }
  const StringList kinds = audit::EntryKinds();
  if (query.kind && !core::Contains(kinds, *query.kind)) {
    return UsersError("--kind " + core::Quoted(*query.kind) + " is none of " + core::Joined(kinds));
  }
  if (arguments.code) {
    const core::Result<std::string> bytes = core::ReadFile(*arguments.code, kMaxProgram);
    if (!bytes) return UsersError(bytes.error().ToString());
    query.sha256 = host::Sha256(*bytes);
  }
  return query;
}

int SearchLog(const LogSearchArguments& arguments) {
  const core::Result<std::string> folder = LogFolderOf(arguments.folder);
  if (!folder) return UsageError("audit search", folder.error().ToString());
  const core::Result<audit::Query> query = LogQuery(arguments);
  if (!query) return UsageError("audit search", query.error().ToString());
  std::string text;
  core::Result<void> written;
  const core::Result<audit::SearchResult> result =
      audit::Search(*folder, *query, [&](const audit::FoundLine& line) {
        text += Shown(line.text, arguments.json);
        if (text.size() < kShownPiece || !written) return;
        written = WriteAll(STDOUT_FILENO, text);
        text.clear();
      });
  if (!result) return OwnFailure(result.error());
  if (!written) return ExitAfterOutput(written, kExitOk);
  for (const std::string& place : result->unreadable) {
    Say("belljar: " + place + ": not an entry; run belljar audit verify\n");
  }
  return Answer(text, result->found > 0 ? kExitOk : kExitFindings);
}

Command MakeLogSearchCommand(CLI::App& above) {
  auto arguments = std::make_shared<LogSearchArguments>();
  audit::Query& query = arguments->query;
  CLI::App* parser =
      AddCommand(above, "search", "Search the audit log; exit with 1 if nothing is found");
  AddFolderOption(parser, arguments->folder);
  AddText(parser, "--kind", query.kind, "KIND", "kind of entry: execution, refusal, session, …");
  AddText(parser, "--caller", query.caller, "NAME", "name of the token");
  AddText(parser, "--tool", query.tool, "NAME", "tool, such as execute_code");
  AddText(parser, "--profile", query.profile, kProfileType, "profile of the call");
  AddText(parser, "--status", query.status, "STATUS", "status: ok, exception, refused, …");
  AddText(parser, "--execution", query.execution, "ID", "one execution");
  AddText(parser, "--session", query.session, "ID", "one session");
  AddText(parser, "--code", arguments->code, kFileType, "executions of this program file");
  AddText(parser, "--sha256", query.sha256, "HASH",
          "entries with this digest, of code, an input, output or an artifact");
  AddText(parser, "--since", query.since, "TIME", "UTC timestamp or prefix: 2026-11-26T05");
  AddText(parser, "--until", query.until, "TIME", "UTC timestamp or prefix, inclusive");
  AddFlag(parser, "--json", arguments->json, "print entries as in the log, one per line");
  SetExamples(parser,
              {"belljar audit search --caller team-a --since 2026-11-26  # one token's entries",
               "belljar audit search --status timeout --json  # for a program",
               "belljar audit search --code program.py  # who ran this, and when",
               "belljar audit search --kind refusal  # what was refused"});
  return {parser, [arguments] { return SearchLog(*arguments); }};
}

// --- verify -------------------------------------------------------------------------------------

struct LogVerifyArguments {
  std::optional<std::string> folder;
  StringList keys;
  StringList heads;
  bool json = false;
};

std::string LogPlace(const audit::Fault& fault) {
  std::string place = core::Printable(fault.file);
  if (fault.line > 0) place += ":" + std::to_string(fault.line);
  return place.empty() ? "" : place + ": ";
}

nlohmann::json LogFaultsJson(const std::vector<audit::Fault>& faults) {
  nlohmann::json list = nlohmann::json::array();
  for (const audit::Fault& fault : faults) {
    list.push_back({{"file", fault.file}, {"line", fault.line}, {"reason", fault.reason}});
  }
  return list;
}

std::string VerificationJson(const audit::Verification& verified) {
  const nlohmann::json object = {{"ok", verified.faults.empty()},
                                 {"faults", LogFaultsJson(verified.faults)},
                                 {"notes", LogFaultsJson(verified.notes)},
                                 {"log", verified.log},
                                 {"segments", verified.segments},
                                 {"entries", verified.entries},
                                 {"unsigned_entries", verified.unsigned_entries},
                                 {"head", verified.head},
                                 {"keys", verified.keys}};
  return JsonText(object);
}

std::string CountText(uint64_t count, const std::string& noun, const std::string& plural) {
  return WithThousands(count) + " " + (count == 1 ? noun : plural);
}

std::string VerificationText(const audit::Verification& verified) {
  std::string text;
  for (const audit::Fault& fault : verified.faults) {
    text += LogPlace(fault) + fault.reason + "\n";
  }
  for (const audit::Fault& note : verified.notes) {
    text += LogPlace(note) + "note: " + note.reason + "\n";
  }
  text += CountText(verified.entries, "entry", "entries") + " in " +
          CountText(verified.segments, "segment", "segments");
  if (verified.unsigned_entries > 0) {
    text += ", " + WithThousands(verified.unsigned_entries) + " of them not yet signed";
  }
  for (const std::string& key : verified.keys) text += ", signed with key " + ShortHash(key);
  if (!verified.faults.empty()) {
    return text + "\nthe log was modified or is damaged: " +
           CountText(verified.faults.size(), "fault", "faults") + "\n";
  }
  return text + "\nhead " + verified.head + "\nnothing was modified, removed, added or reordered\n";
}

int ReportVerification(const audit::Verification& verified, bool json) {
  const int code = verified.faults.empty() ? kExitOk : kExitFindings;
  return Answer(json ? VerificationJson(verified) : VerificationText(verified), code);
}

int VerifyLog(const LogVerifyArguments& arguments) {
  const core::Result<std::string> folder = LogFolderOf(arguments.folder);
  if (!folder) return UsageError("audit verify", folder.error().ToString());
  const core::Result<std::vector<audit::PublicKey>> keys = LogKeys(arguments.keys, *folder);
  if (!keys) return OwnFailure(keys.error());
  const core::Result<audit::Verification> verified =
      audit::VerifyLog(*folder, *keys, arguments.heads);
  if (!verified) return OwnFailure(verified.error());
  return ReportVerification(*verified, arguments.json);
}

Command MakeLogVerifyCommand(CLI::App& above) {
  auto arguments = std::make_shared<LogVerifyArguments>();
  CLI::App* parser =
      AddCommand(above, "verify",
                 "Verify that nothing in the audit log was modified, removed, added or reordered");
  AddFolderOption(parser, arguments->folder);
  AddKeyOption(parser, arguments->keys);
  AddRepeatable(parser, "--expect-head", arguments->heads, "HASH",
                "a head that was noted before, which the log must contain; repeatable. Without "
                "one, the removal of its end is not found");
  AddFlag(parser, "--json", arguments->json, "print one JSON object");
  SetExamples(parser, {"belljar audit verify  # exits with 0 if it verifies, else 1",
                       "belljar audit verify --key audit-key.pub  # with a key from elsewhere",
                       "belljar audit verify --expect-head 9f86d0…  # with an earlier head"});
  return {parser, [arguments] { return VerifyLog(*arguments); }};
}

// --- export -------------------------------------------------------------------------------------

struct LogExportArguments {
  std::optional<std::string> target;
  std::optional<std::string> folder;
  StringList keys;
  bool json = false;
};

core::Error CannotExportLog(const std::string& target, const std::error_code& code) {
  return core::SystemErrorOf(code.value(), "export the audit log to " + core::Quoted(target));
}

// The last segment is complete only once its server has stopped.
core::Result<bool> IsClosed(const audit::SegmentFile& segment) {
  bool is_closed = false;
  core::Result<audit::LineReader> reader = audit::LineReader::Open(segment.path);
  if (!reader) return reader.error();
  for (;;) {
    const auto line = reader->Next();
    if (!line) return line.error();
    if (!*line) return is_closed;
    const auto read = audit::Read((*line)->text);
    const auto* entry = std::get_if<audit::ReadLine>(&read);
    is_closed = entry && entry->kind == "segment_end";
  }
}

core::Result<void> CopyLog(const std::string& folder, const std::string& target) {
  core::Result<std::vector<audit::SegmentFile>> segments = audit::ListSegments(folder);
  if (!segments) return segments.error();
  if (!segments->empty()) {
    const core::Result<bool> is_closed = IsClosed(segments->back());
    if (!is_closed) return is_closed.error();
    if (!*is_closed) segments->pop_back();
  }
  if (segments->empty()) {
    return core::MakeError("export the audit log in " + core::Quoted(folder),
                           "no segment has been signed yet");
  }
  const core::Result<std::vector<audit::PublicKey>> keys = audit::ReadKeys(folder);
  if (!keys) return keys.error();
  // A new folder, so that nothing is mixed up or overwritten.
  if (mkdir(target.c_str(), 0700) != 0) {
    return core::SystemError("export the audit log to " + core::Quoted(target),
                             errno == EEXIST ? "name a folder that does not exist yet" : "");
  }
  for (const audit::SegmentFile& segment : *segments) {
    std::error_code code;
    fs::copy_file(segment.path, fs::path(target) / fs::path(segment.path).filename(), code);
    if (code) return CannotExportLog(target, code);
  }
  for (const audit::PublicKey& key : *keys) {
    const std::string path = target + "/key-" + key.id().substr(0, kShownDigits) + ".pub";
    if (core::Result<void> written = key.Write(path); !written) return written;
  }
  return {};
}

int ExportLog(const LogExportArguments& arguments) {
  const core::Result<std::string> folder = LogFolderOf(arguments.folder);
  if (!folder) return UsageError("audit export", folder.error().ToString());
  if (core::Result<void> copied = CopyLog(*folder, *arguments.target); !copied) {
    return OwnFailure(copied.error());
  }
  // The copy is what others will rely on.
  const core::Result<std::vector<audit::PublicKey>> keys =
      LogKeys(arguments.keys, *arguments.target);
  if (!keys) return OwnFailure(keys.error());
  const core::Result<audit::Verification> verified = audit::VerifyLog(*arguments.target, *keys);
  if (!verified) return OwnFailure(verified.error());
  return ReportVerification(*verified, arguments.json);
}

Command MakeLogExportCommand(CLI::App& above) {
  auto arguments = std::make_shared<LogExportArguments>();
  CLI::App* parser = AddCommand(
      above, "export", "Copy all signed segments, with the public key, and verify the copy");
  AddText(parser, "DIR", arguments->target, "DIR", "folder to create")->required();
  AddFolderOption(parser, arguments->folder);
  AddKeyOption(parser, arguments->keys);
  AddFlag(parser, "--json", arguments->json, "print one JSON object");
  SetExamples(parser,
              {"belljar audit export audit-2026-11  # while the server runs",
               "belljar audit verify --folder audit-2026-11  # verify it on another machine"});
  return {parser, [arguments] { return ExportLog(*arguments); }};
}

}  // namespace

std::vector<Command> MakeAuditCommands(CLI::App& app) {
  CLI::App* parser = AddCommand(app, "audit", "Show, search, verify and export the audit log");
  Command whole{parser, [&app] {
                  Say(app.help());
                  return kExitUsage;
                }};
  SetExamples(parser, {"belljar serve --audit  # a server that keeps one",
                       "belljar audit show  # its last entries",
                       "belljar audit verify  # check that it was not modified",
                       "belljar audit search --help  # all options"});
  return {std::move(whole), MakeLogShowCommand(*parser), MakeLogSearchCommand(*parser),
          MakeLogVerifyCommand(*parser), MakeLogExportCommand(*parser)};
}

}  // namespace belljar::cli
