#include "server/config/webhooks.h"

#include <optional>

#include "engine/core/text.h"
#include "engine/host/base64.h"
#include "engine/host/suggest.h"
#include "server/events/event.h"
#include "server/events/http_post.h"

namespace belljar::server::config {
namespace {

// The form of keys in Standard Webhooks.
constexpr std::string_view kPrefix = "whsec_";
constexpr size_t kMinKey = 24, kMaxKey = 64;

core::Result<std::string> KeyOf(const std::string& secret, const std::string& place) {
  const std::optional<std::string> key = secret.starts_with(kPrefix)
                                             ? host::DecodeBase64(secret.substr(kPrefix.size()))
                                             : std::nullopt;
  if (key && key->size() >= kMinKey && key->size() <= kMaxKey) return *key;
  return core::MakeError(place,
                         "the secret of a webhook is whsec_ and the base64 of 24 to 64 random "
                         "bytes; create one with: echo whsec_$(openssl rand -base64 32)");
}

}  // namespace

core::Result<LoadedWebhook> LoadWebhook(const WebhookEntry& entry,
                                        const std::vector<Variable>& variables,
                                        std::vector<std::string>& warnings) {
  LoadedWebhook loaded{entry.webhook, "", entry.origin, "", entry.variable};
  WebhookConfig& webhook = loaded.webhook;
  const std::string place = entry.origin.place + " " + core::Quoted(webhook.name);
  if (!IsEntryName(webhook.name)) {
    return core::MakeError(place, "a name is up to " + std::to_string(kMaxEntryName) +
                                      " letters, digits, dots, dashes and underscores");
  }
  const core::Result<events::HttpTarget> target =
      events::HttpTarget::Parse(webhook.url, webhook.allow_private);
  if (!target) return core::MakeError(place, target.error().detail);
  for (const std::string& event : webhook.events) {
    if (events::IsEventPattern(event)) continue;
    std::vector<std::string> known;
    for (const events::EventKind& kind : events::EventKinds()) known.push_back(kind.name);
    return core::MakeError(place, "no events match " + core::Quoted(event) +
                                      "; write names, or patterns such as \"execution.*\"" +
                                      host::Suggestion(event, known));
  }
  core::Result<EntrySecret> secret =
      LoadSecret(entry.file, entry.variable, entry.origin, place, variables, warnings);
  if (!secret) return secret.error();
  core::Result<std::string> key = KeyOf(secret->secret, place);
  if (!key) return key.error();
  webhook.secret = std::move(*key);
  loaded.from = std::move(secret->from);
  loaded.file = std::move(secret->file);
  return loaded;
}

core::Result<void> CheckWebhooks(const std::vector<LoadedWebhook>& webhooks,
                                 const std::vector<LoadedToken>& tokens) {
  std::vector<std::string> owners;
  owners.reserve(tokens.size() + 1);
  for (const LoadedToken& token : tokens) owners.push_back(token.token.caller.name);
  // Without tokens, or over stdio.
  owners.push_back(Caller().name);
  std::vector<std::string> names;
  for (const LoadedWebhook& loaded : webhooks) {
    const WebhookConfig& webhook = loaded.webhook;
    const std::string place = loaded.origin.place + " " + core::Quoted(webhook.name);
    if (core::Contains(names, webhook.name)) {
      return core::MakeError(place, "two webhooks have this name");
    }
    names.push_back(webhook.name);
    for (const std::string& owner : webhook.tokens) {
      if (core::Contains(owners, owner)) continue;
      return core::MakeError(
          place, "no token is named " + core::Quoted(owner) + host::Suggestion(owner, owners));
    }
  }
  return {};
}

}  // namespace belljar::server::config
