"""locale, for guests: the C locale, which a minimal system has too."""

from __future__ import annotations

import locale
from typing import Any

from .objects import is_a

Error = locale.Error
LC_ALL = locale.LC_ALL
LC_COLLATE = locale.LC_COLLATE
LC_CTYPE = locale.LC_CTYPE
LC_MESSAGES = locale.LC_MESSAGES
LC_MONETARY = locale.LC_MONETARY
LC_NUMERIC = locale.LC_NUMERIC
LC_TIME = locale.LC_TIME
CHAR_MAX = locale.CHAR_MAX
atof = locale.atof
atoi = locale.atoi
currency = locale.currency
delocalize = locale.delocalize
format_string = locale.format_string
localeconv = locale.localeconv
normalize = locale.normalize
str = locale.str  # the library's name for it
strcoll = locale.strcoll
strxfrm = locale.strxfrm

_NAMES = frozenset({"", "C", "POSIX", "C.UTF-8", "C.utf8"})
_CURRENT = {"name": "C"}


def setlocale(category: int, locale: Any = None) -> Any:
    """Only the C locale exists; setting it changes nothing."""
    if type(category) is not int or not 0 <= category <= 12:
        raise Error("invalid locale category")
    if locale is None:
        return _CURRENT["name"]
    if is_a(locale, tuple) and len(locale) == 2:
        locale = "C" if locale[0] in (None, "C") else locale[0]
    if locale not in _NAMES:
        raise Error("unsupported locale setting")
    _CURRENT["name"] = locale or "C"
    return _CURRENT["name"]


def getlocale(category: int = LC_CTYPE) -> tuple[Any, Any]:
    """No language, and UTF-8."""
    return (None, None) if _CURRENT["name"] in ("C", "POSIX") else ("C", "UTF-8")


def getdefaultlocale(envvars: Any = None) -> tuple[Any, Any]:
    """No language, and UTF-8."""
    return (None, "UTF-8")


def getpreferredencoding(do_setlocale: bool = True) -> Any:
    """UTF-8."""
    return "UTF-8"


def getencoding() -> Any:
    """UTF-8."""
    return "UTF-8"
