"""Code that every request runs, close together in memory.

To call a function CPython writes to the reference count of its code object. The code objects of
some seventy functions that each request calls were loaded with their modules and lie on as many
pages; each of these pages is copied for every worker, and held by every waiting one.
"""

import gc
import sys
from collections.abc import Callable
from types import CodeType, FrameType, FunctionType
from typing import Any


def watch(run: Callable[[Callable[[FrameType, str, Any], None]], None]) -> dict[int, CodeType]:
    """The code that `run(profiler)` executes, by id, in the order of the first calls."""
    ran: dict[int, CodeType] = {}

    def note(frame: FrameType, event: str, _: Any) -> None:
        if event == "call":
            ran.setdefault(id(frame.f_code), frame.f_code)

    sys.setprofile(note)
    try:
        run(note)
    finally:
        sys.setprofile(None)
    return ran


def gather(ran: dict[int, CodeType]) -> None:
    """Zygote, before code is specialised: gives the functions of the policy, the runner and the
    standard library copies of their code, one after the other. Packages keep theirs: guards know
    some of it by its identity."""
    functions: dict[int, list[FunctionType]] = {}
    for value in gc.get_objects():
        if type(value) is FunctionType and id(value.__code__) in ran and _is_of_ours(value):
            functions.setdefault(id(value.__code__), []).append(value)
    for key, code in ran.items():
        if key in functions:
            copy = _copy_of(code, ran)
            for function in functions[key]:
                function.__code__ = copy


def _is_of_ours(function: FunctionType) -> bool:
    root = str(function.__globals__.get("__name__")).partition(".")[0]
    return root.startswith("belljar_") or root in sys.stdlib_module_names


def _copy_of(code: CodeType, ran: dict[int, CodeType]) -> CodeType:
    """With the code of inner functions that ran, too."""
    constants = tuple(
        _copy_of(each, ran) if type(each) is CodeType and id(each) in ran else each
        for each in code.co_consts
    )
    return code.replace(co_consts=constants)
