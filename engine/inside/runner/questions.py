"""What a session's host asks between cells: completions, what a name is, the variables.

A question changes nothing and runs no code of the program's. The request: `mode` "complete" |
"inspect" | "variables", with `policy`, `allowed_imports`, `max_source` and `max_report` as in a
cell's; to the first two belongs `cursor`, in code points of the source.

The report, a JSON object in UTF-8; where nothing can be said, a cell's report without a result:

    status       "ok"; "exception" | "memory_limit" as of a cell
    completions  [{text, start, end, type?}], sorted: `text` replaces the source from `start` to
                 `end`; type "function" | "class" | "module" | "instance" | "property" | "keyword" |
                 "key" | "column"
    found        of "inspect": whether the name at the cursor is known
    text         of "inspect": its signature, type and docstring; "" if it is not known
    variables    [{name, type, shape, repr, digest}] in order of definition: `shape` is a list of
                 numbers or null, `digest` hexadecimal or null (digests.py)
    truncated    {completions | text | variables, source}: what was cut; `source`: it is too large,
                 and was not looked at
"""

import json
from collections.abc import Callable
from typing import Any

from . import attributes, digests, quiet_repr, variables
from . import report as reports
from .completion import Completer
from .execute import namespace_of_session, prepared_for_questions
from .inspection import describe_name
from .spelling import Spelling

_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
_SHORT_REPR = 40


def prepare() -> None:
    """Zygote, with the packages loaded."""
    _, _, proxies = prepared_for_questions()
    attributes.know_proxies(proxies)
    for part in (attributes, digests, quiet_repr, variables):
        part.know_packages()


def answer_question(
    request: dict[str, Any],
    source: bytes,
    *,
    _out_of_memory: bytes = reports.OUT_OF_MEMORY,
    _unreportable: bytes = reports.UNREPORTABLE,
) -> bytes:
    """Worker of a session, between cells. Raises nothing (execute() says how)."""
    try:
        try:
            key, answer = _ANSWERS[request["mode"]](request, source)
            return _to_bytes(key, answer, request["max_report"])
        except MemoryError:
            return _out_of_memory
    except:  # noqa: E722
        return _unreportable


def _completions(request: dict[str, Any], source: bytes) -> tuple[str, dict[str, Any]]:
    answer = _empty("completions", [])
    text, cursor = _text_and_cursor(request, source, answer)
    if answer["truncated"]["source"]:
        return "completions", answer
    found, more = _completer(request)[0].complete(text, cursor)
    answer["completions"] = found
    answer["truncated"]["completions"] = more
    return "completions", answer


def _inspection(request: dict[str, Any], source: bytes) -> tuple[str, dict[str, Any]]:
    answer = _empty("text", "")
    text, cursor = _text_and_cursor(request, source, answer)
    completer, spelling = _completer(request)
    name, found = completer.name_at(text, cursor)
    answer["found"] = bool(name)
    if name:
        answer["text"] = describe_name(name, found, spelling.is_proxy(found.value))
    return "text", answer


def _variables(request: dict[str, Any], _source: bytes) -> tuple[str, dict[str, Any]]:
    answer = _empty("variables", [])
    namespace, given = namespace_of_session()
    found, more = variables.list_variables(namespace, given)
    answer["variables"] = found
    answer["truncated"]["variables"] = more
    return "variables", answer


_ANSWERS: dict[str, Callable[[dict[str, Any], bytes], tuple[str, dict[str, Any]]]] = {
    "complete": _completions,
    "inspect": _inspection,
    "variables": _variables,
}


def _empty(key: str, value: Any) -> dict[str, Any]:
    return {"status": "ok", key: value, "truncated": {key: False, "source": False}}


def _completer(request: dict[str, Any]) -> tuple[Completer, Spelling]:
    policy, modules, proxies = prepared_for_questions()
    spelling = Spelling(request, policy, modules, proxies)
    return Completer(namespace_of_session()[0], spelling), spelling


def _text_and_cursor(
    request: dict[str, Any], source: bytes, answer: dict[str, Any]
) -> tuple[str, int]:
    """The source as it was sent: its line ends count as the host counts them."""
    if len(source) > request["max_source"]:
        answer["truncated"]["source"] = True
        return "", 0
    try:
        text = source.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        text = source.decode("utf-8", "replace")
    cursor = request.get("cursor")
    if type(cursor) is not int:
        cursor = len(text)
    return text, min(max(cursor, 0), len(text))


def _to_bytes(key: str, answer: dict[str, Any], limit: int) -> bytes:
    """At most `limit` bytes, if cutting `key` is enough for that."""
    encoded = _utf8(answer)
    while len(encoded) > limit and len(answer[key]):
        value = answer[key]
        if key == "variables" and any(len(each["repr"]) > _SHORT_REPR + 1 for each in value):
            for each in value:
                if len(each["repr"]) > _SHORT_REPR + 1:
                    each["repr"] = each["repr"][:_SHORT_REPR] + "…"
        else:
            answer[key] = value[: len(value) // 2]
        answer["truncated"][key] = True
        encoded = _utf8(answer)
    return encoded


def _utf8(answer: dict[str, Any]) -> bytes:
    try:
        return _encode(answer).encode()
    except UnicodeEncodeError:
        return _encode(reports.without_surrogates(answer)).encode()
