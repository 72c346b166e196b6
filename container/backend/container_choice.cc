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
#include "engine/core/version.h"

namespace belljar {
namespace {

constexpr char kChoose[] = "choose a container engine";
constexpr const char* kEngines[] = {"docker", "podman", "runsc"};

// One that has answered.
struct Reached {
  std::shared_ptr<ContainerEngine> engine;
  EngineFacts facts;
  std::string place;  // its socket or folder
};

// As --load names it.
std::string LoaderOf(const EngineFacts& facts) {
  if (facts.name == "runsc") return "runsc";
  return facts.name == "Podman Engine" ? "podman" : "docker";
}

std::string Joined(const std::vector<std::string>& items) {
  std::string text;
  for (const std::string& item : items) text += (text.empty() ? "" : ", ") + item;
  return text;
}

// --- engines --------------------------------------------------------------------------------

Result<Reached> ReachRunsc(const ContainerWish& wish) {
  const std::string folder = wish.folder.empty() ? UsualRunscFolder() : wish.folder;
  if (folder.empty()) {
    return MakeError("find a folder for runsc's images",
                     "this user has no HOME: name a folder, or set XDG_CACHE_HOME");
  }
  auto engine = std::make_shared<RunscEngine>(
      RunscEngineOptions{.folder = folder, .rootless = geteuid() != 0});
  Result<EngineFacts> facts = engine->Check();
  if (!facts) return facts.error();
  return Reached{std::move(engine), std::move(*facts), folder};
}

// The first that answers; else the reason of the first that is there, or of the first.
Result<Reached> ReachSocket(const std::vector<std::string>& sockets) {
  std::optional<Error> reason;
  for (const std::string& socket : sockets) {
    auto engine = std::make_shared<DockerEngine>(DockerEngineOptions{.socket = socket});
    Result<EngineFacts> facts = engine->Check();
    if (facts) return Reached{std::move(engine), std::move(*facts), socket};
    const bool is_there = facts.error().error_number != ENOENT;
    if (!reason || (reason->error_number == ENOENT && is_there)) reason = facts.error();
  }
  return reason ? *reason : MakeError(kChoose, "this user has no socket of that engine");
}

Result<Reached> Reach(const std::string& engine, const ContainerWish& wish) {
  if (engine == "runsc") return ReachRunsc(wish);
  return ReachSocket(wish.socket.empty() ? UsualSocketsOf(engine)
                                         : std::vector<std::string>{wish.socket});
}

// In the order in which they are tried.
Result<std::vector<std::string>> EnginesOf(const ContainerWish& wish) {
  if (wish.engine == "auto") {
    if (!wish.socket.empty()) return std::vector<std::string>{"docker"};
    return std::vector<std::string>(std::begin(kEngines), std::end(kEngines));
  }
  if (std::ranges::find(kEngines, wish.engine) == std::end(kEngines)) {
    return MakeError(
        kChoose, Quoted(wish.engine) + " is no engine: there are auto, docker, podman and runsc");
  }
  return std::vector<std::string>{wish.engine};
}

// --- runtimes -------------------------------------------------------------------------------

std::string HowToGetRunsc(const EngineFacts& facts) {
  if (LoaderOf(facts) == "podman") {
    return "set runtime = \"runsc\" in its containers.conf and restart its service, or use Docker "
           "or runsc alone";
  }
  return "install gVisor's runsc, name it in the engine's daemon.json (docs/containers.md), and "
         "restart the engine";
}

Result<void> CheckWish(const ContainerWish& wish) {
  if (wish.runtime != "auto" && wish.runtime != "runsc" && wish.runtime != "runc") {
    return MakeError("choose a runtime",
                     Quoted(wish.runtime) + " is no runtime: there are auto, runsc and runc");
  }
  if (wish.runtime == "runc" && wish.require_gvisor) {
    return MakeError("choose a runtime",
                     "gVisor is required here, and runc is not it: ask for runsc, or for none");
  }
  return {};
}

Result<std::string> ChooseRuntime(const ContainerWish& wish, const EngineFacts& facts) {
  const auto has = [&](const char* name) {
    return std::ranges::find(facts.runtimes, name) != facts.runtimes.end();
  };
  if (wish.runtime != "runc" && has("runsc")) return std::string("runsc");
  const std::string has_which = facts.name + " has " + Joined(facts.runtimes);
  if (wish.runtime == "runsc" || wish.require_gvisor) {
    return MakeError("choose a runtime",
                     std::string(wish.require_gvisor ? "gVisor is required, " : "") +
                         "runsc is not there (" + has_which + "): " + HowToGetRunsc(facts));
  }
  // Podman's crun does what runc does, and is named for what it is.
  for (const char* const name : {"runc", "crun"}) {
    if (has(name)) return std::string(name);
  }
  return MakeError("choose a runtime", "neither runc nor crun is there (" + has_which + ")");
}

// --- images ---------------------------------------------------------------------------------

std::string HowToBuild(const EngineFacts& facts, const Profile& profile) {
  return "belljar image build --profile " + profile.name + " --load " + LoaderOf(facts);
}

std::string LabelOf(const EngineImage& image, const char* name) {
  const auto found = image.labels.find(name);
  return found == image.labels.end() ? std::string() : found->second;
}

Result<void> CheckImage(const EngineImage& image, const std::string& reference,
                        const Profile& profile, const std::string& how_to_build) {
  const std::string operation = "use the image " + reference;
  if (LabelOf(image, kInputsLabel).empty()) {
    return MakeError(operation, "it is none of Belljar's; make one: " + how_to_build);
  }
  const struct {
    const char* what;
    const char* label;
    std::string wanted;
  } kParts[] = {{"Belljar", kVersionLabel, kBelljarVersion},
                {"Python", kPythonLabel, kPythonVersion},
                {"profile", kProfileLabel, profile.name}};
  for (const auto& part : kParts) {
    const std::string is = LabelOf(image, part.label);
    if (is == part.wanted) continue;
    return MakeError(operation, "it is of " + std::string(part.what) + " " + Printable(is) +
                                    ", not " + part.wanted + "; make it again: " + how_to_build);
  }
  return {};
}

Result<EngineImage> ChooseImage(const ContainerWish& wish, const Reached& reached,
                                const Profile& profile) {
  const ImageIdentity identity{.version = kBelljarVersion,
                               .profile = profile.name,
                               .python = kPythonVersion,
                               .inputs = "",
                               .architecture = ""};
  const std::string reference = wish.image.empty() ? ImageReference(identity) : wish.image;
  const std::string how_to_build = HowToBuild(reached.facts, profile);
  Result<std::optional<EngineImage>> image = reached.engine->FindImage(reference);
  if (!image) return image.error();
  if (!*image) {
    return MakeError("use the image " + Printable(reference),
                     reached.facts.name + " at " + reached.place +
                         " does not have it; make it: " + how_to_build);
  }
  Result<void> checked = CheckImage(**image, Printable(reference), profile, how_to_build);
  if (!checked) return checked.error();
  return std::move(**image);
}

Result<ContainerChoice> ChooseOf(const ContainerWish& wish, Reached reached,
                                 const Profile& profile) {
  Result<std::string> runtime = ChooseRuntime(wish, reached.facts);
  if (!runtime) return runtime.error();
  Result<EngineImage> image = ChooseImage(wish, reached, profile);
  if (!image) return image.error();
  return ContainerChoice{std::move(reached.engine), std::move(reached.facts), std::move(*runtime),
                         std::move(*image)};
}

Error AllOf(std::vector<Error> reasons) {
  if (reasons.size() == 1) return std::move(reasons.front());
  std::string text;
  for (const Error& reason : reasons) text += (text.empty() ? "" : "; or: ") + reason.ToString();
  return MakeError(kChoose, text);
}

// Of the engines that answer, the first that `choose` takes.
template <typename Choice, typename Choose>
Result<Choice> FirstOf(const ContainerWish& wish, const Choose& choose) {
  if (Result<void> checked = CheckWish(wish); !checked) return checked.error();
  Result<std::vector<std::string>> engines = EnginesOf(wish);
  if (!engines) return engines.error();
  // Of engines that are not there nothing is said where one is that only lacks something.
  std::vector<Error> absent;
  std::vector<Error> lacking;
  for (const std::string& engine : *engines) {
    Result<Reached> reached = Reach(engine, wish);
    if (!reached) {
      absent.push_back(reached.error());
      continue;
    }
    Result<Choice> choice = choose(std::move(*reached));
    if (choice) return choice;
    lacking.push_back(choice.error());
  }
  return AllOf(std::move(lacking.empty() ? absent : lacking));
}

// --- for doctor -----------------------------------------------------------------------------

std::string Described(const Reached& reached) {
  const EngineFacts& facts = reached.facts;
  std::string text = facts.name + " " + facts.version + " at " + reached.place + ", with " +
                     Joined(facts.runtimes);
  if (facts.rootless) text += ", rootless";
  const std::vector<std::string> lacks = NotLimitedBy(facts);
  if (!lacks.empty()) text += "; it does not limit " + Joined(lacks);
  return text;
}

}  // namespace

Result<void> CheckTogether(const ContainerWish& wish, const WishNames& names) {
  const std::string runc = std::string(names.runtime) + "runc";
  const std::string runsc = std::string(names.engine) + "runsc";
  if (wish.require_gvisor && wish.runtime == "runc") {
    return MakeError(std::string(names.require_gvisor) + " and " + runc +
                         ": runc is not gVisor; give one of them",
                     "");
  }
  if (wish.engine == "runsc" && wish.runtime == "runc") {
    return MakeError(runsc + " starts containers by runsc alone: " + runc + " needs docker", "");
  }
  if (wish.engine == "runsc" && !wish.socket.empty()) {
    return MakeError(runsc + " has no socket: " + names.socket + " is Docker's or Podman's", "");
  }
  return {};
}

std::vector<std::string> NotLimitedBy(const EngineFacts& facts) {
  std::vector<std::string> lacks;
  if (!facts.limits_memory) lacks.push_back("memory");
  if (!facts.limits_pids) lacks.push_back("processes");
  if (!facts.limits_cpu) lacks.push_back("cpu");
  return lacks;
}

std::vector<std::string> UsualSocketsOf(const std::string& engine) {
  const bool podman = engine == "podman";
  std::vector<std::string> sockets = UsualEngineSockets();
  const char* const host = getenv("DOCKER_HOST");
  if (!podman && host && "unix://" + sockets.front() == host) return {sockets.front()};
  std::erase_if(sockets, [&](const std::string& socket) {
    return (socket.find("podman") != socket.npos) != podman;
  });
  return sockets;
}

Result<ContainerChoice> ChooseContainer(const ContainerWish& wish, const Profile& profile) {
  return FirstOf<ContainerChoice>(
      wish, [&](Reached reached) { return ChooseOf(wish, std::move(reached), profile); });
}

Result<EngineChoice> ChooseEngine(const ContainerWish& wish) {
  return FirstOf<EngineChoice>(wish, [&](Reached reached) -> Result<EngineChoice> {
    Result<std::string> runtime = ChooseRuntime(wish, reached.facts);
    if (!runtime) return runtime.error();
    std::string name = LoaderOf(reached.facts);
    return EngineChoice{std::move(reached.engine), std::move(reached.facts), std::move(name),
                        std::move(*runtime)};
  });
}

std::vector<EngineCheck> CheckEngines(const ContainerWish& wish) {
  std::vector<EngineCheck> checks;
  for (const char* const engine : kEngines) {
    // A socket that was named is of the engine that was named, or of Docker.
    ContainerWish of_this = wish;
    if (engine != wish.engine && !(wish.engine == "auto" && engine == std::string("docker"))) {
      of_this.socket.clear();
    }
    const Result<Reached> reached = Reach(engine, of_this);
    checks.push_back(
        {engine, reached.ok(), reached ? Described(*reached) : reached.error().ToString()});
  }
  return checks;
}

}  // namespace belljar
