#include "server/mcp/icon.h"

namespace belljar::server::mcp {

// A bell jar containing a prompt; drawn for Belljar.
//
//   <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24" fill="none" stroke="#2b6cb0"
//   stroke-width="1.6" stroke-linecap="round" stroke-linejoin="round"> <circle cx="12" cy="3"
//   r="1.2"/> <path d="M6 19v-7.5a6 6 0 0 1 12 0V19"/> <path d="M3.5 19h17v2.2h-17z"/> <path
//   d="m9.5 12 2 2-2 2M13 16h2"/>
//   </svg>
const std::string_view kIconUri =
    "data:image/svg+xml;base64,PHN2ZyB4bWxucz0iaHR0cDovL3d3dy53My5vcmcvMjAwMC9zdmciIHZpZXdCb3g9Ij"
    "AgMCAyNCAyNCIgZmlsbD0ibm9uZSIgc3Ryb2tlPSIjMmI2Y2IwIiBzdHJva2Utd2lkdGg9IjEuNiIgc3Ryb2tlLWxpbm"
    "VjYXA9InJvdW5kIiBzdHJva2UtbGluZWpvaW49InJvdW5kIj48Y2lyY2xlIGN4PSIxMiIgY3k9IjMiIHI9IjEuMiIvPj"
    "xwYXRoIGQ9Ik02IDE5di03LjVhNiA2IDAgMCAxIDEyIDBWMTkiLz48cGF0aCBkPSJNMy41IDE5aDE3djIuMmgtMTd6Ii"
    "8+PHBhdGggZD0ibTkuNSAxMiAyIDItMiAyTTEzIDE2aDIiLz48L3N2Zz4=";

}  // namespace belljar::server::mcp
