// The profiles of this source tree, with none of the packages that they name: what is installed
// beside a fuzz program does not count.
#ifndef BELLJAR_TESTS_FUZZ_CATALOGUE_H_
#define BELLJAR_TESTS_FUZZ_CATALOGUE_H_

#include "engine/profiles/profile_catalogue.h"

namespace belljar::tests {

profiles::ProfileCatalogue CatalogueOfSource();

}  // namespace belljar::tests

#endif  // BELLJAR_TESTS_FUZZ_CATALOGUE_H_
