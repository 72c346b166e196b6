// Languages: what the programs of one compatible API may be in: Python, and what the operator has
// enabled (execution.languages). Each API has names or ids of its own for them.
//
//   const Languages languages(terms, about);
//   const Language* language = languages.Find("cpp", caller);
//   if (!language) return Refuse(NotOffered("cpp", names));
#ifndef BELLJAR_SERVER_COMPATIBLE_LANGUAGES_H_
#define BELLJAR_SERVER_COMPATIBLE_LANGUAGES_H_

#include <string>
#include <string_view>
#include <vector>

#include "server/compatible/api_terms.h"
#include "server/core/caller.h"

namespace belljar::server::compatible {

struct Language {
  InstalledLanguage installed;
  ApiTerms terms;  // of programs in it
  bool is_python = false;

  const std::string& name() const { return installed.name; }
  bool compiles() const { return !installed.compile.empty(); }
};

class Languages {
 public:
  Languages(const ApiTerms& terms, const About& about);

  const Language& python() const { return all_.front(); }
  // By Belljar's name. Null: it is not enabled, or the caller may not use it.
  const Language* Find(std::string_view name, const Caller& caller) const;
  // All that the caller may use, Python first.
  std::vector<const Language*> Of(const Caller& caller) const;

 private:
  std::vector<Language> all_;
};

// A sentence about a language that is not among those that a client may name.
std::string NotOffered(const std::string& given, const std::vector<std::string>& offered);

}  // namespace belljar::server::compatible

#endif  // BELLJAR_SERVER_COMPATIBLE_LANGUAGES_H_
