"""What the language policy allows, as data for transformer.py and the native guards.

Constructs are in constructs.py, the texts of rules in rules.py. A name that is in no table is
treated as the strictest kind that fits it.
"""

from __future__ import annotations

from .restricted_python import INSPECT_ATTRIBUTES

HINT_GENERIC = "Use the public operation that it implements."

# --- names --------------------------------------------------------------------------------------

# Names that describe a module.
MODULE_DUNDERS = frozenset({
    "__all__", "__author__", "__author_email__", "__authors__", "__contact__", "__contributors__",
    "__copyright__", "__credits__", "__date__", "__deprecated__", "__description__", "__doc__",
    "__email__", "__license__", "__maintainer__", "__maintainer_email__", "__maintainers__",
    "__revision__", "__status__", "__summary__", "__title__", "__uri__", "__url__", "__version__",
})  # fmt: skip

# Loaded as plain names. `__class__` is the cell that super() uses.
LOADABLE_DUNDER_NAMES = MODULE_DUNDERS | {
    "__name__", "__debug__", "__class__", "__annotations__", "__file__", "__package__",
    "__module__", "__qualname__",
}  # fmt: skip

# Of arguments: Mock(__name__="f"). A function that binds them has them in a dict.
KEYWORD_DUNDERS = frozenset({"__name__", "__qualname__", "__doc__"})

# Modules that are not of the profile: each program has them, and they show what it can name anyway.
OWN_MODULES = frozenset({"__main__", "builtins"})

# --- special methods ----------------------------------------------------------------------------

# What a class of the guest may define, by purpose.
_CLASS_DUNDERS = {
    "operators": (
        "add sub mul matmul truediv floordiv mod divmod pow lshift rshift and xor or "
        "radd rsub rmul rmatmul rtruediv rfloordiv rmod rdivmod rpow rlshift rrshift rand rxor ror "
        "iadd isub imul imatmul itruediv ifloordiv imod ipow ilshift irshift iand ixor ior "
        "neg pos abs invert complex int float index round trunc floor ceil "
        "lt le eq ne gt ge hash bool"
    ),
    "protocols": (
        "len length_hint getitem setitem delitem missing contains iter next reversed "
        "call enter exit await aiter anext aenter aexit fspath bytes sizeof dir"
    ),
    "text": "repr str format doc version author",
    "creation and copying of objects and classes": (
        "new init post_init init_subclass set_name class_getitem subclasshook copy deepcopy "
        "replace del"
    ),
    "copying and pickling by parts": "reduce getstate setstate getnewargs getnewargs_ex",
    "attributes": "getattr setattr delattr get set delete slots match_args annotations",
    "classes": "instancecheck subclasscheck isabstractmethod mro_entries orig_bases",
    "Python 2 (never called by Python 3)": (
        "cmp unicode nonzero div rdiv idiv long getslice setslice delslice coerce"
    ),
}
CLASS_DUNDERS_BY_USE = {
    use: tuple(f"__{word}__" for word in words.split()) for use, words in _CLASS_DUNDERS.items()
}
CLASS_DUNDERS = frozenset(name for names in CLASS_DUNDERS_BY_USE.values() for name in names)

# Refused in classes, with hints. Other names that are in no table are refused as well.
CLASS_DUNDERS_REFUSED: dict[str, str] = {
    "__getattribute__": "Define __getattr__: it is called for missing attributes.",
    "__class__": "An object may not misreport its type.",
    "__dict__": "Keep the attributes in __slots__ or in a dict of your own.",
    "__reduce_ex__": "Define __reduce__, which pickle and copy use here.",
    "__prepare__": "A class body always runs in a plain dict; use __init_subclass__.",
    "__module__": "Every class of the program belongs to __main__.",
    "__name__": "Name the class in its class statement.",
    "__qualname__": "Name the class in its class statement.",
    "__wrapped__": "Use functools.wraps.",
    **dict.fromkeys(
        ("__array__", "__array_ufunc__", "__array_function__", "__array_wrap__",
         "__array_interface__"),
        "numpy calls no methods of the program while it computes: give the class a method that "
        "returns the array, and call that.",
    ),
    "__array_finalize__": "numpy hands no array to the program that it has not finished: set the "
    "attributes in __new__, and in the methods that return a new array.",
}  # fmt: skip

# In the namespace of a class without being defined in the source.
MADE_DUNDERS = frozenset({
    # the compiler
    "__module__", "__qualname__", "__classcell__", "__classdictcell__", "__static_attributes__",
    "__firstlineno__", "__type_params__", "__annotate__", "__annotate_func__",
    "__annotations_cache__", "__classdict__", "__conditional_annotations__",
    # typing, abc, enum
    "__parameters__", "__total__", "__required_keys__", "__optional_keys__", "__readonly_keys__",
    "__mutable_keys__", "__protocol_attrs__", "__non_callable_proto_members__", "__closed__",
    "__extra_items__", "__abstractmethods__",
    # namedtuple; dataclass(slots=True) makes a class of a finished one
    "__getnewargs__", "__dataclass_fields__", "__dataclass_params__", "__weakref__",
})  # fmt: skip

# --- attributes ---------------------------------------------------------------------------------

# Loaded natively: they are descriptive, or called by operators.
NATIVE_DUNDERS = (
    CLASS_DUNDERS
    | MODULE_DUNDERS
    | {
        "__class__", "__name__", "__qualname__", "__module__", "__annotations__", "__members__",
        "__type_params__", "__origin__", "__args__", "__parameters__", "__metadata__",
        "__bound__", "__constraints__", "__orig_bases__", "__orig_class__", "__total__",
        "__required_keys__", "__optional_keys__", "__cause__", "__context__",
        "__suppress_context__", "__notes__", "__getformat__", "__bool__",
        "__supertype__", "__covariant__", "__contravariant__", "__value__", "__final__",
        "__thisclass__", "__array__", "__array_interface__", "__array_priority__",
    }
) - {
    # Depend on the object: see GuardedDunderGet in engine/inside/guards/attributes.cc.
    "__setattr__", "__delattr__", "__get__", "__set__", "__delete__", "__getattr__", "__set_name__",
    "__match_args__", "__slots__", "__mro_entries__", "__del__",
    # Called by copy and pickle (library/copy.py), and loaded by nobody: `object` has them too.
    "__reduce__", "__getstate__", "__setstate__", "__getnewargs__", "__getnewargs_ex__",
}  # fmt: skip

# Refused for every object, each with a hint.
REFUSED_DUNDERS: dict[str, str] = {
    "__globals__": "Pass what a function needs as arguments.",
    "__code__": "inspect.signature(f).parameters has a function's parameters, inspect.getsource(f) "
    "its text, f.__name__ its name.",
    "__closure__": "Use nonlocal to reach the variables of an enclosing function.",
    "__builtins__": "Use the builtins by their names.",
    "__subclasscheck_cache__": HINT_GENERIC,
    "__reduce__": "Use copy.copy, copy.deepcopy or pickle.dumps.",
    "__reduce_ex__": "Use copy.copy, copy.deepcopy or pickle.dumps.",
    "__getstate__": "Use copy.copy, copy.deepcopy or pickle.dumps.",
    "__setstate__": "Use copy.copy, copy.deepcopy or pickle.dumps.",
    "__getnewargs__": "Use copy.copy, copy.deepcopy or pickle.dumps.",
    "__getnewargs_ex__": "Use copy.copy, copy.deepcopy or pickle.dumps.",
    "__getattribute__": "Use getattr(object, name).",
    "__prepare__": HINT_GENERIC,
    "__objclass__": HINT_GENERIC,
    "__text_signature__": HINT_GENERIC,
    "__signature__": HINT_GENERIC,
    "__loader__": "Use a plain import statement.",
    "__spec__": "Use a plain import statement.",
    "__path__": "Use a plain import statement.",
    "__file__": "There are no files.",
    "__cached__": "There are no files.",
    "__import__": "Use a plain import statement.",
    "__build_class__": "Use a class statement.",
    "__annotate__": "Use __annotations__.",
    "__annotate_func__": "Use __annotations__.",
    "__evaluate__": "Annotations are not evaluated later.",
    "__forward_code__": "Annotations are not evaluated later.",
    "__dataclass_params__": "Use dataclasses.fields.",
    "__weakref__": HINT_GENERIC,
    "__func_code__": HINT_GENERIC,
    "__roles__": HINT_GENERIC,
}

REFUSED_STORES: dict[str, str] = {
    "__class__": "Create a new object of the other class.",
    "__bases__": "Name the bases in the class statement.",
    "__mro__": "Name the bases in the class statement.",
    "__defaults__": "Give the defaults in the def statement.",
    "__kwdefaults__": "Give the defaults in the def statement.",
}

# Public-looking names that lead from generators, coroutines, frames and code to the rest.
# RestrictedPython lists those that lead out of the sandbox; the others only describe the machine.
# A program sees tracebacks as library/traceback.py has them, with lines and without frames.
REFUSED_ATTRIBUTES = (frozenset(INSPECT_ATTRIBUTES) - {"tb_next"}) | {
    "co_argcount", "co_branches", "co_cellvars", "co_consts", "co_exceptiontable", "co_filename",
    "co_firstlineno", "co_flags", "co_freevars", "co_kwonlyargcount", "co_lines", "co_linetable",
    "co_lnotab", "co_name", "co_names", "co_nlocals", "co_positions", "co_posonlyargcount",
    "co_qualname", "co_stacksize", "co_varnames", "cell_contents",
    "f_lasti", "f_lineno", "f_trace_lines", "f_trace_opcodes", "tb_lasti",
    "func_code", "func_globals", "func_closure", "func_defaults", "func_dict",
    "im_func", "im_self", "im_class",
    # sqlite3.Connection: machine code from a file.
    "enable_load_extension", "load_extension",
}  # fmt: skip

# Names that the guards refuse for any object.
REFUSED_NAMES = REFUSED_ATTRIBUTES | frozenset(REFUSED_DUNDERS)

_ATTRIBUTE_HINTS = {
    "co": "inspect.signature(f).parameters has a function's parameters, inspect.getsource(f) its "
    "text.",
    "tb": "traceback.format_exc() gives the text of a traceback, with its lines.",
    "f": "Pass the value as an argument; traceback.format_exc() says where an error came from.",
    "gi": "inspect.getgeneratorstate(g) says whether a generator has begun or ended.",
    "cr": "inspect.getcoroutinestate(c) says whether a coroutine has begun or ended.",
    "ag": "Keep the state of the generator in a variable.",
    "func": "This is a name of Python 2; a function has __name__, __doc__ and __defaults__.",
    "im": "This is a name of Python 2; a method has __self__ and __func__.",
    "cell": "Use nonlocal to reach the variables of an enclosing function.",
}


def attribute_hint(name: str) -> str:
    """What to do instead of reading one of REFUSED_ATTRIBUTES."""
    known = _ATTRIBUTE_HINTS.get(name.partition("_")[0], "")
    return f"{known} For an attribute of your own, choose another name.".lstrip()


# May be set on a function that the guest defined.
FUNCTION_DUNDERS = frozenset({"__name__", "__qualname__", "__doc__", "__annotations__",
                              "__isabstractmethod__", "__wrapped__"})  # fmt: skip

# May be set on any exception.
EXCEPTION_DUNDERS = frozenset({"__cause__", "__context__", "__suppress_context__", "__notes__"})

# The public interface of named tuples begins with an underscore.
TUPLE_NAMES = frozenset({"_asdict", "_fields", "_field_defaults", "_make", "_replace"})

# --- builtins -----------------------------------------------------------------------------------

BUILTINS = (
    "None False True Ellipsis NotImplemented "
    "abs aiter all anext any ascii bin bool bytearray bytes callable chr classmethod complex dict "
    "divmod enumerate filter float format frozenset hash hex id int isinstance issubclass iter len "
    "list map max memoryview min next object oct ord pow print property range repr reversed round "
    "set slice sorted staticmethod str sum super tuple type zip __build_class__"
).split()
# `format(value, spec)` calls __format__ only; exceptions are added as a class in namespace.py.

# Replaced in namespace.py.
REPLACED_BUILTINS = (
    "compile", "delattr", "dir", "eval", "exec", "exit", "getattr", "globals", "hasattr", "input",
    "locals", "quit", "setattr", "vars",
)  # fmt: skip

BUILTINS_SHOWN = frozenset(BUILTINS) - {"__build_class__"} | frozenset(REPLACED_BUILTINS)

MISSING_BUILTINS: dict[str, str] = {
    "open": "Use io.StringIO for a file in memory; sys.stdin has the caller's input.",
    "breakpoint": "Use print(): there is no terminal for a debugger.",
    "copyright": "This is not an interactive interpreter.",
    "credits": "This is not an interactive interpreter.",
    "license": "This is not an interactive interpreter.",
    "reload": "importlib.reload(module) runs a file of the program's own again.",
}

REFUSED_LOADS: dict[str, str] = {
    "__builtins__": "Use the builtins by their names.",
    "__import__": "Use a plain import statement.",
    "__loader__": "Use a plain import statement.",
    "__spec__": "Use a plain import statement.",
    "__build_class__": "Use a class statement.",
    "__path__": "Use a plain import statement.",
    "__cached__": "There are no files.",
}

# --- generated names ----------------------------------------------------------------------------

# Source text cannot contain these names: '@' is an operator.
HOOK_PRIVATE = "@private"
HOOK_DUNDER = "@dunder"
HOOK_WRITE = "@write"
HOOK_GROUP = "@plain_group"
IMPORT_BY_NAME = "@import"
"""What `__import__(…)` calls in a program: a function of library/importlib.py."""
STAR = ("@*",)
"""What it imports for `from m import *`, if the module is one of the program's own."""
HOOKS = (HOOK_PRIVATE, HOOK_DUNDER, HOOK_WRITE, HOOK_GROUP, IMPORT_BY_NAME)
RESULT_NAME = "@result"
VALUE_NAME = "@value"
"""What eval() gives: library/scopes.py."""
