// Piston: /api/v2/runtimes and /api/v2/execute of the service of that name. Packages are listed,
// and nothing is installed.
#ifndef BELLJAR_SERVER_COMPATIBLE_PISTON_PISTON_H_
#define BELLJAR_SERVER_COMPATIBLE_PISTON_PISTON_H_

#include <optional>
#include <string>

#include "server/calls/calls.h"
#include "server/compatible/body_fields.h"
#include "server/compatible/languages.h"
#include "server/compatible/program.h"
#include "server/core/web.h"

namespace belljar::server::compatible::piston {

class Piston final : public WebHandler {
 public:
  // `calls` and the tools are borrowed.
  Piston(Calls& calls, const ApiTools& tools, const ApiTerms& terms, const About& about);

  const std::vector<WebRoute>& routes() const override;
  void Handle(size_t route, WebRequest request, std::shared_ptr<WebReply> reply) override;

 private:
  void Execute(WebRequest request, const std::shared_ptr<WebReply>& reply);
  // Sets the code and the files; an error is a sentence for the client.
  static std::optional<std::string> TakeFiles(BodyFields& fields, const ApiTerms& terms,
                                              Program& program);
  static std::optional<std::string> TakeLimits(BodyFields& fields, const Language& language,
                                               Program& program);

  Calls& calls_;
  Tool& execute_;
  const Languages languages_;
};

// Whether an npm version selector ("*", "3.x", "^3.10.0", "3.10.0") may mean a Python 3: clients
// name the version of another host.
bool SelectsPython3(std::string_view selector);

}  // namespace belljar::server::compatible::piston

#endif  // BELLJAR_SERVER_COMPATIBLE_PISTON_PISTON_H_
