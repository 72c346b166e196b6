"""eval, exec, compile, globals, locals and vars, for guests.

Text is checked and compiled like the program's source while it runs, under the same limits. A
refusal is a SyntaxError with the rule.

No dict that a program made is ever the globals or the locals of code: an entry called "@write"
would replace a hook, and `__builtins__` all of them. The program's own globals are shown by a view
that knows only names that the program could bind itself. A dict that the program passes, and the
namespace of a class body, which a metaclass may have passed, are copied into dicts of ours, and
what the code has bound there is copied back. One dict has the same globals each time, so functions
that one text defines see what the next one binds. Besides, all text looks hooks up as globals, and
guards.run_text() refuses a namespace that has one.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from types import CodeType, FrameType
from typing import Any, NamedTuple

import _belljar_guards as guards

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
class Names(guards.Hiding):
    """The dict of a scope, as globals() shows it."""

    __slots__ = ()
    __module__ = "builtins"
    __hash__ = None  # type: ignore[assignment]

    def __new__(cls, *_: Any) -> Any:
        raise TypeError("globals() makes these")

    def __getitem__(self, name: Any) -> Any:
        if not is_shown(name):
            raise KeyError(name)
        return names_of(self)[name]

    def __setitem__(self, name: Any, value: Any) -> None:
        if not _may_bind(name):
            raise TypeError(f"[BJ101] the name {name!r} may not be bound here")
        names_of(self)[name] = value

    def __delitem__(self, name: Any) -> None:
        if not _may_bind(name):
            raise KeyError(name)
        del names_of(self)[name]

    def copy(self) -> dict[str, Any]:
        """The names and values, as a dict."""
        return {name: value for name, value in list(names_of(self).items()) if is_shown(name)}

    def __contains__(self, name: Any) -> bool:
        return is_shown(name) and name in names_of(self)

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
        return names_of(self).get(name, default) if is_shown(name) else default

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


def view_of(names: dict[str, Any]) -> Names:
    """A view of a scope's dict."""
    return guards.hide(Names, names)


def names_of(view: Any) -> dict[str, Any]:
    """The dict behind a view, for our own code. TypeError for other objects."""
    return guards.hidden(Names, view)


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
    """The names of the innermost scope, and whether they are live: of a module or a class body. In
    a function they are a copy."""
    if frame is None:
        return running.scope, True
    names = frame.f_locals
    if not frame.f_code.co_flags & _OPTIMIZED and type(names) is dict:
        return names, True
    return _shown(dict(names)), False


def _shown(names: dict[Any, Any]) -> dict[str, Any]:
    return {name: value for name, value in list(names.items()) if is_shown(name)}


def globals() -> Names:  # noqa: A001
    """The names of the program's scope: a live view."""
    return view_of(_globals_of(_caller()))


def locals() -> Any:  # noqa: A001
    """The names of the innermost scope: in a function, a copy."""
    names, is_live = _locals_of(_caller())
    return view_of(names) if is_live else names


def bind(name: str, value: Any) -> None:
    """Binds a name that may_be_global() in the module or text that calls."""
    names, is_live = _locals_of(_caller())
    if is_live:
        names[name] = value


def vars() -> Any:  # noqa: A001
    """vars() without an object is locals()."""
    names, is_live = _locals_of(_caller())
    return view_of(names) if is_live else names


def namespace(*parts: Any) -> dict[str, Any]:
    """New globals like the program's, with the names of `parts`, which are plain dicts or None.

    Without the guest's builtins, exec() would add the interpreter's own, and an entry with the name
    of a hook ("@write") would shadow the hook.
    """
    names: dict[Any, Any] = {}
    for part in parts:
        if part is None:
            continue
        part = names_of(part) if type(part) is Names else part
        if type(part) is not dict:
            raise TypeError("[BJ502] globals must be a plain dict")
        names.update((name, value) for name, value in part.items() if may_be_global(name))
    names["__name__"] = "__main__"
    names[_BUILTINS] = running.builtins
    return names


def may_be_global(name: Any) -> bool:
    """Whether a program may have a global of that name."""
    if type(name) is not str or not name.isidentifier():
        return False
    is_special = name[:2] == "__" and name[-2:] == "__"
    return not is_special or name in tables.MODULE_DUNDERS


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


class Text(NamedTuple):
    """Text that has been checked and compiled."""

    code: CodeType
    """Stores the value of the text's last expression under tables.VALUE_NAME."""
    loads: frozenset[str]
    """The names that it loads and does not bind."""
    mode: str
    """Of compile()."""


@its_own_only
class Code(guards.Hiding):
    """What compile() returns: for eval() and exec(), and nothing else."""

    __slots__ = ()
    __module__ = "builtins"

    def __new__(cls, *_: Any) -> Any:
        raise TypeError("cannot create 'code' instances: use compile()")

    def __repr__(self) -> str:
        file = guards.hidden(Code, self).code.co_filename
        return f'<code object <module> at {id(self):#x}, file "{file}", line 1>'


_texts: dict[tuple[str, str, str], Text] = {}


def _text_of(source: Any, who: str) -> str:
    if issubclass(type(source), str):
        return str.__str__(source)  # an exact copy: what is checked is what is compiled
    if type(source) in (bytes, bytearray):
        return bytes(source).decode()
    raise TypeError(
        f"{who}() arg 1 must be a string, bytes or code object; for a syntax tree, pass "
        "ast.unparse(tree)"
    )


def _compiled(text: str, filename: str, mode: str) -> Text:
    key = (text, filename, mode)
    found = _texts.get(key)
    if found is None:
        if running.compile_mode is None:
            raise RuntimeError("there is no policy to check the text")
        found = _texts[key] = Text(*running.compile_mode(text, filename, mode), mode)
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
    return guards.hide(Code, _compiled(_text_of(source, "compile"), filename, mode))


def _run(source: Any, names: Any, local_names: Any, who: str) -> Any:
    _plain(names, "globals")
    _plain(local_names, "locals")
    mode = "eval" if who == "eval" else "exec"
    if type(source) is Code:
        text: Text = guards.hidden(Code, source)
    else:
        given_text = _text_of(source, who)
        text = _compiled(
            given_text.lstrip(" \t") if mode == "eval" else given_text, "<string>", mode
        )
    space: _Space | None = None
    if names is None:
        frame = _caller()
        scope = _globals_of(frame)
        inner, is_live = _locals_of(frame)
        if is_live and inner is not scope:  # a class body: its namespace may be the program's
            local_names = view_of(inner)
    elif type(names) is Names:
        scope = inner = names_of(names)
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
            _need_names(text.loads, scope, local_names)
        elif builtins_given is _MISSING:
            names[_BUILTINS] = running.modules.get("builtins")  # as exec() does
    before = dict(scope) if space is not None else {}
    local_before: dict[str, Any] = {}
    if local_names is not None:
        is_view = type(local_names) is Names
        inner = _bindable(names_of(local_names) if is_view else local_names)
        local_before = dict(inner)
    try:
        guards.run_text(text.code, scope, inner)
        value = inner.pop(tables.VALUE_NAME, None)
        if text.mode == "single" and value is not None:
            sys.stdout.write(f"{value!r}\n")
        return value if text.mode == "eval" and who == "eval" else None
    finally:
        if space is not None:
            _write_back(before, scope, names)
        if local_names is not None:
            _write_back(local_before, inner, local_names)


def _bindable(names: dict[Any, Any]) -> dict[str, Any]:
    return {name: value for name, value in list(names.items()) if _may_bind(name)}


def _need_names(loads: frozenset[str], scope: dict[str, Any], local_names: Any) -> None:
    """With builtins of its own, text has no others. They are the program's builtins all the same,
    because those have the hooks: so the names are checked before."""
    for name in sorted(loads):
        if name in running.builtins and name not in scope:
            if local_names is None or name not in local_names:
                raise NameError(f"name {name!r} is not defined", name=name)


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
