"""Leaks of each kind, planted in library functions that the profile exports: the search's control.

plant() runs before the policy is built, so that the functions are exported like any other. EXPECTED
has, for each kind, words that the search must report.
"""

from __future__ import annotations

import bisect
import colorsys
import ctypes
import functools
import gc
import sys
import textwrap
import types
import typing
from collections.abc import Callable
from typing import Any

from tests.search import interrupts

_FLAGS = 168  # of tp_flags in a type object
_GUEST_MADE = 1 << 15


def _running() -> Any:
    return sys.modules["belljar_policy.library.program"].running


def _guards() -> Any:
    return sys.modules["_belljar_guards"]


def _hands_out_a_module(*_: Any) -> Any:
    return [{"x": sys}]


def _hands_out_a_frame(*_: Any) -> Any:
    return sys._getframe()


def _hands_out_code(*_: Any) -> Any:
    return types.SimpleNamespace(code=_hands_out_code.__code__)


def _hands_out_a_namespace(*_: Any) -> Any:
    return vars(sys)


def _hands_out_the_globals(*_: Any) -> Any:
    return functools.partial(len, _running().scope)


def _hands_out_the_policy(*_: Any) -> Any:
    raise ValueError("planted", _running())


def _hands_out_a_function(*_: Any) -> Any:
    return [sys.modules["belljar_policy.library.copy"]._special]


def _hands_out_a_guard(*_: Any) -> Any:
    return property(_guards().allow_modules)


def _passes_a_builtin(target: Any = None, *_: Any) -> Any:
    return target(open)


# An instance of the library's.
_KEPT = typing.NewType("_KEPT", int)


def _hands_out_a_dict(*_: Any) -> Any:
    return vars(_KEPT)


def _writes(target: Any = None, *_: Any) -> None:
    target.__dict__["planted"] = 1  # past the guard of stores


def _forwards(target: Any = None, *_: Any) -> Any:
    return target.canary_name


def _takes_hooks(names: Any = None, *_: Any) -> Any:
    code = _running().compile_mode("globals()._x", "<planted>", "eval")[0]
    exec(code, {**names, "__builtins__": _running().builtins})


def _makes_a_library_class(*_: Any) -> Any:
    made = type("Planted", (), {"__module__": "planted", "x": 1})
    place = ctypes.c_ulong.from_address(id(made) + _FLAGS)
    place.value &= ~_GUEST_MADE
    return made


def _narrow(*_: Any) -> None:
    """Widens what may be imported, in Python, and narrows it again."""
    _guards().allow_modules(None)
    try:
        for each in range(50):
            str(each)
    finally:
        _guards().allow_modules(_allowed())


def _allowed() -> Any:
    policy = _running().may_import.__self__
    return policy._allowed


def _collects_later(*_: Any) -> None:
    gc.disable()
    for each in range(50):
        str(each)
    gc.enable()


# The name in the library, what is there instead, and words of the report.
WALKED: dict[str, tuple[Callable[..., Any], str]] = {
    "colorsys.rgb_to_yiq": (_hands_out_a_module, "a dict with a real module"),
    "colorsys.yiq_to_rgb": (_hands_out_a_frame, "a frame"),
    "colorsys.rgb_to_hls": (_hands_out_code, "a code"),
    "colorsys.hls_to_rgb": (_hands_out_a_namespace, "the namespace of sys"),
    "colorsys.rgb_to_hsv": (_hands_out_the_globals, "the real globals of the program"),
    "colorsys.hsv_to_rgb": (_hands_out_the_policy, "an object of the policy"),
    "textwrap.dedent": (_hands_out_a_function, "a function of the policy"),
    "textwrap.indent": (_hands_out_a_guard, "a guard"),
    "textwrap.fill": (_passes_a_builtin, "the builtin open"),
    "textwrap.shorten": (_hands_out_a_dict, "the instance dict"),
    "textwrap.wrap": (_writes, "has changed"),
    "bisect.bisect": (_forwards, "forwarded to any object"),
    "bisect.insort": (_takes_hooks, "takes its hooks from the program"),
    "bisect.bisect_left": (_makes_a_library_class, "counts as the library's"),
}
# The same for functions that are interrupted.
INTERRUPTED: dict[str, tuple[Callable[..., Any], str]] = {
    "bisect.bisect_right": (_narrow, "which this call may not import"),
    "bisect.insort_left": (_collects_later, "collector"),
}


def plant() -> None:
    """Changes the library and interrupts.ACTS, of this process."""
    modules = {"colorsys": colorsys, "textwrap": textwrap, "bisect": bisect}
    for name, (function, _) in (WALKED | INTERRUPTED).items():
        module, _, key = name.partition(".")
        setattr(modules[module], key, function)
    for name in INTERRUPTED:
        interrupts.ACTS[f"planted {name}"] = f"import bisect\ndef act(): {name}()"
