#include "server/config/tokens.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>

#include "engine/core/fd.h"
#include "engine/core/text.h"

namespace belljar::server::config {
namespace {

constexpr size_t kMaxSecret = 4096;
constexpr char kHowToMake[] = "create one with: openssl rand -hex 32";

// Whether `name`, which does not exist, may be the secret itself instead of a file or variable
// name.
bool MayBeSecret(const std::string& name) {
  return name.size() >= kMinSecret && name.find_first_of("./ ") == std::string::npos;
}

// Checks the open file rather than the path: this follows links and cannot race with a rename.
core::Result<void> CheckMode(int fd, const std::string& path, const std::string& place,
                             std::vector<std::string>& warnings) {
  struct stat status;
  if (fstat(fd, &status) != 0)
    return core::SystemError(place + ": look at " + core::Printable(path));
  if (!S_ISREG(status.st_mode)) return {};
  if ((status.st_mode & 007) != 0) {
    return core::MakeError(place, "everyone on this machine can read or write " +
                                      core::Quoted(path) + "; chmod 600 " + core::Printable(path));
  }
  if ((status.st_mode & 070) != 0) {
    warnings.push_back(place + ": the group can read or write " + core::Quoted(path) +
                       "; chmod 600 " + core::Printable(path) + " unless this is intended");
  }
  return {};
}

}  // namespace

bool IsEntryName(const std::string& name) {
  return name.size() <= kMaxEntryName && std::all_of(name.begin(), name.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                  c == '.' || c == '_' || c == '-';
         });
}

core::Result<EntrySecret> LoadSecret(const std::string& file, const std::string& variable_name,
                                     const Origin& origin, const std::string& place,
                                     const std::vector<Variable>& variables,
                                     std::vector<std::string>& warnings) {
  EntrySecret loaded;
  if (!variable_name.empty()) {
    const Variable* variable = FindVariable(variables, variable_name);
    if (!variable && MayBeSecret(variable_name)) {
      return core::MakeError(place, "env names a variable that is not set");
    }
    if (!variable) {
      return core::MakeError(place, "the variable " + core::Quoted(variable_name) + " is not set");
    }
    core::Result<std::string> secret = CheckSecret(variable->value, place);
    if (!secret) return secret.error();
    loaded.secret = std::move(*secret);
    loaded.from = "environment " + core::Printable(variable_name);
    return loaded;
  }
  loaded.file = std::filesystem::path(origin.folder) / file;
  core::Result<std::string> secret = ReadTokenFile(loaded.file, place, warnings);
  if (!secret) return secret.error();
  loaded.secret = std::move(*secret);
  loaded.from = "file " + core::Printable(loaded.file);
  return loaded;
}

core::Result<std::string> CheckSecret(std::string secret, const std::string& place) {
  if (secret.ends_with('\n')) secret.pop_back();
  if (secret.ends_with('\r')) secret.pop_back();
  const bool visible =
      std::all_of(secret.begin(), secret.end(), [](char c) { return c > ' ' && c < 0x7f; });
  if (!visible) {
    return core::MakeError(place,
                           std::string("a token is one line of visible ASCII characters without "
                                       "spaces; ") +
                               kHowToMake);
  }
  if (secret.size() < kMinSecret) {
    return core::MakeError(place, "a token must have at least " + std::to_string(kMinSecret) +
                                      " characters, but this one has " +
                                      std::to_string(secret.size()) + "; " + kHowToMake);
  }
  if (secret.size() > kMaxSecret) {
    return core::MakeError(place, "a token may have at most " + std::to_string(kMaxSecret) +
                                      " characters; " + kHowToMake);
  }
  return secret;
}

core::Result<std::string> ReadTokenFile(const std::string& path, const std::string& place,
                                        std::vector<std::string>& warnings) {
  const core::UniqueFd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd) {
    const int failure = errno;
    if (!MayBeSecret(std::filesystem::path(path).filename())) {
      return core::SystemErrorOf(failure, place + ": open " + core::Quoted(path));
    }
    return core::SystemErrorOf(
        failure, place + ": open that file",
        "this must be the path of a file that contains the token, not the token itself");
  }
  if (core::Result<void> mode = CheckMode(fd.get(), path, place, warnings); !mode)
    return mode.error();
  core::Result<std::string> secret = core::ReadAll(fd.get(), kMaxSecret + 2);
  if (!secret) {
    return core::SystemErrorOf(secret.error().error_number, place + ": read " + core::Quoted(path),
                               secret.error().detail);
  }
  return CheckSecret(std::move(*secret), place);
}

core::Result<LoadedToken> LoadToken(const TokenEntry& entry, const std::vector<Variable>& variables,
                                    std::vector<std::string>& warnings) {
  const std::string& name = entry.caller.name;
  const std::string place = entry.origin.place + " " + core::Quoted(name);
  if (!IsEntryName(name) || name == Caller().name) {
    return core::MakeError(place, "a name is up to " + std::to_string(kMaxEntryName) +
                                      " letters, digits, dots, dashes and underscores, and not \"" +
                                      Caller().name +
                                      "\", which is reserved for callers without a token");
  }
  core::Result<EntrySecret> secret =
      LoadSecret(entry.file, entry.variable, entry.origin, place, variables, warnings);
  if (!secret) return secret.error();
  return LoadedToken{{std::move(secret->secret), entry.caller},
                     std::move(secret->from),
                     entry.origin,
                     std::move(secret->file),
                     entry.variable};
}

core::Result<void> CheckTokens(const std::vector<LoadedToken>& tokens) {
  for (size_t i = 0; i < tokens.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      const std::string& name = tokens[i].token.caller.name;
      const std::string& other = tokens[j].token.caller.name;
      if (name == other) {
        return core::MakeError(tokens[i].origin.place,
                               "there are two tokens named " + core::Quoted(name) + ", from " +
                                   tokens[j].from + " and from " + tokens[i].from);
      }
      if (tokens[i].token.secret == tokens[j].token.secret) {
        return core::MakeError(tokens[i].origin.place, "the tokens " + core::Quoted(other) +
                                                           " and " + core::Quoted(name) +
                                                           " have the same secret");
      }
    }
  }
  return {};
}

}  // namespace belljar::server::config
