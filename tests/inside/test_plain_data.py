"""The result as JSON and as a bounded repr: exact forms, bounds, and round trips."""

import base64
import collections
import json
import math
import random
import sys
import threading
import time

import pytest
from belljar_runner.bounded_repr import bounded_repr
from belljar_runner.plain_data import MAX_DEPTH, encode
from belljar_runner.plain_data import decode as decode_exactly

MIB = 1 << 20


def decode(value):
    """The reader that plain_data's docstring promises to be possible (tuples become lists)."""
    if type(value) is list:
        return [decode(item) for item in value]
    if type(value) is not dict:
        return value
    kind = value.get("$type")
    if kind is None:
        return {key: decode(item) for key, item in value.items()}
    if kind == "int":
        return int(value["value"]) if "value" in value else int(value["hex"], 16)
    if kind == "float":
        return float(value["value"])
    if kind == "bytes":
        return base64.b64decode(value["base64"], validate=True)
    if kind == "str":
        raw = base64.b64decode(value["utf8_surrogatepass_base64"], validate=True)
        return raw.decode("utf-8", "surrogatepass")
    if kind == "set":
        return {as_key(decode(item)) for item in value["items"]}
    if kind == "dict":
        return {as_key(decode(key)): decode(item) for key, item in value["items"]}
    raise AssertionError(kind)


def as_key(value):
    if type(value) is list:
        return tuple(map(as_key, value))
    return frozenset(value) if type(value) is set else value


def as_decoded(value):
    """`value` with what JSON cannot tell apart made equal."""
    if type(value) in (list, tuple):
        return [as_decoded(item) for item in value]
    if type(value) in (set, frozenset):
        return {as_key(as_decoded(item)) for item in value}
    if type(value) is dict:
        return {as_key(as_decoded(key)): as_decoded(item) for key, item in value.items()}
    return value


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "null"),
        (True, "true"),
        (False, "false"),
        (0, "0"),
        (-7, "-7"),
        (2**53 - 1, "9007199254740991"),
        (1 - 2**53, "-9007199254740991"),
        (2**53, '{"$type":"int","value":"9007199254740992"}'),
        (-(2**53), '{"$type":"int","value":"-9007199254740992"}'),
        (1.5, "1.5"),
        (-0.0, "-0.0"),
        (1e300, "1e+300"),
        (math.nan, '{"$type":"float","value":"nan"}'),
        (math.inf, '{"$type":"float","value":"inf"}'),
        (-math.inf, '{"$type":"float","value":"-inf"}'),
        ("", '""'),
        ('a"\\\n\0\x7f', '"a\\"\\\\\\n\\u0000\x7f"'),
        ("äß€😀", '"äß€😀"'),
        ("a\udc80", '{"$type":"str","utf8_surrogatepass_base64":"Ye2ygA=="}'),
        (b"", '{"$type":"bytes","base64":""}'),
        (b"\0\xff", '{"$type":"bytes","base64":"AP8="}'),
        ([], "[]"),
        ((), "[]"),
        ([1, (2,), []], "[1,[2],[]]"),
        ({}, "{}"),
        ({"a": 1, "": [None]}, '{"a":1,"":[null]}'),
        ({1: 2}, '{"$type":"dict","items":[[1,2]]}'),
        ({"$type": 1}, '{"$type":"dict","items":[["$type",1]]}'),
        ({"a": 1, None: 2}, '{"$type":"dict","items":[["a",1],[null,2]]}'),
        (
            {"\udc80": 1},
            '{"$type":"dict","items":[[{"$type":"str","utf8_surrogatepass_base64":"7bKA"},1]]}',
        ),
        (set(), '{"$type":"set","items":[]}'),
        (frozenset({3}), '{"$type":"set","items":[3]}'),
    ],
)
def test_forms(value, text):
    assert encode(value, MIB) == (text, False)
    json.loads(text.encode("utf-8"))


def test_int_past_the_limit_of_digits():
    assert sys.get_int_max_str_digits() == 4300
    longest = 10**4300 - 1
    assert json.loads(encode(longest, MIB)[0]) in (
        {"$type": "int", "value": str(longest)},
        {"$type": "int", "hex": hex(longest)},
    )
    assert json.loads(encode(-(10**5000), MIB)[0]) == {"$type": "int", "hex": hex(-(10**5000))}


def test_guest_lowers_the_limit_of_digits():
    sys.set_int_max_str_digits(640)
    try:
        assert json.loads(encode(10**700, MIB)[0]) == {"$type": "int", "hex": hex(10**700)}
        assert bounded_repr([10**700], 4096) == (f"[{10**700:#x}]", False)
    finally:
        sys.set_int_max_str_digits(4300)


class Hostile:
    def fail(self, *_):
        raise AssertionError("a hook of the guest was called")

    __iter__ = __len__ = __str__ = __hash__ = __eq__ = __getattribute__ = __repr__ = fail


class HostileMeta(type):
    def __hash__(cls, *_):
        raise AssertionError("a hook of the guest was called")

    __eq__ = __instancecheck__ = __subclasscheck__ = __getattribute__ = __hash__


class HostileKind(metaclass=HostileMeta):
    pass


class MyInt(int):
    pass


class MyDict(dict):
    def items(self):
        raise AssertionError


# Made inside the test: pytest itself would call the hooks.
OTHERS = {
    "hostile": lambda: Hostile(),
    "hostile type": lambda: HostileKind(),
    "in a list": lambda: [1, Hostile()],
    "type in a list": lambda: [HostileKind()],
    "in a dict": lambda: {"a": Hostile()},
    "int": lambda: MyInt(1),
    "key": lambda: {MyInt(1): 1},
    "dict": lambda: MyDict(a=1),
    "OrderedDict": lambda: collections.OrderedDict(a=1),
    "complex": lambda: 1j,
    "range": lambda: range(3),
    "bytearray": lambda: bytearray(b"x"),
    "class": lambda: int,
    "function": lambda: len,
    "ellipsis": lambda: ...,
}


@pytest.mark.parametrize("make", OTHERS.values(), ids=OTHERS)
def test_other_types_have_no_json(make):
    text, too_large = encode(make(), MIB)
    assert text is None
    assert too_large is False


def nested(depth, wrap=lambda inner: [inner], value=None):
    for _ in range(depth):
        value = wrap(value)
    return value


def json_depth(text):
    depth = deepest = 0
    for character in text:
        depth += (character in "[{") - (character in "]}")
        deepest = max(deepest, depth)
    return deepest


@pytest.mark.parametrize(
    ("wrap", "levels"),
    [
        (lambda v: [v], 1),
        (lambda v: {"k": v}, 1),
        (lambda v: {1: v}, 3),
        (lambda v: (v, 1), 1),
        (lambda v: frozenset({v}), 2),
    ],
)
def test_depth_is_that_of_the_json(wrap, levels):
    fits = MAX_DEPTH // levels
    text, too_large = encode(nested(fits, wrap), MIB)
    assert json_depth(text) == fits * levels <= MAX_DEPTH
    assert not too_large
    assert encode(nested(fits + 1, wrap), MIB) == (None, False)


def test_tagged_scalars_count_as_a_level():
    assert encode(nested(MAX_DEPTH, value=1), MIB)[0] is not None
    for value in (2**60, math.nan, b"x", "\udc80", set()):
        assert encode(nested(MAX_DEPTH, value=value), MIB) == (None, False)
        assert json_depth(encode(nested(MAX_DEPTH - 2, value=value), MIB)[0]) <= MAX_DEPTH


def test_cycles():
    loop = []
    loop.append(loop)
    knot = {}
    knot["a"] = [knot, knot]
    assert encode(loop, MIB) == (None, False)
    assert encode(knot, MIB) == (None, False)


@pytest.mark.parametrize(
    "value",
    ["x" * 10, "äöü", "\n\n", b"abc", [1, 2, 3], {"a": 1}, 2**60, -1.25, {1: 2}, {"ä": "€"}, {5}],
)
def test_bound_is_exact_and_in_bytes(value):
    text, _ = encode(value, MIB)
    size = len(text.encode())
    assert encode(value, size) == (text, False)
    assert encode(value, size - 1) == (None, True)


@pytest.mark.parametrize(
    "make",
    [
        lambda: "x" * 100_000_000,
        lambda: b"x" * 100_000_000,
        lambda: [0] * 20_000_000,
        lambda: dict.fromkeys(range(3_000_000)),
        lambda: 1 << 400_000_000,
        lambda: nested(40, lambda inner: [inner, inner]),
        lambda: [["x" * 500_000] * 100] * 100,
    ],
    ids=["str", "bytes", "list", "dict", "int", "shared lists", "shared strings"],
)
def test_huge_values_are_cheap(make):
    value = make()
    start = time.process_time()
    assert encode(value, 100_000) == (None, True)
    text, was_cut = bounded_repr(value, 4096)
    assert time.process_time() - start < 0.5
    assert was_cut
    assert len(text) == 4096
    assert text.endswith("…")


def test_thread_of_the_guest_changes_a_dict():
    shared = {i: i for i in range(1000)}
    stop = threading.Event()

    def change():
        number = 1000
        while not stop.is_set():
            shared[number] = number
            shared.pop(number - 500, None)
            number += 1

    thread = threading.Thread(target=change)
    thread.start()
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for _ in range(50):
            assert encode(shared, MIB)[1] is False
            bounded_repr(shared, 4096)
    finally:
        stop.set()
        thread.join()
        sys.setswitchinterval(interval)


def random_scalar(rng):
    return rng.choice(
        [
            None,
            True,
            rng.randrange(-100, 100),
            rng.randrange(-(2**70), 2**70),
            rng.uniform(-1e9, 1e9),
            10.0 ** rng.randrange(-300, 300),
            math.inf,
            "".join(chr(rng.choice([rng.randrange(128), rng.randrange(0x11000)])) for _ in "abc"),
            rng.choice(["$type", "$", "", "a'b", "\udcff", "\U0001f600"]),
            rng.randbytes(rng.randrange(5)),
        ]
    )


def random_key(rng, depth):
    if depth and rng.random() < 0.2:
        return tuple(random_key(rng, depth - 1) for _ in range(rng.randrange(3)))
    return random_scalar(rng)


def random_value(rng, depth):
    kind = rng.randrange(8) if depth else 7
    size = rng.randrange(4)
    if kind <= 1:
        return [random_value(rng, depth - 1) for _ in range(size)]
    if kind == 2:
        return tuple(random_value(rng, depth - 1) for _ in range(size))
    if kind == 3:
        return {str(random_scalar(rng)): random_value(rng, depth - 1) for _ in range(size)}
    if kind == 4:
        return {random_key(rng, 2): random_value(rng, depth - 1) for _ in range(size)}
    if kind == 5:
        return {random_key(rng, 2) for _ in range(size)}
    if kind == 6:
        return frozenset(random_key(rng, 2) for _ in range(size))
    return random_scalar(rng)


@pytest.mark.parametrize("seed", range(300))
def test_round_trip(seed):
    value = random_value(random.Random(seed), 5)
    text, too_large = encode(value, MIB)
    assert not too_large
    assert decode(json.loads(text.encode("utf-8"))) == as_decoded(value)
    assert encode(value, len(text.encode()) - 1) == (None, True)


def the_same(one, other):
    """Equality that tells 1 from True and 1.0, and lets nan be nan."""
    if type(one) is not type(other):
        return False
    if isinstance(one, float):
        return repr(one) == repr(other)
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(map(the_same, one, other))
    if isinstance(one, dict):
        return the_same(list(one.items()), list(other.items()))
    if isinstance(one, set | frozenset):
        return sorted(map(repr, one)) == sorted(map(repr, other))
    return one == other


@pytest.mark.parametrize("seed", range(200))
def test_exact_round_trip(seed):
    value = random_value(random.Random(seed), 5)
    text, _ = encode(value, MIB, exact=True)
    assert the_same(decode_exactly(json.loads(text)), value)


def test_exact_forms():
    assert encode((1, ()), MIB, exact=True) == (
        '{"$type":"tuple","items":[1,{"$type":"tuple","items":[]}]}',
        False,
    )
    assert encode(frozenset({1}), MIB, exact=True)[0] == '{"$type":"frozenset","items":[1]}'
    assert encode({1}, MIB, exact=True)[0] == '{"$type":"set","items":[1]}'
    assert encode({"a": 1, "b": 2}, MIB, exact=True)[0] == '{"a":1,"b":2}'
    ordered = '{"$type":"dict","items":[["b",1],["a",2]]}'
    assert encode({"b": 1, "a": 2}, MIB, exact=True)[0] == ordered
    assert encode({"b": 1, "a": 2}, MIB)[0] == '{"b":1,"a":2}'


@pytest.mark.parametrize("seed", range(300))
def test_repr_is_pythons(seed):
    value = random_value(random.Random(seed), 5)
    expected = repr(value)
    assert bounded_repr(value, len(expected)) == (expected, False)
    for size in (1, 2, len(expected) // 2, len(expected) - 1):
        if 0 < size < len(expected):
            text, was_cut = bounded_repr(value, size)
            assert was_cut
            assert len(text) <= size
            assert text[-1] == "…"


def test_repr_of_cycles():
    loop = [1]
    loop.append(loop)
    knot = {"a": loop}
    knot["b"] = (knot,)
    assert bounded_repr(loop, 4096) == (repr(loop), False)
    assert bounded_repr(knot, 4096) == (repr(knot), False)


def test_repr_of_deep_nesting():
    text, was_cut = bounded_repr(nested(100_000), 4096)
    assert text == "[" * 150 + "[...]" + "]" * 150
    assert not was_cut


def test_repr_of_others():
    class Bad:
        def __repr__(self):
            1 / 0

    class Leaves:
        def __repr__(self):
            sys.exit()

    class Huge:
        def __repr__(self):
            return "h" * 1_000_000

    class Text(str):
        def __repr__(self):
            return Text("text")

        __getitem__ = __len__ = None

    name = "test_repr_of_others.<locals>"
    module = __name__
    assert bounded_repr([Bad()], 4096) == (
        f"[<unrepresentable {module}.{name}.Bad object: ZeroDivisionError>]",
        False,
    )
    assert bounded_repr(Leaves(), 4096)[0].endswith("Leaves object: SystemExit>")
    assert bounded_repr(["a", Huge()], 4096) == ("['a', " + "h" * 4089 + "…", True)
    assert bounded_repr((Text("x"), 1), 4096) == ("(text, 1)", False)


def test_repr_that_changes_its_container():
    class Grows:
        def __repr__(self):
            container[object()] = 1
            return "grows"

    container = {1: Grows(), 2: 3}
    text, was_cut = bounded_repr(container, 4096)
    assert text.startswith("{1: grows")
    assert was_cut
