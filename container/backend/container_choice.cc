#include "container/backend/container_choice.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <optional>
#include <utility>

#include "container/engines/docker_engine.h"
#include "container/image/documents.h"
#include "container/runsc/runsc_engine.h"
#include "engine/core/text.h"
#include "engine/host/version.h"

namespace belljar::container::backend {
namespace {

constexpr char kChoose[] = "choose a container engine";
constexpr const char* kEngines[] = {"docker", "podman", "runsc"};

// An engine that has answered.
struct Reached {
  std::shared_ptr<engines::ContainerEngine> engine;
  engines::EngineFacts facts;
  std::string place;  // its socket or folder
};

// As in --load.
std::string LoaderOf(const engines::EngineFacts& facts) {
  if (facts.name == "runsc") return "runsc";
  return facts.name == "Podman Engine" ? "podman" : "docker";
}

std::string Joined(const std::vector<std::string>& items) {
  std::string text;
  for (const std::string& item : items) text += (text.empty() ? "" : ", ") + item;
  return text;
}

// --- engines --------------------------------------------------------------------------------

core::Result<Reached> ReachRunsc(const ContainerSelection& selection) {
  const std::string folder =
      selection.folder.empty() ? runsc::DefaultRunscFolder() : selection.folder;
  if (folder.empty()) {
    return core::MakeError("find a folder for runsc's images",
                           "HOME is not set: name a folder, or set XDG_CACHE_HOME");
  }
  auto engine = std::make_shared<runsc::RunscEngine>(
      runsc::RunscEngineOptions{.folder = folder, .rootless = geteuid() != 0});
  core::Result<engines::EngineFacts> facts = engine->Check();
  if (!facts) return facts.error();
  return Reached{std::move(engine), std::move(*facts), folder};
}

// The first that answers; otherwise the error of the first that exists, or of the first one.
core::Result<Reached> ReachSocket(const std::vector<std::string>& sockets) {
  std::optional<core::Error> reason;
  for (const std::string& socket : sockets) {
    auto engine =
        std::make_shared<engines::DockerEngine>(engines::DockerEngineOptions{.socket = socket});
    core::Result<engines::EngineFacts> facts = engine->Check();
    if (facts) return Reached{std::move(engine), std::move(*facts), socket};
    const bool is_there = facts.error().error_number != ENOENT;
    if (!reason || (reason->error_number == ENOENT && is_there)) reason = facts.error();
  }
  return reason ? *reason
                : core::MakeError(kChoose, "no socket of that engine was found for this user");
}

core::Result<Reached> Reach(const std::string& engine, const ContainerSelection& selection) {
  if (engine == "runsc") return ReachRunsc(selection);
  return ReachSocket(selection.socket.empty() ? DefaultSocketsOf(engine)
                                              : std::vector<std::string>{selection.socket});
}

// In the order in which they are tried.
core::Result<std::vector<std::string>> EnginesOf(const ContainerSelection& selection) {
  if (selection.engine == "auto") {
    if (!selection.socket.empty()) return std::vector<std::string>{"docker"};
    return std::vector<std::string>(std::begin(kEngines), std::end(kEngines));
  }
  if (std::ranges::find(kEngines, selection.engine) == std::end(kEngines)) {
    return core::MakeError(kChoose, core::Quoted(selection.engine) +
                                        " is not an engine: choose auto, docker, podman or runsc");
  }
  return std::vector<std::string>{selection.engine};
}

// --- runtimes -------------------------------------------------------------------------------

std::string HowToGetRunsc(const engines::EngineFacts& facts) {
  if (LoaderOf(facts) == "podman") {
    return "set runtime = \"runsc\" in its containers.conf and restart its service, or use Docker "
           "or runsc alone";
  }
  return "install gVisor's runsc, name it in the engine's daemon.json (docs/containers.md), and "
         "restart the engine";
}

core::Result<void> CheckSelection(const ContainerSelection& selection) {
  if (selection.runtime != "auto" && selection.runtime != "runsc" && selection.runtime != "runc") {
    return core::MakeError("choose a runtime", core::Quoted(selection.runtime) +
                                                   " is not a runtime: choose auto, runsc or runc");
  }
  if (selection.runtime == "runc" && selection.require_gvisor) {
    return core::MakeError(
        "choose a runtime",
        "gVisor is required, and runc is not gVisor: choose runsc, or omit the runtime");
  }
  return {};
}

core::Result<std::string> ChooseRuntime(const ContainerSelection& selection,
                                        const engines::EngineFacts& facts) {
  const auto has = [&](const char* name) {
    return std::ranges::find(facts.runtimes, name) != facts.runtimes.end();
  };
  if (selection.runtime != "runc" && has("runsc")) return std::string("runsc");
  const std::string has_which = facts.name + " has " + Joined(facts.runtimes);
  if (selection.runtime == "runsc" || selection.require_gvisor) {
    return core::MakeError("choose a runtime",
                           std::string(selection.require_gvisor ? "gVisor is required, " : "") +
                               "runsc is not available (" + has_which +
                               "): " + HowToGetRunsc(facts));
  }
  // Podman's crun is equivalent to runc, and is reported by its own name.
  for (const char* const name : {"runc", "crun"}) {
    if (has(name)) return std::string(name);
  }
  return core::MakeError("choose a runtime",
                         "neither runc nor crun is available (" + has_which + ")");
}

// --- images ---------------------------------------------------------------------------------

std::string HowToBuild(const engines::EngineFacts& facts, const core::Profile& profile) {
  return std::string("belljar image build ") + (profile.program ? "--language " : "--profile ") +
         profile.name + " --load " + LoaderOf(facts);
}

std::string LabelOf(const engines::EngineImage& image, const char* name) {
  const auto found = image.labels.find(name);
  return found == image.labels.end() ? std::string() : found->second;
}

core::Result<void> CheckImage(const engines::EngineImage& image, const std::string& reference,
                              const core::Profile& profile, const std::string& how_to_build) {
  const std::string operation = "use the image " + reference;
  if (LabelOf(image, image::kInputsLabel).empty()) {
    return core::MakeError(operation, "it was not built by Belljar; build one: " + how_to_build);
  }
  const struct {
    const char* what;
    const char* label;
    std::string wanted;
  } kParts[] = {{"Belljar", image::kVersionLabel, host::kBelljarVersion},
                {"Python", image::kPythonLabel, host::kPythonVersion},
                {"profile", image::kProfileLabel, image::ImageProfile(profile)}};
  for (const auto& part : kParts) {
    const std::string is = LabelOf(image, part.label);
    if (is == part.wanted) continue;
    return core::MakeError(operation, "it is of " + std::string(part.what) + " " +
                                          core::Printable(is) + ", not " + part.wanted +
                                          "; rebuild it: " + how_to_build);
  }
  return {};
}

core::Result<engines::EngineImage> ChooseImage(const ContainerSelection& selection,
                                               const Reached& reached,
                                               const core::Profile& profile) {
  const image::ImageIdentity identity{.version = host::kBelljarVersion,
                                      .profile = image::ImageProfile(profile),
                                      .python = host::kPythonVersion,
                                      .inputs = "",
                                      .architecture = ""};
  const std::string reference =
      selection.image.empty() ? image::ImageReference(identity) : selection.image;
  const std::string how_to_build = HowToBuild(reached.facts, profile);
  core::Result<std::optional<engines::EngineImage>> image = reached.engine->FindImage(reference);
  if (!image) return image.error();
  if (!*image) {
    return core::MakeError("use the image " + core::Printable(reference),
                           reached.facts.name + " at " + reached.place +
                               " does not have it; build it: " + how_to_build);
  }
  core::Result<void> checked =
      CheckImage(**image, core::Printable(reference), profile, how_to_build);
  if (!checked) return checked.error();
  return std::move(**image);
}

core::Result<ContainerChoice> ChooseOf(const ContainerSelection& selection, Reached reached,
                                       const core::Profile& profile) {
  core::Result<std::string> runtime = ChooseRuntime(selection, reached.facts);
  if (!runtime) return runtime.error();
  core::Result<engines::EngineImage> image = ChooseImage(selection, reached, profile);
  if (!image) return image.error();
  return ContainerChoice{std::move(reached.engine), std::move(reached.facts), std::move(*runtime),
                         std::move(*image)};
}

core::Error AllOf(std::vector<core::Error> reasons) {
  if (reasons.size() == 1) return std::move(reasons.front());
  std::string text;
  for (const core::Error& reason : reasons)
    text += (text.empty() ? "" : "; or: ") + reason.ToString();
  return core::MakeError(kChoose, text);
}

// The first answering engine that `choose` accepts.
template <typename Choice, typename Choose>
core::Result<Choice> FirstOf(const ContainerSelection& selection, const Choose& choose) {
  if (core::Result<void> checked = CheckSelection(selection); !checked) return checked.error();
  core::Result<std::vector<std::string>> engines = EnginesOf(selection);
  if (!engines) return engines.error();
  // If an engine is present and only lacks something, absent engines are not mentioned.
  std::vector<core::Error> absent;
  std::vector<core::Error> lacking;
  for (const std::string& engine : *engines) {
    core::Result<Reached> reached = Reach(engine, selection);
    if (!reached) {
      absent.push_back(reached.error());
      continue;
    }
    core::Result<Choice> choice = choose(std::move(*reached));
    if (choice) return choice;
    lacking.push_back(choice.error());
  }
  return AllOf(std::move(lacking.empty() ? absent : lacking));
}

// --- for doctor -----------------------------------------------------------------------------

std::string Described(const Reached& reached) {
  const engines::EngineFacts& facts = reached.facts;
  std::string text = facts.name + " " + facts.version + " at " + reached.place + ", with " +
                     Joined(facts.runtimes);
  if (facts.rootless) text += ", rootless";
  const std::vector<std::string> lacks = NotLimitedBy(facts);
  if (!lacks.empty()) text += "; it does not limit " + Joined(lacks);
  return text;
}

}  // namespace

core::Result<void> CheckTogether(const ContainerSelection& selection, const SelectionNames& names) {
  const std::string runc = std::string(names.runtime) + "runc";
  const std::string runsc = std::string(names.engine) + "runsc";
  if (selection.require_gvisor && selection.runtime == "runc") {
    return core::MakeError(std::string(names.require_gvisor) + " and " + runc +
                               ": runc is not gVisor; give only one of them",
                           "");
  }
  if (selection.engine == "runsc" && selection.runtime == "runc") {
    return core::MakeError(runsc + " starts containers by runsc alone: " + runc + " needs docker",
                           "");
  }
  if (selection.engine == "runsc" && !selection.socket.empty()) {
    return core::MakeError(runsc + " has no socket: " + names.socket + " is Docker's or Podman's",
                           "");
  }
  return {};
}

std::vector<std::string> NotLimitedBy(const engines::EngineFacts& facts) {
  std::vector<std::string> lacks;
  if (!facts.limits_memory) lacks.push_back("memory");
  if (!facts.limits_pids) lacks.push_back("processes");
  if (!facts.limits_cpu) lacks.push_back("cpu");
  return lacks;
}

std::vector<std::string> DefaultSocketsOf(const std::string& engine) {
  const bool podman = engine == "podman";
  std::vector<std::string> sockets = engines::DefaultEngineSockets();
  const char* const host = getenv("DOCKER_HOST");
  if (!podman && host && "unix://" + sockets.front() == host) return {sockets.front()};
  std::erase_if(sockets, [&](const std::string& socket) {
    return (socket.find("podman") != socket.npos) != podman;
  });
  return sockets;
}

core::Result<ContainerChoice> ChooseContainer(const ContainerSelection& selection,
                                              const core::Profile& profile) {
  if (profile.program && profile.egress) {
    return core::MakeError("choose a container", "programs in " + profile.program->title +
                                                     " have no network in one: omit the network "
                                                     "or the container");
  }
  return FirstOf<ContainerChoice>(
      selection, [&](Reached reached) { return ChooseOf(selection, std::move(reached), profile); });
}

core::Result<EngineChoice> ChooseEngine(const ContainerSelection& selection) {
  return FirstOf<EngineChoice>(selection, [&](Reached reached) -> core::Result<EngineChoice> {
    core::Result<std::string> runtime = ChooseRuntime(selection, reached.facts);
    if (!runtime) return runtime.error();
    std::string name = LoaderOf(reached.facts);
    return EngineChoice{std::move(reached.engine), std::move(reached.facts), std::move(name),
                        std::move(*runtime)};
  });
}

std::vector<EngineCheck> CheckEngines(const ContainerSelection& selection) {
  std::vector<EngineCheck> checks;
  for (const char* const engine : kEngines) {
    // A given socket belongs to the selected engine, or to Docker.
    ContainerSelection of_this = selection;
    if (engine != selection.engine &&
        !(selection.engine == "auto" && engine == std::string("docker"))) {
      of_this.socket.clear();
    }
    const core::Result<Reached> reached = Reach(engine, of_this);
    checks.push_back(
        {engine, reached.ok(), reached ? Described(*reached) : reached.error().ToString()});
  }
  return checks;
}

}  // namespace belljar::container::backend
