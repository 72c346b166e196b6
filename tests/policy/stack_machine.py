"""The stack of CPython 3.11, 3.12, 3.13 and 3.14, interpreted over marks instead of objects.

`Machine(code).run(hear)` follows every path of one code object, once per state of its stack, and
tells `hear` what each instruction consumes. A mark says what is known of a value; of `OTHER`
nothing is known. What an instruction pushes is what `hear` returns.

A mark that is a str is never forgotten: where two paths meet they must agree on it. Others are.

It knows these and refuses the rest: opcodes and their effects change with every version.
"""

from __future__ import annotations

import dis
import sys
from collections.abc import Callable, Hashable
from types import CodeType

KNOWN_VERSIONS = ((3, 11), (3, 12), (3, 13), (3, 14))
_VERSION = sys.version_info[:2]

OTHER = None
NULL = "NULL"
"""What PUSH_NULL and LOAD_GLOBAL put below a callable."""

Mark = Hashable
Hear = Callable[["Instruction", tuple[Mark, ...]], Mark]


class UnknownVersion(Exception):
    """This Python's bytecode is not known here."""


class UnknownBytecode(Exception):
    """An opcode that is not known here, or a use of the stack that the compiler does not make."""

    def __init__(self, what: str, offset: int) -> None:
        super().__init__(what)
        self.offset = offset


class Instruction:
    """One instruction: `offset` in bytes, `argument` with its EXTENDED_ARGs."""

    __slots__ = ("argument", "name", "next", "offset")

    def __init__(self, offset: int, name: str, argument: int, following: int) -> None:
        self.offset = offset
        self.name = name
        self.argument = argument
        self.next = following


# What an instruction takes from the stack and what it puts there. COPY, SWAP, jumps and the ends of
# blocks are below, and so is what later versions have otherwise. `import *` and the interactive
# PRINT_EXPR are missing: refused.
_FIXED: dict[str, tuple[int, int]] = {
    **dict.fromkeys(
        "RESUME NOP SETUP_ANNOTATIONS PRECALL KW_NAMES MAKE_CELL COPY_FREE_VARS DELETE_FAST "
        "DELETE_DEREF DELETE_NAME DELETE_GLOBAL".split(),
        (0, 0),
    ),
    **dict.fromkeys(
        "PUSH_NULL LOAD_CONST LOAD_NAME LOAD_FAST LOAD_DEREF LOAD_CLASSDEREF LOAD_CLOSURE "
        "LOAD_BUILD_CLASS LOAD_ASSERTION_ERROR RETURN_GENERATOR".split(),
        (0, 1),
    ),
    **dict.fromkeys(
        "POP_TOP STORE_NAME STORE_GLOBAL STORE_FAST STORE_DEREF DELETE_ATTR POP_EXCEPT "
        "LIST_APPEND SET_ADD LIST_EXTEND SET_UPDATE DICT_UPDATE DICT_MERGE".split(),
        (1, 0),
    ),
    **dict.fromkeys(
        "UNARY_POSITIVE UNARY_NEGATIVE UNARY_NOT UNARY_INVERT GET_ITER GET_AITER "
        "GET_YIELD_FROM_ITER GET_AWAITABLE ASYNC_GEN_WRAP LIST_TO_TUPLE LOAD_ATTR "
        "YIELD_VALUE".split(),
        (1, 1),
    ),
    **dict.fromkeys(
        "BINARY_OP BINARY_SUBSCR COMPARE_OP IS_OP CONTAINS_OP IMPORT_NAME".split(), (2, 1)
    ),
    **dict.fromkeys("STORE_ATTR DELETE_SUBSCR MAP_ADD END_ASYNC_FOR".split(), (2, 0)),
    **dict.fromkeys(
        "LOAD_METHOD BEFORE_WITH BEFORE_ASYNC_WITH PUSH_EXC_INFO IMPORT_FROM GET_LEN "
        "MATCH_MAPPING MATCH_SEQUENCE GET_ANEXT".split(),
        (1, 2),
    ),
    "CHECK_EXC_MATCH": (2, 2),
    "CHECK_EG_MATCH": (2, 2),
    "PREP_RERAISE_STAR": (2, 1),
    "MATCH_KEYS": (2, 3),
    "MATCH_CLASS": (3, 1),
    "STORE_SUBSCR": (3, 0),
    "WITH_EXCEPT_START": (4, 5),
}  # fmt: skip

_BY_ARGUMENT: dict[str, Callable[[int], tuple[int, int]]] = {
    **dict.fromkeys(
        ("BUILD_TUPLE", "BUILD_LIST", "BUILD_SET", "BUILD_STRING", "BUILD_SLICE"),
        lambda count: (count, 1),
    ),
    "BUILD_MAP": lambda count: (2 * count, 1),
    "BUILD_CONST_KEY_MAP": lambda count: (count + 1, 1),
    "CALL": lambda count: (count + 2, 1),
    "CALL_FUNCTION_EX": lambda flags: (3 + (flags & 1), 1),
    "FORMAT_VALUE": lambda flags: (2 if flags & 4 else 1, 1),
    "LOAD_GLOBAL": lambda flags: (0, 1 + (flags & 1)),
    "MAKE_FUNCTION": lambda flags: (1 + (flags & 15).bit_count(), 1),
    "RAISE_VARARGS": lambda count: (count, 0),
    "UNPACK_EX": lambda counts: (1, (counts & 0xFF) + 1 + (counts >> 8)),
    "UNPACK_SEQUENCE": lambda count: (1, count),
}  # fmt: skip

# Jumps: what is taken and put when it falls through, and when it jumps (None: it never does).
_Effects = tuple[tuple[int, int] | None, tuple[int, int]]
_TESTS = ("TRUE", "FALSE", "NONE", "NOT_NONE")
_JUMPS: dict[str, _Effects] = {
    **{
        f"POP_JUMP_{way}_IF_{test}": ((1, 0), (1, 0))
        for way in ("FORWARD", "BACKWARD")
        for test in _TESTS
    },
    "JUMP_FORWARD": (None, (0, 0)),
    "JUMP_BACKWARD": (None, (0, 0)),
    "JUMP_BACKWARD_NO_INTERRUPT": (None, (0, 0)),
    "JUMP_IF_TRUE_OR_POP": ((1, 0), (0, 0)),
    "JUMP_IF_FALSE_OR_POP": ((1, 0), (0, 0)),
    "FOR_ITER": ((1, 2), (1, 0)),
    "SEND": ((2, 2), (2, 1)),
}
_ENDS = {"RETURN_VALUE": 1, "RERAISE": 1, "RAISE_VARARGS": 0}

if _VERSION >= (3, 12):
    _FIXED |= {
        "LOAD_LOCALS": (0, 1),
        "LOAD_FAST_CHECK": (0, 1),
        "LOAD_FAST_AND_CLEAR": (0, 1),
        "LOAD_FROM_DICT_OR_GLOBALS": (1, 1),
        "LOAD_FROM_DICT_OR_DEREF": (1, 1),
        "CALL_INTRINSIC_1": (1, 1),
        "CALL_INTRINSIC_2": (2, 1),
        "BINARY_SLICE": (3, 1),
        "STORE_SLICE": (4, 0),
        "END_FOR": (2, 0),
        "END_SEND": (2, 1),
        "CLEANUP_THROW": (3, 2),
    }
    del _FIXED["LOAD_ATTR"], _FIXED["LOAD_METHOD"]
    _BY_ARGUMENT |= {
        "LOAD_ATTR": lambda flags: (1, 1 + (flags & 1)),
        "LOAD_SUPER_ATTR": lambda flags: (3, 1 + (flags & 1)),
    }
    _JUMPS |= {
        **{f"POP_JUMP_IF_{test}": ((1, 0), (1, 0)) for test in _TESTS},
        "FOR_ITER": ((1, 2), (1, 2)),
        "SEND": ((2, 2), (2, 2)),
    }
    _ENDS["RETURN_CONST"] = 0
if _VERSION >= (3, 13):
    _FIXED |= {
        "TO_BOOL": (1, 1),
        "CONVERT_VALUE": (1, 1),
        "FORMAT_SIMPLE": (1, 1),
        "FORMAT_WITH_SPEC": (2, 1),
        "MAKE_FUNCTION": (1, 1),
        "SET_FUNCTION_ATTRIBUTE": (2, 1),
        "LOAD_FAST_LOAD_FAST": (0, 2),
        "STORE_FAST_LOAD_FAST": (1, 1),
        "STORE_FAST_STORE_FAST": (2, 0),
        "END_FOR": (1, 0),
    }
    del _BY_ARGUMENT["MAKE_FUNCTION"]
    _BY_ARGUMENT["CALL_KW"] = lambda count: (count + 3, 1)
if _VERSION >= (3, 14):
    _FIXED |= {
        "NOT_TAKEN": (0, 0),
        "LOAD_COMMON_CONSTANT": (0, 1),
        "LOAD_SMALL_INT": (0, 1),
        "LOAD_FAST_BORROW": (0, 1),
        "LOAD_FAST_BORROW_LOAD_FAST_BORROW": (0, 2),
        "LOAD_SPECIAL": (1, 2),
        "POP_ITER": (1, 0),
        "BUILD_TEMPLATE": (2, 1),
        "WITH_EXCEPT_START": (5, 6),
        "CALL_FUNCTION_EX": (4, 1),
    }
    del _BY_ARGUMENT["CALL_FUNCTION_EX"]
    _BY_ARGUMENT["BUILD_INTERPOLATION"] = lambda flags: (2 + (flags & 1), 1)
# What CALL_INTRINSIC_1 does that a statement of its own did before 3.12: as refused as that.
_REFUSED_INTRINSICS = {1: "PRINT_EXPR", 2: "IMPORT_STAR"}
_KNOWN = frozenset({"COPY", "SWAP", *_FIXED, *_BY_ARGUMENT, *_JUMPS, *_ENDS})
_BACKWARD = frozenset(name for name in _JUMPS if "BACKWARD" in name)

_OPNAME = tuple(dis.opname)
_EXTENDED_ARG = dis.opmap["EXTENDED_ARG"]
_CACHE = dis.opmap["CACHE"]


def effect(name: str, argument: int, *, jump: bool = False) -> tuple[int, int]:
    """How many values an instruction takes from the stack, and how many it then puts there.

    Raises KeyError for those that are not in `known_opcodes()`.
    """
    if name in _JUMPS:
        through, jumped = _JUMPS[name]
        return jumped if jump or through is None else through
    if name in _FIXED:
        return _FIXED[name]
    if name in _BY_ARGUMENT:
        return _BY_ARGUMENT[name](argument)
    return (_ENDS[name], 0)


def known_opcodes() -> frozenset[str]:
    return _KNOWN


class Machine:
    """Walks one code object. Used once."""

    def __init__(self, code: CodeType) -> None:
        if sys.version_info[:2] not in KNOWN_VERSIONS:
            known = ", ".join(f"{major}.{minor}" for major, minor in KNOWN_VERSIONS)
            raise UnknownVersion(
                f"this is Python {sys.version_info[0]}.{sys.version_info[1]}; "
                f"only the bytecode of {known} is known here"
            )
        self._code = code
        self._instructions = _decode(code.co_code)
        self._ranges = [
            (entry.start, entry.end, entry.target, entry.depth, entry.lasti)
            for entry in dis._parse_exception_table(code)  # type: ignore[attr-defined]
        ]
        self._targets = frozenset(target for _, _, target, _, _ in self._ranges) | frozenset(
            _target(instruction)
            for instruction in self._instructions.values()
            if instruction.name in _JUMPS
        )
        self._states: dict[int, tuple[Mark, ...]] = {}
        self._waiting: list[int] = []

    def is_protected(self, offset: int) -> bool:
        """True when what is raised at `offset` is caught here, if only to clean up."""
        return any(start <= offset < end for start, end, *_ in self._ranges)

    def following(self, offset: int) -> list[Instruction]:
        """The instructions that always run after the one at `offset`, with no way in or out."""
        found: list[Instruction] = []
        at = self._instructions[offset].next
        while at in self._instructions and at not in self._targets:
            found.append(self._instructions[at])
            if found[-1].name in _JUMPS or found[-1].name in _ENDS:
                break
            at = found[-1].next
        return found

    def run(self, hear: Hear) -> None:
        """Follows every path. Raises UnknownBytecode when the stack cannot be accounted for."""
        self._reach(0, ())
        while self._waiting:
            self._run_block(self._waiting.pop(), hear)

    def _reach(self, offset: int, stack: tuple[Mark, ...]) -> None:
        known = self._states.get(offset)
        if known is None:
            merged = stack
        elif len(known) != len(stack):
            raise UnknownBytecode("two depths of the stack meet", offset)
        elif known == stack:
            return
        else:
            merged = tuple(_join(a, b, offset) for a, b in zip(known, stack, strict=True))
            if merged == known:
                return
        self._states[offset] = merged
        self._waiting.append(offset)

    def _run_block(self, offset: int, hear: Hear) -> None:
        stack = list(self._states[offset])
        start = offset
        instructions, targets = self._instructions, self._targets
        handlers: tuple[tuple[int, int, bool], ...] = ()
        until = -1  # `handlers` hold for the offsets below this one
        while True:
            if offset != start and offset in targets:
                self._reach(offset, tuple(stack))
                return
            if self._ranges:
                if offset >= until:
                    handlers, until = self._handlers_at(offset)
                for target, depth, with_lasti in handlers:
                    if depth > len(stack):
                        raise UnknownBytecode("a handler wants more than is there", offset)
                    self._reach(target, (*stack[:depth], *(OTHER,) * (1 + with_lasti)))
            instruction = instructions[offset]
            name = instruction.name
            if name == "COPY":
                consumed = _top(stack, instruction.argument, offset)
                hear(instruction, consumed)
                stack.append(consumed[0])
            elif name == "SWAP":
                hear(instruction, _top(stack, instruction.argument, offset))
                stack[-1], stack[-instruction.argument] = stack[-instruction.argument], stack[-1]
            elif name in _JUMPS:
                if self._jump(instruction, stack, hear):
                    return
            else:
                if name == "CALL_INTRINSIC_1":
                    name = _REFUSED_INTRINSICS.get(instruction.argument, name)
                if name not in _KNOWN:
                    raise UnknownBytecode(f"opcode {name} is not known here", offset)
                takes, puts = effect(name, instruction.argument)
                mark = hear(instruction, _top(stack, takes, offset))
                if name in _ENDS:
                    return
                if takes:
                    del stack[-takes:]
                if name == "PUSH_NULL":
                    stack.append(NULL)
                elif puts == 1:
                    stack.append(mark)
                elif name == "LOAD_GLOBAL":
                    stack += (NULL, mark) if _VERSION < (3, 13) else (mark, NULL)
                elif name == "IMPORT_FROM":  # `import a.b.c as d` takes `c` from what it took
                    stack += (mark, mark)
                elif name == "PUSH_EXC_INFO":  # what was handled before, what is handled now
                    stack += (OTHER, mark)
                elif name == "CHECK_EG_MATCH":  # the rest of the group, what matched
                    stack += (mark, OTHER)
                else:
                    stack += [OTHER] * puts
            offset = instruction.next

    def _jump(self, instruction: Instruction, stack: list[Mark], hear: Hear) -> bool:
        """Sends the jump's state on its way and leaves the other in `stack`; True at the end."""
        through, jumped = _JUMPS[instruction.name]
        takes, puts = jumped
        # Whatever is tested is consumed by the test, also where it stays on the stack.
        hear(instruction, _top(stack, max(takes, through[0] if through else 0), instruction.offset))
        rest = stack[: len(stack) - takes]
        self._reach(_target(instruction), (*rest, *(OTHER,) * puts))
        if through is None:
            return True
        takes, puts = through
        del stack[len(stack) - takes :]
        stack += [OTHER] * puts
        return False

    def _handlers_at(self, offset: int) -> tuple[tuple[tuple[int, int, bool], ...], int]:
        """The handler for `offset`, if any, and the first offset where that may be otherwise."""
        until = sys.maxsize
        for start, end, target, depth, with_lasti in self._ranges:
            if start <= offset < end:
                return ((target, depth, with_lasti),), end
            if offset < start:
                until = min(until, start)
        return (), until


def _join(a: Mark, b: Mark, offset: int) -> Mark:
    """What is known where two paths meet. What is a str must be known on both."""
    if a == b:
        return a
    if isinstance(a, str) or isinstance(b, str):
        raise UnknownBytecode(f"{a or 'something'} and {b or 'something'} meet", offset)
    return OTHER


def _top(stack: list[Mark], count: int, offset: int) -> tuple[Mark, ...]:
    if count > len(stack):
        raise UnknownBytecode("the stack is too short", offset)
    return tuple(stack[len(stack) - count :])


def _target(instruction: Instruction) -> int:
    way = -1 if instruction.name in _BACKWARD else 1
    return instruction.next + way * 2 * instruction.argument


def _decode(code: bytes) -> dict[int, Instruction]:
    """By offset. That of an EXTENDED_ARG names the instruction that it belongs to."""
    found: dict[int, Instruction] = {}
    end, extended, starts = len(code), 0, []
    position = 0
    while position < end:
        opcode = code[position]
        starts.append(position)
        argument = extended | code[position + 1]
        following = position + 2
        if opcode == _EXTENDED_ARG:
            extended = argument << 8
        else:
            while following < end and code[following] == _CACHE:
                following += 2
            instruction = Instruction(position, _OPNAME[opcode], argument, following)
            for start in starts:
                found[start] = instruction
            starts.clear()
            extended = 0
        position = following
    return found
