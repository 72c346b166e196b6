// Changes that wait to be reviewed after their session has ended, in a file of the user's own.
#ifndef BELLJAR_ENGINE_PROJECTS_SAVED_CHANGES_H_
#define BELLJAR_ENGINE_PROJECTS_SAVED_CHANGES_H_

#include <chrono>
#include <string>
#include <vector>

#include "engine/core/result.h"
#include "engine/projects/changes.h"

namespace belljar::projects {

struct SavedChanges {
  std::string id;      // of the file: "20261130-2101-3f9a"; given by Save
  std::string folder;  // absolute
  std::chrono::system_clock::time_point made;
  ChangeSet set;
};

// A folder of files, one each, readable by their owner alone.
class ChangeStore {
 public:
  explicit ChangeStore(std::string folder) : folder_(std::move(folder)) {}

  // Creates the folder if necessary. Returns the id.
  core::Result<std::string> Save(const SavedChanges& changes) const;
  // The newest first; `project`: of this folder only, empty: all. A file that cannot be read, or is
  // of another version, is an error that names it.
  core::Result<std::vector<SavedChanges>> List(const std::string& project) const;
  // Takes the place of those with the same id; removes the file if nothing is left.
  core::Result<void> Replace(const SavedChanges& changes) const;
  core::Result<void> Remove(const std::string& id) const;

 private:
  std::string PathOf(const std::string& id) const;
  core::Result<SavedChanges> Load(const std::string& id) const;
  core::Result<void> Write(const SavedChanges& changes) const;

  const std::string folder_;
};

}  // namespace belljar::projects

#endif  // BELLJAR_ENGINE_PROJECTS_SAVED_CHANGES_H_
