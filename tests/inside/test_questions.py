"""answer_question(): completions, what a name is, and the variables of a session."""

import gc
import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.clocks import within
from tests.machine import need_guards

POLICIES = pytest.mark.parametrize("policy", ["off", "on"])
ROOT = Path(__file__).resolve().parents[2]

# Whatever is asked of it runs code that says so.
HOSTILE = """
ran = []
def note(*args):
    ran.append(1)
    print("guest code ran")
    raise KeyError
class Meta(type):
    def __eq__(self, other): note()
    __hash__ = type.__hash__
    def __instancecheck__(self, other): note()
    def __getattr__(self, name): note()
    def __dir__(self): note()
    def __repr__(self): note()
class Hostile(metaclass=Meta):
    def __init__(self):
        self.known = 1
    __getattr__ = __getattribute__ = __dir__ = __repr__ = __str__ = __len__ = note
    __eq__ = __iter__ = __reduce__ = __reduce_ex__ = __getstate__ = note
    def __hash__(self): return hash("x")
    __class__ = property(note)
    __doc__ = property(note)
    size = property(note)
    def method(self, first, *, second=None): pass
class Items(dict):
    items = keys = values = __iter__ = __len__ = __getitem__ = __contains__ = note
class Text(str):
    __eq__ = __str__ = __repr__ = note
    def __hash__(self): return str.__hash__(self)
class NoDict:
    __dict__ = property(note)
h = Hostile()
d = Items({"one": 1})
t = Text("abc")
n = NoDict()
keyed = {h: 1, t: 2}
"""


@pytest.fixture
def session(stand_in, monkeypatch):
    """A session's cell() and ask(), in this process."""
    import belljar_runner

    execute = sys.modules["belljar_runner.execute"]
    interrupts = sys.modules["belljar_runner.interrupts"]
    handler = signal.getsignal(signal.SIGINT)
    monkeypatch.setattr(execute, "_session", execute._Session())
    monkeypatch.setattr(interrupts, "_state", interrupts._State())
    saved = sys.stdin, sys.argv, sys.modules["__main__"], sys.getrecursionlimit()
    belljar_runner.begin_session()

    def request(policy, more):
        return {
            "mode": "run",
            "policy": policy,
            "filename": "In[1]",
            "allowed_imports": None,
            "stdin": None,
            "max_source": 1 << 20,
            "max_result": 1 << 20,
            "max_report": 1 << 21,
            **more,
        }

    class Session:
        @staticmethod
        def cell(source, policy="off", **more):
            report = json.loads(belljar_runner.execute_cell(request(policy, more), source.encode()))
            assert report["status"] == "ok", report
            return report

        @staticmethod
        def ask(mode, source="", policy="off", **more):
            """`|` in the source is the cursor."""
            at = source.find("|")
            if at >= 0:
                source = source[:at] + source[at + 1 :]
                more["cursor"] = at
            raw = belljar_runner.prepare_questions()(
                request(policy, {"mode": mode, **more}),
                source.encode("utf-8", "surrogatepass"),
            )
            assert type(raw) is bytes
            Session.raw = raw
            return json.loads(raw.decode())

        @staticmethod
        def complete(source, policy="off", **more):
            answer = Session.ask("complete", source, policy, **more)
            assert answer["status"] == "ok", answer
            return [each["text"] for each in answer["completions"]]

        @staticmethod
        def inspect(source, policy="off", **more):
            answer = Session.ask("inspect", source, policy, **more)
            assert answer["status"] == "ok" and answer["found"] == bool(answer["text"])
            return answer["text"]

        @staticmethod
        def variables(**more):
            answer = Session.ask("variables", **more)
            assert answer["status"] == "ok", answer
            return {each["name"]: each for each in answer["variables"]}

        @staticmethod
        def digest(expression, **more):
            Session.cell(f"value = {expression}")
            return Session.variables()["value"]["digest"]

    yield Session
    sys.stdin, sys.argv, sys.modules["__main__"] = saved[:3]
    sys.setrecursionlimit(saved[3])
    signal.signal(signal.SIGINT, handler)
    gc.enable()


# --- completions ----------------------------------------------------------------------------------


@POLICIES
def test_names(session, policy):
    session.cell(
        "import math\nvalue_one = 1\ndef value_two(): pass\nclass value_three: pass", policy
    )
    answer = session.ask("complete", "x = value_|", policy)
    assert answer["completions"] == [
        {"text": "value_one", "start": 4, "end": 10, "type": "instance"},
        {"text": "value_three", "start": 4, "end": 10, "type": "class"},
        {"text": "value_two", "start": 4, "end": 10, "type": "function"},
    ]
    assert answer["truncated"] == {"completions": False, "source": False}
    assert session.complete("whi|", policy) == ["while"]
    assert "print" in session.complete("pri|", policy)
    assert session.complete("value_one + valu|e", policy)[0] == "value_one"
    assert {"math", "value_one", "len"} <= {
        *session.complete("", policy),
        *session.complete("le|", policy),
    }


def test_offsets_are_code_points(session):
    session.cell("größe = 1")
    answer = session.ask("complete", "'😀'\r\ngrö|")
    assert answer["completions"] == [{"text": "größe", "start": 5, "end": 8, "type": "instance"}]


def test_before_the_first_cell(session):
    assert "print" in session.complete("pri|")
    assert session.complete("nothing_like_this|") == []
    assert session.variables() == {}
    assert "Signature: len(obj, /)" in session.inspect("len|")


def test_attributes(session):
    session.cell(
        "import os.path\n"
        "class A:\n"
        "    __slots__ = ('slot_a', 'slot_b')\n"
        "class B(A):\n"
        "    common = 'text'\n"
        "    def method(self): pass\n"
        "    @property\n"
        "    def computed(self): raise SystemError\n"
        "b = B()\nb.slot_a = b.own = 'x'\nb._private = 1"
    )
    assert session.complete("b.|") == ["common", "computed", "method", "own", "slot_a", "slot_b"]
    assert session.complete("b._p|") == ["_private"]
    kinds = {c["text"]: c["type"] for c in session.ask("complete", "b.|")["completions"]}
    assert kinds["method"] == "function" and kinds["computed"] == "property"
    assert "upper" in session.complete("b.own.up|")
    assert "upper" in session.complete("b.slot_a.|")
    assert "upper" in session.complete("(b.common.|)")
    assert session.complete("b.computed.|") == [], "only its code could tell"
    assert session.complete("b.slot_b.|") == []
    assert session.complete("b.missing.x|") == []
    assert session.complete("B.com|") == ["common", "computed"]
    assert session.complete("os.path.joi|") == ["join"]
    assert session.complete("f().|") == [] and session.complete("1.|") == []
    assert "join" in session.complete("', '.jo|")


def test_imports(session):
    # Beside it, other modules of this environment may begin so.
    assert "json" in session.complete("import jso|")
    assert "json" in session.complete("import os, jso|")
    assert "path" in session.complete("import os.|")
    assert "json" in session.complete("from jso|")
    assert session.complete("from json imp|") == ["import"]
    assert session.complete("from json |") == ["import"]
    assert {"dump", "dumps"} <= set(session.complete("from json import load, du|"))
    assert "decoder" in session.complete("x = 1; from json import |")
    assert session.complete("from no_such_module import |") == []
    assert "no_such_module" not in sys.modules


def test_keys(session):
    session.cell("class A: d = {'one': 1, 'other': 2, 3: 4, 'a\"b': 5, '_u': 6}\nd = A.d")
    answer = session.ask("complete", 'd["o|"]')
    assert [c["text"] for c in answer["completions"]] == ["one", "other"]
    assert answer["completions"][0]["start"] == 3 and answer["completions"][0]["end"] == 4
    assert session.complete('A.d["|') == ["_u", "one", "other"]
    assert session.complete("d['|") == ["_u", 'a"b', "one", "other"]
    assert session.complete("print('|") == []


def test_nothing_in_strings_and_comments(session):
    session.cell("value = 1")
    assert session.complete("'val|'") == []
    assert session.complete("x = 1  # val|") == []
    assert session.complete("'''\nval|") == []
    assert session.complete("'''\n'''; val|") == ["value"]
    assert session.complete("'it is # no comment'; val|") == ["value"]


def test_many(session):
    session.cell("globals().update({f'name_{i:05}': i for i in range(5000)})")
    answer = session.ask("complete", "name_|")
    assert len(answer["completions"]) == 200 and answer["truncated"]["completions"]
    assert answer["completions"][0]["text"] == "name_00000"
    session.cell("globals()['long_' + 'x' * 300] = 1\nglobals()['long \\ud800'] = 2")
    assert session.complete("long|") == []
    answer = session.ask("complete", "name_|", max_report=1000)
    assert len(session.raw) <= 1000 and answer["completions"] and answer["truncated"]["completions"]


def test_hostile_sources(session):
    session.cell("value = 1")
    assert session.complete("\ud800; val|") == ["value"]
    for source in (
        "(" * 500_000 + "|",
        "'" * 333_333 + "|",
        "\\" * 500_000 + "|",
        "x." * 250_000 + "|",
        "import " + "a," * 250_000 + "|",
        "#" * 500_000 + "|",
        "\n" * 500_000 + "val|",
    ):
        begun = time.monotonic()  # clock: below
        session.complete(source)
        session.ask("inspect", source)
        assert time.monotonic() - begun < within(2)
    answer = session.ask("complete", "val|" + " " * 2000, max_source=1000)
    assert answer["completions"] == [] and answer["truncated"]["source"]
    for cursor in (-1, 1 << 70, None, "4", True):
        assert session.ask("complete", "val", cursor=cursor)["status"] == "ok"


@POLICIES
def test_of_hostile_objects_no_code_runs(session, policy, capsys):
    source = HOSTILE
    if policy == "off":
        source += "globals()[t] = globals()[h] = 1\n"
    session.cell(source, policy)
    session.cell("ran.clear()", policy)
    capsys.readouterr()
    begun = time.monotonic()  # clock: below
    for name in ("h", "d", "t", "n", "Hostile", "Items", "Meta", "keyed"):
        for mode in ("complete", "inspect"):
            for text in (
                f"{name}.|",
                f"{name}|",
                f"{name}.known.|",
                f"{name}.method.|",
                f"{name}.size|",
                f'{name}["|',
                f"{name}.method(|",
            ):
                assert session.ask(mode, text, policy)["status"] == "ok"
    if policy == "off":
        assert {"known", "method", "size"} <= set(session.complete("h.|"))
        assert session.complete('d["|') == ["one"]
    assert session.ask("variables", "", policy)["status"] == "ok"
    found = session.variables()
    assert found["h"]["type"] == "Hostile" and found["h"]["repr"] == "<Hostile known=1>"
    assert found["d"]["shape"] == [1] and found["d"]["type"] == "Items"
    assert capsys.readouterr() == ("", "")
    assert session.cell("len(ran)", policy)["result"] == 0
    assert time.monotonic() - begun < within(5)


# --- what a name is -------------------------------------------------------------------------------


def test_signature_and_docstring(session):
    session.cell(
        "import functools\n"
        "def f(a, /, b: int, c: 'text' = 'x', *rest, d=[1], e, **more) -> float:\n"
        "    '''First line.\n\n        Second.\n    '''\n"
        "class A:\n    'A class.'\n    def __init__(self, x, y=2): pass\n"
        "    def m(self, *, k): 'M.'\n"
        "    @property\n    def p(self): 'The property.'\n"
        "    @classmethod\n    def c(cls, z): pass\n    @staticmethod\n    def s(q): pass\n"
        "@functools.wraps(f)\ndef g(*args): pass\n"
        "a = A(1)\na.x = 5\nbound = a.m"
    )
    text = session.inspect("f|")
    assert text.split("\n")[0] == (
        "Signature: f(a, /, b: int, c: text='x', *rest, d=[1], e, **more) -> float"
    )
    assert text.endswith("Docstring:\nFirst line.\n\nSecond.")
    assert session.inspect("g|").split("\n")[0] == text.split("\n")[0].replace("f(", "g(")
    assert "Signature: A(x, y=2)" in session.inspect("A|") and "A class." in session.inspect("A|")
    assert "Signature: m(*, k)" in session.inspect("a.m|")
    assert "Signature: bound(*, k)" in session.inspect("bound|")
    assert "Signature: m(self, *, k)" in session.inspect("A.m|")
    assert "Signature: c(z)" in session.inspect("a.c|") and "c(z)" in session.inspect("A.c|")
    assert "Signature: s(q)" in session.inspect("a.s|")
    assert session.inspect("a.p|") == "Type: property\nDocstring:\nThe property."
    assert (
        session.inspect("a.x|")
        == "Type: int\nValue: 5\nDocstring:\n"
        + session.inspect("int|").partition("Docstring:\n")[2]
    )
    assert "Signature: f(" in session.inspect("f(1, [2, |") and "f(" in session.inspect("f('|")
    assert "Signature: f(" in session.inspect("print(f(a.x, unknown|")
    assert "Signature: sorted(iterable, /, *, key=None, reverse=False)" in session.inspect(
        "sor|ted"
    )
    assert "Signature: upper()" in session.inspect("str.upper|")
    assert session.inspect("unknown|") == "" == session.inspect("|")


def test_defaults_are_quiet_and_bounded(session, capsys):
    session.cell(
        HOSTILE + "def f(a=h, b='x' * 10**6, c=[[]] * 10**5): pass\nf.__doc__ = 'd' * 10**6"
    )
    capsys.readouterr()
    text = session.inspect("f(|")
    assert "a=<Hostile known=1>" in text and len(text) < 20_000
    assert capsys.readouterr().out == ""
    answer = session.ask("inspect", "f|", max_report=500)
    assert len(session.raw) <= 500 and answer["found"] and answer["truncated"]["text"]


# --- variables ------------------------------------------------------------------------------------


@POLICIES
def test_variables(session, policy):
    session.cell(
        "import math\nx = 1\n_hidden = 2\ntext = 'abc'\nvalues = [1, 2]\ntable = {'a': {1}}\n"
        "def f(a): return a + 1\nclass A: pass\na = A()\na.b = 3\nnothing = None",
        policy,
        inputs={"given": 5},
    )
    session.cell("7", policy)
    found = session.variables(policy=policy)
    assert list(found) == [
        "math", "x", "text", "values", "table", "f", "A", "a", "nothing"
    ]  # fmt: skip
    shown = {name: (v["type"], v["shape"], v["repr"]) for name, v in found.items()}
    assert shown == {
        "math": ("module", None, "<module 'math'>"),
        "x": ("int", None, "1"),
        "text": ("str", [3], "'abc'"),
        "values": ("list", [2], "[1, 2]"),
        "table": ("dict", [1], "{'a': {1}}"),
        "f": ("function", None, "<function f>"),
        "A": ("type", None, "<class 'A'>"),
        "a": ("A", None, "<A b=3>"),
        "nothing": ("NoneType", None, "None"),
    }
    digests = [each["digest"] for each in found.values()]
    assert all(type(each) is str and int(each, 16) for each in digests)
    assert len(set(digests)) == len(digests)


DIFFERENT = """
1 True 1.0 '1' b'1' bytearray(b'1') None ... [1] (1,) {1} frozenset({1}) {1:1} [[1]] [1,[]] [[1],[]]
0.0 -0.0 float('nan') 1j 2**70 -1 255 -255 '' 'a' '\\ud800' 'ü' [] () set() {} [()] {'a':1,'b':2}
{'b':2,'a':1} range(3) range(4) len print int str ['ab','c'] ['a','bc'] [['a'],'b'] [['a','b']]
""".split()


def test_digests_tell_values_apart(session):
    digests = [session.digest(each) for each in DIFFERENT]
    assert None not in digests
    assert len(set(digests)) == len(digests)
    assert digests == [session.digest(each) for each in DIFFERENT]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("[[1], [1]]", "[[1]] * 2"),
        ("{3, 1, 2, 'x', 'y'}", "{'y', 'x', 2, 3, 1}"),
        ("(lambda x: x + 1)", "(\n\n  lambda x: x + 1)"),
        ("'a' + 'b'", "'ab'"),
        ("__import__('collections').Counter('aab')", "__import__('collections').Counter('aba')"),
        ("__import__('decimal').Decimal('1.50')", "__import__('decimal').Decimal('1.50')"),
        (
            "__import__('datetime').datetime(2020, 1, 2)",
            "__import__('datetime').datetime(2020, 1, 2)",
        ),
    ],
)
def test_equal_digests(session, one, other):
    digest = session.digest(one)
    assert digest is not None and digest == session.digest(other)


def test_digests_of_code(session):
    def digest(source, name="A"):
        session.cell(source)
        return session.variables()[name]["digest"]

    one = "class A:\n    k = 1\n    def f(self): return super().f\n"
    one += "    @property\n    def p(self): return 1"
    assert digest(one) is not None
    assert digest(one) == digest("\n\n" + one), "where it stands is not compared"
    assert digest(one) != digest(one.replace("return 1", "return 2"))
    assert digest(one) != digest(one.replace("k = 1", "k = 2"))
    assert digest("def f(a=1): return a", "f") != digest("def f(a=2): return a", "f")
    counter = "def make(n):\n    def step():\n        return n, step\n    return step\ns = make({})"
    assert digest(counter.format(1), "s") == digest(counter.format(1), "s") is not None
    assert digest(counter.format(1), "s") != digest(counter.format(2), "s")
    # Whatever else is looked at before.
    session.cell("g = A.f\nB = A\ndel A\nA = B\ndel B")
    before = digest("pass")
    session.cell("B = A\ndel A\ng = B.f\nA = B\ndel B")
    assert list(session.variables()).index("g") < list(session.variables()).index("A")
    assert digest("pass") == before


def test_objects_have_the_digests_of_their_parts(session):
    session.cell(
        "from dataclasses import dataclass\n@dataclass\nclass P:\n    x: int\n"
        "    y: object = None\n"
        "class S:\n    __slots__ = ('a',)\nclass L(list): pass\nclass E(Exception): pass"
    )
    assert session.digest("P(1)") == session.digest("P(1)") is not None
    assert session.digest("P(1)") != session.digest("P(2)")
    session.cell("value = S()\nvalue.a = [1]")
    one = session.variables()["value"]["digest"]
    session.cell("value.a.append(2)")
    assert one is not None and session.variables()["value"]["digest"] not in (None, one)
    for unknown in ("L()", "E()", "(i for i in [])", "open('/dev/null')", "object()", "iter([])"):
        if unknown == "object()":
            continue
        assert session.digest(unknown) is None, unknown
    assert session.digest("[1, L()]") is None


def test_cycles_and_depth(session):
    assert session.digest("[1]\nvalue.append(value)") is not None
    assert session.digest("[1]\nvalue.append(value)") != session.digest("[2]\nvalue.append(value)")
    assert session.digest("{}\nvalue['a'] = [value, {1: value}]") is not None
    session.cell("deep = []\nfor _ in range(100_000): deep = [deep]")
    session.cell("deep_dict = {}\nfor _ in range(5_000): deep_dict = {1: deep_dict}")
    session.cell("class Node:\n    def __init__(self, n): self.next = n\nnodes = None")
    session.cell("for _ in range(100_000): nodes = Node(nodes)")
    session.cell("wide = [1]\nfor _ in range(60): wide = [wide, wide]")
    begun = time.monotonic()  # clock: below
    found = session.variables()
    assert found["deep"]["digest"] is None and found["deep"]["shape"] == [1]
    assert found["deep_dict"]["digest"] is not None
    assert found["nodes"]["digest"] is None and found["nodes"]["repr"].startswith(
        "<Node next=<Node"
    )
    assert found["wide"]["digest"] is not None
    assert all(len(each["repr"]) <= 200 for each in found.values())
    assert time.monotonic() - begun < within(3)
    session.cell("while deep: deep = deep[0]\nwhile nodes: nodes = nodes.next")


def test_large_values(session):
    session.cell(
        "numbers = [0] * 10**7\ntext = 'x' * (65 << 20)\nother = 'y' * (40 << 20)\n"
        "more = 'z' * (40 << 20)\nlast = 1\nhuge = 1 << 10**7"
    )
    begun = time.monotonic()  # clock: below
    found = session.variables()
    unknown = {name for name in found if found[name]["digest"] is None}
    assert unknown == {"numbers", "text", "more"}
    assert found["numbers"]["shape"] == [10**7] and found["text"]["shape"] == [65 << 20]
    assert all(len(each["repr"]) <= 200 for each in found.values())
    assert time.monotonic() - begun < within(3)


def test_nodes_are_bounded_in_all(session, monkeypatch):
    monkeypatch.setattr(sys.modules["belljar_runner.digests"], "MAX_NODES", 1000)
    session.cell("a = list(range(900))\nb = list(range(900, 1800))\nc = 1")
    found = session.variables()
    assert [found[name]["digest"] is None for name in "abc"] == [False, True, False]


def test_many_variables(session):
    session.cell("globals().update({f'v{i}': 'x' * 500 for i in range(1500)})")
    answer = session.ask("variables")
    assert len(answer["variables"]) == 1000 and answer["truncated"]["variables"]
    answer = session.ask("variables", max_report=10_000)
    assert len(session.raw) <= 10_000 and len(answer["variables"]) > 50
    session.cell("globals().clear()\nglobals()['\\ud800'] = '\\ud800'")
    answer = session.ask("variables")
    assert answer["variables"][0]["name"] == "\\ud800"


def test_the_last_resort(session, monkeypatch):
    questions = sys.modules["belljar_runner.questions"]

    def no_memory(*_):
        raise MemoryError

    monkeypatch.setitem(questions._ANSWERS, "complete", no_memory)
    assert session.ask("complete", "x|")["status"] == "memory_limit"
    assert session.ask("no such mode")["status"] == "exception"
    monkeypatch.delattr(questions, "_to_bytes")
    assert session.ask("variables")["error"]["type"] == "RuntimeError"


# --- packages -------------------------------------------------------------------------------------


@pytest.fixture
def packages(session):
    numpy = pytest.importorskip("numpy")
    pandas = pytest.importorskip("pandas")
    for name in ("attributes", "digests", "quiet_repr", "variables"):
        sys.modules[f"belljar_runner.{name}"].know_packages()
    session.cell("import numpy as np, pandas as pd")
    return numpy, pandas


def test_arrays(session, packages):
    assert session.digest("np.arange(6)") == session.digest("np.arange(6)") is not None
    values = ("np.arange(6)", "np.arange(6.0)", "np.arange(6).reshape(2, 3)", "np.arange(7)",
              "np.array(['a'])", "np.array([1, 'a'], object)", "np.array([1, 'b'], object)",
              "np.float64(1)", "np.int64(1)", "np.array(1)", "np.zeros(0)",
              "np.zeros((0, 3))")  # fmt: skip
    digests = [session.digest(each) for each in values]
    assert None not in digests and len(set(digests)) == len(digests)
    session.cell("big = np.zeros((1000, 1000))\nlarge = np.zeros((9000, 1000), order='F')")
    found = session.variables()
    assert found["big"]["shape"] == [1000, 1000] and found["big"]["type"] == "ndarray"
    assert found["big"]["digest"] is not None and found["large"]["digest"] is None
    before = found["big"]["digest"]
    session.cell("big = np.asfortranarray(big)")
    assert session.variables()["big"]["digest"] == before
    session.cell("big[999, 999] = 1")
    assert session.variables()["big"]["digest"] != before
    assert session.variables()["big"]["repr"].startswith("array([[0., 0., 0., ")


def test_tables(session, packages, capsys):
    frame = "pd.DataFrame({'a': [1, 2], 'b': ['x', %r]})"
    one = session.digest(frame % "y")
    assert one is not None and one == session.digest(frame % "y") != session.digest(frame % "z")
    found = session.variables()["value"]
    assert found["shape"] == [2, 2] and found["type"] == "DataFrame"
    assert found["repr"] == "<DataFrame of 2 x 2>"
    assert session.complete('value["|') == ["a", "b"]
    assert "b" in session.complete("value.b|") and "head" in session.complete("value.he|")
    assert "Signature: head(n: int=5)" in session.inspect("value.head|")
    values = (
        "pd.Series([1, 2])", "pd.Series([1, 2], name='n')", "pd.Series([1, 2], index=[3, 4])",
        "pd.Series([1.0, 2])", "pd.Index([1, 2])", "pd.Timestamp('2020-01-01')", "pd.NaT", "pd.NA",
        "pd.date_range('2020-01-01', periods=3)", "pd.Series(['a', None], dtype='category')",
        "pd.Series([1, None], dtype='Int64')", "pd.MultiIndex.from_product([[1], [2]])",
        "pd.date_range('2020-01-01', periods=3, tz='UTC')",
    )  # fmt: skip
    digests = [session.digest(each) for each in values]
    unknown = [value for value, digest in zip(values, digests, strict=True) if digest is None]
    assert unknown == [] and len(set(digests)) == len(digests)
    session.cell(HOSTILE + "value = pd.DataFrame({'a': pd.Series([h], dtype=object)})\nran.clear()")
    capsys.readouterr()
    session.variables()
    assert session.cell("len(ran)")["result"] == 0


# --- the real policy ------------------------------------------------------------------------------

WITH_POLICY = """
import json, sys, tomllib, pathlib
root, guards = sys.argv[1:3]
sys.path[:0] = [root + "/tests/inside", root + "/policy", guards, root]
from tools.profile_document import read_profile
profile = read_profile(pathlib.Path(root + "/profiles/basic.toml"))
import importlib.util
spec = importlib.util.spec_from_file_location(
    "belljar_runner", root + "/engine/inside/runner/__init__.py",
    submodule_search_locations=[root + "/engine/inside/runner"])
runner = sys.modules["belljar_runner"] = importlib.util.module_from_spec(spec)
spec.loader.exec_module(runner)
runner.prepare(profile, {})
answer_question = runner.prepare_questions()
runner.begin_session()
base = {"mode": "run", "policy": "on", "allowed_imports": None, "stdin": None,
        "max_source": 1 << 20, "max_result": 1 << 20, "max_report": 1 << 20}
answers = []
for number, (mode, source, more) in enumerate(json.load(sys.stdin)):
    request = {**base, "mode": mode, "filename": f"In[{number}]", **more}
    call = runner.execute_cell if mode == "run" else answer_question
    answers.append(json.loads(call(request, source.encode())))
sys.__stdout__.write(json.dumps(answers))
"""


@pytest.fixture(scope="module")
def with_policy():
    folder = need_guards()

    def ask(*questions):
        ran = subprocess.run(
            [sys.executable, "-c", WITH_POLICY, ROOT, folder],
            input=json.dumps([(*each, {})[:3] for each in questions]),
            capture_output=True,
            text=True,
            timeout=100,
        )
        assert ran.returncode == 0, ran.stderr
        return json.loads(ran.stdout)

    return ask


def texts(answer):
    assert answer["status"] == "ok", answer
    return [each["text"] for each in answer["completions"]]


def test_what_the_policy_lets_a_program_spell(with_policy):
    program = """
import json, math, xml
from collections import namedtuple
class A:
    shared = 1
    def __init__(self): self._own = 1
    def f(self): return 1
a, pair = A(), namedtuple("pair", "x y")(1, 2)
def g(x: int = 2): return x
error = ValueError(1)
"""
    first, *rest = with_policy(
        ("run", program),
        ("complete", "json."),
        ("complete", "json._"),
        ("complete", "json.__"),
        ("complete", "a._"),
        ("complete", "a.__cl"),
        ("complete", "g.__"),
        ("complete", "pair._"),
        ("complete", "math.fl"),
        ("complete", "import js"),
        ("complete", "import os, subp"),
        ("complete", "from json import "),
        ("complete", "import js", {"allowed_imports": ["math"]}),
        ("complete", "__"),
        ("complete", "op"),
        ("complete", "json.dumps.__g"),
        ("complete", "error.__tr"),
        ("inspect", "json.dumps"),
        ("inspect", "a.f("),
        ("inspect", "g"),
        ("inspect", "json"),
        ("variables", ""),
        ("complete", "xml.dom.minidom."),
    )
    assert first["status"] == "ok", first
    answers = iter(rest)
    assert {"dumps", "loads"} <= set(texts(next(answers)))
    assert texts(next(answers)) == ["__doc__", "__name__"]
    assert texts(next(answers)) == ["__doc__", "__name__"]
    assert "_own" in texts(next(answers))
    assert texts(next(answers)) == ["__class__"]
    assert not {"__globals__", "__code__", "__closure__"} & set(texts(next(answers)))
    assert "_asdict" in texts(next(answers))
    assert texts(next(answers)) == ["floor"]
    assert texts(next(answers)) == ["json"]
    assert "subprocess_" not in texts(next(answers))
    imported = texts(next(answers))
    assert "dumps" in imported and "load" in imported and "codecs" not in imported
    assert texts(next(answers)) == []
    assert not {"__builtins__", "__import__", "__loader__"} & set(texts(next(answers)))
    opened = texts(next(answers))
    assert "open" not in opened
    assert "__globals__" not in texts(next(answers))
    assert "__traceback__" not in texts(next(answers))
    dumps = next(answers)["text"]
    assert "Signature: dumps(" in dumps and "Serialize" in dumps
    assert "Signature: f()" in next(answers)["text"]
    assert "Signature: g(x: int=2)" in next(answers)["text"]
    assert "Type: module" in next(answers)["text"]
    found = {each["name"]: each for each in next(answers)["variables"]}
    assert found["json"]["type"] == "module" and found["a"]["repr"] == "<A>"
    assert found["json"]["digest"] and found["a"]["digest"] and found["g"]["digest"]
    assert next(answers)["status"] == "ok"


def test_before_the_first_cell_under_the_policy(with_policy):
    names, broken, run, after = with_policy(
        ("complete", "pri"),
        ("run", "x = 1\nraise MemoryError"),
        ("run", "open"),
        ("run", "import math\nclass A: x = 1\nA.x + math.floor(2.5)"),
    )
    assert texts(names) == ["print"]
    assert broken["status"] == "memory_limit"
    assert run["status"] != "ok", run
    assert after["result"] == 3, after
