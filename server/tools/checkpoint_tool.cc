#include "server/tools/checkpoint_tool.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "engine/core/text.h"
#include "engine/host/program_text.h"
#include "engine/host/suggest.h"
#include "server/tools/code_parameters.h"
#include "server/tools/output_schemas.h"

namespace belljar::server::tools {
namespace {

using CheckpointJson = nlohmann::ordered_json;

constexpr const char* kCheckpointName = "checkpoint";
constexpr size_t kMaxLabelBytes = 200;
// Listed differences, of variables and of each kind of file.
constexpr size_t kMaxDifferences = 100;
constexpr size_t kMaxReprCharacters = 200;

// An action and its arguments besides session and wait.
struct CheckpointAction {
  const char* name;
  std::vector<std::string> arguments;
};
const std::vector<CheckpointAction>& CheckpointActions() {
  static const std::vector<CheckpointAction> kActions = {
      {"keep", {"label"}},
      {"list", {}},
      {"roll_back", {"checkpoint"}},
      {"branch", {"checkpoint", "count"}},
      {"compare", {"checkpoint", "other"}},
  };
  return kActions;
}

std::vector<Parameter> CheckpointParameters(const SessionRegistry& registry) {
  const auto text = [](const char* name, const char* description, size_t max) {
    Parameter parameter;
    parameter.name = name;
    parameter.description = description;
    parameter.max_bytes = max;
    return parameter;
  };
  Parameter action =
      text("action", "keep names the current state; compare: what changed since.", 20);
  action.default_value = "keep";
  for (const CheckpointAction& each : CheckpointActions()) action.choices.push_back(each.name);
  return {SessionParameter(),
          std::move(action),
          text("checkpoint",
               "Its id, as in cells' answers. Without it, roll_back undoes the last cell.", 100),
          text("label", "For keep. Labelled ones are dropped last.", kMaxLabelBytes),
          {.name = "count",
           .type = Parameter::Type::kNumber,
           .description = "Of branches.",
           .default_value = 1,
           .minimum = 1,
           .maximum = static_cast<double>(registry.config().per_owner),
           .choices = {}},
          text("other", "compare: another session.", 100),
          WaitParameter()};
}

ToolDescription DescribeCheckpoint(const SessionRegistry& registry,
                                   const ParameterTable& parameters) {
  ToolDescription description;
  description.name = kCheckpointName;
  description.title = "States of a session";
  description.description =
      "Keeps, lists or compares states of a session, rolls it back to one, or branches: opens "
      "sessions that start in that state. Each cell leaves a checkpoint anyway; " +
      std::to_string(registry.config().checkpoints) + " are held.";
  description.input_schema = parameters.Schema();
  description.output_schema = SuccessSchema();
  description.destructive = true;
  return description;
}

// Arguments that do not belong to this action are errors: their caller relies on them.
void CheckAction(const Arguments& arguments, const std::string& action,
                 std::vector<std::string>& problems) {
  std::vector<std::string> names;
  for (const CheckpointAction& each : CheckpointActions()) {
    names.push_back(each.name);
    if (each.name != action) continue;
    for (const char* text : {"checkpoint", "label", "other"}) {
      if (arguments.Text(text) && !core::Contains(each.arguments, text)) {
        problems.push_back(std::string(text) + " does not belong to action " + action +
                           "; omit it");
      }
    }
    if (arguments.Number("count") && !core::Contains(each.arguments, "count")) {
      problems.push_back("count does not belong to action " + action + "; omit it");
    }
    const bool compares = action == "compare";
    if (compares && !arguments.Text("checkpoint") == !arguments.Text("other")) {
      problems.push_back("compare needs checkpoint or other, and not both");
    }
    return;
  }
  problems.push_back("action is " + core::Quoted(action) + "; it is one of " + core::Joined(names) +
                     host::Suggestion(action, names));
}

CheckpointJson Side(const std::string& type, const std::string& repr) {
  if (type.empty() && repr.empty()) return nullptr;
  const host::Excerpt excerpt = host::ExcerptOf(repr, kMaxReprCharacters);
  const std::string shown =
      excerpt.left_out == 0 ? repr : std::string(excerpt.begin) + " … " + std::string(excerpt.end);
  return {{"type", type}, {"repr", shown}};
}

constexpr std::string_view kChangeNames[] = {"added", "changed", "removed", "unknown"};

CheckpointJson ChangeJson(const sessions::VariableChange& change) {
  CheckpointJson json = {{"name", change.name},
                         {"change", kChangeNames[static_cast<size_t>(change.kind)]}};
  const CheckpointJson before = Side(change.type_before, change.repr_before);
  const CheckpointJson after = Side(change.type_after, change.repr_after);
  if (!before.is_null()) json["before"] = before;
  if (!after.is_null()) json["after"] = after;
  return json;
}

// What has to be done to the second state to get the first one.
sessions::SessionDifference Reversed(sessions::SessionDifference difference) {
  using Kind = sessions::VariableChange::Kind;
  for (sessions::VariableChange& change : difference.variables) {
    std::swap(change.type_before, change.type_after);
    std::swap(change.repr_before, change.repr_after);
    if (change.kind == Kind::kAdded || change.kind == Kind::kRemoved) {
      change.kind = change.kind == Kind::kAdded ? Kind::kRemoved : Kind::kAdded;
    }
  }
  std::swap(difference.files.added, difference.files.removed);
  std::swap(difference.cells_before, difference.cells_after);
  return difference;
}

CheckpointJson PathsJson(const std::vector<std::string>& paths, size_t& left_out) {
  CheckpointJson list = CheckpointJson::array();
  for (const std::string& path : paths) {
    if (list.size() == kMaxDifferences) break;
    list.push_back(core::Printable(path));
  }
  left_out += paths.size() - list.size();
  return list;
}

CheckpointJson DifferenceJson(const sessions::SessionDifference& difference) {
  size_t left_out = 0;
  CheckpointJson variables = CheckpointJson::array();
  for (const sessions::VariableChange& change : difference.variables) {
    if (variables.size() == kMaxDifferences) break;
    variables.push_back(ChangeJson(change));
  }
  left_out += difference.variables.size() - variables.size();
  CheckpointJson files = CheckpointJson::object();
  const auto add = [&](const char* name, const std::vector<std::string>& paths) {
    if (!paths.empty()) files[name] = PathsJson(paths, left_out);
  };
  add("added", difference.files.added);
  add("changed", difference.files.changed);
  add("removed", difference.files.removed);
  CheckpointJson json = {{"variables", std::move(variables)}};
  if (!files.empty()) json["files"] = std::move(files);
  json["cells"] = {difference.cells_before, difference.cells_after};
  if (left_out > 0) json["left_out"] = left_out;
  return json;
}

}  // namespace

struct CheckpointTool::Request {
  const ToolCall& call;
  const Arguments& arguments;
  const SessionUse& session;
  const sessions::Patience patience;

  std::string Text(const char* name) const {
    const std::string* const text = arguments.Text(name);
    return text ? *text : "";
  }
};

CheckpointTool::CheckpointTool(SessionRegistry& registry, CallObserver* observer)
    : registry_(registry),
      observer_(observer),
      parameters_(CheckpointParameters(registry)),
      description_(DescribeCheckpoint(registry, parameters_)) {}

CheckpointTool::Answer CheckpointTool::Keep(const Request& request) const {
  core::Result<std::string> made =
      request.session->session().Checkpoint(request.Text("label"), request.patience);
  if (!made) return made.error();
  return CheckpointJson{{"checkpoint", *made}};
}

CheckpointTool::Answer CheckpointTool::List(const Request& request) const {
  CheckpointJson list = CheckpointJson::array();
  for (const sessions::CheckpointInfo& each : request.session->session().Checkpoints()) {
    CheckpointJson json = {{"checkpoint", each.id},
                           {"cell", each.cell},
                           {"made", core::UtcText(each.made, "%Y-%m-%dT%H:%M:%SZ")}};
    if (!each.label.empty()) json["label"] = each.label;
    if (!each.parent.empty()) json["parent"] = each.parent;
    if (each.is_current) json["current"] = true;
    list.push_back(std::move(json));
  }
  return CheckpointJson{{"checkpoints", std::move(list)}};
}

CheckpointTool::Answer CheckpointTool::RollBack(const Request& request) const {
  sessions::Session& session = request.session->session();
  const std::string checkpoint = request.Text("checkpoint");
  const core::Result<void> done = checkpoint.empty()
                                      ? session.Undo(1, request.patience)
                                      : session.RollBack(checkpoint, request.patience);
  if (!done) return done.error();
  CheckpointJson now = checkpoint.empty() ? CheckpointJson() : CheckpointJson(checkpoint);
  for (const sessions::CheckpointInfo& each : session.Checkpoints()) {
    if (checkpoint.empty() && each.is_current) now = each.id;
  }
  RecordSession(observer_, "rolled_back", request.call.caller, *request.session, checkpoint);
  return CheckpointJson{{"checkpoint", std::move(now)}};
}

CheckpointTool::Answer CheckpointTool::Branch(const Request& request) const {
  const double count = request.arguments.Number("count").value_or(1);
  core::Result<SessionRegistry::Places> places =
      registry_.Reserve(request.call.caller.name, static_cast<size_t>(count));
  if (!places) return places.error();
  sessions::BranchOptions options;
  options.checkpoint = request.Text("checkpoint");
  core::Result<std::vector<std::shared_ptr<sessions::Session>>> branches =
      request.session->session().Branch(static_cast<size_t>(count), options, request.patience);
  if (!branches) return branches.error();
  CheckpointJson ids = CheckpointJson::array();
  for (const SessionUse& each :
       SessionUse::Adopt(registry_, *places, request.session, std::move(*branches))) {
    RecordSession(observer_, "branched", request.call.caller, *each, request.session->id());
    ids.push_back(each->id());
  }
  return CheckpointJson{{"branches", std::move(ids)}};
}

CheckpointTool::Answer CheckpointTool::Compare(const Request& request) const {
  sessions::Session& session = request.session->session();
  if (const std::string checkpoint = request.Text("checkpoint"); !checkpoint.empty()) {
    core::Result<sessions::SessionDifference> difference =
        session.Compare(checkpoint, request.patience);
    if (!difference) return difference.error();
    return DifferenceJson(Reversed(std::move(*difference)));
  }
  core::Result<SessionUse> other = SessionUse::Find(registry_, request.Text("other"), request.call);
  if (!other) return other.error();
  const core::Result<sessions::SessionDifference> difference =
      session.Compare((*other)->session(), request.patience);
  if (!difference) return difference.error();
  return DifferenceJson(*difference);
}

core::Result<ToolResult> CheckpointTool::Call(const ToolCall& call) {
  std::vector<std::string> problems;
  const Arguments arguments = parameters_.Check(call.arguments, problems);
  const std::string* const given = arguments.Text("action");
  const std::string action = given ? *given : "keep";
  CheckAction(arguments, action, problems);
  if (const double count = arguments.Number("count").value_or(1); count != std::floor(count)) {
    problems.push_back("count must be a whole number");
  }
  if (!problems.empty()) return RefusedArguments(kCheckpointName, problems);
  core::Result<SessionUse> session = SessionUse::Find(registry_, *arguments.Text("session"), call);
  if (!session)
    return RefusedCall(kCheckpointName, session.error().ToString(), ToolResult::Fault::kNotFound);
  const core::Result<sessions::Patience> patience = TakePatience(arguments, call);
  if (!patience) return patience.error();
  const Request request{call, arguments, *session, *patience};
  Answer answer = action == "keep"        ? Keep(request)
                  : action == "list"      ? List(request)
                  : action == "roll_back" ? RollBack(request)
                  : action == "branch"    ? Branch(request)
                                          : Compare(request);
  if (!answer) {
    return SessionFailed(kCheckpointName, answer.error(), **session, registry_, call,
                         request.patience, observer_);
  }
  CheckpointJson object = {{"success", true}, {"session", (*session)->id()}};
  object.update(*answer);
  using Handler = CheckpointJson::error_handler_t;
  return ToolResult{core::SafeJson(object.dump(-1, ' ', false, Handler::replace)), "", false, {}};
}

}  // namespace belljar::server::tools
