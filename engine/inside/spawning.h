// What a zygote and a launcher have in common: the messages that start them and that ask them for
// workers, and the clone.
#ifndef BELLJAR_ENGINE_INSIDE_SPAWNING_H_
#define BELLJAR_ENGINE_INSIDE_SPAWNING_H_

#include <sys/types.h>

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "engine/core/result.h"
#include "engine/core/socket.h"
#include "engine/core/wire.h"
#include "engine/seal/seal_plan.h"

namespace belljar::inside {

// The texts of the start message: JSON first, then what is too large for it.
core::Result<std::vector<std::string>> ReceiveStartTexts(int control, size_t count);

// Answers the start message. `prepared` failed: with its error.
core::Result<void> AnswerStart(int control, const core::Result<void>& prepared);

// nullopt: not a spawn message.
std::optional<core::SpawnMessage::Kind> SpawnKindOf(const core::Message& message);

// Clones the caller, answers the host, and closes the pidfd. Returns in the parent; `in_worker`
// never does. `cloned` is called in the parent, before it answers.
core::Result<void> Spawn(const seal::SealPlan& plan, int control,
                         const std::function<void()>& in_worker,
                         const std::function<void()>& cloned = {});

}  // namespace belljar::inside

#endif  // BELLJAR_ENGINE_INSIDE_SPAWNING_H_
