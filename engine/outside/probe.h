// Asks this machine what it can give, by trying it in a child that changes nothing.
#ifndef BELLJAR_ENGINE_OUTSIDE_PROBE_H_
#define BELLJAR_ENGINE_OUTSIDE_PROBE_H_

#include "engine/core/result.h"

namespace belljar::outside {

// Whether a child may be cloned into all the namespaces of the seal, and mount in them; the error
// says what refused.
core::Result<void> ProbeNamespaces();

}  // namespace belljar::outside

#endif  // BELLJAR_ENGINE_OUTSIDE_PROBE_H_
