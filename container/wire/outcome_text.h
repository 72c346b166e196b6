// An outcome as a guest sends it: a text, and as content what the artifacts hold, one after the
// other. Standard output and error have gone before it.
//
// The text has the worker's part in the form of its report, so that one reader judges both
// (engine/outside/report.h), and beside it what only the host of that worker can know. Of that
// nothing is taken that the host out here knows itself: limits, isolation mode, identity, network,
// digests.
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

// What an outcome is held to.
struct OutcomeBounds {
  core::Limits limits;         // of the request
  bool has_workspace = false;  // of the profile: files can be artifacts
  core::Bytes displays{0};     // of the profile: what is displayed, all of it
};

// Bytes: what the text may have at most. More than an honest one can: of thousands of files with
// the longest of names.
size_t MaxOutcomeText(const OutcomeBounds& bounds);

std::string OutcomeToText(const host::Outcome& outcome);
// Of each artifact that has been taken along.
std::vector<std::string_view> OutcomeContent(const host::Outcome& outcome);

// `content` will fill the artifacts of `outcome`, whose list has to stay where it is; what it had
// in standard output and error stays too. FinishOutcome once all of it is there. On an error both
// are worth nothing.
core::Result<void> ReadOutcomeText(std::string_view text, const OutcomeBounds& bounds,
                                   host::Outcome& outcome, Content& content);

// Digests, and which artifacts are shown within the result.
void FinishOutcome(host::Outcome& outcome);

}  // namespace belljar::container::wire

#endif  // BELLJAR_CONTAINER_WIRE_OUTCOME_TEXT_H_
