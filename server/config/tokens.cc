#include "server/config/tokens.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>

#include "engine/core/fd.h"
#include "engine/core/text.h"

namespace belljar {
namespace {

constexpr size_t kLongestSecret = 4096;
constexpr size_t kLongestName = 64;
constexpr char kHowToMake[] = "make one with: openssl rand -hex 32";

bool IsName(const std::string& name) {
  return name.size() <= kLongestName && std::all_of(name.begin(), name.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                  c == '.' || c == '_' || c == '-';
         });
}

// Whether `name`, which leads nowhere, may be the secret itself in the place of where it lies.
bool MayBeSecret(const std::string& name) {
  return name.size() >= kShortestSecret && name.find_first_of("./ ") == std::string::npos;
}

// Not a link's own mode, and not a name's that may change hands in between: the open file's.
Result<void> CheckMode(int fd, const std::string& path, const std::string& place,
                       std::vector<std::string>& warnings) {
  struct stat status;
  if (fstat(fd, &status) != 0) return SystemError(place + ": look at " + Printable(path));
  if (!S_ISREG(status.st_mode)) return {};
  if ((status.st_mode & 007) != 0) {
    return MakeError(place, "everyone on this machine can read or write " + Quoted(path) +
                                "; chmod 600 " + Printable(path));
  }
  if ((status.st_mode & 070) != 0) {
    warnings.push_back(place + ": the group can read or write " + Quoted(path) + "; chmod 600 " +
                       Printable(path) + " unless that is meant");
  }
  return {};
}

}  // namespace

Result<std::string> CheckSecret(std::string secret, const std::string& place) {
  if (secret.ends_with('\n')) secret.pop_back();
  if (secret.ends_with('\r')) secret.pop_back();
  const bool visible =
      std::all_of(secret.begin(), secret.end(), [](char c) { return c > ' ' && c < 0x7f; });
  if (!visible) {
    return MakeError(place, std::string("a token is one line of visible ASCII characters without "
                                        "spaces; ") +
                                kHowToMake);
  }
  if (secret.size() < kShortestSecret) {
    return MakeError(place, "a token has at least " + std::to_string(kShortestSecret) +
                                " characters, and this one has " + std::to_string(secret.size()) +
                                "; " + kHowToMake);
  }
  if (secret.size() > kLongestSecret) {
    return MakeError(place, "a token has at most " + std::to_string(kLongestSecret) +
                                " characters; " + kHowToMake);
  }
  return secret;
}

Result<std::string> ReadTokenFile(const std::string& path, const std::string& place,
                                  std::vector<std::string>& warnings) {
  const UniqueFd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd) {
    const int failure = errno;
    if (!MayBeSecret(std::filesystem::path(path).filename())) {
      return SystemErrorOf(failure, place + ": open " + Quoted(path));
    }
    return SystemErrorOf(failure, place + ": open that file",
                         "this names a file that holds the token, and is not the token itself");
  }
  if (Result<void> mode = CheckMode(fd.get(), path, place, warnings); !mode) return mode.error();
  Result<std::string> secret = ReadAll(fd.get(), kLongestSecret + 2);
  if (!secret) {
    return SystemErrorOf(secret.error().error_number, place + ": read " + Quoted(path),
                         secret.error().detail);
  }
  return CheckSecret(std::move(*secret), place);
}

Result<LoadedToken> LoadToken(const TokenEntry& entry, const std::vector<Variable>& variables,
                              std::vector<std::string>& warnings) {
  const std::string& name = entry.caller.name;
  const std::string place = entry.origin.place + " " + Quoted(name);
  if (!IsName(name) || name == Caller().name) {
    return MakeError(place, "a name is up to " + std::to_string(kLongestName) +
                                " letters, digits, dots, dashes and underscores, and not \"" +
                                Caller().name + "\", which is who comes without a token");
  }
  LoadedToken loaded{{"", entry.caller}, "", entry.origin, "", entry.variable};
  if (!entry.variable.empty()) {
    const Variable* variable = FindVariable(variables, entry.variable);
    if (!variable && MayBeSecret(entry.variable)) {
      return MakeError(place, "env names a variable, and there is none of that name");
    }
    if (!variable) {
      return MakeError(place, "the variable " + Quoted(entry.variable) + " is not set");
    }
    Result<std::string> secret = CheckSecret(variable->value, place);
    if (!secret) return secret.error();
    loaded.token.secret = std::move(*secret);
    loaded.from = "environment " + Printable(entry.variable);
    return loaded;
  }
  loaded.file = std::filesystem::path(entry.origin.folder) / entry.file;
  Result<std::string> secret = ReadTokenFile(loaded.file, place, warnings);
  if (!secret) return secret.error();
  loaded.token.secret = std::move(*secret);
  loaded.from = "file " + Printable(loaded.file);
  return loaded;
}

Result<void> CheckTokens(const std::vector<LoadedToken>& tokens) {
  for (size_t i = 0; i < tokens.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      const std::string& name = tokens[i].token.caller.name;
      const std::string& other = tokens[j].token.caller.name;
      if (name == other) {
        return MakeError(tokens[i].origin.place, "there are two tokens named " + Quoted(name) +
                                                     ", from " + tokens[j].from + " and from " +
                                                     tokens[i].from);
      }
      if (tokens[i].token.secret == tokens[j].token.secret) {
        return MakeError(tokens[i].origin.place, "the tokens " + Quoted(other) + " and " +
                                                     Quoted(name) + " have the same secret");
      }
    }
  }
  return {};
}

}  // namespace belljar
