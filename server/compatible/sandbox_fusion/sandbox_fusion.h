// SandboxFusion: POST /run_code and /run_jupyter of the service of that name. The wire format is
// that of its client on PyPI and of the reward functions that call it (docs/compatible.md).
#ifndef BELLJAR_SERVER_COMPATIBLE_SANDBOX_FUSION_SANDBOX_FUSION_H_
#define BELLJAR_SERVER_COMPATIBLE_SANDBOX_FUSION_SANDBOX_FUSION_H_

#include <optional>

#include "server/calls/calls.h"
#include "server/compatible/body_fields.h"
#include "server/compatible/languages.h"
#include "server/compatible/program.h"
#include "server/compatible/run_report.h"
#include "server/compatible/sandbox_fusion/notebook.h"
#include "server/core/web.h"

namespace belljar::server::compatible::sandbox_fusion {

class SandboxFusion final : public WebHandler {
 public:
  // `calls` and what `tools` names are borrowed.
  SandboxFusion(Calls& calls, const ApiTools& tools, const ApiTerms& terms, const About& about);

  const std::vector<WebRoute>& routes() const override;
  void Handle(size_t route, WebRequest request, std::shared_ptr<WebReply> reply) override;

 private:
  void RunCode(BodyFields& fields, const WebRequest& request,
               const std::shared_ptr<WebReply>& reply);
  void RunJupyter(BodyFields& fields, const WebRequest& request,
                  const std::shared_ptr<WebReply>& reply);
  // Adds to the mistakes. Python, if the body names no language that the caller may use.
  const Language& TakeLanguage(BodyFields& fields, const Caller& caller) const;

  Calls& calls_;
  Tool& execute_;
  const Languages languages_;
  std::optional<Notebook> notebook_;
};

}  // namespace belljar::server::compatible::sandbox_fusion

#endif  // BELLJAR_SERVER_COMPATIBLE_SANDBOX_FUSION_SANDBOX_FUSION_H_
