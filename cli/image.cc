#include <stdlib.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/console.h"
#include "cli/exit_code.h"
#include "cli/package_options.h"
#include "container/image/archive.h"
#include "engine/core/text.h"
#include "engine/host/scratch_folder.h"
#include "engine/host/version.h"
#include "engine/profiles/languages.h"
#include "engine/profiles/profile_catalogue.h"
#include "engine/profiles/profile_names.h"

namespace belljar::cli {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

struct BuildArguments {
  std::string profile = "basic";
  std::optional<std::string> language;
  std::optional<std::string> output;
  std::optional<std::string> load;
  PackageArguments packages;
  bool json = false;
};

struct VerifyArguments {
  std::optional<std::string> file;
  PackageArguments packages;
  bool json = false;
};

// --- progress ---------------------------------------------------------------------------------

// One line on a terminal, erased at the end.
class ProgressLine {
 public:
  explicit ProgressLine(std::string what) : what_(std::move(what)), shows_(isatty(STDERR_FILENO)) {}
  ~ProgressLine() {
    if (is_shown_) Say("\r\x1b[K");
  }
  ProgressLine(const ProgressLine&) = delete;

  container::image::ImageProgress Reporter() {
    return [this](uint64_t done, uint64_t total) { Report(done, total); };
  }

 private:
  using Clock = std::chrono::steady_clock;

  void Report(uint64_t done, uint64_t total) {
    constexpr std::chrono::milliseconds kInterval{100};
    if (!shows_ || total == 0 || Clock::now() < next_) return;
    next_ = Clock::now() + kInterval;
    Say("\r" + what_ + " " + std::to_string(done * 100 / total) + " %\x1b[K");
    is_shown_ = true;
  }

  std::string what_;
  bool shows_;
  bool is_shown_ = false;
  Clock::time_point next_;
};

// --- contents ---------------------------------------------------------------------------

// "43.1 MB" (decimal megabytes), as shown by container engines.
std::string Megabytes(uint64_t bytes) {
  char text[32];
  snprintf(text, sizeof text, "%.1f MB", static_cast<double>(bytes) / 1e6);
  return text;
}

size_t CountFiles(const container::image::ImageListing& listing) {
  return static_cast<size_t>(std::count_if(
      listing.begin(), listing.end(),
      [](const container::image::ListedEntry& each) { return !each.entry.is_folder; }));
}

std::string Row(const std::string& name, const std::string& value) {
  std::string row = "  " + name;
  row.resize(std::max<size_t>(row.size() + 2, 26), ' ');
  return row + value + "\n";
}

std::string FactsText(const container::image::ImageFacts& facts) {
  const container::image::ImageIdentity& identity = facts.identity;
  std::string text = core::Printable(facts.reference) + "\n" +
                     Row("profile", core::Printable(identity.profile)) +
                     Row("belljar", core::Printable(identity.version)) +
                     Row("python", core::Printable(identity.python)) +
                     Row("architecture", core::Printable(identity.architecture)) +
                     Row("digest", "sha256:" + facts.manifest.digest) +
                     Row("image id", "sha256:" + facts.config.digest) +
                     Row("inputs", "sha256:" + identity.inputs) +
                     Row("size", Megabytes(facts.layer.size) + " in " +
                                     WithThousands(CountFiles(facts.listing)) + " files");
  const std::map<container::image::ImagePart, uint64_t> bytes =
      container::image::BytesByPart(facts.listing);
  for (const container::image::ImagePart part : container::image::kImageParts) {
    const auto found = bytes.find(part);
    if (found == bytes.end()) continue;
    text +=
        Row(std::string("  ") + container::image::ImagePartName(part), Megabytes(found->second));
  }
  return text;
}

Json FactsJson(const container::image::ImageFacts& facts) {
  const container::image::ImageIdentity& identity = facts.identity;
  Json parts = Json::object();
  for (const auto& [part, bytes] : container::image::BytesByPart(facts.listing))
    parts[container::image::ImagePartName(part)] = bytes;
  return {{"reference", facts.reference},
          {"profile", identity.profile},
          {"version", identity.version},
          {"python", identity.python},
          {"architecture", identity.architecture},
          {"digest", "sha256:" + facts.manifest.digest},
          {"id", "sha256:" + facts.config.digest},
          {"inputs", "sha256:" + identity.inputs},
          {"size_bytes", facts.layer.size},
          {"files", CountFiles(facts.listing)},
          {"parts", parts}};
}

std::string ListText(const std::string& title, const std::vector<std::string>& items) {
  std::string text = items.empty() ? "" : title + "\n";
  for (const std::string& item : items) text += "  " + item + "\n";
  return text;
}

// --- this installation ------------------------------------------------------------------------

struct Source {
  container::image::ImageIdentity identity;  // without the digest of the inputs
  container::image::ImageFiles files;
  std::vector<std::string> packages;  // installed for it: "name==version"
};

core::Result<Source> CollectSource(const container::image::ImageRequest& request) {
  core::Result<container::image::ImageFiles> files = container::image::CollectImageFiles(request);
  if (!files) return files.error();
  container::image::ImageIdentity identity{
      .version = host::kBelljarVersion,
      .profile = container::image::ImageProfile(request.profile),
      .python = host::kPythonVersion,
      .inputs = "",
      .architecture = files->architecture};
  return Source{std::move(identity), std::move(*files), {}};
}

core::Result<Source> CollectSource(const profiles::ProfileCatalogue& catalogue,
                                   const core::Profile& profile, const std::string& profile_file) {
  return CollectSource({.installation = catalogue.installation(),
                        .profile = profile,
                        .profile_file = profile_file,
                        .guest = container::image::GuestProgramPath(catalogue.installation()),
                        .package_paths = {}});
}

// By its name, or a file of the user's own. An error is the user's.
core::Result<core::Profile> FindLanguage(const profiles::LanguageCatalogue& catalogue,
                                         const std::string& name) {
  core::Result<std::optional<core::Profile>> language = catalogue.Find(name);
  if (!language) return language.error();
  if (!*language) return core::MakeError("the image for Python is that of a profile", "");
  return std::move(**language);
}

// Likewise of a language.
core::Result<Source> CollectLanguage(const installation::Installation& installation,
                                     const core::Profile& language, const std::string& name) {
  const core::Result<core::Profile> installed = profiles::Installed(language);
  if (!installed) return installed.error();
  return CollectSource({.installation = installation,
                        .profile = *installed,
                        .profile_file = profiles::IsProfileFile(name) ? name : "",
                        .texts = {{"languages/" + installed->name + profiles::kProgramPaths,
                                   profiles::ProgramPathsText(language, *installed)}},
                        .guest = container::image::GuestProgramPath(installation),
                        .package_paths = {}});
}

// Likewise with packages, which are installed first if necessary.
core::Result<Source> CollectSource(const PackageSelection& selection, const core::Profile& base) {
  const core::Result<std::unique_ptr<container::packages::Packages>> packages =
      OpenPackages(selection);
  if (!packages) return packages.error();
  constexpr int kNobodyCancels = -1;
  const core::Result<container::packages::CachedPackages> installed =
      (*packages)->Install(selection.requirements, kNobodyCancels);
  if (!installed) return installed.error();
  const core::Result<container::packages::PackageProfile> made =
      (*packages)->MakeProfile(base, *installed);
  if (!made) return made.error();
  core::Result<Source> source = CollectSource(
      container::packages::ImageOfPackages((*packages)->installation(), *made, *installed));
  if (source) source->packages = installed->lock.Names();
  return source;
}

// Whether this name, which comes from an untrusted image, may be looked up as a profile: it must
// not be a path, nor longer than an image tag.
bool IsName(const std::string& profile) {
  constexpr size_t kMaxTag = 128;
  return !profiles::IsProfileFile(profile) && profile.size() <= kMaxTag;
}

// --- build ------------------------------------------------------------------------------------

// For --load without --output: holds the image temporarily.
core::Result<host::ScratchFolder> TemporaryFolder() {
  std::error_code code;
  std::string path = fs::temp_directory_path(code) / "belljar-image-XXXXXX";
  if (code || !mkdtemp(path.data())) return core::SystemError("create a temporary folder");
  return host::ScratchFolder(std::move(path));
}

int BuildInto(const std::string& path, const Source& source, const BuildArguments& arguments,
              const container::image::ImageLoader* load) {
  core::Result<container::image::ImageFacts> facts = [&] {
    ProgressLine progress("writing");
    return container::image::WriteImage(source.files, source.identity, path, progress.Reporter());
  }();
  if (!facts) return OwnFailure(facts.error());
  if (load) {
    ProgressLine progress("loading into " + *arguments.load);
    if (core::Result<void> loaded = (*load)(path, progress.Reporter()); !loaded) {
      return OwnFailure(loaded.error());
    }
  }
  if (arguments.json) {
    Json json = FactsJson(*facts);
    json["file"] = arguments.output ? Json(path) : Json();
    json["loaded"] = arguments.load ? Json(*arguments.load) : Json();
    json["left_out"] = source.files.left_out;
    json["packages"] = source.packages;
    return Answer(JsonText(json), kExitOk);
  }
  std::string text = FactsText(*facts) + ListText("packages", source.packages) +
                     ListText("left out", source.files.left_out);
  if (arguments.output) text += "written to " + core::Printable(path) + "\n";
  if (load) text += "loaded into " + *arguments.load + "\n";
  return Answer(text, kExitOk);
}

int BuildFrom(BuildArguments arguments, const Source& source,
              const container::image::ImageLoader* load) {
  if (!arguments.output && !load) {
    arguments.output = "belljar-" + source.identity.profile + ".tar";
  }
  if (arguments.output) return BuildInto(*arguments.output, source, arguments, load);
  const core::Result<host::ScratchFolder> folder = TemporaryFolder();
  if (!folder) return OwnFailure(folder.error());
  return BuildInto(folder->path() + "/image.tar", source, arguments, load);
}

int BuildLanguage(const BuildArguments& arguments, const container::image::ImageLoader* load) {
  if (!arguments.packages.packages.empty()) {
    return UsageError("image build", "--package is for Python, not for --language");
  }
  const core::Result<installation::Installation> installation = installation::Installation::Find();
  if (!installation) return OwnFailure(installation.error());
  const core::Result<profiles::LanguageCatalogue> catalogue =
      profiles::LanguageCatalogue::Open(*installation);
  if (!catalogue) return OwnFailure(catalogue.error());
  const core::Result<core::Profile> language = FindLanguage(*catalogue, *arguments.language);
  if (!language) return UsageError("image build", language.error().ToString());
  const core::Result<Source> source =
      CollectLanguage(*installation, *language, *arguments.language);
  if (!source) return OwnFailure(source.error());
  return BuildFrom(arguments, *source, load);
}

int Build(BuildArguments arguments,
          const std::vector<container::image::NamedImageLoader>& loaders) {
  const container::image::ImageLoader* load = nullptr;
  for (const container::image::NamedImageLoader& loader : loaders) {
    if (arguments.load == loader.engine) load = &loader.load;
  }
  if (arguments.language) return BuildLanguage(arguments, load);
  const core::Result<profiles::ProfileCatalogue> catalogue = profiles::ProfileCatalogue::Open();
  if (!catalogue) return OwnFailure(catalogue.error());
  const core::Result<core::Profile> profile = catalogue->Choose(arguments.profile);
  if (!profile) return UsageError("image build", profile.error().ToString());
  core::Result<std::optional<PackageSelection>> packages =
      ResolvePackages(arguments.packages, arguments.profile);
  if (!packages) return UsageError("image build", packages.error().ToString());
  // The engine that loads the image also installs the packages.
  if (*packages) {
    container::backend::ContainerSelection& selection = (*packages)->options.selection.emplace();
    if (load) selection.engine = *arguments.load;
  }
  const core::Result<Source> source =
      *packages
          ? CollectSource(**packages, *profile)
          : CollectSource(*catalogue, *profile,
                          profiles::IsProfileFile(arguments.profile) ? arguments.profile : "");
  if (!source) return OwnFailure(source.error());
  return BuildFrom(std::move(arguments), *source, load);
}

Command MakeBuildCommand(CLI::App& image, std::vector<container::image::NamedImageLoader> loaders) {
  auto arguments = std::make_shared<BuildArguments>();
  CLI::App* parser = image.add_subcommand("build", "Build the image of a profile");
  CLI::Option* const profile =
      parser
          ->add_option("--profile", arguments->profile,
                       "profile that code in it runs with: a name, several joined with +, or a "
                       "file (default: basic)")
          ->type_name(kProfileType);
  AddText(parser, "--language", arguments->language, "NAME",
          "instead, the language of the programs that run in it: a name of \"belljar languages\", "
          "or a file")
      ->excludes(profile);
  AddText(parser, "--output", arguments->output, kFileType,
          "tar file to write (default: belljar-PROFILE.tar in the working directory)");
  if (!loaders.empty()) {
    std::vector<std::string> engines;
    for (const container::image::NamedImageLoader& loader : loaders)
      engines.push_back(loader.engine);
    AddText(parser, "--load", arguments->load, JoinChoices(engines),
            "load it into this engine through its socket; without --output no file is kept");
  }
  AddPackageOptions(parser, arguments->packages, PackageKinds::kPython);
  parser->add_flag("--json", arguments->json, "print one JSON object");
  SetExamples(parser,
              {"belljar image build  # belljar-basic.tar",
               "belljar image build --profile data-science --output image.tar  # another profile",
               "belljar image build --language bash --load docker  # for programs in Bash",
               "belljar image build --load docker  # into a local engine"});
  return {parser, [arguments, loaders = std::move(loaders)] {
            const auto is_requested = [&](const container::image::NamedImageLoader& loader) {
              return arguments->load == loader.engine;
            };
            if (arguments->load && std::none_of(loaders.begin(), loaders.end(), is_requested)) {
              return UsageError("image build",
                                "--load: unknown engine " + core::Quoted(*arguments->load));
            }
            return Build(*arguments, loaders);
          }};
}

// --- verify -----------------------------------------------------------------------------------

core::Result<std::vector<std::string>> CompareSource(const container::image::ImageFacts& facts,
                                                     const Source& source) {
  ProgressLine progress("comparing");
  const core::Result<container::image::ImageListing> here =
      container::image::ListFiles(source.files, progress.Reporter());
  if (!here) return here.error();
  return container::image::CompareImage(facts, source.identity, *here);
}

core::Result<std::vector<std::string>> CompareLanguage(
    const container::image::ImageFacts& facts, const installation::Installation& installation) {
  const std::string name =
      facts.identity.profile.substr(std::string_view(container::image::kLanguagePrefix).size());
  if (!IsName(name)) return std::vector<std::string>{"the name of its language is none"};
  const core::Result<profiles::LanguageCatalogue> catalogue =
      profiles::LanguageCatalogue::Open(installation);
  if (!catalogue) return catalogue.error();
  const core::Result<core::Profile> language = FindLanguage(*catalogue, name);
  if (!language) return std::vector<std::string>{language.error().ToString()};
  const core::Result<Source> source = CollectLanguage(installation, *language, name);
  if (!source) return std::vector<std::string>{source.error().ToString()};
  return CompareSource(facts, *source);
}

// `packages` are the packages listed in the image.
core::Result<std::vector<std::string>> CompareWithInstallation(
    const container::image::ImageFacts& facts, const std::optional<PackageSelection>& packages) {
  const core::Result<profiles::ProfileCatalogue> catalogue = profiles::ProfileCatalogue::Open();
  if (!catalogue) return catalogue.error();
  const std::string& name = facts.identity.profile;
  if (name.starts_with(container::image::kLanguagePrefix)) {
    return CompareLanguage(facts, catalogue->installation());
  }
  const std::vector<std::string> unknown = {"its profile " + core::Quoted(name) +
                                            " does not belong to this installation"};
  const std::string base = container::packages::BaseOfPackageProfile(name);
  if (!IsName(name) || !IsName(base)) return unknown;
  if (base.empty() && packages) {
    return std::vector<std::string>{"its profile " + core::Quoted(name) +
                                    " does not support packages from an index"};
  }
  const core::Result<core::Profile> profile = catalogue->Choose(base.empty() ? name : base);
  if (!profile) return unknown;
  if (!base.empty() && !packages) {
    return std::vector<std::string>{
        "it contains packages from an index and cannot be verified without them: name them with "
        "--package, as when it was built"};
  }
  const core::Result<Source> source =
      packages ? CollectSource(*packages, *profile) : CollectSource(*catalogue, *profile, "");
  if (!source) return source.error();
  return CompareSource(facts, *source);
}

int Verify(const VerifyArguments& arguments) {
  const core::Result<std::optional<PackageSelection>> packages =
      ResolvePackages(arguments.packages, "");
  if (!packages) return UsageError("image verify", packages.error().ToString());
  core::Result<container::image::ImageInspection> inspection = [&] {
    ProgressLine progress("reading");
    return container::image::InspectImage(*arguments.file, progress.Reporter());
  }();
  if (!inspection) return OwnFailure(inspection.error());
  const std::vector<std::string>& faults = inspection->faults;
  std::vector<std::string> differences;
  if (faults.empty()) {
    core::Result<std::vector<std::string>> compared =
        CompareWithInstallation(inspection->facts, *packages);
    if (!compared) return OwnFailure(compared.error());
    differences = std::move(*compared);
  }
  const bool is_well = faults.empty() && differences.empty();
  const int code = is_well ? kExitOk : kExitFindings;
  if (arguments.json) {
    Json json = faults.empty() ? FactsJson(inspection->facts) : Json::object();
    json["ok"] = is_well;
    json["faults"] = faults;
    json["differences"] = differences;
    return Answer(JsonText(json), code);
  }
  std::string text = faults.empty() ? FactsText(inspection->facts) : "";
  text += ListText("damaged, or not built by Belljar", faults);
  text += ListText("differs from what this installation would build", differences);
  if (is_well) text += "all digests match, and all files are from this installation\n";
  return Answer(text, code);
}

Command MakeVerifyCommand(CLI::App& image) {
  auto arguments = std::make_shared<VerifyArguments>();
  CLI::App* parser = image.add_subcommand(
      "verify",
      "Verify an image: all digests and sizes, and that its files are from this installation");
  AddText(parser, "FILE", arguments->file, kFileType, "tar file built by belljar image build")
      ->required();
  AddPackageOptions(parser, arguments->packages, PackageKinds::kPython);
  parser->add_flag("--json", arguments->json, "print one JSON object");
  SetExamples(parser,
              {"belljar image verify belljar-basic.tar  # exits with 0 if it verifies, else 1",
               "belljar image verify belljar-basic.tar --json  # for a program"});
  return {parser, [arguments] { return Verify(*arguments); }};
}

}  // namespace

std::vector<Command> MakeImageCommands(CLI::App& app,
                                       std::vector<container::image::NamedImageLoader> loaders) {
  CLI::App* image = app.add_subcommand("image", "Build and verify container images");
  Command whole{image, [&app] {
                  Say(app.help());
                  return kExitUsage;
                }};
  std::vector<Command> commands = {std::move(whole), MakeBuildCommand(*image, std::move(loaders)),
                                   MakeVerifyCommand(*image)};
  SetExamples(image,
              {"belljar image build  # of profile basic, into belljar-basic.tar",
               "belljar image verify belljar-basic.tar  # check that it is complete and unmodified",
               "belljar image build --help  # all options"});
  return commands;
}

}  // namespace belljar::cli
