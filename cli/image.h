// `belljar image`: builds and verifies container images of this installation.
#ifndef BELLJAR_CLI_IMAGE_H_
#define BELLJAR_CLI_IMAGE_H_

#include <vector>

#include "cli/option_table.h"
#include "container/image/image_loader.h"

namespace belljar::cli {

// image, image build and image verify. `loaders` are the engines that --load may name; if empty,
// there is no such option.
std::vector<Command> MakeImageCommands(CLI::App& app,
                                       std::vector<container::image::NamedImageLoader> loaders);

}  // namespace belljar::cli

#endif  // BELLJAR_CLI_IMAGE_H_
