// Needs: what a project would need to run, for `belljar validate --needs`.
#ifndef BELLJAR_CLI_VALIDATE_NEEDS_H_
#define BELLJAR_CLI_VALIDATE_NEEDS_H_

#include <cstddef>
#include <set>
#include <string>

#include "cli/validate/check.h"

namespace belljar::cli::validate {

class Needs {
 public:
  // `profile`: the one that was checked for.
  explicit Needs(std::string profile) : profiles_({std::move(profile)}) {}

  void Add(const Judgement& judgement);

  // As lines for people, or as one JSON object.
  std::string Text() const;
  std::string Json() const;

 private:
  std::string Profile() const;

  std::set<std::string> profiles_;  // with those that have what this one lacks
  std::set<std::string> packages_;  // that are in no profile
  size_t remaining_ = 0;            // findings that none of these would resolve
};

}  // namespace belljar::cli::validate

#endif  // BELLJAR_CLI_VALIDATE_NEEDS_H_
