"""Reads the bytecode that the policy let through, and believes nothing that the policy says of it.

    for violation in verify(code, exports): print(violation)

What the policy promises is stated again here, from the language's reference and the interpreter's
own types; belljar_policy is not imported. So a name that becomes safe to load has to be added
twice, by two decisions. What is promised of values ("the target of this store is what @write
returned") is proven by following the stack along every path: see stack_machine.py, which knows
the versions of CPython that it names and nothing else.
"""

from __future__ import annotations

import dis
import inspect
import keyword
import sys
import types
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from types import CodeType

from tests.policy.stack_machine import NULL, OTHER, Instruction, Machine, Mark, UnknownBytecode

__all__ = ["Violation", "verify"]

# --- the promise: names -------------------------------------------------------------------------

PRIVATE, DUNDER, WRITE = HOOKS = ("@private", "@dunder", "@write")
# What `__import__(…)` calls.
IMPORT_BY_NAME = "@import"
# Called in the first `except*` of a statement, before any expression of the guest's runs there.
PLAIN_GROUP = "@plain_group"
RESULTS = frozenset({"@result", "@value"})


def _dunders(words: str) -> frozenset[str]:
    return frozenset(f"__{word}__" for word in words.split())


# What Python calls on a guest's class; a class may define them, anybody may load them...
_SPECIAL_METHODS = _dunders(
    "add sub mul matmul truediv floordiv mod divmod pow lshift rshift and or xor radd rsub rmul "
    "rmatmul rtruediv rfloordiv rmod rdivmod rpow rlshift rrshift rand ror rxor iadd isub imul "
    "imatmul itruediv ifloordiv imod ipow ilshift irshift iand ior ixor neg pos abs invert complex "
    "int float index round trunc floor ceil lt le eq ne gt ge hash bool len length_hint getitem "
    "setitem delitem missing contains iter next reversed call enter exit await aiter anext aenter "
    "aexit fspath bytes sizeof dir repr str format doc new init post_init init_subclass "
    "class_getitem subclasshook copy deepcopy replace annotations instancecheck subclasscheck "
    "isabstractmethod orig_bases "
    # which only Python 2 called
    "cmp unicode nonzero div rdiv idiv long getslice setslice delslice coerce"
)
# ...but for these, which a class may define and which lead further when they are loaded: a library
# class's own set attributes past every guard, or hand out what they were set with.
_DEFINED_ONLY = _dunders(
    "getattr setattr delattr get set delete set_name slots match_args mro_entries del "
    "reduce getstate setstate getnewargs getnewargs_ex"
)
_MODULE_NAMES = _dunders(
    "all author author_email authors contact contributors copyright credits date deprecated "
    "description doc email license maintainer maintainer_email maintainers revision status summary "
    "title uri url version"
)
# Descriptions: text, types and exceptions.
_DESCRIPTIONS = _dunders(
    "class name qualname module members type_params origin args parameters metadata bound "
    "constraints orig_class total required_keys optional_keys cause context suppress_context notes "
    "getformat supertype covariant contravariant value final thisclass array array_interface "
    "array_priority"
)
_LOADED_FREELY = (_SPECIAL_METHODS | _MODULE_NAMES | _DESCRIPTIONS) - _DEFINED_ONLY
_CLASS_MAY_DEFINE = _SPECIAL_METHODS | _DEFINED_ONLY | _dunders("version author")

# Attributes by no hook and no route: what the frames, code and generators of this Python have...
_INTERPRETER_TYPES = (
    types.FrameType, types.CodeType, types.TracebackType, types.GeneratorType, types.CoroutineType,
    types.AsyncGeneratorType, types.CellType,
)  # fmt: skip
_NEVER_LOADED = frozenset(
    name
    for kind in _INTERPRETER_TYPES
    for name in vars(kind)
    if name.startswith(("f_", "co_", "tb_", "gi_", "cr_", "ag_", "cell_"))
    # A program's tracebacks are lists of lines, and these lead to no frame.
    and name not in {"tb_lineno", "tb_next"}
) | _dunders(
    # ...and what leads from functions, modules and exceptions to the rest. (__subclasses__ has a
    # hook: it answers for the program's own classes.)
    "globals code closure builtins reduce reduce_ex getstate setstate "
    "getnewargs getnewargs_ex getattribute prepare objclass loader spec path import build_class "
    "signature text_signature"
)
_NEVER_STORED = _NEVER_LOADED | _dunders("class bases mro defaults kwdefaults")

_ARGUMENTS = _dunders("name qualname doc")

# Plain names that every scope finds, in its globals or builtins, and no program may ask for.
_NEVER_LOADED_PLAINLY = _dunders("builtins import loader spec build_class path cached")


class _Anything:
    """A collection that has every name."""

    def __contains__(self, name: object) -> bool:
        return True

    def __iter__(self) -> Iterator[str]:
        return iter(())

    def __len__(self) -> int:
        return 0


OF_THE_PROGRAM: Mapping[str, Collection[str]] = {"__main__": _Anything(), "builtins": _Anything()}
"""Modules whose names only the run knows, for the `exports` of verify()."""


def is_dunder(name: str) -> bool:
    return len(name) > 4 and name.startswith("__") and name.endswith("__")


def is_spelled(name: str) -> bool:
    """Whether source can spell the name, in the form that the parser would give it."""
    if not name.isidentifier() or keyword.iskeyword(name):
        return False
    return name.isascii() or unicodedata.is_normalized("NFKC", name)


def hook_for_load(name: str) -> str | None:
    """The hook whose result the attribute must be loaded from."""
    if not name.startswith("_"):
        return None
    if not is_dunder(name):
        return PRIVATE
    return None if name in _LOADED_FREELY else DUNDER


def hook_for_store(name: str) -> str:
    """The hook on whose result the attribute must be set or deleted."""
    if name.startswith("_"):
        return DUNDER if is_dunder(name) else PRIVATE
    # The order in which a class's bases are searched: more than an attribute.
    return DUNDER if name == "mro" else WRITE


# --- walking ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Violation:
    """One place where the bytecode does what the policy promised it would not."""

    reason: str
    code: CodeType
    offset: int

    def __str__(self) -> str:
        return f"{self.code.co_qualname}, byte {self.offset}: {self.reason}\n{self.excerpt()}"

    def excerpt(self, around: int = 4) -> str:
        """The instructions near it, the one in question marked."""
        instructions = list(dis.get_instructions(self.code))
        at = next((i for i, one in enumerate(instructions) if one.offset >= self.offset), 0)
        return "\n".join(
            f"  {'-->' if one.offset == self.offset else '   '} {one.positions.lineno or '':>4} "
            f"{one.offset:>5} {one.opname:<24} {one.argrepr}"
            for one in instructions[max(0, at - around) : at + around + 1]
        )


def verify(
    code: CodeType,
    exports: Mapping[str, Collection[str]] | None = None,
    own: Collection[str] = (),
) -> list[Violation]:
    """Every violation in `code` and in the code nested in it.

    `exports` are the importable modules with the names that each gives; without it imports are not
    judged. `own` are the outermost names of the program's own modules: what they have, only the
    run knows, and a relative import can only mean them. Raises UnknownVersion where Python is
    another one than the file stack_machine.py knows.
    """
    found: list[Violation] = []
    waiting = [(code, True)]
    while waiting:
        one, is_top = waiting.pop()
        found += _Reader(one, is_top, exports, own).read()
        waiting += [(const, False) for const in one.co_consts if isinstance(const, CodeType)]
    return found


_VERSION = sys.version_info[:2]
_NAME_LOADS = frozenset({"LOAD_NAME", "LOAD_GLOBAL", "LOAD_FROM_DICT_OR_GLOBALS"})
# How many low bits of the argument are no part of the name's number.
_FLAG_BITS = {"LOAD_GLOBAL": 1, "LOAD_ATTR": 1 if _VERSION >= (3, 12) else 0, "LOAD_SUPER_ATTR": 2}
_NAME_BINDINGS = frozenset({"STORE_NAME", "DELETE_NAME", "STORE_GLOBAL", "DELETE_GLOBAL"})
_ATTRIBUTE_LOADS = frozenset({"LOAD_ATTR", "LOAD_METHOD"})
_ATTRIBUTE_STORES = frozenset({"STORE_ATTR", "DELETE_ATTR"})
_CELL_BINDINGS = frozenset({"STORE_DEREF", "DELETE_DEREF"})


def _result_of(hook: str) -> str:
    return f"{hook}(...)"


_RESULTS = {_result_of(hook): hook for hook in HOOKS}
# A class's namespace: of its own body, and as annotations in it see it (PEP 695).
_LOCALS, _CLASS_DICT = "the namespace of the class", "the namespace of the class around"
_NAMESPACES = (_LOCALS, _CLASS_DICT)
# Variables of the compiler's own, which no source can spell.
_OF_COMPREHENSIONS = frozenset({".0"})
_OF_TYPE_PARAMETERS = frozenset({".type_params", ".generic_base", ".defaults", ".kwdefaults"})
# Of annotations that are evaluated later (PEP 649): functions of the compiler's own, and the set of
# those annotations that stand in a statement that ran.
_ANNOTATE, _CONDITIONAL = "__annotate__", "__conditional_annotations__"
_ANNOTATE_CODE, _ANNOTATE_FUNCTION = ("code of", _ANNOTATE), ("function", _ANNOTATE)
_EMPTY_SET = "the set of reached annotations"
# The mark of an exception that @plain_group has seen, and of what is left of it.
_SEEN_GROUP = ("an exception that", PLAIN_GROUP, "has seen")


class _Reader:
    """The judgement of one code object."""

    def __init__(
        self,
        code: CodeType,
        is_top: bool,
        exports: Mapping[str, Collection[str]] | None,
        own: Collection[str],
    ) -> None:
        self._code = code
        self._is_function = bool(code.co_flags & inspect.CO_OPTIMIZED)
        self._is_top = is_top
        self._is_class = not is_top and not self._is_function
        self._exports = exports
        self._own = own
        self._machine = Machine(code)
        self._found: dict[tuple[int, str], Violation] = {}
        self._keywords = False  # KW_NAMES stands before the next CALL
        self._made_by_compiler: dict[str, int] = {}

    def read(self) -> Iterable[Violation]:
        for name in self._own_names():
            self._judge_own_name(name)
        try:
            self._machine.run(self._hear)
        except UnknownBytecode as error:
            self._report(error.offset, str(error))
        return self._found.values()

    def _report(self, offset: int, reason: str) -> None:
        self._found.setdefault((offset, reason), Violation(reason, self._code, offset))

    # --- names of the code object -----------------------------------------------------------------

    def _own_names(self) -> Iterator[str]:
        code = self._code
        yield from code.co_varnames
        yield from code.co_cellvars
        yield from code.co_freevars

    def _judge_own_name(self, name: str) -> None:
        if name in _OF_COMPREHENSIONS:
            return
        if _VERSION >= (3, 12) and name in _OF_TYPE_PARAMETERS:
            return
        if _VERSION >= (3, 12) and name == "__classdict__":
            # A class has it for the annotations in it, nobody else binds it.
            if name in self._code.co_varnames or (
                name in self._code.co_cellvars and not self._is_class
            ):
                self._report(0, "__classdict__ is bound")
            return
        if _VERSION >= (3, 14) and name == ".format":  # of what annotations and aliases are made by
            if not self._is_function or name not in self._code.co_varnames:
                self._report(0, f"{name} is no parameter")
            return
        if _VERSION >= (3, 14) and name == _CONDITIONAL:
            # A module or class has the set of its annotations that were reached.
            if name in self._code.co_varnames or (
                name in self._code.co_cellvars and self._is_function
            ):
                self._report(0, f"{name} is bound")
            return
        if name in HOOKS and _VERSION >= (3, 12) and self._is_class:
            # A comprehension is part of the class since 3.12, and saves each name of its own. A
            # name that the class declares global counts as one: it is put away and put back, empty.
            return
        if not is_spelled(name):
            self._report(0, f"the variable {name!r} is none that source can spell")
        elif name == "__class__":
            # The cell that super() uses: a class has it, its functions see it, nobody binds it.
            if name in self._code.co_varnames or (
                name in self._code.co_cellvars and not self._is_class
            ):
                self._report(0, "__class__ is bound")
        elif is_dunder(name) and name not in _CLASS_MAY_DEFINE | _MODULE_NAMES:
            self._report(0, f"the variable {name!r} has a name of the interpreter's")

    # --- instructions -----------------------------------------------------------------------------

    def _hear(self, instruction: Instruction, consumed: tuple[Mark, ...]) -> Mark:
        name = instruction.name
        if name == "CALL":
            return self._call(instruction, consumed)
        if name == "CALL_KW":
            self._argument_names(instruction, consumed[-1])
            self._keywords = True
            return self._call(instruction, consumed[:-1])
        if name == "LOAD_SUPER_ATTR":
            self._must_be_free(instruction, consumed)
            return self._attribute(instruction, OTHER, stores=False)
        if name in _ATTRIBUTE_LOADS:
            return self._attribute(instruction, consumed[0], stores=False)
        if name in _ATTRIBUTE_STORES:
            return self._attribute(instruction, consumed[-1], stores=True, others=consumed[:-1])
        if name == "COPY":
            # The result may be copied: an augmented assignment reads and writes through one hook.
            self._must_be_free(instruction, consumed[:1], (*HOOKS, PLAIN_GROUP))
            return OTHER
        if name == "SWAP":
            ends = (consumed[0], consumed[-1])
            self._must_be_free(instruction, ends, (*HOOKS, PLAIN_GROUP))
            return OTHER
        if "FAST" in name or name == "LOAD_CLOSURE":
            return self._fast(instruction, consumed)
        if name in ("LOAD_FROM_DICT_OR_GLOBALS", "LOAD_FROM_DICT_OR_DEREF"):
            if consumed[0] not in _NAMESPACES:
                self._report(instruction.offset, f"{name} looks in what is no class's namespace")
        elif not (name == "STORE_DEREF" and consumed == (_LOCALS,)):
            self._must_be_free(instruction, consumed)
        if name == "MAKE_FUNCTION" and consumed[-1] == _ANNOTATE_CODE:
            return _ANNOTATE_FUNCTION
        if name == "SET_FUNCTION_ATTRIBUTE":  # a closure, defaults, annotations
            return consumed[1]
        if name == "BUILD_SET" and instruction.argument == 0:
            return ("set", _EMPTY_SET)
        if name == "LOAD_SMALL_INT":
            return ("number", instruction.argument)
        if name in _NAME_LOADS:
            return self._load_name(instruction)
        if name == "LOAD_LOCALS":
            return _LOCALS
        if name in ("LOAD_DEREF", "LOAD_FROM_DICT_OR_DEREF"):
            variable = self._variable(instruction.argument)
            return _CLASS_DICT if variable == "__classdict__" else ("variable", variable)
        if name in _NAME_BINDINGS:
            self._bind_name(instruction, consumed)
        elif name in _CELL_BINDINGS:
            self._bind_cell(instruction, consumed)
        elif name == "LOAD_CONST":
            return self._constant(instruction)
        elif name == "KW_NAMES":
            self._keyword_names(instruction)
        elif name == "PUSH_EXC_INFO":
            return _SEEN_GROUP if self._begins_with_plain_group(instruction) else OTHER
        elif name == "CHECK_EG_MATCH":
            if consumed[0] != _SEEN_GROUP:
                self._report(instruction.offset, f"except* matches what {PLAIN_GROUP} has not seen")
            return consumed[0]
        elif name == "MATCH_CLASS":
            self._match_class(instruction, consumed[-1])
        elif name == "IMPORT_NAME":
            return self._import(instruction, consumed)
        elif name == "IMPORT_FROM":
            return self._import_from(instruction, consumed[0])
        return OTHER

    def _must_be_free(
        self,
        instruction: Instruction,
        consumed: tuple[Mark, ...],
        forbidden: Collection[str] = (*HOOKS, PLAIN_GROUP, *_RESULTS, *_NAMESPACES),
    ) -> None:
        """A hook is called and its result used for one attribute: neither goes anywhere else."""
        for mark in consumed:
            if mark in forbidden:
                self._report(instruction.offset, f"{mark} goes to {instruction.name}")

    def _call(self, instruction: Instruction, consumed: tuple[Mark, ...]) -> Mark:
        keywords, self._keywords = self._keywords, False
        if _VERSION >= (3, 13):  # the callable, then its `self` or nothing; before the other way
            consumed = (consumed[1], consumed[0], *consumed[2:])
        hook = consumed[1]
        if hook == PLAIN_GROUP:
            if consumed != (NULL, PLAIN_GROUP) or keywords:
                self._report(instruction.offset, f"{hook} is called with something")
            return OTHER
        if hook not in HOOKS:
            self._must_be_free(instruction, consumed)
            return OTHER
        if consumed[0] != NULL or len(consumed) != 3 or keywords:
            self._report(instruction.offset, f"{hook} is called with more or less than an object")
            return OTHER
        self._must_be_free(instruction, consumed[2:])
        return _result_of(str(hook))

    def _name(self, instruction: Instruction) -> str:
        return self._code.co_names[instruction.argument >> _FLAG_BITS.get(instruction.name, 0)]

    def _attribute(
        self, instruction: Instruction, target: Mark, *, stores: bool, others: tuple[Mark, ...] = ()
    ) -> Mark:
        self._must_be_free(instruction, others)
        name, offset = self._name(instruction), instruction.offset
        guard = _RESULTS.get(target) if isinstance(target, str) else None
        if target in HOOKS:
            self._report(offset, f"an attribute of {target} itself is used")
        if not is_spelled(name):
            self._report(offset, f"the attribute {name!r} is none that source can spell")
        if name in (_NEVER_STORED if stores else _NEVER_LOADED):
            self._report(offset, f"{instruction.name} of {name!r}, which leads to the interpreter")
            return OTHER
        wanted = hook_for_store(name) if stores else hook_for_load(name)
        # An augmented assignment loads what it will store, so through the hook of the store.
        allowed = {wanted} if stores else {wanted, hook_for_store(name)}
        if guard not in allowed:
            through = guard if guard is not None else "no hook"
            self._report(offset, f"{instruction.name} of {name!r} through {through}, not {wanted}")
        return OTHER

    def _load_name(self, instruction: Instruction) -> Mark:
        name, offset = self._name(instruction), instruction.offset
        if name in HOOKS or name in (PLAIN_GROUP, IMPORT_BY_NAME):
            # A class body and text ask their own namespace first, which the guest may have filled.
            # A comprehension that is part of text since 3.12 does, too: that namespace is ours, and
            # guards.run_text() refuses one with a hook.
            is_by_name = self._is_top and _VERSION >= (3, 12)
            if instruction.name != "LOAD_GLOBAL" and not is_by_name:
                self._report(offset, f"{name} is looked up in a namespace")
            return name
        if not is_spelled(name):
            self._report(offset, f"the name {name!r} is none that source can spell")
        if name in _NEVER_LOADED_PLAINLY:
            self._report(offset, f"the name {name!r} is the interpreter's")
        return OTHER

    def _bind_name(self, instruction: Instruction, values: tuple[Mark, ...]) -> None:
        name, offset = self._name(instruction), instruction.offset
        if name in RESULTS and self._is_top and instruction.name == "STORE_NAME":
            return
        if not is_spelled(name):
            self._report(offset, f"{instruction.name} of {name!r}, which source cannot spell")
        if not is_dunder(name):
            return
        if _VERSION >= (3, 14) and self._is_top and name in (_ANNOTATE, _CONDITIONAL):
            if not self._is_of_annotations(name, values):
                self._report(offset, f"the module's {name!r} is not the compiler's")
            return
        if self._is_class and not instruction.name.endswith("_GLOBAL"):
            if name not in _CLASS_MAY_DEFINE and not self._is_by_compiler(name, offset, values):
                self._report(offset, f"a class defines {name!r}")
        elif name not in _MODULE_NAMES:
            self._report(offset, f"{instruction.name} of {name!r} in the module's scope")

    def _is_by_compiler(self, name: str, offset: int, values: tuple[Mark, ...]) -> bool:
        """What every class statement stores: once, before its body, and for super() at each end."""
        if name == "__classcell__":
            return values == (("cell", "__class__"),)
        if name == "__classdictcell__":
            return values == (("cell", "__classdict__"),)
        if _VERSION >= (3, 14) and name == "__annotate_func__":
            return self._is_of_annotations(_ANNOTATE, values)
        if name == "__type_params__":
            return values == (("variable", ".type_params"),)
        if name == "__static_attributes__":
            return len(values) == 1 and isinstance(values[0], tuple) and values[0][0] == "names"
        if name == "__firstlineno__":
            fits = len(values) == 1 and isinstance(values[0], tuple) and values[0][0] == "number"
            return fits and self._made_by_compiler.setdefault(name, offset) == offset
        if name not in ("__module__", "__qualname__"):
            return False
        return self._made_by_compiler.setdefault(name, offset) == offset

    def _is_of_annotations(self, name: str, values: tuple[Mark, ...]) -> bool:
        return values == ((_ANNOTATE_FUNCTION if name == _ANNOTATE else ("set", _EMPTY_SET)),)

    def _variable(self, index: int) -> str:
        code = self._code
        # Since 3.11 one array: the variables, the cells that are no variables, the free variables.
        variables = (
            *code.co_varnames,
            *(name for name in code.co_cellvars if name not in code.co_varnames),
            *code.co_freevars,
        )
        return variables[index]

    def _fast(self, instruction: Instruction, consumed: tuple[Mark, ...]) -> Mark:
        """What loads and stores variables, two at once since 3.13."""
        name, argument = instruction.name, instruction.argument
        self._must_be_free(instruction, consumed)
        if name.replace("_BORROW", "").count("FAST") == 2:
            indices = [argument >> 4, argument & 15]
        else:
            indices = [argument]
        for index in indices:
            variable = self._variable(index)
            if variable not in HOOKS:
                continue
            put_back = name == "STORE_FAST" and consumed == (("put away", variable),)
            if name != "LOAD_FAST_AND_CLEAR" and not put_back:
                self._report(instruction.offset, f"{name} of the variable {variable!r}")
        variable = self._variable(indices[-1])
        if name == "LOAD_FAST_AND_CLEAR":
            return ("put away", variable)
        code = self._code
        if (
            name in ("LOAD_CLOSURE", "LOAD_FAST", "LOAD_FAST_BORROW")
            and variable in code.co_cellvars + code.co_freevars
        ):
            return ("cell", variable)
        return OTHER

    def _bind_cell(self, instruction: Instruction, values: tuple[Mark, ...]) -> None:
        variable = self._variable(instruction.argument)
        if variable == "__class__":
            self._report(instruction.offset, "__class__ is bound")
        if variable == _CONDITIONAL and not self._is_of_annotations(variable, values):
            self._report(instruction.offset, f"{variable} is not the compiler's")
        if (variable == "__classdict__") != (values == (_LOCALS,)):
            self._report(instruction.offset, f"{variable} is bound to what is another's")

    def _begins_with_plain_group(self, handler: Instruction) -> bool:
        """Whether the handler is an `except*` that calls the hook before it does anything else."""
        following = [(one.name, one.argument) for one in self._machine.following(handler.offset)]
        begin = (
            [("BUILD_LIST", 0), ("COPY", 2)]
            if _VERSION >= (3, 12)
            else [("COPY", 1), ("BUILD_LIST", 0), ("SWAP", 2)]
        )
        if following[: len(begin)] != begin:
            return False
        del following[: len(begin)]
        names = self._code.co_names
        if PLAIN_GROUP not in names:
            return False
        index = names.index(PLAIN_GROUP)
        # From the call to the jump over what the clause names.
        call = {
            (3, 11): ["PRECALL", "CALL", "JUMP_IF_TRUE_OR_POP"],
            (3, 12): ["CALL", "COPY", "POP_JUMP_IF_TRUE", "POP_TOP"],
            (3, 13): ["CALL", "COPY", "TO_BOOL", "POP_JUMP_IF_TRUE", "POP_TOP"],
            (3, 14): ["CALL", "COPY", "TO_BOOL", "POP_JUMP_IF_TRUE", "NOT_TAKEN", "POP_TOP"],
        }[_VERSION]
        loads = (
            [("LOAD_GLOBAL", index * 2 + 1)],
            [("PUSH_NULL", 0), ("LOAD_NAME", index)],
            [("LOAD_NAME", index), ("PUSH_NULL", 0)],
        )
        for load in loads:
            rest = following[len(load) :]
            if following[: len(load)] != load:
                continue
            # `following` ends with the jump.
            shown = [name for name, _ in rest]
            calls_alone = all(argument == 0 for name, argument in rest if "CALL" in name)
            return calls_alone and shown == call[: len(shown)] and "JUMP" in shown[-1]
        return False

    # --- names in constants -----------------------------------------------------------------------

    def _constant(self, instruction: Instruction) -> Mark:
        value = self._code.co_consts[instruction.argument]
        if type(value) is tuple and all(type(item) is str for item in value):
            return ("names", *value)
        if type(value) is int or value is None:
            return ("number", value)
        if isinstance(value, CodeType):
            return ("code of", value.co_name)
        return OTHER

    def _keyword_names(self, instruction: Instruction) -> None:
        self._keywords = True
        self._argument_names(instruction, ("names", *self._code.co_consts[instruction.argument]))

    def _argument_names(self, instruction: Instruction, names: Mark) -> None:
        if not isinstance(names, tuple) or names[0] != "names":
            self._report(instruction.offset, "the names of arguments are not constant")
            return
        for name in names[1:]:
            if not is_spelled(name) or (is_dunder(name) and name not in _ARGUMENTS):
                self._report(instruction.offset, f"{name!r} is the name of an argument")

    def _match_class(self, instruction: Instruction, names: Mark) -> None:
        if not isinstance(names, tuple) or names[0] != "names":
            self._report(instruction.offset, "the attributes of a class pattern are not constant")
            return
        for name in names[1:]:
            if not is_spelled(name) or name in _NEVER_LOADED or hook_for_load(name) is not None:
                self._report(instruction.offset, f"a class pattern loads {name!r}")

    # --- imports ----------------------------------------------------------------------------------

    def _import(self, instruction: Instruction, consumed: tuple[Mark, ...]) -> Mark:
        module, offset = self._name(instruction), instruction.offset
        level, wanted = consumed
        # One that is not there may stand in a try, or below TYPE_CHECKING: it raises ImportError.
        may_be_missing = self._machine.is_protected(offset) or self._names_type_checking()
        is_relative = (bool(self._own) or may_be_missing) and level != ("number", 0)
        if not (is_relative and not module) and not all(map(is_spelled, module.split("."))):
            self._report(offset, f"the module {module!r} has a name that source cannot spell")
        if level != ("number", 0) and not is_relative:
            self._report(offset, "a relative import")
        if wanted == ("number", None):
            names: tuple[str, ...] = ()
        elif isinstance(wanted, tuple) and wanted[0] == "names":
            names = wanted[1:]
        else:
            self._report(offset, "the names of an import are not constant")
            return OTHER
        is_own = is_relative or module.partition(".")[0] in self._own
        if self._exports is not None and not may_be_missing and not is_own:
            if module not in self._exports:
                self._report(offset, f"the profile has no module {module!r}")
            for name in names:
                if name not in self._exports.get(module, names):
                    self._report(offset, f"the module {module!r} gives no {name!r}")
        return ("module", *(names or module.split(".")))

    def _names_type_checking(self) -> bool:
        return "TYPE_CHECKING" in self._code.co_names

    def _import_from(self, instruction: Instruction, module: Mark) -> Mark:
        name = self._name(instruction)
        # `import a.b.c as d` walks down from `a` in the same way.
        if not isinstance(module, tuple) or module[0] != "module" or name not in module[1:]:
            self._report(instruction.offset, f"{name!r} is taken from what is no module")
        return module
