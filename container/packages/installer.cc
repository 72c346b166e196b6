#include "container/packages/installer.h"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "container/wire/fields.h"
#include "engine/core/text.h"
#include "engine/host/version.h"
#include "engine/profiles/languages.h"
#include "engine/profiles/loader.h"

namespace belljar::container::packages {

namespace fs = std::filesystem;

namespace {

using nlohmann::json;

constexpr char kInstall[] = "install packages";
constexpr char kArchiveName[] = "packages.tar.z";  // as in install.py
constexpr size_t kMaxProgram = size_t{1} << 20;
constexpr size_t kMaxFault = 1000;
constexpr std::chrono::seconds kConnectTimeout{15};

std::string InstallerFile(const installation::Installation& installation, const char* name) {
  return fs::path(installation.profiles).parent_path() / "installer" / name;
}

core::Error Failure(const std::string& what) { return core::MakeError(kInstall, what); }

// The answer of install.py, as far as it has that form.
struct Answer {
  std::string fault;  // empty: none
  std::string what;
  std::vector<LockedPackage> packages;
};

Answer ReadAnswer(const json& form, bool is_npm) {
  wire::Fields fields(form);
  Answer answer;
  if (form.contains("fault")) {
    answer.fault = fields.Text("fault", kMaxFault);
    answer.what = fields.Text("what", kMaxFault);
  } else {
    answer.packages = ReadPackageList(fields.Any("packages"), is_npm);
  }
  fields.End();
  return answer;
}

const host::Artifact* FindArchive(const host::Outcome& outcome) {
  for (const host::Artifact& artifact : outcome.artifacts) {
    if (artifact.name == kArchiveName && artifact.origin == host::Artifact::Origin::kFile) {
      return &artifact;
    }
  }
  return nullptr;
}

bool HasReachedAnyone(const host::Outcome& outcome) {
  return std::any_of(
      outcome.network.begin(), outcome.network.end(),
      [](const host::NetworkEvent& each) { return each.allowed && each.received > 0; });
}

std::string NameOf(const host::NetworkEvent& event) {
  return core::Printable(event.host) + ":" + std::to_string(event.port);
}

core::Result<core::Profile> LoadInstaller(const installation::Installation& installation,
                                          bool is_npm) {
  core::Result<core::Profile> profile =
      profiles::LoadProfile(InstallerProfileFile(installation), installation.profiles);
  if (!profile || !is_npm) return profile;
  const core::Result<profiles::LanguageCatalogue> catalogue =
      profiles::LanguageCatalogue::Open(installation);
  if (!catalogue) return catalogue.error();
  core::Result<std::optional<core::Profile>> npm =
      catalogue->FindInstalled(InstallerFile(installation, "install_npm.toml"));
  if (!npm) return npm.error();
  return profiles::WithNetwork(std::move(**npm), *profile);
}

}  // namespace

std::string InstallerProfileFile(const installation::Installation& installation) {
  return InstallerFile(installation, "installer.toml");
}

core::Result<outside::SandboxOptions> InstallerOptions(
    const installation::Installation& installation, const PackageIndex& index,
    const InstallBounds& bounds, bool is_npm) {
  core::Result<core::Profile> profile = LoadInstaller(installation, is_npm);
  if (!profile) return profile.error();
  outside::SandboxOptions options;
  options.profile = std::move(*profile);
  options.policy = outside::Policy::kOff;
  options.network = index.network();
  // Wheels are compressed, and some of them are only fetched to be inspected.
  options.network.bounds.received = core::Bytes{2 * bounds.tree.size.count};
  options.spares = 1;
  return options;
}

core::Result<host::Request> Installer::MakeRequest(const PackageQuestion& question) const {
  const char* const name = question.is_npm() ? "install_npm.js" : "install.py";
  core::Result<std::string> program =
      core::ReadFile(InstallerFile(installation_, name), kMaxProgram);
  if (!program) return program.error();
  const core::Result<core::Profile> profile = LoadInstaller(installation_, question.is_npm());
  if (!profile) return profile.error();
  host::Request request;
  request.source = std::move(*program);
  request.filename = name;
  request.standard_input = wire::FormText({{"requirements", question.requirements},
                                           {"index", index_.address()},
                                           {"trusted_host", index_.trusted_host()},
                                           {"connect_timeout", kConnectTimeout.count()}});
  request.limits = profile->default_limits;
  request.limits.timeout = std::min(bounds_.timeout, profile->maximum_limits.timeout);
  request.limits.cpu = request.limits.timeout;
  return request;
}

core::Result<PackageLock> Installer::Install(const PackageQuestion& question,
                                             const std::string& site, int cancel_fd) const {
  const core::Result<host::Request> request = MakeRequest(question);
  if (!request) return request.error();
  const core::Result<host::Outcome> outcome = run_(*request, {.cancel_fd = cancel_fd});
  if (!outcome) {
    const core::Error& error = outcome.error();
    std::string operation = kInstall;  // gcc 12 gives a false warning for `kInstall + std::string`
    operation.append(": ").append(error.operation);
    return core::SystemErrorOf(error.error_number, operation, error.detail);
  }
  if (!outcome->success()) return ExplainEnd(*outcome);
  return Take(question, *outcome, site);
}

core::Result<PackageLock> Installer::Take(const PackageQuestion& question,
                                          const host::Outcome& outcome,
                                          const std::string& site) const {
  Answer answer;
  core::Result<void> read = wire::ReadForm(
      question.is_npm() ? outcome.stdout_stream.text : outcome.result_json.value_or(""),
      {.depth = 8, .values = size_t{64} * 1024}, kInstall,
      [&](const json& form) { answer = ReadAnswer(form, question.is_npm()); });
  if (!read) return Failure("the installer gave no valid answer: " + read.error().detail);
  if (!answer.fault.empty()) return Explain(answer.fault, answer.what, outcome, question.is_npm());
  const host::Artifact* archive = FindArchive(outcome);
  if (!archive) return Failure("the installer produced no packages");
  if (!archive->content) return Explain("space", "", outcome, question.is_npm());
  core::Result<TreeFacts> tree = UnpackTree(*archive->content, site, bounds_.tree);
  if (!tree && tree.error().error_number == EFBIG)
    return Explain("space", "", outcome, question.is_npm());
  if (!tree) return tree.error();
  return PackageLock{
      .question = question, .packages = std::move(answer.packages), .tree = std::move(*tree)};
}

// `kind` and `what` come from the guest, the connections from the egress proxy: if no host was
// reached, pip only says that there is no such package.
core::Error Installer::Explain(const std::string& kind, const std::string& what,
                               const host::Outcome& outcome, bool is_npm) const {
  if (kind == "space") {
    return Failure("with their dependencies they exceed " + bounds_.tree.size.ToString() +
                   ", or more than 64m compressed; ask for fewer. The operator sets "
                   "the former");
  }
  if (kind == "no-pip") {
    return Failure(
        "pip is missing (" + core::Printable(what) +
        "); on Debian it is in the package python3-pip-whl. Then rebuild the installer's image");
  }
  if (kind == "no-npm") {
    return Failure("npm is missing (" + core::Printable(what) +
                   "); on Debian it is in the package npm");
  }
  if (kind == "path") {
    return Failure("a package has a file that cannot be installed: " + core::Quoted(what));
  }
  for (const host::NetworkEvent& event : outcome.network) {
    if (!event.allowed && HasReachedAnyone(outcome)) {
      return Failure("the index leads to " + NameOf(event) + ": " + core::Printable(event.detail) +
                     ". An operator who trusts that host adds it to the package hosts");
    }
  }
  if (!HasReachedAnyone(outcome)) {
    const std::string why = outcome.network.empty()
                                ? std::string("no connection was made; ") +
                                      (is_npm ? "npm" : "pip") +
                                      " says: " + core::Printable(index_.WithoutAccount(what))
                                : core::Printable(outcome.network.back().detail);
    return Failure("the index " + index_.shown() + " cannot be reached: " + why +
                   ". Try again later, or check its address");
  }
  if (kind == "unknown") {
    return Failure("the index " + index_.shown() + " has no package " + core::Quoted(what) +
                   "; check its name");
  }
  if (kind == "no-wheel") {
    return Failure("the index " + index_.shown() + " has no wheel of " + core::Quoted(what) +
                   " for Python " + host::kPythonVersion +
                   " on this machine; another version may have one. Source packages are not built");
  }
  if (kind == "no-version") {
    return Failure("the registry " + index_.shown() + " has no version " + core::Quoted(what) +
                   "; check it");
  }
  return Failure(std::string(is_npm ? "npm" : "pip") +
                 " says: " + core::Printable(index_.WithoutAccount(what)));
}

core::Error Installer::ExplainEnd(const host::Outcome& outcome) const {
  switch (outcome.status) {
    case host::Status::kTimeout:
    case host::Status::kCpuLimit:
      return core::SystemErrorOf(
          ETIMEDOUT, kInstall,
          "it did not finish within " + core::FormatDuration(outcome.limits.timeout) +
              "; ask for fewer, try again later, or ask the operator for more");
    case host::Status::kMemoryLimit: return Explain("space", "", outcome, false);
    default: break;
  }
  if (outcome.kill_cause == host::KillCause::kCancelled)
    return core::SystemErrorOf(ECANCELED, kInstall);
  return Failure("the installer ended: " +
                 (outcome.error ? core::Printable(index_.WithoutAccount(outcome.error->type + ": " +
                                                                        outcome.error->message))
                                : std::string(host::StatusName(outcome.status))));
}

}  // namespace belljar::container::packages
