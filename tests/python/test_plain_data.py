"""Reading what a hostile worker may have written as a value."""

from __future__ import annotations

import json
import math
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any

import pytest
from belljar import Sandbox, _plain
from hypothesis import given
from hypothesis import strategies as st

from tests.machine import lacks
from tests.python.conftest import Script, named

SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text()
    | st.text(st.characters(categories=["Cs", "Ll"]))
    | st.binary()
)
HASHABLE = st.recursive(
    SCALARS, lambda inner: st.tuples(inner, inner) | st.frozensets(inner), max_leaves=5
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner)
        | st.tuples(inner)
        | st.dictionaries(st.text(), inner)
        | st.dictionaries(HASHABLE, inner)
        | st.sets(HASHABLE)
        | st.frozensets(HASHABLE)
    ),
    max_leaves=10,
)


def shape(value: object) -> object:
    """Equal values of other types are told apart: 1, 1.0 and True."""
    if isinstance(value, list | tuple):
        return type(value), [shape(item) for item in value]
    if isinstance(value, dict):
        return dict, [(shape(key), shape(item)) for key, item in value.items()]
    if isinstance(value, set | frozenset):
        return type(value), sorted(repr(shape(item)) for item in value)
    return type(value), repr(value)


@given(VALUES)
def test_what_is_written_is_read(value: object) -> None:
    assert shape(_plain.decode(_plain.encode(value, "it"))) == shape(value)


SAFE = st.integers(-(2**53) + 1, 2**53 - 1)
FINITE = st.floats(allow_nan=False, allow_infinity=False)


@given(
    st.recursive(
        st.none() | st.booleans() | SAFE | FINITE | st.text(),
        lambda inner: (
            st.lists(inner) | st.dictionaries(st.text().filter(lambda key: key[:1] != "$"), inner)
        ),
        max_leaves=20,
    ),
    st.booleans(),
    st.sampled_from([None, 1]),
)
def test_json_is_read_as_json_reads_it(value: object, is_ascii: bool, indent: int | None) -> None:
    text = json.dumps(value, ensure_ascii=is_ascii, indent=indent)
    assert shape(_plain.decode(text)) == shape(json.loads(text)) == shape(value)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text() | st.sampled_from(["$type", "items"]),
        lambda inner: (
            st.lists(inner)
            | st.dictionaries(
                st.text() | st.sampled_from(["$type", "items", "value", "hex"]), inner
            )
            | st.fixed_dictionaries(
                {"$type": st.sampled_from(sorted(_plain._READERS)), "items": inner}
            )
            | st.fixed_dictionaries(
                {"$type": st.sampled_from(sorted(_plain._READERS)), "value": inner}
            )
        ),
        max_leaves=20,
    )
)
def test_whatever_json_it_is_there_is_one_error(form: object) -> None:
    try:
        value = _plain.decode(json.dumps(form))
    except _plain.MalformedError:
        return
    _plain.encode(value, "it")  # plain data, then


@given(st.text() | st.text('[]{}"\\,:0123456789.eE-+tfn$ypetruals'))
def test_whatever_text_it_is_there_is_one_error(text: str) -> None:
    try:
        _plain.decode(text)
    except _plain.MalformedError:
        pass


MALFORMED = {
    "nothing": "",
    "rest": "1 2",
    "a byte order mark": "\ufeff1",
    "a NUL and rest": "1\0",
    "a NUL": '"\0"',
    "half of a surrogate pair": '"\\ud800"',
    "half of a surrogate pair as it is": '"\ud800"',
    "a large negative number": str(-(2**53)),
    "past 64 bits": str(2**64),
    "NaN": "NaN",
    "infinity": "-Infinity",
    "a large float": "1e999",
    "a large number": str(2**53),
    "a long number": "9" * 5000,
    "a repeated key": '{"a": 1, "a": 2}',
    "a repeated type": '{"$type": "int", "$type": "bytes", "value": "1"}',
    "a type that there is not": '{"$type": "object", "value": "1"}',
    "a type that is none": '{"$type": ["int"], "value": "1"}',
    "no value": '{"$type": "int"}',
    "two values": '{"$type": "int", "value": "1", "hex": "0x1"}',
    "another key": '{"$type": "int", "items": []}',
    "$": '{"$other": 1}',
    "int: a number": '{"$type": "int", "value": 1}',
    "int: signs": '{"$type": "int", "value": "--1"}',
    "int: underscores": '{"$type": "int", "value": "1_0"}',
    "int: other digits": '{"$type": "int", "value": "\\u0661"}',
    "int: spaces": '{"$type": "int", "hex": " 0x1"}',
    "int: many digits": '{"$type": "int", "value": "%s"}' % ("1" * 4302),
    "float": '{"$type": "float", "value": "1.5"}',
    "float: a list": '{"$type": "float", "value": []}',
    "bytes": '{"$type": "bytes", "base64": "A"}',
    "bytes: other characters": '{"$type": "bytes", "base64": "AA\\n=="}',
    "str": '{"$type": "str", "utf8_surrogatepass_base64": "/w=="}',
    "set of lists": '{"$type": "set", "items": [[1]]}',
    "set: repeated": '{"$type": "set", "items": [1, 1]}',
    "set: no list": '{"$type": "set", "items": "ab"}',
    "dict: no pairs": '{"$type": "dict", "items": [[1]]}',
    "dict: text pairs": '{"$type": "dict", "items": ["ab"]}',
    "dict: repeated": '{"$type": "dict", "items": [[1, 2], [1, 3]]}',
    "dict: a list as key": '{"$type": "dict", "items": [[[], 3]]}',
    "deep": "[" * 5000 + "]" * 5000,
    "deep objects": '{"a":' * 5000 + "1" + "}" * 5000,
    "deep and open": "[" * 500_000,
    "deep after a text of brackets": '["' + "]" * 300 + '",' + "[" * 200 + "]" * 201,
}


@pytest.mark.parametrize("name", MALFORMED)
def test_malformed(name: str) -> None:
    with pytest.raises(_plain.MalformedError):
        _plain.decode(MALFORMED[name])


def test_brackets_in_texts_do_not_count() -> None:
    assert _plain.decode(json.dumps(["[" * 500, '\\"' + "{" * 500])) == [
        "[" * 500,
        '\\"' + "{" * 500,
    ]


def test_depth_does_not_lean_on_pythons_limit() -> None:
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(1_000_000)
    try:
        with pytest.raises(_plain.MalformedError):
            _plain.decode("[" * 400_000 + "]" * 400_000)
    finally:
        sys.setrecursionlimit(limit)


def test_time_is_in_proportion() -> None:
    hostile = {
        "hex": '{"$type": "int", "hex": "0x%s"}' % ("f" * 4_000_000),
        "decimals": "[{}]".format(
            ",".join(['{"$type": "int", "value": "%s"}' % ("9" * 4300)] * 200)
        ),
        "hashes": '{{"$type": "set", "items": [{}]}}'.format(
            ",".join(
                '{"$type": "int", "hex": "%#x"}' % (n * (2**61 - 1)) for n in range(1, 100_000)
            )
        ),
        "lists": "[" + "[]," * 1_000_000 + "[]]",
        "quotes": '"' + '\\"' * 2_000_000,
        "open": '["' * 300_000,
    }
    for name, text in hostile.items():
        start = time.process_time()
        try:
            _plain.decode(text)
        except _plain.MalformedError:
            pass
        assert time.process_time() - start < 8, name


def sharing_a_way() -> tuple[list[int], list[int]]:
    """Keys on the way that a dict of 2**17 places looks for a free one, and others that enter it.

    All hashes differ. Each of the others looks at tens of thousands of places.
    """
    mask = 2**17 - 1
    way, place = [], 1
    for _ in range(46_000):
        way.append(place)
        place = (5 * place + 1) & mask
    taken = set(way)
    others: list[int] = []
    for high in range(1, 64):
        for low in way[:23_000]:
            number = (high << 17) | low
            at, rest = low, number
            while rest and at in taken:
                rest >>= 5
                at = (5 * at + rest + 1) & mask
            if not rest and at in taken:
                others.append(number)
                if len(others) == 25_000:
                    return way, others
    raise AssertionError(len(others))


def test_keys_that_share_a_way_end_in_time() -> None:
    def cpu(step: Callable[[], object]) -> float:
        start = time.thread_time()
        step()
        return time.thread_time() - start

    way, others = sharing_a_way()
    honest = range(len(way) + 1000)
    # So the attack is one: the first thousand of the others alone take many times the rest's.
    assert cpu(lambda: dict.fromkeys(way + others[:1000])) > 10 * cpu(lambda: dict.fromkeys(honest))
    pairs = ",".join(f"[{key},null]" for key in way + others)
    text = f'{{"$type":"dict","items":[{pairs}]}}'
    assert len(text) < 1 << 20

    def hostile() -> None:
        with pytest.raises(_plain.MalformedError, match="items of chosen hashes"):
            _plain.decode(text)

    assert cpu(hostile) < 2.5


@pytest.mark.parametrize("kind", [dict.fromkeys, set, frozenset])
def test_many_honest_keys_are_read(kind: Callable[[Any], Any]) -> None:
    for items in (range(71_000), [(n, str(n)) for n in range(20_000)]):
        value = kind(items)
        again = _plain.decode(_plain.encode(value, "it"))
        assert again == value and type(again) is type(value)


def test_digits_of_ints_whatever_the_applications_limit() -> None:
    number = -(10**4299)
    text = f'{{"$type": "int", "value": "{number}"}}'
    limit = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(640)
    try:
        assert _plain.decode(text) == number
    finally:
        sys.set_int_max_str_digits(limit)


@pytest.fixture(params=["de_DE", "ps_AF"])
def locale_of_other_points(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> str:
    """LOCPATH of a locale with a comma, and of one with a decimal point of two bytes."""
    folder = tmp_path_factory.mktemp("locales")
    source = Path("/usr/share/i18n/locales", request.param)
    lacks(source.exists(), "source of this locale (Debian's package locales)")
    command = ["localedef", "-i", request.param, "-f", "UTF-8", str(folder / request.param)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return str(folder)


def test_the_locale_does_not_matter(
    script: Script, locale_of_other_points: str, request: pytest.FixtureRequest
) -> None:
    name = request.node.callspec.params["locale_of_other_points"]
    ran = script(
        f"""
import locale
from belljar import Sandbox
locale.setlocale(locale.LC_ALL, {name!r})
assert locale.localeconv()["decimal_point"] != "."
with Sandbox() as box:
    print(box.run("[0.1 + 0.2, 1.5e300, -2.5e-3, 5e-324]").value)
""",
        variables={"LOCPATH": locale_of_other_points},
    )
    assert ran.stdout == "[0.30000000000000004, 1.5e+300, -0.0025, 5e-324]\n", ran.stderr


def test_other_threads_get_on_meanwhile() -> None:
    text = "[" + "[1]," * 1_000_000 + "[1]]"
    turns, is_done = 0, threading.Event()

    def take_turns() -> None:
        nonlocal turns
        while not is_done.wait(0.001):
            turns += 1

    thread = threading.Thread(target=take_turns)
    thread.start()
    before = turns
    _plain.decode(text)
    during = turns - before
    is_done.set()
    thread.join()
    assert during > 3  # one before and one after may be counted


def test_a_value_that_cannot_be_read_is_cut(box: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    # What a worker would have written that was taken over.
    read = _plain.read_tagged
    monkeypatch.setattr(_plain, "read_tagged", lambda made: read({**made, "$type": "int"}))
    result = box.run("('shown',)")
    assert (result.value, result.has_value, result.value_repr) == (None, False, "('shown',)")
    assert result.truncated == ("value",)
    assert result.ok


def test_depth_of_what_is_written() -> None:
    deep: object = 1
    for _ in range(60):
        deep = [deep]
    _plain.encode(deep, "it")
    for _ in range(10):
        deep = [deep]
    with pytest.raises(ValueError, match="it nests more than 64 levels deep .* a tuple or set two"):
        _plain.encode(deep, "it")
    for levels, nested in ((1, lambda x: {"a": x}), (2, lambda x: (x,)), (3, lambda x: {1: x})):
        value: object = None
        for _ in range(64 // levels):
            value = nested(value)
        assert _plain.decode(_plain.encode(value, "it")) == value
        with pytest.raises(ValueError, match="it nests more than 64 levels"):
            _plain.encode(nested(value), "it")
    circle: list[object] = []
    circle.append(circle)
    with pytest.raises(ValueError, match="or contains itself"):
        _plain.encode(circle, "it")


def test_values_at_the_bound_go_in(box: Sandbox) -> None:
    deep: object = (1,)
    for _ in range(62):
        deep = [deep]
    assert box.run("1", inputs={"x": deep}).value == 1


class Sly(int):
    pass


@pytest.mark.parametrize(
    "value", [Sly(1), object(), 1j, bytearray(), range(3), {1: Sly(2)}], ids=named
)
def test_no_other_types(value: object) -> None:
    with pytest.raises(TypeError, match="only plain data is supported"):
        _plain.encode(value, "it")


def test_floats() -> None:
    assert math.isnan(_plain.decode(_plain.encode(math.nan, "it")))
    assert _plain.decode(_plain.encode([math.inf, -math.inf, -0.0], "it")) == [
        math.inf,
        -math.inf,
        0,
    ]


def letters(values: Collection[object]) -> list[list[str]]:
    """What each is written with, in an order of its own."""
    return sorted(sorted(repr(value)) for value in values)


def test_nans_are_as_many_as_they_were(box: Sandbox) -> None:
    """Each is unlike all others, itself included: in a set they are told apart by identity."""
    made = {
        "one": "{nan()}",
        "many": "{nan() for _ in range(2000)}",
        "frozen": "frozenset(nan() for _ in range(3))",
        "nested": "{frozenset([nan()]), frozenset([nan(), frozenset([nan()])])}",
        "in tuples": "{(nan(), 1), (nan(), 1)}",
        "keys": "{nan(): 1, nan(): 2}",
    }
    for what, source in made.items():
        result = box.run(f"def nan(): return float('nan')\n{source}")
        there = eval(source, {"nan": lambda: float("nan")})
        assert result.value is not None, what
        assert type(result.value) is type(there), what
        # A set's order hangs on the identity of its NaNs.
        assert letters(result.value) == letters(there), what
        # And back again, as a variable of the program's.
        again = box.run("x", inputs={"x": there}).value
        assert letters(again) == letters(there), what
