// config_fuzz: the same bytes as a TOML file and as an environment file. What loads must be shown
// as TOML that loads to the same.
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "engine/core/fd.h"
#include "server/config/load.h"
#include "tests/fuzz/catalogue.h"
#include "tests/fuzz/invariant.h"

namespace belljar::tests {
namespace {

const profiles::ProfileCatalogue& Catalogue() {
  static const auto* const catalogue = new profiles::ProfileCatalogue(CatalogueOfSource());
  return *catalogue;
}

// A file that has a path and no place on any disk.
class File {
 public:
  explicit File(std::string_view text) : fd_(memfd_create("config", MFD_CLOEXEC)) {
    Require(write(fd_.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size()),
            "no file");
  }
  std::string path() const { return "/proc/self/fd/" + std::to_string(fd_.get()); }

 private:
  core::UniqueFd fd_;
};

void CheckLoaded(const core::Result<server::config::LoadedConfig>& loaded) {
  if (!loaded) {
    const std::string error = loaded.error().ToString();
    Require(!error.empty() && error.find('\n') == error.npos, "an error of one line", error);
    return;
  }
  const std::string printed = server::config::ConfigAsToml(*loaded);
  const File again(printed);
  server::config::ConfigSources sources;
  sources.file = again.path();
  const core::Result<server::config::LoadedConfig> reloaded =
      server::config::LoadConfig(sources, Catalogue());
  Require(bool(reloaded), "what is printed does not load", printed);
  for (size_t i = 0; i < loaded->settings.size(); ++i) {
    Require(loaded->settings[i].literal == reloaded->settings[i].literal,
            "another value after printing", printed);
  }
}

void Try(std::string_view text) {
  const File file(text);
  server::config::ConfigSources as_toml;
  as_toml.file = file.path();
  CheckLoaded(server::config::LoadConfig(as_toml, Catalogue()));
  server::config::ConfigSources as_environment;
  as_environment.env_file = file.path();
  // Or BELLJAR_CONFIG could name any file of this machine.
  const File none("");
  as_environment.file = none.path();
  CheckLoaded(server::config::LoadConfig(as_environment, Catalogue()));
}

}  // namespace
}  // namespace belljar::tests

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  belljar::tests::Try({reinterpret_cast<const char*>(data), size});
  return 0;
}
