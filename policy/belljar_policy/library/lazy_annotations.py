"""Annotations that are evaluated when somebody asks for them: Python 3.14 (PEP 649, PEP 749).

The compiler puts the annotations of a class or function into a function of their own. For an
annotation that names what does not exist yet, the library runs that function once more, with
globals of its own in which every missing name is a placeholder. These globals have the
interpreter's builtins. So for a program's function it is done here, with the program's builtins,
and the program's placeholders (annotationlib.ForwardRef) are evaluated as its own text.
"""

from __future__ import annotations

import ast
import sys
import types
from typing import Any

import _belljar_guards as guards

from .. import tables
from . import program, scopes
from .objects import dict_of, is_a, only_for_its_own

ARE_LAZY = sys.version_info >= (3, 14)
VALUE, WITH_FAKE_GLOBALS, FORWARDREF, STRING = 1, 2, 3, 4
"""annotationlib.Format."""

_of_class = type.__dict__["__annotations__"].__get__
library: Any = None
if ARE_LAZY:
    import _ast_unparse  # type: ignore[import-not-found] # noqa: F401 (ast.unparse() imports it later)
    import annotationlib as library  # type: ignore[import-not-found, no-redef]


def of_class(cls: type) -> Any:
    """The annotations of the class itself, not of its bases: a dict or None. Since Python 3.14 they
    may be evaluated now, and raise what the program's code raises."""
    return _of_class(cls) if ARE_LAZY else dict_of(cls).get("__annotations__")


def own(obj: Any, form: Any) -> dict[str, Any]:
    """annotationlib.get_annotations() for a class or function of the program."""
    return library.get_annotations(obj, format=form)


def evaluate_text(text: str, scope: dict[str, Any]) -> Any:
    """The value of an annotation's text, checked like the program's source. `scope`: of
    scopes.namespace()."""
    ast.parse(text.strip(), "<annotation>", "eval")  # one expression
    code = program.compile_text(f"annotation = (\n{text}\n)", "<annotation>")
    names = dict(scope)
    guards.run_text(code, names, names)
    return names["annotation"]


def _call_annotate_function(
    annotate: Any, format: Any, *, owner: Any = None, _is_evaluate: bool = False
) -> Any:
    if type(annotate) is types.FunctionType and not guards.is_guest_function(annotate):
        return _library_call(annotate, format, owner=owner, _is_evaluate=_is_evaluate)
    if format == WITH_FAKE_GLOBALS:
        raise ValueError("The VALUE_WITH_FAKE_GLOBALS format is for internal use only")
    try:
        return annotate(format)
    except NotImplementedError:
        pass
    if not _is_of_the_compiler(annotate):  # the library would take code and globals from anything
        found = annotate(VALUE)
        if format != STRING:
            return found
        return library.type_repr(found) if _is_evaluate else library.annotations_to_string(found)
    if format == STRING:
        found = _run(annotate, owner, STRING, can_evaluate=False)
        if _is_evaluate:
            return library._stringify_single(found)
        return {name: library._stringify_single(value) for name, value in _items(found)}
    if format != FORWARDREF:
        raise ValueError(f"Invalid format: {format!r}")
    try:
        return _run(annotate, owner, FORWARDREF, can_evaluate=True)
    except Exception:  # as the library: then every name is a placeholder
        return _run(annotate, owner, FORWARDREF, can_evaluate=False)


def _is_of_the_compiler(annotate: Any) -> bool:
    """Whether it is a function that the compiler made of annotations. Only those are run with other
    globals and cells: methods of a dataclass have their checks in cells."""
    if type(annotate) is not types.FunctionType or not guards.is_guest_function(annotate):
        return False
    return annotate.__code__.co_name == "__annotate__"  # no program can give this name to code


def _items(found: Any) -> list[tuple[Any, Any]]:
    if type(found) is not dict:
        raise ValueError("an annotate function returned a non-dict")
    return list(found.items())


def _run(annotate: Any, owner: Any, form: int, *, can_evaluate: bool) -> Any:
    """What the function returns with placeholders for what is missing: `can_evaluate`, else for
    all names."""
    scope = annotate.__globals__
    names = program.running.builtins
    if can_evaluate:
        names = {**names, **scope}
    else:  # the hooks are no names of the program
        names = {name: names[name] for name in tables.HOOKS}
    is_class = issubclass(type(owner), type)
    space = library._StringifierDict(
        dict(names), globals=None, owner=owner, is_class=is_class, format=form
    )
    cells = []
    for name, cell in zip(annotate.__code__.co_freevars, annotate.__closure__ or (), strict=True):
        if not (can_evaluate and _has_contents(cell)):
            missing = space.__missing__(name)
            cell = types.CellType(missing)
        cells.append(cell)
    found = guards.rebound(annotate, space, tuple(cells) or None)(WITH_FAKE_GLOBALS)
    if form == FORWARDREF:
        for placeholder in space.stringifiers:
            if type(placeholder) is not library._Stringifier:
                continue
            placeholder.__stringifier_dict__ = None
            node = placeholder.__ast_node__
            if type(node) is str:
                placeholder.__arg__, placeholder.__ast_node__ = node, None
            guards.retyped(placeholder, library.ForwardRef)
    return found


def _has_contents(cell: Any) -> bool:
    try:
        cell.cell_contents  # noqa: B018
    except ValueError:
        return False
    return True


def _evaluate(
    self: Any,
    *,
    globals: Any = None,
    locals: Any = None,
    type_params: Any = None,
    owner: Any = None,
    format: Any = VALUE,
) -> Any:
    """ForwardRef.evaluate(): as text of the program, in its globals."""
    if not is_a(self, library.ForwardRef):
        raise TypeError(f"evaluate() takes a ForwardRef, not {type(self).__name__!r}")
    if program.running.scope is program.NO_SCOPE:  # a library's, before the program
        return _library_evaluate(
            self,
            globals=globals,
            locals=locals,
            type_params=type_params,
            owner=owner,
            format=format,
        )
    if format == STRING:
        return self.__resolved_str__
    if format not in (VALUE, FORWARDREF):
        raise NotImplementedError(format)
    scope = scopes.namespace(program.running.scope)
    owner = self.__owner__ if owner is None else owner
    if guards.is_guest_class(owner):
        scope.update((n, v) for n, v in dict_of(owner).items() if scopes.may_be_global(n))
    given = () if type_params is None and owner is None else type_params
    if given is None:
        given = guards.getattr(owner, "__type_params__", ())
    for parameter in given:
        scope.setdefault(guards.getattr(parameter, "__name__"), parameter)
    scope = scopes.namespace(scope, globals, locals)
    text = self.__forward_arg__
    for name, value in (self.__extra_names__ or {}).items():
        plain = name.strip("_")  # __annotationlib_name_1__, which text may not name
        text = text.replace(name, plain)
        scope[plain] = value
    try:
        return evaluate_text(text, scope)
    except Exception:
        if format == FORWARDREF:
            return self
        raise


_library_call: Any = None
_library_evaluate: Any = None


def reduce() -> None:
    """Zygote, before the freeze: methods check the type of `self`, nothing is run or evaluated with
    the interpreter's builtins."""
    global _library_call, _library_evaluate
    if not ARE_LAZY:
        return
    _library_call = library.call_annotate_function
    library.call_annotate_function = _call_annotate_function
    _library_evaluate = library.ForwardRef.evaluate
    _evaluate.__module__ = "annotationlib"
    _evaluate.__name__ = "evaluate"
    _evaluate.__qualname__ = "ForwardRef.evaluate"
    _evaluate.__annotations__ = {}
    library.ForwardRef.evaluate = _evaluate
    for cls in (library.ForwardRef, library._Stringifier, library._StringifierDict):
        for name, value in list(vars(cls).items()):
            if type(value) is types.FunctionType and name not in ("__init_subclass__", "evaluate"):
                only_for_its_own(cls, name)
