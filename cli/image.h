// `belljar image`: the image of which containers are started, made of this installation.
#ifndef BELLJAR_CLI_IMAGE_H_
#define BELLJAR_CLI_IMAGE_H_

#include <vector>

#include "cli/option_table.h"
#include "container/image/image_loader.h"

namespace belljar::cli {

// image, image build and image verify. `loaders` are the engines that --load may name; without any
// there is no such option.
std::vector<Command> MakeImageCommands(CLI::App& app,
                                       std::vector<container::image::NamedImageLoader> loaders);

}  // namespace belljar::cli

#endif  // BELLJAR_CLI_IMAGE_H_
