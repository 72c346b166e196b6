// Questions to a session between cells, and the comparison of two.
#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "engine/run/execution.h"
#include "engine/sessions/branching_session.h"
#include "engine/sessions/branching_session_state.h"

namespace belljar::sessions {
namespace {

// The answer of a worker to a question for its variables; hostile, and of bounded size.
std::map<std::string, nlohmann::json> ByName(const std::string& answer) {
  std::map<std::string, nlohmann::json> variables;
  nlohmann::json object = nlohmann::json::parse(answer, nullptr, false);
  if (!object.is_object() || !object.contains("variables")) return variables;
  for (nlohmann::json& each : object["variables"]) {
    if (!each.is_object() || !each.contains("name") || !each["name"].is_string()) continue;
    std::string name = each["name"];
    variables.emplace(std::move(name), std::move(each));
  }
  return variables;
}

std::string TextOf(const nlohmann::json& variable, const char* key) {
  const auto value = variable.find(key);
  if (value == variable.end() || value->is_null()) return "";
  return value->is_string() ? value->get<std::string>() : value->dump();
}

std::string TypeOf(const nlohmann::json& variable) {
  const std::string shape = TextOf(variable, "shape");
  return TextOf(variable, "type") + (shape.empty() ? "" : " " + shape);
}

std::vector<VariableChange> CompareVariables(const std::string& before, const std::string& after) {
  const std::map<std::string, nlohmann::json> old_ones = ByName(before);
  const std::map<std::string, nlohmann::json> new_ones = ByName(after);
  std::vector<VariableChange> changes;
  for (const auto& [name, variable] : old_ones) {
    VariableChange change{VariableChange::Kind::kRemoved, name, TypeOf(variable), "",
                          TextOf(variable, "repr"),       ""};
    const auto found = new_ones.find(name);
    if (found != new_ones.end()) {
      change.type_after = TypeOf(found->second);
      change.repr_after = TextOf(found->second, "repr");
      const std::string digest = TextOf(variable, "digest");
      const std::string other = TextOf(found->second, "digest");
      const bool looks_same =
          change.type_before == change.type_after && change.repr_before == change.repr_after;
      if (!digest.empty() && digest == other && looks_same) continue;
      change.kind = looks_same && (digest.empty() || other.empty())
                        ? VariableChange::Kind::kUnknown
                        : VariableChange::Kind::kChanged;
    }
    changes.push_back(std::move(change));
  }
  for (const auto& [name, variable] : new_ones) {
    if (old_ones.contains(name)) continue;
    changes.push_back(
        {VariableChange::Kind::kAdded, name, "", TypeOf(variable), "", TextOf(variable, "repr")});
  }
  std::ranges::sort(changes, {}, &VariableChange::name);
  return changes;
}

}  // namespace

core::Result<std::string> BranchingSession::AskWorker(workers::Worker& worker,
                                                      const run::Question& question) {
  const host::Request request = RequestOf(question, options().limits);
  workers::SessionFamily& family = *shared_->family;
  if (core::Result<void> begun = family.BeginCell(worker, request.limits.cpu); !begun) {
    return begun.error();
  }
  const auto order = LockForOrder();
  const run::RunOptions run;
  run::Execution execution(std::move(worker), request, run, host_->policy);
  execution.Ask(question);
  core::Result<host::Outcome> outcome = execution.Run();
  worker = execution.TakeWorker();
  (void)family.EndCell(worker);
  if (!execution.reported()) worker.process.Kill();
  if (!outcome) return outcome.error();
  return AnswerIn(*outcome, execution.reported());
}

core::Result<std::string> BranchingSession::AskOwn(const run::Question& question) {
  std::string note;
  if (core::Result<void> revived = Revive(note); !revived) return revived.error();
  // The request itself does not cost the state either.
  if (core::Result<void> held = Hold(); !held && worker_->process.HasEnded()) return held.error();
  core::Result<std::string> answer = AskWorker(*worker_, question);
  if (worker_->process.HasEnded() || !answer) {
    if (core::Result<void> restored = Restore(note); !restored) return restored.error();
  }
  return answer;
}

core::Result<std::string> BranchingSession::Ask(const run::Question& question, Patience patience) {
  core::Result<Turn> turn = TakeTurn(patience);
  if (!turn) return turn.error();
  return AskOwn(question);
}

core::Result<SessionDifference> BranchingSession::Compare(Session& with, Patience patience) {
  auto* const branching = dynamic_cast<BranchingSession*>(&with);
  if (!branching) {
    return core::MakeError("compare sessions", "the other one cannot be copied or compared");
  }
  BranchingSession& other = *branching;
  if (&other == this) return core::MakeError("compare sessions", "both are the same session");
  // In the same order for every caller, so that two callers cannot deadlock.
  BranchingSession* const first = id() < other.id() ? this : &other;
  core::Result<Turn> turn = first->TakeTurn(patience);
  if (!turn) return turn.error();
  core::Result<Turn> second = (first == this ? &other : this)->TakeTurn(patience);
  if (!second) return second.error();
  const run::Question variables;
  core::Result<std::string> before = AskOwn(variables);
  if (!before) return before.error();
  core::Result<std::string> after = other.AskOwn(variables);
  if (!after) return after.error();
  SessionDifference difference;
  difference.variables = CompareVariables(*before, *after);
  difference.files = other.files_.ChangesSince(files_);
  difference.cells_before = info().cells;
  difference.cells_after = other.info().cells;
  return difference;
}

core::Result<SessionDifference> BranchingSession::Compare(std::string_view checkpoint,
                                                          Patience patience) {
  core::Result<Turn> turn = TakeTurn(patience);
  if (!turn) return turn.error();
  core::Result<std::shared_ptr<Held>> held = Find(checkpoint);
  if (!held) return held.error();
  core::Result<workers::Worker> woken = WakeCopy(**held, false);
  if (!woken) return woken.error();
  const run::Question variables;
  core::Result<std::string> before = AskOwn(variables);
  if (!before) return before.error();
  core::Result<std::string> after = AskWorker(*woken, variables);
  if (!after) return after.error();
  SessionDifference difference;
  difference.variables = CompareVariables(*before, *after);
  difference.files = (*held)->files.ChangesSince(files_);
  difference.cells_before = info().cells;
  difference.cells_after = (*held)->cell;
  return difference;
}

}  // namespace belljar::sessions
