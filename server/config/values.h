// Syntax of single values. Used by the table of settings and by resolve.cc.
#ifndef BELLJAR_SERVER_CONFIG_VALUES_H_
#define BELLJAR_SERVER_CONFIG_VALUES_H_

#include <optional>
#include <string>
#include <string_view>

#include "engine/core/result.h"
#include "server/config/settings.h"

namespace belljar::server::config {

// Each returns what is wrong and what to write, or an empty string if the value is valid.
std::string PathViolation(std::string_view path);
std::string JobStoreViolation(std::string_view store);
std::string ImageViolation(std::string_view image);
std::string IndexViolation(std::string_view index);
std::string PackageViolation(std::string_view pattern);
std::string HostViolation(std::string_view host);
std::string OriginViolation(std::string_view origin);
std::string DomainViolation(std::string_view domain);
std::string PrivateViolation(std::string_view network);
std::string ResolveViolation(std::string_view name_and_address);

// "127.0.0.1:9015", "[::1]:9015", "localhost:9015", "9015" (loopback), "127.0.0.1" (port 9015);
// "off" is nullopt. An error has no operation; its detail says what to write.
core::Result<std::optional<ListenAddress>> ParseListenAddress(std::string_view text);
std::string FormatListenAddress(const ListenAddress& listen);
// Whether only this machine can reach it. Expects an address from ParseListenAddress.
bool IsLoopback(const ListenAddress& listen);

// Well-formed UTF-8 without control characters.
bool IsPlainText(std::string_view text);

// A literal that is valid TOML and JSON. Precondition: IsPlainText.
std::string TextLiteral(const std::string& text);
std::string ListLiteral(const std::vector<std::string>& texts);

// Without an exponent, which text in the environment cannot have either; "inf" if there is none.
std::string FormatNumber(double number);

}  // namespace belljar::server::config

#endif  // BELLJAR_SERVER_CONFIG_VALUES_H_
