#include "tests/fuzz/catalogue.h"

#include <utility>

#include "tests/fuzz/invariant.h"

namespace belljar::tests {

profiles::ProfileCatalogue CatalogueOfSource() {
  installation::Installation installation;
  installation.profiles = BELLJAR_PROFILES_FOLDER;
  core::Result<profiles::ProfileCatalogue> catalogue =
      profiles::ProfileCatalogue::Open(std::move(installation));
  Require(bool(catalogue), "no profiles", catalogue ? "" : catalogue.error().ToString());
  return std::move(*catalogue);
}

}  // namespace belljar::tests
