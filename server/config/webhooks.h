// [[webhooks]]: reads their secrets and validates them.
#ifndef BELLJAR_SERVER_CONFIG_WEBHOOKS_H_
#define BELLJAR_SERVER_CONFIG_WEBHOOKS_H_

#include <string>
#include <vector>

#include "engine/core/result.h"
#include "server/config/environment.h"
#include "server/config/tokens.h"
#include "server/config/toml_file.h"
#include "server/core/config.h"

namespace belljar::server::config {

struct LoadedWebhook {
  WebhookConfig webhook;
  std::string from;  // of its secret
  Origin origin;
  std::string file;      // absolute; or empty
  std::string variable;  // or empty
};

core::Result<LoadedWebhook> LoadWebhook(const WebhookEntry& entry,
                                        const std::vector<Variable>& variables,
                                        std::vector<std::string>& warnings);

// Rejects duplicate names and names of tokens that do not exist.
core::Result<void> CheckWebhooks(const std::vector<LoadedWebhook>& webhooks,
                                 const std::vector<LoadedToken>& tokens);

}  // namespace belljar::server::config

#endif  // BELLJAR_SERVER_CONFIG_WEBHOOKS_H_
