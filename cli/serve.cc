#include <unistd.h>

#include <memory>
#include <optional>
#include <utility>

#include "cli/commands.h"
#include "cli/console.h"
#include "cli/exit_code.h"
#include "cli/interruption.h"
#include "cli/reload_signal.h"
#include "cli/server_options.h"
#include "engine/core/text.h"
#include "server/config/settings.h"
#include "server/config/values.h"
#include "server/serve.h"

namespace belljar::cli {
namespace {

struct ServeArguments {
  server::config::ConfigSources sources;
  bool check = false;
};

std::string Place(const server::ServerConfig& config) {
  if (!config.http) return "stdio";
  return "http://" +
         server::config::FormatListenAddress({config.http->address, config.http->port}) + "/mcp";
}

int ReportCheck(const server::config::LoadedConfig& loaded) {
  const server::ServerConfig& config = loaded.config;
  std::string profiles;
  for (const std::string& name : config.execution.profiles) {
    profiles += (profiles.empty() ? "" : ", ") + core::Printable(name);
  }
  Say("belljar: the configuration is valid: " + Place(config) +
      ", tokens: " + std::to_string(config.tokens.size()) + ", profiles: " + profiles +
      ", file: " + (loaded.file.empty() ? "none" : core::Printable(loaded.file)) + "\n");
  return kExitOk;
}

// For users who try the command in a terminal: it would otherwise print nothing.
void ExplainStdio() {
  Say("belljar serve: standard input is a terminal; an MCP client is expected here (one JSON "
      "message per line).\nA client starts the server itself:\n"
      "  claude mcp add belljar -- belljar serve\n"
      "or connects to one over HTTP:\n"
      "  belljar serve --http\n"
      "Ctrl-D ends it.\n");
}

int ExecuteServe(const ServeArguments& arguments) {
  const core::Result<profiles::ProfileCatalogue> catalogue = profiles::ProfileCatalogue::Open();
  if (!catalogue) return OwnFailure(catalogue.error());
  const core::Result<server::config::LoadedConfig> loaded =
      LoadAndWarn(arguments.sources, *catalogue);
  if (!loaded) return UsageError("serve", loaded.error().ToString());
  if (arguments.check) return ReportCheck(*loaded);
  Interruption interruption;
  std::optional<ReloadSignal> reload_signal;
  server::TokenReload reload;
  if (loaded->config.http) {
    reload.fd = reload_signal.emplace().fd();
    reload.load = [&]() -> core::Result<server::TokenReload::Loaded> {
      core::Result<server::config::LoadedConfig> now = Load(arguments.sources, *catalogue);
      if (!now) return now.error();
      return server::TokenReload::Loaded{std::move(now->config.tokens), std::move(now->warnings)};
    };
  }
  if (!loaded->config.http && isatty(STDIN_FILENO)) ExplainStdio();
  const core::Result<void> served =
      server::Serve(loaded->config, *catalogue, interruption.fd(), reload);
  return served ? kExitOk : OwnFailure(served.error());
}

}  // namespace

Command MakeServeCommand(CLI::App& app) {
  auto arguments = std::make_shared<ServeArguments>();
  CLI::App* parser = AddCommand(app, "serve", "Serve MCP to clients, over stdio or HTTP");
  AddConfigOptions(parser, arguments->sources);
  AddSettingOptions(parser, arguments->sources);
  AddFlag(parser, "--check", arguments->check, "check the configuration and exit, without serving");
  SetExamples(parser, {"belljar serve  # MCP over stdio: what a client starts",
                       "belljar serve --http  # HTTP at http://127.0.0.1:9015/mcp",
                       "belljar serve --http 0.0.0.0:9015 --token-file token  # for other machines",
                       "belljar serve --timeout 5 --memory 64m  # defaults for calls",
                       "belljar serve --env-file .env  # environment variables from a file",
                       "belljar serve --check  # validate the configuration"});
  return {parser, [arguments] { return ExecuteServe(*arguments); }};
}

}  // namespace belljar::cli
