"""Library callables as guests get them: re-wrapped where the original reaches files or modules,
evaluates text, or looks attributes up by names it is given.

Two kinds. Functions here stand in for the library's under `replace` in a profile. `reduce_library`
changes methods of the library's own classes in this interpreter: a wrapper class would leave the
original one `super()` away.

Nothing here may decide by isinstance() or by a method of an object that a guest made.
"""

from __future__ import annotations

import copyreg
import dataclasses
import enum
import functools
import io
import keyword
import pprint
import sys
import types
import typing
import weakref
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable, Iterator
from typing import Any

import _belljar_guards as guards

from . import tables

_mro_of = type.__dict__["__mro__"].__get__
_dict_of = type.__dict__["__dict__"].__get__
_getattr = guards.getattr
_setattr = guards.setattr

attrgetter = guards.attrgetter
methodcaller = guards.methodcaller

# --- functools ----------------------------------------------------------------------------------

_COPIED = ("__module__", "__name__", "__qualname__", "__doc__", "__annotations__")


def update_wrapper(
    wrapper: Any,
    wrapped: Any,
    assigned: Any = functools.WRAPPER_ASSIGNMENTS,
    updated: Any = functools.WRAPPER_UPDATES,
) -> Any:
    """functools.update_wrapper for the names it copies by default; others are ignored."""
    # With names from the caller this is getattr and setattr on anything:
    # update_wrapper(f, textwrap.dedent, assigned=(), updated=('__globals__',)).
    names = [name for name in assigned if type(name) is str and name in _COPIED]
    if guards.is_guest_function(wrapper):
        for name in names:
            if name == "__module__":
                continue
            try:
                value = _getattr(wrapped, name)
            except AttributeError:
                continue
            _setattr(wrapper, name, value)
        if type(wrapped) is types.FunctionType and guards.is_guest_function(wrapped):
            wrapper.__dict__.update(wrapped.__dict__)
        wrapper.__wrapped__ = wrapped
        return wrapper
    for name in ("__name__", "__doc__"):
        try:
            _setattr(wrapper, name, _getattr(wrapped, name))
        except (AttributeError, TypeError):
            continue
    return wrapper


def wraps(
    wrapped: Any,
    assigned: Any = functools.WRAPPER_ASSIGNMENTS,
    updated: Any = functools.WRAPPER_UPDATES,
) -> Any:
    """functools.wraps on the update_wrapper above."""
    return functools.partial(update_wrapper, wrapped=wrapped, assigned=assigned, updated=updated)


def _need_guest_class(cls: Any, who: str) -> None:
    if not guards.is_guest_class(cls):
        raise TypeError(f"[BJ502] {who}() takes a class that the program made")


def total_ordering(cls: Any) -> Any:
    """functools.total_ordering for the program's own classes."""
    _need_guest_class(cls, "total_ordering")
    return functools.total_ordering(cls)


class _SingleDispatch:
    """functools.singledispatch without the reading of annotations: the library's evaluates them."""

    __slots__ = ("__dict__", "__weakref__", "_function", "_registry")

    def __init__(self, function: Callable) -> None:
        self._function = function
        self._registry: dict[Any, Callable] = {object: function}
        for name in ("__name__", "__doc__"):
            self.__dict__[name] = _getattr(function, name, None)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if not args:
            raise TypeError("a singledispatch function needs at least 1 positional argument")
        return self.dispatch(type(args[0]))(*args, **kwargs)

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else types.MethodType(self, instance)

    def dispatch(self, cls: type) -> Callable:
        """The implementation for `cls`."""
        # Not the library's: it puts the bases of `cls` into a set and asks that set for every
        # subclass of the registered classes, which a metaclass's __eq__ then sees.
        mro = _mro_of(cls)  # TypeError for what is no class
        abstract = [kind for kind in self._registry if kind not in mro and _is_subclass(cls, kind)]
        if abstract:
            mro = functools._c3_mro(cls, abcs=abstract)  # type: ignore[attr-defined]
        found = None
        for kind in mro:
            if found is not None:
                if (
                    kind in abstract
                    and found in abstract
                    and kind not in _mro_of(found)
                    and not _is_subclass(found, kind)
                ):
                    raise RuntimeError(f"Ambiguous dispatch: {found} or {kind}")
                break
            if kind in self._registry:
                found = kind
        return self._registry[found]

    @property
    def registry(self) -> Any:
        """The implementations, by type."""
        return types.MappingProxyType(self._registry)

    def register(self, cls: Any, func: Any = None) -> Any:
        """As the library's; an annotation must be a type, not text."""
        if isinstance(cls, type) or type(cls) is types.UnionType:
            if func is None:
                return functools.partial(self.register, cls)
        else:
            if func is not None or not guards.is_guest_function(cls):
                raise TypeError("register() takes a class, or a function with annotations")
            func = cls
            annotations = func.__annotations__
            if not annotations:
                raise TypeError(f"{func!r} has no annotated first argument")
            cls = next(iter(annotations.values()))
            if type(cls) is str:
                raise TypeError("[BJ502] text annotations are not evaluated; use register(cls)")
        kinds = cls.__args__ if type(cls) is types.UnionType else (cls,)
        for kind in kinds:
            _mro_of(kind)  # TypeError for what is no class
            self._registry[kind] = func
        return func


def _is_subclass(cls: Any, kind: Any) -> bool:
    return issubclass(cls, kind)


def singledispatch(func: Any) -> Any:
    """functools.singledispatch that never evaluates annotations."""
    return _SingleDispatch(func)


class singledispatchmethod:  # noqa: N801 (the library's name)
    """functools.singledispatchmethod on the singledispatch above."""

    __slots__ = ("_dispatch", "_function")

    def __init__(self, func: Any) -> None:
        self._function = func
        self._dispatch = _SingleDispatch(func)

    def register(self, cls: Any, method: Any = None) -> Any:
        """As singledispatch's."""
        if method is None and not isinstance(cls, type):
            annotations = dict(getattr(cls, "__annotations__", {}))
            annotations.pop("return", None)
            kind = next(iter(annotations.values()), None)
            if isinstance(kind, type) or type(kind) is types.UnionType:
                return self._dispatch.register(kind, cls)
        return self._dispatch.register(cls, method)

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        def method(*args: Any, **kwargs: Any) -> Any:
            if not args:
                raise TypeError("a singledispatchmethod needs at least 1 positional argument")
            found = self._dispatch.dispatch(type(args[0]))
            if guards.is_guest_function(found) or type(found) is types.FunctionType:
                return found(owner if instance is None else instance, *args, **kwargs)
            return found.__get__(instance, owner)(*args, **kwargs)

        return method


# --- dataclasses --------------------------------------------------------------------------------
# The library writes methods as text from field names and runs exec() on it. Names come from the
# annotations dict and from Field objects: both are checked where the library takes them, in
# _get_field, since a descriptor of the guest may run in between.

_Field = dataclasses.Field
_library_get_field = dataclasses._get_field  # type: ignore[attr-defined]
_FIELDS = "__dataclass_fields__"
_field_name = _Field.__dict__["name"].__get__
_KNOWN_METACLASSES = frozenset({"type", "ABCMeta", "_ProtocolMeta"})


def _check_field_name(cls: type, name: Any) -> None:
    bad = (
        type(name) is not str
        or not name.isidentifier()
        or keyword.iskeyword(name)
        or (name[:2] == "__" and name[-2:] == "__")
        or name in tables.REFUSED_NAMES
    )
    if bad:
        raise TypeError(f"[BJ502] {name!r} may not be a dataclass field")
    if name[0] == "_":
        for base in _mro_of(cls):
            if not guards.is_guest_class(base) and name in _dict_of(base):
                raise TypeError(f"[BJ502] the field {name!r} hides a private name of {base!r}")


def _checked_get_field(cls: type, a_name: Any, *rest: Any, **more: Any) -> Any:
    if guards.is_guest_class(cls):
        _check_field_name(cls, a_name)
    field = _library_get_field(cls, a_name, *rest, **more)
    # A default whose __class__ says Field would be taken for one, with a name of its choosing.
    if type(field) is not _Field or _field_name(field) is not a_name:
        raise TypeError(f"[BJ502] the default of {a_name!r} is not usable in a dataclass")
    return field


def _checks_fields(original: Callable, index: int) -> Callable:
    """Around what turns fields into text: by then a base's Field may have another name."""

    def write(*args: Any, **more: Any) -> Any:
        for field in args[index]:
            _check_field_text(_field_name(field))
        return original(*args, **more)

    return write


_WRITERS = (("_init_fn", 0), ("_repr_fn", 0), ("_frozen_get_del_attr", 1), ("_tuple_str", 1))


def _check_field_text(name: Any) -> None:
    if type(name) is not str or not name.isidentifier() or keyword.iskeyword(name):
        raise TypeError("[BJ502] a dataclass field has changed its name")


def _check_dataclass(cls: Any) -> None:
    _need_guest_class(cls, "dataclass")
    if type(cls).__name__ not in _KNOWN_METACLASSES or guards.is_guest_class(type(cls)):
        raise TypeError("[BJ502] dataclass() does not take classes with a metaclass")
    for base in _mro_of(cls):
        names = _dict_of(base)
        fields = names.get(_FIELDS)
        if fields is not None and (
            type(fields) is not dict or any(type(field) is not _Field for field in fields.values())
        ):
            raise TypeError(f"[BJ502] {base!r} is not a proper dataclass")
    own = _dict_of(cls)
    if type(own.get("__annotations__", {})) is not dict or own.get("__module__") != "__main__":
        raise TypeError("[BJ502] this class may not become a dataclass")


def dataclass(cls: Any = None, /, **options: Any) -> Any:
    """dataclasses.dataclass for the program's own classes."""

    def process(cls: Any) -> Any:
        _check_dataclass(cls)
        if not options.get("init", True) and not cls.__doc__:
            # The library would ask for the signature of `object`, which makes classes to read it.
            cls.__doc__ = f"{cls.__name__}()"
        made = dataclasses.dataclass(cls, **options)
        match_args = _dict_of(made).get("__match_args__")
        if match_args is not None:
            allowed = guards.check_match_args(match_args)
            if allowed != match_args:
                type.__setattr__(made, "__match_args__", allowed)
        return made

    return process if cls is None else process(cls)


def _fields_of(class_or_instance: Any) -> tuple[Any, ...]:
    cls = class_or_instance if isinstance(class_or_instance, type) else type(class_or_instance)
    for base in _mro_of(cls):
        fields = _dict_of(base).get(_FIELDS)
        if fields is not None:
            kind = dataclasses._FIELD  # type: ignore[attr-defined]
            return tuple(field for field in fields.values() if field._field_type is kind)
    raise TypeError("must be called with a dataclass type or instance")


def fields(class_or_instance: Any) -> tuple[Any, ...]:
    """dataclasses.fields, from the class only: an instance may pretend to others."""
    return _fields_of(class_or_instance)


def is_dataclass(obj: Any) -> bool:
    """dataclasses.is_dataclass."""
    try:
        _fields_of(obj)
    except TypeError:
        return False
    return True


def _value(obj: Any, name: str) -> Any:
    return _getattr(obj, name)


def _inner(obj: Any, convert: Callable, dict_factory: Any) -> Any:
    kind = type(obj)
    if not isinstance(obj, type) and is_dataclass(obj):
        return convert(obj)
    if issubclass(kind, tuple) and hasattr(kind, "_fields"):
        return kind(*[_inner(value, convert, dict_factory) for value in obj])
    if issubclass(kind, (list, tuple)):
        return kind(_inner(value, convert, dict_factory) for value in obj)
    if issubclass(kind, dict):
        items = [
            (_inner(key, convert, dict_factory), _inner(value, convert, dict_factory))
            for key, value in obj.items()
        ]
        if hasattr(kind, "default_factory"):
            made = kind(obj.default_factory)
            for key, value in items:
                made[key] = value
            return made
        return kind(items)
    return deepcopy(obj)


def asdict(obj: Any, *, dict_factory: Any = dict) -> Any:
    """dataclasses.asdict."""

    def convert(obj: Any) -> Any:
        return dict_factory(
            [(f.name, _inner(_value(obj, f.name), convert, dict_factory)) for f in _fields_of(obj)]
        )

    if isinstance(obj, type) or not is_dataclass(obj):
        raise TypeError("asdict() should be called on dataclass instances")
    return convert(obj)


def astuple(obj: Any, *, tuple_factory: Any = tuple) -> Any:
    """dataclasses.astuple."""

    def convert(obj: Any) -> Any:
        return tuple_factory(
            [_inner(_value(obj, f.name), convert, tuple_factory) for f in _fields_of(obj)]
        )

    if isinstance(obj, type) or not is_dataclass(obj):
        raise TypeError("astuple() should be called on dataclass instances")
    return convert(obj)


def replace(obj: Any, /, **changes: Any) -> Any:
    """dataclasses.replace."""
    if isinstance(obj, type) or not is_dataclass(obj):
        raise TypeError("replace() should be called on dataclass instances")
    for base in _mro_of(type(obj)):
        all_fields = _dict_of(base).get(_FIELDS)
        if all_fields is not None:
            break
    for field in all_fields.values():
        kind = field._field_type
        if kind is dataclasses._FIELD_CLASSVAR:  # type: ignore[attr-defined]
            continue
        if not field.init:
            if field.name in changes:
                raise ValueError(
                    f"field {field.name} is declared with init=False, "
                    "it cannot be specified with replace()"
                )
            continue
        if field.name not in changes:
            if kind is dataclasses._FIELD_INITVAR and field.default is dataclasses.MISSING:
                raise ValueError(f"InitVar {field.name!r} must be specified with replace()")
            changes[field.name] = _value(obj, field.name)
    return type(obj)(**changes)


# --- copy ---------------------------------------------------------------------------------------
# The library's copy trusts what __reduce_ex__ returns: with one from an instance's own dict it is
# setattr() on anything. This one asks `object` itself and sets attributes through the guard.

_ATOMIC = frozenset({
    type(None), type(Ellipsis), type(NotImplemented), int, float, bool, complex, bytes, str, type,
    range, property, types.FunctionType, types.BuiltinFunctionType, weakref.ref,
    types.MethodWrapperType, types.WrapperDescriptorType, types.MethodDescriptorType,
    types.ClassMethodDescriptorType,
    type(guards.Proxy("copy", None, {})),
})  # fmt: skip


class Error(Exception):
    """copy.Error."""


def _special(obj: Any, name: str) -> Any:
    """A method that the object's class defines, looked up as an operator's would be."""
    for base in _mro_of(type(obj)):
        found = _dict_of(base).get(name)
        if found is not None:
            return getattr(type(obj), name)
    return None


def _rebuild(obj: Any, deep: Callable | None) -> Any:
    cls = type(obj)
    reducer = copyreg.dispatch_table.get(cls)
    # `object`'s own method asks the class; what an instance's dict adds is judged below.
    parts = reducer(obj) if reducer is not None else object.__reduce_ex__(obj, 4)
    if type(parts) is str:
        return obj
    if type(parts) is not tuple or not 2 <= len(parts) <= 5 or type(parts[1]) is not tuple:
        raise Error(f"cannot copy {cls.__name__!r} objects")
    func, args, state, items, pairs = (*parts, None, None, None)[:5]
    if func is getattr:  # of methods of built-in types: with `memo` it is getattr() on anything
        raise Error(f"cannot copy {cls.__name__!r} objects")
    if guards.is_guest_class(cls) and func is not cls and func not in _SOUND_FACTORIES:
        raise Error(f"cannot copy {cls.__name__!r} objects here: define __copy__")
    if deep is not None:
        args = tuple([deep(arg) for arg in args])
    made = func(*args)
    if type(made) is not cls:  # a __new__ that hands out something else to be filled
        raise Error(f"cannot copy {cls.__name__!r} objects here: define __copy__")
    if deep is not None:
        deep(obj, made)
    if state is not None:
        _set_state(made, deep(state) if deep is not None else state)
    if items is not None:
        for item in items:
            made.append(deep(item) if deep is not None else item)
    if pairs is not None:
        for key, value in pairs:
            if deep is not None:
                key, value = deep(key), deep(value)
            made[key] = value
    return made


_SOUND_FACTORIES = frozenset(
    {
        copyreg.__newobj__,  # type: ignore[attr-defined]
        copyreg.__newobj_ex__,  # type: ignore[attr-defined]
        copyreg._reconstructor,  # type: ignore[attr-defined]
    }
)


def _set_state(made: Any, state: Any) -> None:
    setter = _special(made, "__setstate__")
    if setter is not None:
        setter(made, state)
        return
    attributes, slots = state if type(state) is tuple and len(state) == 2 else (state, None)
    if attributes is not None:
        made.__dict__.update(attributes)
    if slots is not None:
        for key, value in slots.items():
            _setattr(made, key, value)


def _is_atomic(cls: type) -> bool:
    return cls in _ATOMIC or issubclass(cls, type) or issubclass(type(cls), enum.EnumMeta)


def copy(x: Any) -> Any:
    """copy.copy."""
    cls = type(x)
    if _is_atomic(cls):
        return x
    if cls in (list, dict, set, bytearray):
        return x.copy()
    if cls in (tuple, frozenset):
        return x
    method = _special(x, "__copy__")
    return method(x) if method is not None else _rebuild(x, None)


def deepcopy(x: Any, memo: Any = None) -> Any:
    """copy.deepcopy."""
    if memo is not None and type(memo) is not dict:  # one with methods of its own may lie
        raise TypeError("[BJ502] the memo must be a plain dict")
    seen: dict[int, Any] = {} if memo is None else memo
    keep: list[Any] = []

    def deep(obj: Any, made: Any = None) -> Any:
        if made is not None:
            seen[id(obj)] = made
            return made
        cls = type(obj)
        if _is_atomic(cls):
            return obj
        if id(obj) in seen:
            return seen[id(obj)]
        keep.append(obj)
        if cls is list:
            result: Any = []
            seen[id(obj)] = result
            for item in obj:
                result.append(deep(item))
            return result
        if cls is dict:
            result = {}
            seen[id(obj)] = result
            for key, value in obj.items():
                result[deep(key)] = deep(value)
            return result
        if cls is tuple:
            result = tuple([deep(item) for item in obj])
            if id(obj) in seen:
                return seen[id(obj)]
            if all(new is old for new, old in zip(result, obj, strict=True)):
                result = obj
        elif cls is types.MethodType:
            result = types.MethodType(obj.__func__, deep(obj.__self__))
        elif cls in (set, frozenset):
            result = cls([deep(item) for item in obj])
        else:
            method = _special(obj, "__deepcopy__")
            result = method(obj, seen) if method is not None else _rebuild(obj, deep)
        seen[id(obj)] = result
        return result

    return deep(x)


# --- contextlib, io, sys, builtins --------------------------------------------------------------


class TextStream:
    """What a guest sees as sys.stdout, stderr and stdin: text only, no way down to a descriptor."""

    __slots__ = ("_stream", "name")

    def __init__(self, stream: Any, name: str) -> None:
        self._stream = stream
        self.name = name

    encoding = "utf-8"
    errors = "strict"
    closed = False
    newlines = None

    def write(self, text: str) -> int:
        """Writes text; returns how many characters."""
        if not isinstance(text, str):
            raise TypeError(f"write() argument must be str, not {type(text).__name__}")
        self._stream.write(text)
        return len(text)

    def writelines(self, lines: Any) -> None:
        """Writes each of `lines`."""
        for line in lines:
            self.write(line)

    def flush(self) -> None:
        """Hands what was written on."""
        self._stream.flush()

    def read(self, size: int = -1) -> str:
        """Reads up to `size` characters, or all."""
        return self._stream.read(size)

    def readline(self, size: int = -1) -> str:
        """Reads one line."""
        return self._stream.readline(size)

    def readlines(self, hint: int = -1) -> list[str]:
        """Reads the lines that are left."""
        return list(self._stream.readlines(hint))

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        line = self._stream.readline()
        if not line:
            raise StopIteration
        return line

    def isatty(self) -> bool:
        """There is no terminal."""
        return False

    def readable(self) -> bool:
        """True for stdin."""
        return self.name == "<stdin>"

    def writable(self) -> bool:
        """True for stdout and stderr."""
        return self.name != "<stdin>"

    def seekable(self) -> bool:
        """A stream has no position."""
        return False

    def fileno(self) -> int:
        """There are no descriptors."""
        raise io.UnsupportedOperation("[BJ502] streams have no file descriptor here")

    def __repr__(self) -> str:
        return f"<TextStream {self.name}>"


def _stream(name: str) -> Any:
    current = sys.__dict__.get(name)
    if current is None or guards.is_guest_class(type(current)) or type(current) in _OWN_STREAMS:
        return current
    return TextStream(current, f"<{name}>")


_OWN_STREAMS = frozenset({io.StringIO, TextStream})


def protect_streams() -> None:
    """Before a guest runs: no stream of the interpreter's own may lead to a descriptor.

    Library code hands sys.stdout on: pprint.PrettyPrinter.__init__(obj) leaves it in obj._stream. A
    FileIO below it could be opened anew on any path, by its __init__.
    """
    for name in ("stdin", "stdout", "stderr"):
        stream = sys.__dict__.get(name)
        if type(stream) is io.TextIOWrapper and type(stream.buffer) is not io.BytesIO:
            setattr(sys, name, TextStream(stream, f"<{name}>"))


def sys_stdout() -> Any:
    """sys.stdout, as it is now."""
    return _stream("stdout")


def sys_stderr() -> Any:
    """sys.stderr, as it is now."""
    return _stream("stderr")


def sys_stdin() -> Any:
    """sys.stdin, as it is now."""
    return _stream("stdin")


class _RedirectStdout:
    """contextlib.redirect_stdout; the library's has the stream's name in a class attribute."""

    __slots__ = ("_new", "_old")

    def __init__(self, new_target: Any) -> None:
        self._new = new_target
        self._old: list[Any] = []

    def __enter__(self) -> Any:
        if type(self) is not _RedirectStdout:  # called as _RedirectStdout.__enter__(something else)
            raise TypeError("not a redirection")
        self._old.append(sys.stdout)
        sys.stdout = _unwrapped(self._new)
        return self._new

    def __exit__(self, *_: object) -> None:
        sys.stdout = self._old.pop()


class _RedirectStderr:
    """The same for stderr. Two classes: a guest can reach a class and call it as it likes."""

    __slots__ = ("_new", "_old")

    def __init__(self, new_target: Any) -> None:
        self._new = new_target
        self._old: list[Any] = []

    def __enter__(self) -> Any:
        if type(self) is not _RedirectStderr:  # called as _RedirectStderr.__enter__(something else)
            raise TypeError("not a redirection")
        self._old.append(sys.stderr)
        sys.stderr = _unwrapped(self._new)
        return self._new

    def __exit__(self, *_: object) -> None:
        sys.stderr = self._old.pop()


def _unwrapped(stream: Any) -> Any:
    return stream._stream if type(stream) is TextStream else stream


redirect_stdout = _RedirectStdout
redirect_stderr = _RedirectStderr


sys_version = sys.version
sys_version_info = sys.version_info
sys_maxsize = sys.maxsize
sys_maxunicode = sys.maxunicode
sys_float_info = sys.float_info
sys_int_info = sys.int_info
sys_hash_info = sys.hash_info
sys_byteorder = sys.byteorder
sys_platform = sys.platform
sys_hexversion = sys.hexversion
sys_getrecursionlimit = sys.getrecursionlimit
sys_getsizeof = sys.getsizeof
sys_intern = sys.intern
sys_get_int_max_str_digits = sys.get_int_max_str_digits
sys_set_int_max_str_digits = sys.set_int_max_str_digits


def sys_argv() -> list[str]:
    """One name: a program here has no arguments."""
    return _ARGV


_ARGV = ["main.py"]

# A C stack of 8 MiB holds about this many of the deepest calls that go through C.
_MAX_RECURSION = 20_000


def sys_setrecursionlimit(limit: int, /) -> None:
    """sys.setrecursionlimit, up to what the stack holds."""
    if type(limit) is not int:
        raise TypeError("an integer is required")
    sys.setrecursionlimit(min(limit, _MAX_RECURSION))


def sys_exit(status: Any = None, /) -> None:
    """sys.exit."""
    raise SystemExit(status)


def builtin_exit(code: Any = None, /) -> None:
    """exit() and quit() of the interactive interpreter."""
    raise SystemExit(code)


def builtin_input(prompt: Any = "", /) -> str:
    """input(): reads a line of the standard input that the call brought along."""
    text = str(prompt)
    if text:
        sys.stdout.write(text)
    line = "" if sys.stdin is None else sys.stdin.readline()
    if not line:
        raise EOFError("input() found no more lines: pass the program's input as stdin")
    return line[:-1] if line[-1] == "\n" else line


# --- json, xml, typing, types -------------------------------------------------------------------


class _Reader:
    """Holds one method of a file object: the library may open() what has no such method."""

    __slots__ = ("read",)

    def __init__(self, source: Any, who: str) -> None:
        if isinstance(source, (str, bytes, int)):
            raise PermissionError(f"[BJ502] {who} takes a file object; wrap text in io.StringIO")
        try:
            self.read = source.read
        except AttributeError:
            raise PermissionError(f"[BJ502] {who} takes a file object") from None


class _Writer:
    """The same for output."""

    __slots__ = ("write",)

    def __init__(self, target: Any, who: str) -> None:
        if isinstance(target, (str, bytes, int)):
            raise PermissionError(f"[BJ502] {who} takes a file object; use io.StringIO or BytesIO")
        try:
            self.write = target.write
        except AttributeError:
            raise PermissionError(f"[BJ502] {who} takes a file object") from None


def parse(source: Any, parser: Any = None) -> Any:
    """xml.etree.ElementTree.parse from a file object."""
    tree = ElementTree.ElementTree()
    tree.parse(source, parser)
    return tree


def canonicalize(xml_data: Any = None, *, out: Any = None, **options: Any) -> Any:
    """xml.etree.ElementTree.canonicalize of text."""
    if "from_file" in options:
        raise PermissionError("[BJ502] canonicalize() takes the document as text")
    return ElementTree.canonicalize(xml_data, out=out, **options)


def no_type_check(arg: Any) -> Any:
    """typing.no_type_check: nothing checks types here."""
    return arg


def _check_namespace(names: dict[str, Any]) -> dict[str, Any]:
    # NamedTuple's metaclass sets what it finds by setattr, past the check of new classes.
    for name in names:
        if type(name) is not str or (
            name[:2] == "__" and name[-2:] == "__" and name not in _DEFINABLE
        ):
            raise TypeError(f"[BJ403] a class may not define {name!r}")
    return names


_DEFINABLE = tables.CLASS_DUNDERS | {"__module__", "__qualname__"}


def new_class(name: Any, bases: Any = (), kwds: Any = None, exec_body: Any = None) -> Any:
    """types.new_class; the body fills a dict of its own, which is checked."""
    names: dict[str, Any] = {}
    if exec_body is not None:
        exec_body(names)
    checked = _check_namespace(dict(names))
    checked.setdefault("__module__", "__main__")
    return types.new_class(name, bases, kwds, lambda namespace: namespace.update(checked))


def make_dataclass(cls_name: str, fields: Any, **options: Any) -> Any:
    """dataclasses.make_dataclass by way of type() and the dataclass above."""
    bases = options.pop("bases", ())
    namespace = dict(options.pop("namespace", None) or {})
    options.pop("module", None)
    annotations: dict[str, Any] = {}
    for item in fields:
        if isinstance(item, str):
            annotations[item] = typing.Any
        else:
            name, kind, *default = item
            annotations[name] = kind
            if default:
                namespace[name] = default[0]
    namespace["__annotations__"] = annotations
    namespace["__module__"] = "__main__"
    return dataclass(
        new_class(cls_name, bases, {}, lambda names: names.update(namespace)), **options
    )


# --- methods taken out of the library's own classes ---------------------------------------------


def _refuses(name: str, hint: str) -> Callable:
    def method(*_: Any, **__: Any) -> Any:
        raise PermissionError(f"[BJ502] {name}() opens files; {hint}")

    method.__name__ = method.__qualname__ = name.rpartition(".")[2]
    return method


def _tree_parse(original: Callable) -> Callable:
    def parse(self: Any, source: Any, parser: Any = None) -> Any:
        """Load external XML document from a file object."""
        return original(self, _Reader(source, "parse()"), parser)

    return parse


def _tree_write(original: Callable) -> Callable:
    def write(self: Any, file_or_filename: Any, *args: Any, **kwargs: Any) -> Any:
        """Write element tree to a file object as XML."""
        return original(self, _Writer(file_or_filename, "write()"), *args, **kwargs)

    return write


def _tree_init(original: Callable) -> Callable:
    def __init__(self: Any, element: Any = None, file: Any = None) -> None:  # noqa: N807
        if file is not None:
            file = _Reader(file, "ElementTree()")
        original(self, element, file)

    return __init__


# A method of a Python class takes anything for `self`, and then does to it, by the names that it
# says it has, whatever it would do to its own.


def _only_for_its_own(cls: Any, name: str) -> None:
    original = cls.__dict__[name]

    @functools.wraps(original)
    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        if not any(base is cls for base in _mro_of(type(self))):
            raise TypeError(f"{name}() takes a {cls.__name__}, not {type(self).__name__!r}")
        return original(self, *args, **kwargs)

    setattr(cls, name, method)


def _reduce_configparser() -> None:
    # Their getters' names come from the keys of `converters`: "get" + key, whatever that gives.
    import configparser

    mapping: Any = configparser.ConverterMapping
    proxy: Any = configparser.SectionProxy
    parser: Any = configparser.RawConfigParser
    init_mapping = mapping.__init__
    delete_item = mapping.__delitem__

    def is_a(value: Any, cls: type) -> bool:
        return any(base is cls for base in _mro_of(type(value)))

    def getter_of(key: Any) -> str:
        if type(key) is not str:
            raise TypeError("[BJ306] a converter's name must be a plain str")
        if not key:
            raise ValueError(f'Incompatible key: {key!r} (cannot have "" as a converter name)')
        return f"get{key}"

    def of_parser(value: Any) -> Any:
        if not is_a(value, parser):
            raise TypeError("[BJ502] converters are for parsers")
        return value

    def __init__(self: Any, given: Any) -> None:  # noqa: N807
        init_mapping(self, of_parser(given))

    def __setitem__(self: Any, key: Any, value: Any) -> None:  # noqa: N807
        name = getter_of(key)
        owner = of_parser(self._parser)
        self._data[key] = value
        func: Any = functools.partial(owner._get_conv, conv=value)
        func.converter = value
        setattr(owner, name, func)
        for section in owner.values():
            if type(section) is proxy:
                setattr(section, name, functools.partial(section.get, _impl=func))

    def __delitem__(self: Any, key: Any) -> None:  # noqa: N807
        getter_of(key)
        of_parser(self._parser)
        delete_item(self, key)

    def init_proxy(self: Any, given: Any, name: Any) -> None:
        if type(self) is not proxy:
            raise TypeError("[BJ502] sections are made by their parser")
        self._parser = of_parser(given)
        self._name = name
        for key in given.converters:
            getter = getter_of(key)
            setattr(self, getter, functools.partial(self.get, _impl=getattr(given, getter)))

    mapping.__init__ = __init__
    mapping.__setitem__ = __setitem__
    mapping.__delitem__ = __delitem__
    proxy.__init__ = init_proxy


def _reduce_enum() -> None:
    # A metaclass M(EnumMeta, Own) would have Own.__new__ answer EnumMeta's super().__new__ with an
    # object of its choice, whose __dict__ the library then copies to where the program sees it.
    meta: Any = enum.EnumMeta
    original = meta.__new__

    def __new__(metacls: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: N807
        kind = metacls if meta in _mro_of(metacls) else type(metacls)
        mro = _mro_of(kind)
        if any(guards.is_guest_class(base) for base in mro[mro.index(meta) :]):
            raise TypeError("[BJ404] in a metaclass's bases, EnumMeta must come last")
        return original(metacls, *args, **kwargs)

    meta.__new__ = __new__


def _reduce_typing() -> None:
    _only_for_its_own(typing.ForwardRef, "__init__")  # it leaves a code object in `self`
    meta: Any = typing.NamedTupleMeta  # type: ignore[attr-defined]
    original = meta.__new__

    def __new__(cls: Any, typename: Any, bases: Any, ns: Any) -> Any:  # noqa: N807
        return original(cls, typename, bases, _check_namespace(dict(ns)))

    meta.__new__ = __new__


def _reduce_pprint() -> None:
    # The library takes an instance's word for its fields, and their names to getattr().
    printer: Any = pprint.PrettyPrinter

    def _pprint_dataclass(
        self: Any, obj: Any, stream: Any, indent: int, allowance: int, context: Any, level: int
    ) -> None:
        name = type(obj).__name__
        items = [(f.name, _value(obj, f.name)) for f in _fields_of(obj) if f.repr]
        stream.write(f"{name}(")
        self._format_namespace_items(
            items, stream, indent + len(name) + 1, allowance, context, level
        )
        stream.write(")")

    printer._pprint_dataclass = _pprint_dataclass


def reduce_library(has_files: bool) -> None:
    """Zygote, before the freeze: what these methods do is not for guests without files."""
    dataclasses._get_field = _checked_get_field  # type: ignore[attr-defined]
    for name, index in _WRITERS:
        original = getattr(dataclasses, name, None)
        if original is not None:
            setattr(dataclasses, name, _checks_fields(original, index))
    _reduce_enum()
    _reduce_typing()
    _reduce_pprint()
    _reduce_configparser()
    if has_files:
        return
    import configparser

    parser: Any = configparser.RawConfigParser
    parser.read = _refuses("ConfigParser.read", "use read_string() or read_dict()")
    tree: Any = ElementTree.ElementTree
    tree.__init__ = _tree_init(tree.__init__)
    tree.parse = _tree_parse(tree.parse)
    tree.write = _tree_write(tree.write)
    tree.write_c14n = _refuses("ElementTree.write_c14n", "use canonicalize()")
