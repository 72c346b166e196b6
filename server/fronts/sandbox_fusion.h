// SandboxFusion: POST /run_code and /run_jupyter of the service of that name, for Python. The wire
// format is that of its client on PyPI and of the reward functions that call it (docs/http.md).
#ifndef BELLJAR_SERVER_FRONTS_SANDBOX_FUSION_H_
#define BELLJAR_SERVER_FRONTS_SANDBOX_FUSION_H_

#include <optional>

#include "server/calls/calls.h"
#include "server/core/web.h"
#include "server/fronts/body_fields.h"
#include "server/fronts/notebook.h"
#include "server/fronts/program.h"
#include "server/fronts/run_report.h"

namespace belljar::server::fronts {

class SandboxFusion final : public WebHandler {
 public:
  // `calls` and the tools named by `tools` are borrowed.
  SandboxFusion(Calls& calls, const FrontTools& tools, FrontTerms terms);

  const std::vector<WebRoute>& routes() const override;
  void Handle(size_t route, WebRequest request, std::shared_ptr<WebReply> reply) override;

 private:
  void RunCode(BodyFields& fields, const WebRequest& request,
               const std::shared_ptr<WebReply>& reply);
  void RunJupyter(BodyFields& fields, const WebRequest& request,
                  const std::shared_ptr<WebReply>& reply);
  // Adds to the mistakes.
  std::vector<ProgramFile> TakeFiles(BodyFields& fields) const;
  std::vector<std::string> TakeFetchFiles(BodyFields& fields) const;
  std::optional<double> TakeMemory(BodyFields& fields) const;

  Calls& calls_;
  Tool& execute_;
  const FrontTerms terms_;
  std::optional<Notebook> notebook_;
};

}  // namespace belljar::server::fronts

#endif  // BELLJAR_SERVER_FRONTS_SANDBOX_FUSION_H_
