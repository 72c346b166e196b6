// An outcome as sent by a guest: a text, followed by the concatenated content of its artifacts.
// Standard output and error were sent before it.
//
// The text contains the worker's part in the form of its report, so that one parser validates both
// (engine/run/report.h), and what only the host of that worker can know. Of the latter, nothing
// is accepted that the outer host knows itself: limits, isolation mode, identity, network, digests.
#ifndef BELLJAR_CONTAINER_WIRE_OUTCOME_TEXT_H_
#define BELLJAR_CONTAINER_WIRE_OUTCOME_TEXT_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "container/wire/content.h"
#include "engine/core/bytes.h"
#include "engine/core/result.h"
#include "engine/host/outcome.h"

namespace belljar::container::wire {

// Bounds on an outcome.
struct OutcomeBounds {
  core::Limits limits;         // of the request
  bool has_workspace = false;  // of the profile: whether files can be artifacts
  core::Bytes displays{0};     // of the profile: total size of displayed artifacts
};

// Maximum size of the text in bytes. More than a legitimate one can have, with thousands of files
// with the longest names.
size_t MaxOutcomeText(const OutcomeBounds& bounds);

std::string OutcomeToText(const host::Outcome& outcome);
// The content of each artifact that was collected.
std::vector<std::string_view> OutcomeContent(const host::Outcome& outcome);

// `content` will fill the artifacts of `outcome`, so their list must not move; standard output and
// error are kept. Call FinishOutcome once all content has arrived. After an error both are invalid.
core::Result<void> ReadOutcomeText(std::string_view text, const OutcomeBounds& bounds,
                                   host::Outcome& outcome, Content& content);

// Computes digests, and which artifacts are part of the result itself.
void FinishOutcome(host::Outcome& outcome);

}  // namespace belljar::container::wire

#endif  // BELLJAR_CONTAINER_WIRE_OUTCOME_TEXT_H_
