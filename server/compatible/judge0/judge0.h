// Judge0: the submissions of the service of that name (the API of its version 1.13.1).
#ifndef BELLJAR_SERVER_COMPATIBLE_JUDGE0_JUDGE0_H_
#define BELLJAR_SERVER_COMPATIBLE_JUDGE0_JUDGE0_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "server/calls/calls.h"
#include "server/compatible/judge0/submission_store.h"
#include "server/compatible/program.h"
#include "server/core/web.h"

namespace belljar::server::compatible::judge0 {

class Judge0 final : public WebHandler {
 public:
  // `calls` and the tools are borrowed.
  Judge0(Calls& calls, const ApiTools& tools, const ApiTerms& terms, const About& about);

  const std::vector<WebRoute>& routes() const override;
  void Handle(size_t route, WebRequest request, std::shared_ptr<WebReply> reply) override;

 private:
  // Query parameters.
  struct View {
    bool is_base64 = false;
    bool waits = false;
    std::vector<std::string_view> fields;
    std::optional<std::string> tokens;
  };
  // Called with the finished submission.
  using OnJudged = std::function<void(const Submission&)>;

  // An answer: the query is invalid.
  std::optional<WebAnswer> ReadView(const WebRequest& request, View& view) const;
  void Create(const View& view, const WebRequest& request, const std::shared_ptr<WebReply>& reply);
  void CreateBatch(const View& view, const WebRequest& request, WebReply& reply);
  void ShowBatch(const View& view, const WebRequest& request, WebReply& reply);
  void Show(const View& view, const WebRequest& request, WebReply& reply);
  void Delete(const View& view, const WebRequest& request, WebReply& reply);
  // Stores the submission and runs it; `on_judged` may be empty. Refused: nothing is stored.
  std::optional<CallQueue::Refusal> Start(Submission submission, const Caller& caller,
                                          std::shared_ptr<Cancellation> cancellation,
                                          OnJudged on_judged);
  WebAnswer ShowLanguages(size_t route, const WebRequest& request) const;
  WebAnswer ConfigInfo() const;

  Calls& calls_;
  Tool& execute_;
  const Languages languages_;
  const std::unique_ptr<SubmissionStore> store_ = std::make_unique<MemorySubmissions>();
  const About about_;
};

}  // namespace belljar::server::compatible::judge0

#endif  // BELLJAR_SERVER_COMPATIBLE_JUDGE0_JUDGE0_H_
