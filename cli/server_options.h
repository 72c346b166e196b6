// The options of `belljar serve`, generated from the table of settings, and the configuration
// loaded from command line and environment.
#ifndef BELLJAR_CLI_SERVER_OPTIONS_H_
#define BELLJAR_CLI_SERVER_OPTIONS_H_

#include "cli/option_table.h"
#include "engine/core/result.h"
#include "engine/profiles/profile_catalogue.h"
#include "server/config/load.h"

namespace belljar::cli {

// --config and --env-file: where settings are read from.
void AddConfigOptions(CLI::App* parser, server::config::ConfigSources& sources);

// One option for each setting that has a flag.
void AddSettingOptions(CLI::App* parser, server::config::ConfigSources& sources);

// Uses the environment of this process.
core::Result<server::config::LoadedConfig> Load(server::config::ConfigSources sources,
                                                const profiles::ProfileCatalogue& catalogue);
// The same; prints warnings on standard error.
core::Result<server::config::LoadedConfig> LoadAndWarn(server::config::ConfigSources sources,
                                                       const profiles::ProfileCatalogue& catalogue);

}  // namespace belljar::cli

#endif  // BELLJAR_CLI_SERVER_OPTIONS_H_
