#define BELLJAR_JSON_TEMPLATE template
#include "engine/host/json_templates.h"
