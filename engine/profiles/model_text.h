// What a model is told about a sandbox before it writes code: the same words in the server's tools
// and in Python's integrations for agents.
#ifndef BELLJAR_ENGINE_PROFILES_MODEL_TEXT_H_
#define BELLJAR_ENGINE_PROFILES_MODEL_TEXT_H_

#include <string>
#include <vector>

#include "engine/core/profile.h"
#include "engine/installation/installation.h"

namespace belljar::profiles {

inline constexpr char kFreshProcess[] =
    "Runs a Python program in a fresh process: nothing is left of earlier calls";
inline constexpr char kLivePython[] =
    "Runs Python code in one live Python: names, imports and files stay from call to call. A call "
    "that is stopped by a limit leaves it as it was before.";
inline constexpr char kAnswersWith[] =
    "Answers with what it printed and the value of its last expression (or of the variable named "
    "result), or with its error, the line and a hint.";

// Those that most programs use come first; the others stay in order.
void PutBestKnownFirst(std::vector<std::string>& packages);

// The top-level modules of the profile's packages that are installed, the best known first.
std::vector<std::string> PackagesOf(const core::Profile& profile,
                                    const std::vector<installation::MissingPackages>& missing);

// "the standard library except bdb, code, …", or "json, math": what is shorter. Of packages, the
// top-level module.
std::string LibraryText(const std::vector<std::string>& modules);

// "numpy, pandas and the standard library without files, network, processes and pip".
// `library`: of the standard library, as LibraryText; empty: it is not listed.
std::string OfferText(const core::Profile& profile, bool without_policy,
                      const std::vector<std::string>& packages, const std::string& library);

// "Limits: at 30s or 256m of memory the program is stopped, …". `output`: its size.
std::string LimitsText(const std::string& limits, const std::string& output);

}  // namespace belljar::profiles

#endif  // BELLJAR_ENGINE_PROFILES_MODEL_TEXT_H_
