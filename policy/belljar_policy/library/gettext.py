"""gettext, for guests: no catalogues, so every message is its own translation."""

from __future__ import annotations

from typing import Any

_domain = ["messages"]


def gettext(message: Any) -> Any:
    """The message."""
    return message


def ngettext(singular: Any, plural: Any, n: int) -> Any:
    """One of two messages."""
    return singular if n == 1 else plural


def pgettext(context: Any, message: Any) -> Any:
    """The message."""
    return message


def npgettext(context: Any, singular: Any, plural: Any, n: int) -> Any:
    """One of two messages."""
    return ngettext(singular, plural, n)


def dgettext(domain: Any, message: Any) -> Any:
    """The message."""
    return message


def dngettext(domain: Any, singular: Any, plural: Any, n: int) -> Any:
    """One of two messages."""
    return ngettext(singular, plural, n)


def textdomain(domain: str | None = None) -> str:
    """Sets and returns the domain, which has no effect."""
    if domain is not None:
        _domain[0] = domain
    return _domain[0]


def bindtextdomain(domain: Any, localedir: Any = None) -> str:
    """The folder of catalogues, which has no effect."""
    return "/usr/share/locale" if localedir is None else localedir


def find(domain: Any, localedir: Any = None, languages: Any = None, all: bool = False) -> Any:
    """There is no catalogue."""
    return [] if all else None


class NullTranslations:
    """Translations of nothing."""

    def __init__(self, fp: Any = None) -> None:
        self._fallback: Any = None

    def add_fallback(self, fallback: Any) -> None:
        """Where to look for what is missing here."""
        self._fallback = fallback

    def gettext(self, message: Any) -> Any:
        """The message."""
        return message if self._fallback is None else self._fallback.gettext(message)

    def ngettext(self, singular: Any, plural: Any, n: int) -> Any:
        """One of two messages."""
        if self._fallback is not None:
            return self._fallback.ngettext(singular, plural, n)
        return singular if n == 1 else plural

    def pgettext(self, context: Any, message: Any) -> Any:
        """The message."""
        return self.gettext(message)

    def npgettext(self, context: Any, singular: Any, plural: Any, n: int) -> Any:
        """One of two messages."""
        return self.ngettext(singular, plural, n)

    def info(self) -> dict[str, str]:
        """The catalogue's description."""
        return {}

    def charset(self) -> None:
        """The catalogue's encoding."""

    def install(self, names: Any = None) -> None:
        """Would bind `_` in every module."""
        raise PermissionError("[BJ502] install() changes the builtins; write _ = t.gettext")


def translation(
    domain: Any, localedir: Any = None, languages: Any = None, class_: Any = None,
    fallback: bool = False,
) -> Any:  # fmt: skip
    """Translations of nothing, if `fallback`."""
    if not fallback:
        raise FileNotFoundError(2, "No translation file found for domain", domain)
    return NullTranslations()
