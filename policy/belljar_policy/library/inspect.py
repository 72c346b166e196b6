"""inspect, for guests: signatures, kinds and documentation; no frames, sources or modules.

The library's signature() follows __wrapped__, __signature__ and __text_signature__ wherever an
object says they lead, and evaluates defaults that it finds in text. Here a signature is read from
the program's own functions, from built-in text without evaluating it, and from nothing else.
"""

from __future__ import annotations

import ast
import collections
import functools
import inspect
import sys
import types
from typing import Any

import _belljar_guards as guards

from .. import reviewed
from . import lazy_annotations
from .objects import dict_of, is_a, its_own_only, mro_of
from .program import running
from .traceback import stack_lines
from .types import ModuleType

Parameter = inspect.Parameter
Signature = inspect.Signature
BoundArguments = inspect.BoundArguments
FrameInfo = inspect.FrameInfo
cleandoc = inspect.cleandoc

_MAX_WRAPPED = 100
_VAR_POSITIONAL, _VAR_KEYWORD = 0x04, 0x08  # in a code object's flags
_PLAIN = (type(None), bool, int, float, complex, str, bytes, type(Ellipsis))
_BUILTINS = (
    types.BuiltinFunctionType,
    types.MethodDescriptorType,
    types.WrapperDescriptorType,
    types.MethodWrapperType,
    types.ClassMethodDescriptorType,
)
_text_signature_of = type.__dict__["__text_signature__"].__get__
_own_init = object.__dict__["__init__"]


class _Shown:
    """A default or annotation of library code, as text instead of the object."""

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text

    def __repr__(self) -> str:
        return self._text


_Shown = its_own_only(_Shown)  # type: ignore[misc]


def _shown(value: Any) -> Any:
    if value is Parameter.empty or type(value) in _PLAIN:
        return value
    if type(value) is type:
        return _Shown(value.__name__)
    return _Shown(f"<{type(value).__name__}>")


# --- signatures -----------------------------------------------------------------------------------


def _of_function(function: Any, *, is_own: bool) -> Any:
    # Not the library's: it evaluates a function's __text_signature__, which a guest can set in the
    # __dict__ of its function.
    code = function.__code__
    names = code.co_varnames
    defaults = function.__defaults__ or ()
    keyword_defaults = function.__kwdefaults__ or {}
    annotations = _annotations_of(function) if is_own else {}
    keep = _same if is_own else _shown  # library objects are not reviewed
    parameters: list[Any] = []

    def add(name: str, kind: Any, default: Any = Parameter.empty) -> None:
        annotation = annotations.get(name, Parameter.empty)
        parameters.append(Parameter(name, kind, default=keep(default), annotation=annotation))

    count = code.co_argcount
    without_default = count - len(defaults)
    for index, name in enumerate(names[:count]):
        positional = index < code.co_posonlyargcount
        kind = Parameter.POSITIONAL_ONLY if positional else Parameter.POSITIONAL_OR_KEYWORD
        default = Parameter.empty if index < without_default else defaults[index - without_default]
        add(name, kind, default)
    after = count + code.co_kwonlyargcount
    if code.co_flags & _VAR_POSITIONAL:
        add(names[after], Parameter.VAR_POSITIONAL)
    for name in names[count:after]:
        add(name, Parameter.KEYWORD_ONLY, keyword_defaults.get(name, Parameter.empty))
    if code.co_flags & _VAR_KEYWORD:
        add(names[after + bool(code.co_flags & _VAR_POSITIONAL)], Parameter.VAR_KEYWORD)
    return Signature(parameters, return_annotation=annotations.get("return", Signature.empty))


def _annotations_of(function: Any) -> dict[str, Any]:
    try:
        return function.__annotations__
    except NameError:  # since 3.14, of what comes later: dataclasses and help() ask for references
        return lazy_annotations.own(function, lazy_annotations.FORWARDREF)


def _same(value: Any) -> Any:
    return value


def _of_text(text: str, *, drops_first: bool) -> Any:
    """Parses "($self, x, /, y=1)" of a built-in function without evaluating anything."""
    is_bound = text.startswith("($")
    try:
        tree: Any = ast.parse(f"def _{text.replace('$', '')}: pass")
    except SyntaxError:  # ns=<unrepresentable>, of os.utime
        raise ValueError(f"builtin has invalid signature: {text}") from None
    arguments = tree.body[0].args
    names = [*arguments.posonlyargs, *arguments.args]
    defaults = [Parameter.empty] * (len(names) - len(arguments.defaults)) + [
        _of_node(node) for node in arguments.defaults
    ]
    parameters = []
    for index, (arg, default) in enumerate(zip(names, defaults, strict=True)):
        positional = index < len(arguments.posonlyargs)
        kind = Parameter.POSITIONAL_ONLY if positional else Parameter.POSITIONAL_OR_KEYWORD
        parameters.append(Parameter(arg.arg, kind, default=default))
    if arguments.vararg is not None:
        parameters.append(Parameter(arguments.vararg.arg, Parameter.VAR_POSITIONAL))
    for arg, node in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        default = Parameter.empty if node is None else _of_node(node)
        parameters.append(Parameter(arg.arg, Parameter.KEYWORD_ONLY, default=default))
    if arguments.kwarg is not None:
        parameters.append(Parameter(arguments.kwarg.arg, Parameter.VAR_KEYWORD))
    return Signature(parameters[1:] if is_bound and drops_first else parameters)


def _of_node(node: ast.expr) -> Any:
    try:
        return ast.literal_eval(node)
    except ValueError:
        return _Shown(ast.unparse(node))


def _without_first(signature: Any) -> Any:
    parameters = list(signature.parameters.values())
    if parameters and parameters[0].kind in (
        Parameter.POSITIONAL_ONLY,
        Parameter.POSITIONAL_OR_KEYWORD,
    ):
        del parameters[0]
    return signature.replace(parameters=parameters)


def _of_class(cls: Any) -> Any:
    for base in mro_of(type(cls)):
        call = dict_of(base).get("__call__")
        if guards.is_guest_class(base) and type(call) is types.FunctionType:
            return _without_first(_signature(call))
    for base in mro_of(cls):
        names = dict_of(base)
        # Most specific first; within a class, __new__ is called before __init__.
        for name in ("__new__", "__init__"):
            found = names.get(name)
            if type(found) is staticmethod:
                found = found.__func__
            if type(found) is types.FunctionType:
                return _without_first(_signature(found))
        if not guards.is_guest_class(base) and base is not object:
            text = _text_signature_of(base)
            if type(text) is str:
                return _of_text(text, drops_first=True)
            if names.get("__init__", _own_init) is not _own_init or "__new__" in names:
                raise ValueError(f"no signature found for builtin type {cls!r}")
    return Signature()


def _of_partial(value: Any) -> Any:
    func = _partial_func(value)
    inner = _signature(func)
    return inspect._signature_get_partial(  # type: ignore[attr-defined]
        inner, functools.partial(func, *_partial_args(value), **_partial_keywords(value))
    )


_partial_func = functools.partial.__dict__["func"].__get__
_partial_args = functools.partial.__dict__["args"].__get__
_partial_keywords = functools.partial.__dict__["keywords"].__get__


def _signature(value: Any) -> Any:
    kind = type(value)
    if kind is types.MethodType:
        return _without_first(_signature(value.__func__))
    if kind is types.FunctionType:
        return _of_function(value, is_own=bool(guards.is_guest_function(value)))
    if issubclass(kind, type):
        return _of_class(value)
    if is_a(value, functools.partial):
        return _of_partial(value)
    if kind in _BUILTINS:
        text = value.__text_signature__
        if type(text) is not str:
            raise ValueError(f"no signature found for builtin {value!r}")
        return _of_text(
            text,
            drops_first=kind is not types.MethodDescriptorType
            and kind is not types.WrapperDescriptorType,
        )
    for base in mro_of(kind):
        call = dict_of(base).get("__call__")
        if type(call) is types.FunctionType:
            return _without_first(_signature(call))
    raise TypeError(f"{value!r} is not a callable object")


def signature(obj: Any, *, follow_wrapped: bool = True, **_: Any) -> Any:
    """inspect.signature. Annotations that are text stay text."""
    if not callable(obj):
        raise TypeError(f"{obj!r} is not a callable object")
    for _step in range(_MAX_WRAPPED):
        wrapped = None
        if follow_wrapped and type(obj) is types.FunctionType and guards.is_guest_function(obj):
            wrapped = obj.__dict__.get("__wrapped__")
        if wrapped is None:
            return _signature(obj)
        obj = wrapped
    raise ValueError("wrapper loop when unwrapping a function")


_librarys_from_callable = inspect.Signature.__dict__["from_callable"].__func__


def _is_open_package_asking() -> bool:
    """Whether an open package calls inspect.signature(): scikit-learn uses it to find a model's
    parameters and their defaults."""
    asking = sys._getframe(2)
    if asking.f_globals is vars(inspect) and asking.f_back is not None:
        asking = asking.f_back
    name = asking.f_globals.get("__name__")
    return (
        asking.f_builtins is not running.builtins
        and type(name) is str
        and name.partition(".")[0] in reviewed.OPEN_PACKAGES
    )


def _from_callable(cls: Any, obj: Any, *, follow_wrapped: bool = True, **options: Any) -> Any:
    if _is_open_package_asking():
        return _librarys_from_callable(cls, obj, follow_wrapped=follow_wrapped, **options)
    return signature(obj, follow_wrapped=follow_wrapped)


def reduce(_: bool) -> None:
    """Zygote, before the freeze: methods of signatures check the type of `self`."""
    for cls in (Parameter, Signature, BoundArguments):
        its_own_only(cls)
    Signature.from_callable = classmethod(_from_callable)  # type: ignore[assignment,method-assign]


# --- kinds ----------------------------------------------------------------------------------------

_GENERATOR, _COROUTINE, _ASYNC_GENERATOR = 0x20, 0x80, 0x200


def _has_flag(obj: Any, flag: int) -> bool:
    while type(obj) is types.MethodType or is_a(obj, functools.partial):
        obj = obj.__func__ if type(obj) is types.MethodType else _partial_func(obj)
    return type(obj) is types.FunctionType and bool(obj.__code__.co_flags & flag)


def isfunction(obj: Any) -> bool:
    """A function made by def or lambda."""
    return type(obj) is types.FunctionType


def ismethod(obj: Any) -> bool:
    """A method that is bound to its object."""
    return type(obj) is types.MethodType


def isclass(obj: Any) -> bool:
    """A class."""
    return issubclass(type(obj), type)


def ismodule(obj: Any) -> bool:
    """A module, as returned by import."""
    return type(obj) is ModuleType


def isbuiltin(obj: Any) -> bool:
    """A built-in function or bound method."""
    return type(obj) is types.BuiltinFunctionType


def isroutine(obj: Any) -> bool:
    """A function or method of any kind."""
    return isfunction(obj) or ismethod(obj) or type(obj) in _BUILTINS


def isgenerator(obj: Any) -> bool:
    """A generator."""
    return type(obj) is types.GeneratorType


def isgeneratorfunction(obj: Any) -> bool:
    """A generator function."""
    return _has_flag(obj, _GENERATOR)


def iscoroutine(obj: Any) -> bool:
    """A coroutine."""
    return type(obj) is types.CoroutineType


coroutine_classes: list[type] = []
"""Classes whose instances return coroutines when called: AsyncMock."""


def iscoroutinefunction(obj: Any) -> bool:
    """A function made by async def."""
    return _has_flag(obj, _COROUTINE) or any(is_a(obj, cls) for cls in coroutine_classes)


def isasyncgen(obj: Any) -> bool:
    """An asynchronous generator."""
    return type(obj) is types.AsyncGeneratorType


def isasyncgenfunction(obj: Any) -> bool:
    """An asynchronous generator function."""
    return _has_flag(obj, _ASYNC_GENERATOR)


def isawaitable(obj: Any) -> bool:
    """An awaitable object."""
    return iscoroutine(obj) or any("__await__" in dict_of(base) for base in mro_of(type(obj)))


def isabstract(obj: Any) -> bool:
    """A class with abstract methods."""
    return isclass(obj) and bool(type.__dict__["__flags__"].__get__(obj) & (1 << 20))


# --- documentation and members --------------------------------------------------------------------


def _own_doc(obj: Any) -> Any:
    doc = guards.getattr(obj, "__doc__", None)
    return str.__str__(doc) if is_a(doc, str) else None


def getdoc(obj: Any) -> str | None:
    """The documentation, or that of what it overrides, without its indentation."""
    doc = _own_doc(obj)
    if doc is None:
        candidates: list[Any] = []
        if isclass(obj):
            candidates = [base for base in mro_of(obj) if base is not object]
        elif ismethod(obj):
            owner, name = obj.__self__, guards.getattr(obj, "__name__", "")
            cls = owner if isclass(owner) else type(owner)
            candidates = [dict_of(base).get(name) for base in mro_of(cls)]
        doc = next((found for found in map(_own_doc, candidates) if found is not None), None)
    return None if doc is None else cleandoc(doc)


def getmembers(obj: Any, predicate: Any = None) -> list[tuple[str, Any]]:
    """Names and values, as from dir() and getattr()."""
    members = []
    for name in sorted(name for name in guards.dir(obj) if type(name) is str):
        try:
            value = guards.getattr(obj, name)
        except AttributeError:
            continue
        if predicate is None or predicate(value):
            members.append((name, value))
    return members


# --- sources: the program's own text --------------------------------------------------------------

FullArgSpec = collections.namedtuple(  # noqa: PYI024
    "FullArgSpec", "args varargs varkw defaults kwonlyargs kwonlydefaults annotations"
)


def _function_of(obj: Any) -> Any:
    while type(obj) is types.MethodType:
        obj = obj.__func__
    if type(obj) is types.FunctionType and guards.is_guest_function(obj):
        return unwrap(obj)
    return None


def unwrap(func: Any, *, stop: Any = None) -> Any:
    """The function behind the program's decorators that use functools.wraps."""
    for _ in range(_MAX_WRAPPED):
        if type(func) is not types.FunctionType or not guards.is_guest_function(func):
            return func
        wrapped = func.__dict__.get("__wrapped__")
        if wrapped is None or (stop is not None and stop(func)):
            return func
        func = wrapped
    raise ValueError(f"wrapper loop when unwrapping {func!r}")


def _need_own(obj: Any) -> Any:
    """The code of the program's function, or the class; OSError if its text is not there."""
    if isclass(obj) and guards.is_guest_class(obj):
        return obj
    function = _function_of(obj)
    if function is not None and running.text_of(function.__code__.co_filename) is not None:
        return function.__code__
    if function is None and not isclass(obj) and not isroutine(obj):
        raise TypeError(
            "module, class, method, function, traceback, frame, or code object was expected, "
            f"got {type(obj).__name__}"
        )
    raise OSError("could not get source code: it is not in the program's text")


def _file_of(found: Any) -> str:
    """The name of the file that has a function's code, or a class."""
    if type(found) is types.CodeType:
        return found.co_filename
    file = running.scope_of(dict_of(found).get("__module__")).get("__file__")
    return file if type(file) is str else running.filename


def _text_of(found: Any) -> str:
    return running.text_of(_file_of(found)) or ""


def _line_of_class(cls: Any) -> int:
    wanted = dict_of(cls).get("__qualname__", type.__dict__["__qualname__"].__get__(cls))
    found: list[int] = []
    pending: list[tuple[str, ast.AST]] = [("", ast.parse(_text_of(cls)))]
    while pending:
        prefix, node = pending.pop()
        for child in ast.iter_child_nodes(node):
            below = prefix
            if isinstance(child, ast.ClassDef):
                if prefix + child.name == wanted:
                    first = child.decorator_list[0] if child.decorator_list else child
                    found.append(first.lineno)
                below = f"{prefix}{child.name}."
            elif isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef)):
                below = f"{prefix}{child.name}.<locals>."
            pending.append((below, child))
    if not found:
        raise OSError("could not find class definition")
    return max(found)  # of several, the one that the name stands for at the end


def getsourcelines(object: Any) -> tuple[list[str], int]:
    """The lines of the program's function or class, and the number of the first."""
    found = _need_own(object)
    line = found.co_firstlineno if type(found) is types.CodeType else _line_of_class(found)
    lines = _text_of(found).splitlines(keepends=True)
    return inspect.getblock(lines[line - 1 :]), line


def getsource(object: Any) -> str:
    """The text of the program's function or class."""
    return "".join(getsourcelines(object)[0])


def getsourcefile(object: Any) -> str:
    """The program's file name."""
    return _file_of(_need_own(object))


def getfile(object: Any) -> str:
    """The program's file name."""
    return getsourcefile(object)


def getcomments(object: Any) -> str | None:
    """The lines of comments right above the program's function or class."""
    _, line = getsourcelines(object)
    lines = _text_of(_need_own(object)).splitlines(keepends=True)
    first = line - 1
    while first > 0 and lines[first - 1].lstrip().startswith("#"):
        first -= 1
    return "".join(each.lstrip() for each in lines[first : line - 1]) or None


def getfullargspec(func: Any) -> Any:
    """Names and defaults of a function's parameters."""
    if type(func) is types.MethodType:
        func = func.__func__  # with its first parameter, as in the library
    try:
        found = signature(func, follow_wrapped=False)
    except ValueError as error:
        raise TypeError("unsupported callable") from error
    names: dict[Any, list[str]] = {kind: [] for kind in type(Parameter.KEYWORD_ONLY)}
    defaults: list[Any] = []
    keyword_defaults = {}
    annotations = {}
    for name, each in found.parameters.items():
        names[each.kind].append(name)
        if each.default is not Parameter.empty:
            if each.kind is Parameter.KEYWORD_ONLY:
                keyword_defaults[name] = each.default
            else:
                defaults.append(each.default)
        if each.annotation is not Parameter.empty:
            annotations[name] = each.annotation
    if found.return_annotation is not Signature.empty:
        annotations["return"] = found.return_annotation
    return FullArgSpec(
        names[Parameter.POSITIONAL_ONLY] + names[Parameter.POSITIONAL_OR_KEYWORD],
        next(iter(names[Parameter.VAR_POSITIONAL]), None),
        next(iter(names[Parameter.VAR_KEYWORD]), None),
        tuple(defaults) or None,
        names[Parameter.KEYWORD_ONLY],
        keyword_defaults or None,
        annotations,
    )


def getcallargs(func: Any, /, *positional: Any, **named: Any) -> dict[str, Any]:
    """The parameters' values in such a call."""
    bound = signature(func).bind(*positional, **named)
    bound.apply_defaults()
    return dict(bound.arguments)


def get_annotations(
    obj: Any, *, eval_str: bool = False, format: Any = lazy_annotations.VALUE, **_: Any
) -> dict[str, Any]:
    """The annotations of the program's function or class, as they are. `format`, since Python 3.14:
    for those that name what does not exist yet."""
    if eval_str:
        raise ValueError("[BJ502] eval_str is not available; use typing.get_type_hints")
    is_own = guards.is_guest_class(obj) if isclass(obj) else guards.is_guest_function(obj)
    if lazy_annotations.ARE_LAZY and is_own:
        return lazy_annotations.own(obj if isclass(obj) else _function_of(obj), format)
    if isclass(obj):
        found = lazy_annotations.of_class(obj) if is_own else None
    else:
        found = getattr(_function_of(obj), "__annotations__", None)
    return dict(found) if type(found) is dict else {}


def getmro(cls: Any) -> tuple[type, ...]:
    """The classes in which attributes are looked up, in order."""
    return mro_of(cls)


def _has_any(obj: Any, *names: str) -> bool:
    return any(name in dict_of(base) for base in mro_of(type(obj)) for name in names)


def ismethoddescriptor(obj: Any) -> bool:
    """A method of a built-in class, or what behaves as one."""
    if isclass(obj) or ismethod(obj) or isfunction(obj):
        return False
    return _has_any(obj, "__get__") and not _has_any(obj, "__set__")


def isdatadescriptor(obj: Any) -> bool:
    """A property, or what behaves as one."""
    if isclass(obj) or ismethod(obj) or isfunction(obj):
        return False
    return _has_any(obj, "__set__", "__delete__")


# Their results are words.
GEN_CREATED, GEN_RUNNING = inspect.GEN_CREATED, inspect.GEN_RUNNING
GEN_SUSPENDED, GEN_CLOSED = inspect.GEN_SUSPENDED, inspect.GEN_CLOSED
CORO_CREATED, CORO_RUNNING = inspect.CORO_CREATED, inspect.CORO_RUNNING
CORO_SUSPENDED, CORO_CLOSED = inspect.CORO_SUSPENDED, inspect.CORO_CLOSED


def getgeneratorstate(generator: Any) -> str:
    """GEN_CREATED, GEN_RUNNING, GEN_SUSPENDED or GEN_CLOSED."""
    if not isgenerator(generator):
        raise TypeError(f"expected a generator, got {type(generator).__name__}")
    return inspect.getgeneratorstate(generator)


def getcoroutinestate(coroutine: Any) -> str:
    """CORO_CREATED, CORO_RUNNING, CORO_SUSPENDED or CORO_CLOSED."""
    if not iscoroutine(coroutine):
        raise TypeError(f"expected a coroutine, got {type(coroutine).__name__}")
    return inspect.getcoroutinestate(coroutine)


def stack(context: Any = 1) -> list[inspect.FrameInfo]:
    """The program's calls, the innermost first; `frame` is None. One line of context, or none."""
    found = []
    for filename, line, name, text in stack_lines():
        shown = ([text], 0) if context and text else (None, None)
        found.append(FrameInfo(None, filename, line, name, *shown))  # type: ignore[arg-type]
    return found
