"""A result as text, for a language model or a test log.

Everything but the headings comes from the program: a model that acts on it acts on untrusted input.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from belljar._info import Info
    from belljar._result import Result

MAX_CHARACTERS = 20_000  # characters
_MAX_FINDINGS = 10
_MAX_NAMES = 1500  # characters


def cut(text: str, most: int) -> str:
    """Cuts out the middle and says how much is missing."""
    if len(text) <= most:
        return text
    half = most // 2
    left_out = len(text) - 2 * half
    return f"{text[:half]}\n[… {left_out:,} characters left out …]\n{text[-half:]}"


def result_text(result: Result, most: int = MAX_CHARACTERS) -> str:
    """Output, value, error with hint, and files, each cut to `most` characters."""
    parts = [f"{name}:\n{cut(text.rstrip(), most)}" for name, text in _parts(result) if text]
    return "\n\n".join(parts) or "The program ended well. It printed nothing and left no value."


def _parts(result: Result) -> Iterator[tuple[str, str]]:
    for name in ("stdout", "stderr"):
        text = getattr(result, name)
        if dropped := getattr(result, f"{name}_dropped"):
            text += f"\n[{dropped:,} bytes more were over the limit of output]"
        yield name, text
    # The worker's repr: ours may be slow or raise, for instance for an int with 5,000 digits.
    if result.value_repr:
        plain = "" if result.has_value else " (its repr: it is not plain data)"
        yield f"value{plain}", result.value_repr
    if not result.ok:
        yield f"error ({result.status})", failure(result)
    yield "files", "\n".join(f"{each.name}, {each.size:,} bytes" for each in result.artifacts)


def failure(result: Result) -> str:
    """Why a program did not run to its end, with hints."""
    if result.findings:
        lines = []
        for each in result.findings[:_MAX_FINDINGS]:
            lines.append(f"line {each.line}: {each.rule} {each.reason}")
            if each.hint:
                lines.append(f"  hint: {each.hint}")
        if more := len(result.findings) - _MAX_FINDINGS:
            lines += [f"and {more} more"] * (more > 0)
        return "Nothing was run.\n" + "\n".join(lines)
    error = result.error
    if error is None:
        return result.status
    said = (error.traceback or f"{error.type}: {error.message}").rstrip()
    return said if error.hint is None else f"{said}\nhint: {error.hint}"


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
