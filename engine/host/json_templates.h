// The parts of nlohmann/json.hpp that every file would otherwise instantiate and optimise again:
// the two value types used here, their parser and their writer. json_templates.cc instantiates them
// once. Other files get these declarations through the precompiled header (precompiled/json.h), and
// also compile without it.
#ifndef BELLJAR_ENGINE_HOST_JSON_TEMPLATES_H_
#define BELLJAR_ENGINE_HOST_JSON_TEMPLATES_H_

#include <nlohmann/json.hpp>

// BELLJAR_JSON_TEMPLATE: `extern template`, and in json_templates.cc `template`.
#ifndef BELLJAR_JSON_TEMPLATE
#define BELLJAR_JSON_TEMPLATE extern template
#endif

#define BELLJAR_JSON_PARSER(Json, Input)                                                      \
  BELLJAR_JSON_TEMPLATE class lexer<Json, iterator_input_adapter<Input>>;                     \
  BELLJAR_JSON_TEMPLATE class parser<Json, iterator_input_adapter<Input>>;                    \
  BELLJAR_JSON_TEMPLATE bool parser<Json, iterator_input_adapter<Input>>::sax_parse_internal( \
      json_sax_dom_parser<Json>*);                                                            \
  BELLJAR_JSON_TEMPLATE bool parser<Json, iterator_input_adapter<Input>>::sax_parse_internal( \
      json_sax_dom_callback_parser<Json>*);

#define BELLJAR_JSON_VALUE(Json)                                  \
  BELLJAR_JSON_TEMPLATE class serializer<Json>;                   \
  BELLJAR_JSON_TEMPLATE class json_sax_dom_parser<Json>;          \
  BELLJAR_JSON_TEMPLATE class json_sax_dom_callback_parser<Json>; \
  BELLJAR_JSON_PARSER(Json, std::string::const_iterator)          \
  BELLJAR_JSON_PARSER(Json, const char*)

// They are all in an inline namespace of the library, and an explicit instantiation must be in an
// enclosing namespace.
namespace nlohmann::detail {
BELLJAR_JSON_VALUE(json)
BELLJAR_JSON_VALUE(ordered_json)
}  // namespace nlohmann::detail
BELLJAR_JSON_TEMPLATE class nlohmann::basic_json<>;
BELLJAR_JSON_TEMPLATE class nlohmann::basic_json<nlohmann::ordered_map>;

#undef BELLJAR_JSON_VALUE
#undef BELLJAR_JSON_PARSER
#undef BELLJAR_JSON_TEMPLATE

#endif  // BELLJAR_ENGINE_HOST_JSON_TEMPLATES_H_
