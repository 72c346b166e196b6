"""eval, exec, compile, globals, locals and vars, for guests.

Text is checked and compiled like the program's source while it runs, under the same limits. A
refusal is a SyntaxError with the rule.

No dict that a program can write to is ever the globals of code: an entry called "@write" would
replace a hook, and `__builtins__` all of them. The program's own globals are shown by a view that
knows only names that the program could bind itself. A dict that the program passes is copied into
globals of ours, and what the code has bound there is copied back. One dict has the same globals
each time, so functions that one text defines see what the next one binds.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from types import CodeType, FrameType
from typing import Any

from .. import tables
from .objects import its_own_only
from .program import NAME_OF_TEXT, running

_BUILTINS = "__builtins__"
_SHOWN_DUNDERS = tables.MODULE_DUNDERS | {"__name__", "__annotations__"}
_MISSING = object()
_MAX_TEXTS = 256
_MAX_SPACES = 64
_MAX_FILENAME = 100
_OPTIMIZED = 0x01  # in a code object's flags: the code of a function, with fast locals


def is_shown(name: Any) -> bool:
    """Whether a program could bind the global or could read it by its name."""
    if type(name) is not str or name[:1] == "@":
        return False
    return not (len(name) > 4 and name[:2] == name[-2:] == "__") or name in _SHOWN_DUNDERS


def _may_bind(name: Any) -> bool:
    return is_shown(name) and name not in {"__name__", "__annotations__"}


# --- globals() ------------------------------------------------------------------------------------


@its_own_only
class Names:
    """The dict of a scope, as globals() shows it."""

    __slots__ = ("_names",)
    __module__ = "builtins"
    __hash__ = None  # type: ignore[assignment]

    def __new__(cls, *_: Any) -> Any:
        raise TypeError("globals() makes these")

    def __getitem__(self, name: Any) -> Any:
        if not is_shown(name):
            raise KeyError(name)
        return self._names[name]

    def __setitem__(self, name: Any, value: Any) -> None:
        if not _may_bind(name):
            raise TypeError(f"[BJ101] the name {name!r} may not be bound here")
        self._names[name] = value

    def __delitem__(self, name: Any) -> None:
        if not _may_bind(name):
            raise KeyError(name)
        del self._names[name]

    def copy(self) -> dict[str, Any]:
        """The names and values, as a dict."""
        return {name: value for name, value in list(self._names.items()) if is_shown(name)}

    def __contains__(self, name: Any) -> bool:
        return is_shown(name) and name in self._names

    def __iter__(self) -> Iterator[str]:
        return iter(Names.copy(self))

    def __reversed__(self) -> Iterator[str]:
        return reversed(Names.copy(self))

    def __len__(self) -> int:
        return len(Names.copy(self))

    def __repr__(self) -> str:
        return repr(Names.copy(self))

    def __eq__(self, other: Any) -> Any:
        return self is other or Names.copy(self) == other

    def __or__(self, other: Any) -> Any:
        return Names.copy(self) | (Names.copy(other) if type(other) is Names else other)

    def __ror__(self, other: Any) -> Any:
        return other | Names.copy(self)

    def keys(self) -> Any:
        """As those of a dict."""
        return Names.copy(self).keys()

    def values(self) -> Any:
        """As those of a dict."""
        return Names.copy(self).values()

    def items(self) -> Any:
        """As those of a dict."""
        return Names.copy(self).items()

    def get(self, name: Any, default: Any = None) -> Any:
        """The value, or the default."""
        return self._names.get(name, default) if is_shown(name) else default

    def setdefault(self, name: Any, default: Any = None) -> Any:
        """The value; binds the name if it is not bound."""
        if not Names.__contains__(self, name):
            Names.__setitem__(self, name, default)
        return Names.__getitem__(self, name)

    def pop(self, name: Any, default: Any = _MISSING) -> Any:
        """Removes the name; returns its value."""
        if Names.__contains__(self, name):
            value = Names.__getitem__(self, name)
            Names.__delitem__(self, name)
            return value
        if default is _MISSING:
            raise KeyError(name)
        return default

    def update(self, *others: Any, **names: Any) -> None:
        """Binds names."""
        for name, value in dict(*others, **names).items():
            Names.__setitem__(self, name, value)


def _view_of(names: dict[str, Any]) -> Names:
    view = object.__new__(Names)
    view._names = names
    return view


def names_of(view: Any) -> dict[str, Any] | None:
    """The dict behind what globals() returned, for our own code; None for other objects."""
    return view._names if type(view) is Names else None


# --- scopes ---------------------------------------------------------------------------------------


def _caller() -> FrameType | None:
    """The nearest frame of the program; library code that runs as the program's is none."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if frame.f_builtins is running.builtins:
            if not any(frame.f_globals is scope for scope in running.library_scopes):
                return frame
        frame = frame.f_back
    return None


def _globals_of(frame: FrameType | None) -> dict[str, Any]:
    return running.scope if frame is None else frame.f_globals


def _locals_of(frame: FrameType | None) -> tuple[dict[str, Any], bool]:
    """The names of the innermost scope, and whether it is the scope itself and not a copy."""
    if frame is None:
        return running.scope, True
    names = frame.f_locals
    is_scope = not frame.f_code.co_flags & _OPTIMIZED and type(names) is dict
    # In a class body they are checked when the class is made.
    if is_scope:
        return names, True
    return {name: value for name, value in dict(names).items() if is_shown(name)}, False


def globals() -> Names:  # noqa: A001
    """The names of the program's scope: a live view."""
    return _view_of(_globals_of(_caller()))


def locals() -> Any:  # noqa: A001
    """The names of the innermost scope: in a function, a copy."""
    names, is_scope = _locals_of(_caller())
    return _view_of(names) if is_scope else names


def vars() -> Any:  # noqa: A001
    """vars() without an object is locals()."""
    names, is_scope = _locals_of(_caller())
    return _view_of(names) if is_scope else names


class _Space:
    """The globals for a dict of the program."""

    def __init__(self, given: dict[Any, Any]) -> None:
        self.given = given
        self.names: dict[str, Any] = {_BUILTINS: running.builtins}

    def fill(self, builtins_given: dict[Any, Any]) -> None:
        for name in [name for name in self.names if _may_bind(name)]:
            if name not in self.given:
                del self.names[name]
        self.names.update((n, v) for n, v in builtins_given.items() if _may_bind(n))
        self.names.update((n, v) for n, v in self.given.items() if _may_bind(n))
        # Classes get it as their module, whose namespace dataclasses uses: no module of ours.
        name = self.given.get("__name__")
        self.names["__name__"] = name if type(name) is str and name == "__main__" else NAME_OF_TEXT


_spaces: list[_Space] = []


def _space_of(given: dict[Any, Any]) -> _Space:
    for space in _spaces:
        if space.given is given:
            return space
    space = _Space(given)
    _spaces.append(space)
    del _spaces[:-_MAX_SPACES]
    return space


def _write_back(before: dict[str, Any], after: dict[str, Any], given: Any) -> None:
    for name, value in list(after.items()):
        if _may_bind(name) and before.get(name, _MISSING) is not value:
            given[name] = value
    for name in before:
        if _may_bind(name) and name not in after:
            given.pop(name, None)


def _plain(names: Any, what: str) -> Any:
    if names is None or type(names) in (dict, Names):
        return names
    raise TypeError(
        f"[BJ502] {what} must be a plain dict, or what globals() or locals() returned, "
        f"not {type(names).__name__}"
    )


# --- text -----------------------------------------------------------------------------------------


@its_own_only
class Code:
    """What compile() returns: for eval() and exec(), and nothing else."""

    __slots__ = ("_code", "_loads", "_mode")
    __module__ = "builtins"

    def __new__(cls, *_: Any) -> Any:
        raise TypeError("cannot create 'code' instances: use compile()")

    def __repr__(self) -> str:
        return f'<code object <module> at {id(self):#x}, file "{self._code.co_filename}", line 1>'


_texts: dict[tuple[str, str, str], tuple[CodeType, frozenset[str]]] = {}


def _text_of(source: Any, who: str) -> str:
    if issubclass(type(source), str):
        return str.__str__(source)  # an exact copy: what is checked is what is compiled
    if type(source) in (bytes, bytearray):
        return bytes(source).decode()
    raise TypeError(
        f"{who}() arg 1 must be a string, bytes or code object; for a syntax tree, pass "
        "ast.unparse(tree)"
    )


def _compiled(text: str, filename: str, mode: str) -> tuple[CodeType, frozenset[str]]:
    key = (text, filename, mode)
    found = _texts.get(key)
    if found is None:
        if running.compile_mode is None:
            raise RuntimeError("there is no policy to check the text")
        found = _texts[key] = running.compile_mode(text, filename, mode)
        if len(_texts) > _MAX_TEXTS:
            del _texts[next(iter(_texts))]
    return found


def compile(  # noqa: A001
    source: Any,
    filename: Any,
    mode: Any,
    flags: Any = 0,
    dont_inherit: Any = False,
    optimize: Any = -1,
    *,
    _feature_version: Any = -1,
) -> Code:
    """compile(): text for eval() and exec(), checked as the program is."""
    if mode not in ("exec", "eval", "single") or type(mode) is not str:
        raise ValueError("compile() mode must be 'exec', 'eval' or 'single'")
    if flags != 0:
        raise ValueError("[BJ502] compile() takes no flags here; ast.parse() returns a syntax tree")
    if issubclass(type(filename), str):
        filename = str.__str__(filename)
    is_no_file = type(filename) is str and filename[:1] == "<" and filename[-1:] == ">"
    if not is_no_file or len(filename) > _MAX_FILENAME or "/" in filename:
        filename = "<string>"  # tracebacks show lines of no file that text names
    code = object.__new__(Code)
    code._mode = mode
    code._code, code._loads = _compiled(_text_of(source, "compile"), filename, mode)
    return code


def _run(source: Any, names: Any, local_names: Any, who: str) -> Any:
    _plain(names, "globals")
    _plain(local_names, "locals")
    mode = "eval" if who == "eval" else "exec"
    if type(source) is Code:
        code, loads, mode = source._code, source._loads, source._mode
    else:
        text = _text_of(source, who)
        code, loads = _compiled(text.lstrip(" \t") if mode == "eval" else text, "<string>", mode)
    space: _Space | None = None
    if names is None:
        frame = _caller()
        scope = _globals_of(frame)
        inner, _ = _locals_of(frame)
    elif type(names) is Names:
        scope = inner = names._names
        if scope.get(_BUILTINS) is not running.builtins:  # of a class body
            raise TypeError("[BJ502] these are the names of a class: pass globals() first")
    else:
        space = _space_of(names)
        builtins_given = names.get(_BUILTINS, _MISSING)
        is_restricted = builtins_given is None or type(builtins_given) is dict
        given: dict[Any, Any] = builtins_given if type(builtins_given) is dict else {}
        space.fill(given)
        scope = inner = space.names
        if is_restricted:
            _need_names(loads, scope, local_names)
        elif builtins_given is _MISSING:
            names[_BUILTINS] = running.modules.get("builtins")  # as exec() does
    before = dict(scope) if space is not None else {}
    local_before: dict[str, Any] = {}
    if local_names is not None:
        inner = (
            Names.copy(local_names)
            if type(local_names) is Names
            else {n: v for n, v in local_names.items() if _may_bind(n)}
        )
        local_before = dict(inner)
    try:
        value = _eval(code, scope, inner)
        if mode == "single" and value is not None:
            sys.stdout.write(f"{value!r}\n")
        return value if mode == "eval" else None
    finally:
        if space is not None:
            _write_back(before, scope, names)
        if local_names is not None:
            _write_back(local_before, inner, local_names)


def _need_names(loads: frozenset[str], scope: dict[str, Any], local_names: Any) -> None:
    """With builtins of its own, text has no others. They are the program's builtins all the same,
    because those have the hooks: so the names are checked before."""
    for name in sorted(loads):
        if name in running.builtins and name not in scope:
            if local_names is None or name not in local_names:
                raise NameError(f"name {name!r} is not defined", name=name)


_eval = eval


def eval(source: Any, globals: Any = None, locals: Any = None, /) -> Any:  # noqa: A001, A002
    """eval(): the value of an expression."""
    return _run(source, globals, locals, "eval")


def exec(source: Any, globals: Any = None, locals: Any = None, /) -> None:  # noqa: A001, A002
    """exec(): runs statements."""
    _run(source, globals, locals, "exec")


def loaded_names(tree: ast.AST) -> frozenset[str]:
    """The names that text loads and does not bind."""
    loads: set[str] = set()
    binds: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            (loads if isinstance(node.ctx, ast.Load) else binds).add(node.id)
        elif isinstance(node, ast.arg):
            binds.add(node.arg)
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            binds.add(node.name)
        elif isinstance(node, ast.alias):
            binds.add((node.asname or node.name).partition(".")[0])
    return frozenset(loads - binds)
