#include "tests/fuzz/catalogue.h"

#include <utility>

#include "tests/fuzz/invariant.h"

namespace belljar {

ProfileCatalogue CatalogueOfSource() {
  Installation installation;
  installation.profiles = BELLJAR_PROFILES_FOLDER;
  Result<ProfileCatalogue> catalogue = ProfileCatalogue::Open(std::move(installation));
  Require(bool(catalogue), "no profiles", BELLJAR_PROFILES_FOLDER);
  return std::move(*catalogue);
}

}  // namespace belljar
