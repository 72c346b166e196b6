"""The report: its parts, its bytes, and what is given up when there are too many of them."""

import json
from collections.abc import Callable
from typing import Any

from .tracebacks import NOWHERE, Place

MAX_FINDINGS = 1000
MAX_VARIABLES = 200
_MAX_FINDING_TEXT = 1000

_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode

_PARTS = ("result", "result_repr", "traceback", "findings", "variables", "message", "imports")


class Report:  # not a dataclass: making one takes a zygote almost a millisecond
    __slots__ = (
        "analysis", "artifacts", "artifacts_left_out", "comments", "error", "exit_code", "findings",
        "has_result", "result_json", "result_repr", "status", "truncated", "variables",
    )  # fmt: skip

    def __init__(
        self,
        status: str,
        exit_code: int | None = None,
        error: dict[str, Any] | None = None,
        findings: list[dict[str, Any]] | None = None,
    ) -> None:
        self.status = status
        self.exit_code = exit_code
        self.has_result = False
        self.result_json: str | None = None
        self.result_repr: str | None = None
        self.variables: list[str] = []
        self.error = error
        self.findings = findings or []
        self.analysis: dict[str, Any] | None = None
        self.comments: list[dict[str, Any]] = []
        self.artifacts: list[dict[str, Any]] = []
        self.artifacts_left_out = 0
        self.truncated = dict.fromkeys(_PARTS, False)

    def to_bytes(self, limit: int) -> bytes:
        """At most `limit` bytes. Parts are cut or dropped in the order of _REDUCTIONS."""
        encoded = self._encoded()
        for reduce in _REDUCTIONS:
            if len(encoded) <= limit:
                break
            reduce(self)
            encoded = self._encoded()
        return encoded

    def _encoded(self) -> bytes:
        document = {
            "status": self.status,
            "exit_code": self.exit_code,
            "has_result": self.has_result,
            "result_repr": self.result_repr,
            "variables": self.variables,
            "error": self.error,
            "findings": self.findings,
            "analysis": self.analysis,
            "truncated": self.truncated,
        }
        if self.comments:
            document["comments"] = self.comments
        if self.artifacts or self.artifacts_left_out:
            document["artifacts"] = self.artifacts
            document["artifacts_left_out"] = self.artifacts_left_out
        # The result is JSON text already.
        ending = f',"result":{self.result_json or "null"}}}'
        try:
            return (_encode(document)[:-1] + ending).encode()
        except UnicodeEncodeError:
            return (_encode(without_surrogates(document))[:-1] + ending).encode()


def error_fields(
    type_name: str,
    message: str,
    place: Place = NOWHERE,
    traceback: str | None = None,
    hint: str | None = None,
) -> dict[str, Any]:
    return {
        "type": type_name,
        "message": message,
        **place._asdict(),
        "traceback": traceback,
        "hint": hint,
    }


def finding_fields(rule: str, name: str, place: Place, reason: str, hint: str) -> dict[str, Any]:
    """A finding of this package's own, in the form of belljar_policy's."""
    return {
        "rule": rule,
        "name": name,
        "line": place.line or 0,  # 0: the whole source
        "column": place.column or 0,
        "end_line": place.end_line or 0,
        "end_column": place.end_column or 0,
        "reason": reason,
        "hint": hint,
        "profile": "",
    }


def refusal(findings: list[dict[str, Any]]) -> dict[str, Any]:
    """The error of a refused run: its first finding."""
    first = findings[0]
    message = f"{first['rule']} {first['reason']}"
    if first["line"]:
        message = f"line {first['line']}: {message}"
    numbers = (first[key] or None for key in ("line", "column", "end_line", "end_column"))
    return error_fields("PolicyError", message, Place(*numbers), hint=first["hint"] or None)


def bounded_findings(findings: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """A guest's names are as long as it likes, and findings quote them."""
    return [
        {key: _shortened(value) for key, value in finding.items()}
        for finding in findings[:MAX_FINDINGS]
    ]


def _shortened(value: Any) -> Any:
    if type(value) is str and len(value) > _MAX_FINDING_TEXT:
        return value[:_MAX_FINDING_TEXT] + "…"
    return value


def without_surrogates(value: Any) -> Any:
    """Lone surrogates, which no JSON in UTF-8 can hold, become their escapes."""
    if type(value) is str:
        return value.encode("utf-8", "backslashreplace").decode()
    if type(value) is list:
        return [without_surrogates(item) for item in value]
    if type(value) is dict:
        return {key: without_surrogates(item) for key, item in value.items()}
    return value


def _drop_result(report: Report) -> None:
    if report.result_json is not None:
        report.result_json = None
        report.truncated["result"] = True


def _cut_repr(size: int) -> Callable[[Report], None]:
    def cut(report: Report) -> None:
        if report.result_repr is not None and len(report.result_repr) > size:
            report.result_repr = report.result_repr[:size] + "…"
            report.truncated["result_repr"] = True

    return cut


def _cut_traceback(size: int) -> Callable[[Report], None]:
    def cut(report: Report) -> None:
        text = report.error and report.error["traceback"]
        if report.error and text and len(text) > size:
            half = size // 2
            left_out = f"\n  [... {len(text) - 2 * half} characters left out ...]\n"
            report.error["traceback"] = text[:half] + left_out + text[len(text) - half :]
            report.truncated["traceback"] = True

    return cut


def _cut_list(name: str, size: int) -> Callable[[Report], None]:
    def cut(report: Report) -> None:
        values = getattr(report, name)
        if len(values) > size:
            del values[size:]
            report.truncated[name] = True

    return cut


def _cut_names(report: Report) -> None:
    report.variables = [name[:100] for name in report.variables]


def _cut_message(report: Report) -> None:
    if report.error and len(report.error["message"]) > 200:
        report.error["message"] = report.error["message"][:200] + "…"
        report.truncated["message"] = True


def _minimal(report: Report) -> None:
    report.comments = []
    report.artifacts_left_out += len(report.artifacts)
    report.artifacts = []
    _cut_list("findings", 0)(report)
    _cut_list("variables", 0)(report)
    _cut_repr(0)(report)
    if report.analysis and report.analysis["imports"]:
        report.analysis["imports"] = []
        report.truncated["imports"] = True
    if report.error:
        report.error["traceback"] = report.error["hint"] = None
        report.truncated["traceback"] = True


# Gently first, and the same parts again if that was not enough.
_REDUCTIONS: tuple[Callable[[Report], None], ...] = (
    _drop_result,
    _cut_repr(200),
    _cut_traceback(8192),
    _cut_list("findings", 100),
    _cut_list("variables", 100),
    _cut_traceback(1024),
    _cut_list("findings", 10),
    _cut_list("variables", 10),
    _cut_names,
    _cut_message,
    _minimal,
)


def _constant(status: str, error: dict[str, Any]) -> bytes:
    return Report(status, error=error).to_bytes(1 << 20)


# Made ahead, for when nothing can be made any more.
OUT_OF_MEMORY = _constant(
    "memory_limit",
    error_fields(
        "MemoryError",
        "",
        hint="process the data in smaller parts, or request a higher memory limit",
    ),
)
UNREPORTABLE = _constant(
    "exception",
    error_fields(
        "RuntimeError",
        "the program left the interpreter in a state in which nothing more could be reported",
    ),
)
