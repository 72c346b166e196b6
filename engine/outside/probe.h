// Probes what this machine allows, in a child that changes nothing.
#ifndef BELLJAR_ENGINE_OUTSIDE_PROBE_H_
#define BELLJAR_ENGINE_OUTSIDE_PROBE_H_

#include "engine/core/result.h"

namespace belljar::outside {

// Whether a child may be cloned into all namespaces of the seal and mount in them. The error says
// what refused it.
core::Result<void> ProbeNamespaces();

}  // namespace belljar::outside

#endif  // BELLJAR_ENGINE_OUTSIDE_PROBE_H_
