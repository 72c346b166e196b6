"""A result as text, for a language model or a test log.

It is the text that the MCP server gives to models (engine/host/answer.h). Everything but the
headings, the hints and the notes in brackets comes from the program: a model that acts on it acts
on untrusted input.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from belljar import _host, _plain

if TYPE_CHECKING:
    from belljar._info import Info
    from belljar._result import Result

MAX_CHARACTERS = 10_000
"""Letters and spaces count as one, digits and punctuation as two, line ends as four, and other
characters as their bytes of UTF-8."""
_MAX_NAMES = 1500  # characters


def result_text(result: Result, most: int = MAX_CHARACTERS) -> str:
    """Output, value, error with hint, and files, each cut to `most` characters."""
    # A repr that was cut does not show the end of the value.
    is_cut = result.has_value and "value_repr" in result.truncated
    json = _plain.encode(result.value, "value") if is_cut else None
    return _host.answer_text(result, json, most)


def failure(result: Result, most: int = MAX_CHARACTERS) -> str:
    """Why a program did not run to its end, with hints."""
    return _host.failure_text(result, most)


def cut(text: str, most: int) -> str:
    """Text of a program, with its middle cut out if it is long. Lines that look like Belljar's own
    begin with a backslash, and control characters are escaped."""
    return _host.program_text(text, most)


def surroundings(info: Info, timeout: float | None = None) -> str:
    """What is available to a program, for a model that is to write one."""
    limits = info.limits.default
    if info.language == "full":
        language = "The full Python language and standard library are available."
    else:
        names = ", ".join(info.modules)
        if len(names) > _MAX_NAMES:
            names = names[:_MAX_NAMES].rpartition(", ")[0] + " and more"
        absent = [] if info.has_network else ["the network"]
        absent += [] if info.workspace else ["open, files"]
        absent.append("other processes")
        language = (
            f"Python {info.python} with these modules and no others: {names}. "
            f"Not available: {', '.join(absent)}."
        )
    place = f" Files are in {info.workspace.path}." if info.workspace else ""
    return (
        f"{language}{place} Limits: {timeout or limits.timeout:g} seconds, "
        f"{limits.memory_bytes >> 20} MiB of memory; a program that exceeds them is killed."
    )
