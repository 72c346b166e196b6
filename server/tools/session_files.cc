#include "server/tools/session_files.h"

#include <algorithm>
#include <utility>

#include "engine/core/text.h"
#include "engine/host/answer.h"
#include "engine/host/beneath.h"
#include "engine/host/program_text.h"
#include "engine/host/random.h"
#include "engine/host/suggest.h"
#include "engine/workspace/media_type.h"
#include "engine/workspace/workspace.h"
#include "server/tools/artifact_contents.h"
#include "server/tools/call_limits.h"
#include "server/tools/code_parameters.h"
#include "server/tools/output_schemas.h"
#include "server/tools/read_output.h"
#include "server/tools/session_archive.h"

namespace belljar::server::tools {
namespace {

using FilesJson = nlohmann::ordered_json;

constexpr const char* kFilesName = "session_files";
constexpr size_t kMaxFilesListed = 500;

// An action, with its required and optional arguments besides session and wait.
struct FilesAction {
  const char* name;
  std::vector<std::string> needs;
  std::vector<std::string> takes;
};
const std::vector<FilesAction>& FilesActions() {
  static const std::vector<FilesAction> kActions = {
      {"list", {}, {"path"}},   {"read", {"path"}, {}},     {"write", {"files"}, {}},
      {"delete", {"path"}, {}}, {"copy", {"to"}, {"path"}}, {"export", {}, {"path"}},
  };
  return kActions;
}

std::vector<Parameter> FilesParameters() {
  Parameter action;
  action.name = "action";
  action.description = "copy: to another session. export: as a tar file.";
  action.default_value = "list";
  action.max_bytes = 20;
  for (const FilesAction& each : FilesActions()) action.choices.push_back(each.name);
  Parameter path;
  path.name = "path";
  path.description = "Relative to the workspace. list, copy, export: or a folder; omitted: all.";
  path.max_bytes = host::kMaxPath;
  Parameter to;
  to.name = "to";
  to.description = "The session to copy to.";
  to.max_bytes = 100;
  Parameter files = FilesParameter("Files to write.");
  return {SessionParameter(), std::move(action), std::move(path),
          std::move(files),   std::move(to),     WaitParameter()};
}

ToolDescription DescribeFiles(const Sandboxes& sandboxes, const ParameterTable& parameters) {
  ToolDescription description;
  description.name = kFilesName;
  description.title = "Files of a session";
  description.description =
      "Lists, reads, writes, deletes, copies or exports the files of a session whose profile has a "
      "workspace" +
      std::string(Has(sandboxes, HasWorkspace) ? "" : " (none enabled here has one)") +
      ". They are part of its state: a rollback restores them.";
  description.input_schema = parameters.Schema();
  description.output_schema = SuccessSchema();
  description.destructive = true;
  return description;
}

bool IsGiven(const Arguments& arguments, const std::string& name) {
  return name == "files" ? arguments.Files(name).has_value() : arguments.Text(name) != nullptr;
}

// Arguments that do not belong to this action are errors: their caller relies on them.
void CheckFilesAction(const Arguments& arguments, const std::string& action,
                      std::vector<std::string>& problems) {
  std::vector<std::string> names;
  for (const FilesAction& each : FilesActions()) {
    names.push_back(each.name);
    if (each.name != action) continue;
    for (const char* name : {"path", "files", "to"}) {
      const bool is_needed = core::Contains(each.needs, name);
      const bool is_known = is_needed || core::Contains(each.takes, name);
      if (IsGiven(arguments, name) == is_needed) continue;
      if (is_needed) problems.push_back("action " + action + " needs " + name);
      if (!is_known) {
        problems.push_back(std::string(name) + " does not belong to action " + action +
                           "; omit it");
      }
    }
    return;
  }
  problems.push_back("action is " + core::Quoted(action) + "; it is one of " + core::Joined(names) +
                     host::Suggestion(action, names));
}

// Whether `path` is `folder`, or below it; an empty one is the workspace.
bool IsIn(const std::string& path, std::string_view folder) {
  while (folder.ends_with('/')) folder.remove_suffix(1);
  if (folder.empty() || path == folder) return true;
  return path.size() > folder.size() && path.starts_with(folder) && path[folder.size()] == '/';
}

ToolResult FilesAnswer(const OpenedSession& session, const FilesJson& object) {
  FilesJson whole = {{"success", true}, {"session", session.id()}};
  whole.update(object);
  using Handler = FilesJson::error_handler_t;
  return {core::SafeJson(whole.dump(-1, ' ', false, Handler::replace)), "", false, {}};
}

FilesJson Listing(const std::vector<sessions::SessionFile>& files, FilesJson object) {
  FilesJson list = FilesJson::array();
  for (const sessions::SessionFile& file : files) {
    if (list.size() == kMaxFilesListed) break;
    list.push_back({{"path", file.path}, {"size", file.size}});
  }
  if (files.size() > list.size()) object["left_out"] = files.size() - list.size();
  object["files"] = std::move(list);
  return object;
}

std::vector<sessions::SessionFile> SizesOf(const std::vector<host::InputFile>& files) {
  std::vector<sessions::SessionFile> sizes;
  for (const host::InputFile& file : files) {
    sizes.push_back({core::Printable(file.path), file.content.size()});
  }
  return sizes;
}

core::Error NoFile(const std::string& path) {
  return core::MakeError(
      "there is no file " + core::Quoted(path) + " in this session; action list shows its files",
      "");
}

// The last part of the path, or "workspace".
std::string ArchiveName(std::string path) {
  while (path.ends_with('/')) path.pop_back();
  const size_t slash = path.rfind('/');
  if (slash != path.npos) path.erase(0, slash + 1);
  return (path.empty() ? "workspace" : core::Printable(path)) + ".tar";
}

}  // namespace

struct SessionFiles::Request {
  const ToolCall& call;
  const Arguments& arguments;
  const SessionUse& session;
  const sessions::Patience patience;

  std::string path() const {
    const std::string* const path = arguments.Text("path");
    return path ? *path : "";
  }
};

SessionFiles::SessionFiles(const Sandboxes& sandboxes, SessionRegistry& registry,
                           const AnswersConfig& answers, ResourceStore& resources,
                           CallObserver* observer)
    : sandboxes_(sandboxes),
      registry_(registry),
      answers_(answers),
      resources_(resources),
      observer_(observer),
      parameters_(FilesParameters()),
      description_(DescribeFiles(sandboxes, parameters_)) {}

SessionFiles::Answer SessionFiles::List(const Request& request) const {
  core::Result<std::vector<sessions::SessionFile>> files =
      request.session->session().Files(request.patience);
  if (!files) return files.error();
  std::erase_if(
      *files, [&](const sessions::SessionFile& file) { return !IsIn(file.path, request.path()); });
  return FilesAnswer(*request.session, Listing(*files, FilesJson::object()));
}

// Like an artifact of a run: images and other non-text become contents or links; text becomes the
// text that a model reads.
SessionFiles::Answer SessionFiles::Read(const Request& request) const {
  const std::string path = request.path();
  core::Result<std::string> content = request.session->session().ReadFile(path, request.patience);
  if (!content) {
    return content.error().error_number == ENOENT ? NoFile(path) : content.error();
  }
  host::Outcome outcome;
  outcome.execution_id = core::Hex(host::RandomBytes());
  host::Artifact& artifact = outcome.artifacts.emplace_back();
  artifact.name = core::Printable(path);
  artifact.media_type = workspace::MediaTypeOf(path, *content);
  artifact.size = content->size();
  artifact.content = *content;
  const bool is_text = host::HoldsText(artifact);
  ContentBounds bounds = kLeanContents;
  if (is_text) bounds.embedded.count = 0;  // the text itself follows
  std::vector<Content> contents =
      TakeContents(outcome, bounds, request.call.caller.name, resources_);
  FilesJson object = {
      {"path", artifact.name}, {"size", artifact.size}, {"media_type", artifact.media_type}};
  const bool is_whole = is_text && !host::IsLonger(*content, answers_.characters * 2 / 5);
  if (is_whole) object["text"] = *content;
  if (!artifact.uri.empty()) object["uri"] = artifact.uri;
  ToolResult result = FilesAnswer(*request.session, object);
  if (is_text) {
    host::AnswerOptions options{answers_.characters};
    options.reader = kReadName;
    result.text = content->empty() ? "[belljar: the file is empty]"
                                   : host::ProgramText(*content, options, artifact.uri);
    if (is_whole) contents.clear();  // else a link
  } else {
    result.text = artifact.name + ", " + artifact.media_type + ", " +
                  std::to_string(artifact.size) + " bytes";
  }
  result.contents = std::move(contents);
  return result;
}

// The profile of the session's own language, or, if that has no files, of one that has.
const core::Profile& SessionFiles::ProfileOfFiles(const OpenedSession& session,
                                                  const Caller& caller) const {
  const core::Profile& own = session.profile().profile;
  if (own.workspace) return own;
  for (const std::string& language : session.session().languages()) {
    const core::Result<const EnabledProfile*> other =
        sandboxes_.ChooseLanguage(language, false, caller);
    if (other && *other && (*other)->profile.workspace) return (*other)->profile;
  }
  return own;
}

SessionFiles::Answer SessionFiles::Write(const Request& request) const {
  const std::vector<host::InputFile> files = *request.arguments.Files("files");
  OpenedSession& session = *request.session;
  const core::Result<void> checked =
      workspace::CheckFiles(files, ProfileOfFiles(session, request.call.caller));
  if (!checked) return core::MakeError(checked.error().ToString(), "");
  const core::Result<void> written = session.session().WriteFiles(files, request.patience);
  if (!written) return written.error();
  RecordSession(observer_, "files_written", request.call.caller, session,
                std::to_string(files.size()));
  return FilesAnswer(session, Listing(SizesOf(files), FilesJson::object()));
}

SessionFiles::Answer SessionFiles::Delete(const Request& request) const {
  const std::string path = request.path();
  const core::Result<void> removed = request.session->session().RemoveFile(path, request.patience);
  if (!removed) {
    return removed.error().error_number == ENOENT ? NoFile(path) : removed.error();
  }
  RecordSession(observer_, "file_deleted", request.call.caller, *request.session);
  return FilesAnswer(*request.session, {{"path", path}, {"deleted", true}});
}

SessionFiles::Answer SessionFiles::Copy(const Request& request) const {
  core::Result<SessionUse> to =
      SessionUse::Find(registry_, *request.arguments.Text("to"), request.call);
  if (!to) return to.error();
  sessions::Session& session = request.session->session();
  const core::Result<std::vector<sessions::SessionFile>> files = session.Files(request.patience);
  if (!files) return files.error();
  std::vector<host::InputFile> copies;
  for (const sessions::SessionFile& file : *files) {
    if (!IsIn(file.path, request.path())) continue;
    core::Result<std::string> content = session.ReadFile(file.path, request.patience);
    if (!content) return content.error();
    copies.push_back({file.path, std::move(*content)});
  }
  if (copies.empty()) return NoFile(request.path());
  if ((*to)->session().has_workspace()) {
    const core::Result<void> checked =
        workspace::CheckFiles(copies, ProfileOfFiles(**to, request.call.caller));
    if (!checked) return core::MakeError(checked.error().ToString(), "");
  }
  if (core::Result<void> written = (*to)->session().WriteFiles(copies, request.patience);
      !written) {
    return written.error();
  }
  RecordSession(observer_, "files_written", request.call.caller, **to,
                std::to_string(copies.size()));
  return FilesAnswer(*request.session, Listing(SizesOf(copies), {{"to", (*to)->id()}}));
}

SessionFiles::Answer SessionFiles::Export(const Request& request) const {
  sessions::Session& session = request.session->session();
  core::Result<std::vector<sessions::SessionFile>> files = session.Files(request.patience);
  if (!files) return files.error();
  std::erase_if(
      *files, [&](const sessions::SessionFile& file) { return !IsIn(file.path, request.path()); });
  if (files->empty()) return NoFile(request.path());
  core::Result<SessionArchive> archive = MakeArchive(
      std::move(*files),
      [&](const std::string& path) { return session.ReadFile(path, request.patience); },
      resources_.max_each());
  if (!archive) return archive.error();
  host::Outcome outcome;
  outcome.execution_id = core::Hex(host::RandomBytes());
  host::Artifact& artifact = outcome.artifacts.emplace_back();
  artifact.name = ArchiveName(request.path());
  artifact.media_type = "application/x-tar";
  artifact.size = archive->bytes.size();
  artifact.content = std::move(archive->bytes);
  std::vector<Content> contents =
      TakeContents(outcome, kLeanContents, request.call.caller.name, resources_);
  FilesJson object = {{"path", artifact.name},
                      {"size", artifact.size},
                      {"media_type", artifact.media_type},
                      {"uri", artifact.uri},
                      {"count", archive->files}};
  const std::string count = std::to_string(archive->files);
  std::string text = artifact.name + ", " + std::to_string(artifact.size) + " bytes, with " +
                     count + (archive->files == 1 ? " file" : " files");
  if (archive->left_out > 0) {
    object["left_out"] = archive->left_out;
    text +=
        ", without " + std::to_string(archive->left_out) + " whose names a tar file cannot have";
  }
  RecordSession(observer_, "files_exported", request.call.caller, *request.session, count);
  ToolResult result = FilesAnswer(*request.session, object);
  result.text = std::move(text);
  result.contents = std::move(contents);
  return result;
}

core::Result<ToolResult> SessionFiles::Call(const ToolCall& call) {
  std::vector<std::string> problems;
  const Arguments arguments = parameters_.Check(call.arguments, problems);
  const std::string* const given = arguments.Text("action");
  const std::string action = given ? *given : "list";
  if (problems.empty()) CheckFilesAction(arguments, action, problems);
  if (!problems.empty()) return RefusedArguments(kFilesName, problems);
  core::Result<SessionUse> session = SessionUse::Find(registry_, *arguments.Text("session"), call);
  if (!session)
    return RefusedCall(kFilesName, session.error().ToString(), ToolResult::Fault::kNotFound);
  const core::Profile& profile = (*session)->profile().profile;
  if (!(*session)->session().has_workspace()) {
    return RefusedCall(kFilesName, LacksFeature("session", "workspace", sandboxes_, call.caller,
                                                profile, HasWorkspace));
  }
  const core::Result<sessions::Patience> patience = TakePatience(arguments, call);
  if (!patience) return patience.error();
  const Request request{call, arguments, *session, *patience};
  Answer answer = action == "list"     ? List(request)
                  : action == "read"   ? Read(request)
                  : action == "write"  ? Write(request)
                  : action == "delete" ? Delete(request)
                  : action == "copy"   ? Copy(request)
                                       : Export(request);
  if (answer) return answer;
  return SessionFailed(kFilesName, answer.error(), **session, registry_, call, request.patience,
                       observer_);
}

}  // namespace belljar::server::tools
