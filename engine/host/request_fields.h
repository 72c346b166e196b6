// The table of a request (request.h): what is sent to a container as text. Source, standard input,
// inputs and files are sent separately as content (container/wire/request_text.h).
#ifndef BELLJAR_ENGINE_HOST_REQUEST_FIELDS_H_
#define BELLJAR_ENGINE_HOST_REQUEST_FIELDS_H_

#include "engine/core/wire.h"
#include "engine/host/fields.h"
#include "engine/host/limit_fields.h"
#include "engine/host/request.h"

namespace belljar::host {

inline constexpr std::string_view kModeNames[] = {"run", "validate"};
template <>
inline constexpr Words kNames<Request::Mode> = kModeNames;

inline constexpr FieldBounds kNameBounds = {.max = 16 * 1024, .max_items = 10'000};

inline constexpr FieldBounds kArgumentBounds = {.max = kMaxArgument, .max_items = kMaxArguments};

template <typename Visit>
void VisitFields(TableOf<Request>, Visit visit) {
  visit(Row<kSent>("mode", &Request::mode, "", kNameBounds));
  visit(Row<kSent>("filename", &Request::filename, "", kNameBounds));
  visit(Row<kSent>("arguments", &Request::arguments, "", kArgumentBounds));
  visit(Row<kSent>("environment", &Request::environment, "", kArgumentBounds));
  visit(Row<kSent>("allowed_imports", &Request::allowed_imports, "", kNameBounds));
  visit(Row<kSent>("allowed_domains", &Request::allowed_domains, "", kNameBounds));
  visit(Row<kSent>("functions", &Request::functions, "",
                   {.max = core::kMaxFunctionName, .max_items = kNameBounds.max_items}));
  visit(Row<kSent>("limits", &Request::limits));
  visit(Row<kSent>("analysis", &Request::wants_analysis));
  visit(Row<kSent>("comments", &Request::wants_comments));
  visit(Row<kSent>("exact_types", &Request::exact_types));
}

}  // namespace belljar::host

#endif  // BELLJAR_ENGINE_HOST_REQUEST_FIELDS_H_
