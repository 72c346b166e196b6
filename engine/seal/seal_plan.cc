#include "engine/seal/seal_plan.h"

#include <chrono>
#include <cstdint>
#include <cstring>
#include <nlohmann/json.hpp>

namespace belljar::seal {
namespace {

// One instruction is one 64-bit word.
std::vector<uint64_t> Encode(const std::vector<sock_filter>& filter) {
  static_assert(sizeof(sock_filter) == sizeof(uint64_t));
  std::vector<uint64_t> words(filter.size());
  // data() of an empty vector may be null, which memcpy does not allow.
  if (!filter.empty()) memcpy(words.data(), filter.data(), filter.size() * sizeof(uint64_t));
  return words;
}

std::vector<sock_filter> Decode(const std::vector<uint64_t>& words) {
  std::vector<sock_filter> filter(words.size());
  if (!words.empty()) memcpy(filter.data(), words.data(), words.size() * sizeof(uint64_t));
  return filter;
}

}  // namespace

std::string SealPlanToJson(const SealPlan& plan) {
  nlohmann::json json = {{"without_namespaces", plan.without_namespaces},
                         {"without_privileges", plan.without_privileges},
                         {"without_rlimits", plan.without_rlimits},
                         {"without_landlock", plan.without_landlock},
                         {"without_seccomp", plan.without_seccomp},
                         {"own_user", plan.own_user},
                         {"runs_programs", plan.runs_programs},
                         {"runs_workspace", plan.runs_workspace},
                         {"paths", nlohmann::json::array()},
                         {"memory", plan.ceiling.memory.count},
                         {"cpu_ms", plan.ceiling.cpu.count()},
                         {"output", plan.ceiling.output.count},
                         {"result", plan.ceiling.result.count},
                         {"file_size", plan.ceiling.file_size.count},
                         {"open_files", plan.ceiling.open_files},
                         {"processes", plan.ceiling.processes},
                         {"zygote_filter", Encode(plan.zygote_filter)},
                         {"filter", Encode(plan.filter)},
                         {"session_filter", Encode(plan.session_filter)},
                         {"init_filter", Encode(plan.init_filter)}};
  if (plan.workspace) {
    json["workspace"] = {{"size", plan.workspace->size.count}, {"inodes", plan.workspace->inodes}};
  }
  if (plan.egress) json["door"] = {{"port", plan.egress->port}};
  for (const core::PathRule& rule : plan.paths) {
    json["paths"].push_back({{"path", rule.path},
                             {"optional", rule.optional},
                             {"only", rule.only},
                             {"device", rule.device}});
  }
  return json.dump();
}

core::Result<SealPlan> SealPlanFromJson(std::string_view text) {
  try {
    const nlohmann::json json = nlohmann::json::parse(text);
    SealPlan plan;
    json.at("without_namespaces").get_to(plan.without_namespaces);
    json.at("without_privileges").get_to(plan.without_privileges);
    json.at("without_rlimits").get_to(plan.without_rlimits);
    json.at("without_landlock").get_to(plan.without_landlock);
    json.at("without_seccomp").get_to(plan.without_seccomp);
    json.at("own_user").get_to(plan.own_user);
    json.at("runs_programs").get_to(plan.runs_programs);
    json.at("runs_workspace").get_to(plan.runs_workspace);
    json.at("memory").get_to(plan.ceiling.memory.count);
    plan.ceiling.cpu = std::chrono::milliseconds(json.at("cpu_ms").get<int64_t>());
    json.at("output").get_to(plan.ceiling.output.count);
    json.at("result").get_to(plan.ceiling.result.count);
    json.at("file_size").get_to(plan.ceiling.file_size.count);
    json.at("open_files").get_to(plan.ceiling.open_files);
    json.at("processes").get_to(plan.ceiling.processes);
    for (const auto& rule : json.at("paths")) {
      plan.paths.push_back({.path = rule.at("path").get<std::string>(),
                            .optional = rule.at("optional").get<bool>(),
                            .only = rule.at("only").get<std::vector<std::string>>(),
                            .device = rule.at("device").get<bool>()});
    }
    if (json.contains("workspace")) {
      const auto& workspace = json.at("workspace");
      plan.workspace = core::WorkspaceRule{core::Bytes{workspace.at("size").get<uint64_t>()},
                                           workspace.at("inodes").get<uint32_t>()};
    }
    if (json.contains("door"))
      plan.egress = core::EgressListener{json.at("door").at("port").get<uint16_t>()};
    plan.zygote_filter = Decode(json.at("zygote_filter"));
    plan.filter = Decode(json.at("filter"));
    plan.session_filter = Decode(json.at("session_filter"));
    plan.init_filter = Decode(json.at("init_filter"));
    return plan;
  } catch (const nlohmann::json::exception& failure) {
    return core::MakeError("read seal plan", failure.what());
  }
}

}  // namespace belljar::seal
