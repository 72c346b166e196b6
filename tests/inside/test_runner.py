"""execute(): what a report says of every kind of program."""

import gc
import json
import linecache
import os
import random
import re
import subprocess
import sys
import textwrap

import pytest

POLICIES = pytest.mark.parametrize("policy", ["off", "on"])


def place(fields):
    return tuple(fields[key] for key in ("line", "column", "end_line", "end_column"))


# --- results ------------------------------------------------------------------------------------


@POLICIES
def test_whole_report(run, policy):
    assert run("1 + 1", policy) == {
        "status": "ok",
        "exit_code": None,
        "has_result": True,
        "result": 2,
        "result_repr": "2",
        "variables": [],
        "error": None,
        "findings": [],
        "analysis": None,
        "truncated": {
            "result": False,
            "result_repr": False,
            "traceback": False,
            "findings": False,
            "variables": False,
            "message": False,
            "imports": False,
        },
    }


@POLICIES
@pytest.mark.parametrize(
    ("source", "has_result", "result", "result_repr"),
    [
        ("", False, None, None),
        ("# nothing\n\n", False, None, None),
        ("\n\n   \n", False, None, None),
        ("\ufeff", False, None, None),
        ("x = 5", False, None, None),
        ("print('hello')", False, None, None),
        ("None", False, None, None),
        ("x = 5\nx # the value", True, 5, "5"),
        ("x = 5;x;", True, 5, "5"),
        ("(1,\n 'two')\n\n# end\n", True, [1, "two"], "(1, 'two')"),
        ("if True:\n    5", False, None, None),
        ("result = {'a': {1}}", True, {"a": {"$type": "set", "items": [1]}}, "{'a': {1}}"),
        ("result = 1\n2", True, 2, "2"),
        ("result = 1\nNone", True, 1, "1"),
        ("result = None", True, None, "None"),
        ("object", True, None, "<class 'object'>"),
        ("[1, object]", True, None, "[1, <class 'object'>]"),
        ("'a\\udc80'", True, {"$type": "str", "utf8_surrogatepass_base64": "Ye2ygA=="}, None),
        ("2 ** 80000", True, None, None),
    ],
)
def test_result(run, policy, source, has_result, result, result_repr):
    report = run(source, policy)
    assert report["status"] == "ok"
    assert report["has_result"] is has_result
    if source == "2 ** 80000":
        assert report["result"] == {"$type": "int", "hex": hex(2**80000)}
        assert report["truncated"]["result_repr"] is True
        return
    assert report["result"] == result
    if result_repr is None and has_result:
        assert report["result_repr"] == "'a\\udc80'"
    else:
        assert report["result_repr"] == result_repr


def test_result_too_large(run):
    report = run("'x' * 1000", max_result=100)
    assert (report["has_result"], report["result"]) == (True, None)
    assert report["result_repr"] == repr("x" * 1000)
    assert report["truncated"]["result"] is True


def test_repr_of_the_guest(run):
    report = run("class Foo:\n    def __repr__(self): 1 / 0\nFoo()")
    assert report["result_repr"] == "<unrepresentable Foo object: ZeroDivisionError>"
    report = run("class Foo:\n    def __repr__(self): return '\\udc80' * 20_000\nFoo()")
    assert report["result_repr"].startswith("\\udc80\\udc80")
    assert report["truncated"]["result_repr"] is True


@POLICIES
def test_variables(run, policy):
    source = """\
        import math
        from math import pi
        b = 1
        _hidden = 2
        def a(): pass
        class C: pass
        for i in range(3): pass
        del i
        b = 3
        b
    """
    report = run(textwrap.dedent(source), policy)
    assert report["variables"] == ["pi", "b", "a", "C"]


def test_modules_of_the_policy_are_no_variables(stand_in, run, monkeypatch):
    class Proxy:
        pass

    prepared = sys.modules["belljar_runner.execute"]._prepared
    monkeypatch.setattr(prepared, "module_types", (*prepared.module_types, Proxy))
    monkeypatch.setattr(stand_in, "guest_globals", lambda name: {"__name__": name, "make": Proxy})
    assert run("m = make()\nx = 1\n", "on")["variables"] == ["x"]


def test_odd_variables(run):
    report = run("g = globals()\ng[1] = 2\ng['@x'] = 3\ng['a b\\udc80'] = 4\n")
    assert report["variables"] == ["g", "a b\\udc80"]
    report = run("for i in range(1000): globals()[f'v{i}'] = i\n")
    assert len(report["variables"]) == 200


def test_main_module_is_real(run):
    source = """\
        import dataclasses, pickle, sys, typing
        @dataclasses.dataclass
        class Point:
            x: "int"
            y: "typing.ClassVar[int]" = 0
        assert sys.modules["__main__"].Point is Point
        assert pickle.loads(pickle.dumps(Point(3))) == Point(3)
        assert __name__ == "__main__" and __file__ == "main.py" and sys.argv == ["main.py"]
        [f.name for f in dataclasses.fields(Point)]
    """
    report = run(textwrap.dedent(source))
    assert report["error"] is None
    assert report["result"] == ["x"]


# --- exits --------------------------------------------------------------------------------------


@POLICIES
@pytest.mark.parametrize(
    ("call", "status", "exit_code", "message", "stderr"),
    [
        ("sys.exit()", "ok", 0, None, ""),
        ("sys.exit(0)", "ok", 0, None, ""),
        ("sys.exit(False)", "ok", 0, None, ""),
        ("sys.exit(3)", "exception", 3, "3", ""),
        ("sys.exit(-1)", "exception", -1, "-1", ""),
        ("sys.exit(True)", "exception", 1, "True", ""),
        ("sys.exit(10**30)", "exception", 255, str(10**30), ""),
        ("sys.exit('bad end')", "exception", 1, "bad end", "bad end\n"),
        ("sys.exit((1, 2))", "exception", 1, "(1, 2)", "(1, 2)\n"),
        ("raise SystemExit", "ok", 0, None, ""),
    ],
)
def test_exit(run, policy, call, status, exit_code, message, stderr):
    report = run(f"import sys\nresult = 7\nx = 1\n{call}\nx = 2\n", policy)
    assert (report["status"], report["exit_code"]) == (status, exit_code)
    assert (report["result"], report["variables"]) == (7, ["result", "x"])
    assert report.stderr == stderr
    if message is None:
        assert report["error"] is None
    else:
        assert report["error"]["type"] == "SystemExit"
        assert report["error"]["message"] == message
        assert report["error"]["traceback"] is None
        assert report["error"]["line"] == 4


def test_exit_with_a_hostile_argument(run):
    source = "class E:\n    __class__ = __str__ = property(lambda s: 1 / 0)\nraise SystemExit(E())"
    report = run(source)
    assert (report["status"], report["exit_code"]) == ("exception", 1)


def test_exit_and_quit_without_the_policy(run):
    assert run("exit(4)")["exit_code"] == 4
    assert run("quit()")["exit_code"] == 0


def test_exception_keeps_variables(run):
    report = run("a = 1\n1 / 0\nb = 2\n")
    assert report["variables"] == ["a"]
    assert (report["has_result"], report["exit_code"]) == (False, None)


# --- exceptions of every kind -------------------------------------------------------------------


@POLICIES
@pytest.mark.parametrize(
    "kind", ["KeyboardInterrupt", "GeneratorExit", "StopIteration", "BaseException", "TimeoutError"]
)
def test_nothing_escapes(run, policy, kind):
    report = run(f"raise {kind}('k')", policy)
    assert report["status"] == "exception"
    assert (report["error"]["type"], report["error"]["message"]) == (kind, "k")


@POLICIES
def test_memory_error(run, policy):
    report = run("kept = 'x' * 1000\ndef f():\n    return [0] * 10**18\nf()\n", policy)
    assert report["status"] == "memory_limit"
    assert report["error"]["type"] == "MemoryError"
    assert report["error"]["line"] == 3
    assert "in f" in report["error"]["traceback"]
    assert "higher memory limit" in report["error"]["hint"]
    assert report["variables"] == []


def test_memory_error_frees_quietly(run):
    source = """\
        async def never(): pass
        kept = never()
        def f():
            inside = never()
            raise MemoryError("all gone")
        f()
    """
    report = run(textwrap.dedent(source))
    assert report["status"] == "memory_limit"
    assert report.stderr == ""


def test_no_memory_for_the_report(run, monkeypatch):
    def fail(*_):
        raise MemoryError

    monkeypatch.setattr(sys.modules["belljar_runner.execute"], "describe", fail)
    report = run("raise MemoryError")
    assert (report["status"], report["error"]["type"]) == ("memory_limit", "MemoryError")


# --- hints --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("source", "changes", "hint"),
    [
        ("input()", {}, "pass the program's input as stdin"),
        ("input()", {"stdin": b""}, "the standard input that was given has no more lines"),
        ("open('f')", {}, "files are not available here; pass data as standard input"),
        ("import numpyx", {}, "'numpyx' is not installed here"),
        ("raise ModuleNotFoundError('m', name='winreg')", {}, "is not available here"),
        (
            "raise ImportError('Unable to find a usable engine; tried using: pyarrow')",
            {},
            "use to_csv() and read_csv()",
        ),
        (
            "raise ImportError('_curses.so: failed to map segment from shared object')",
            {},
            "a sealed program cannot load C code from files",
        ),
        ("raise ModuleNotFoundError('m', name='numpy.linalg')", {}, "profile 'data-science'"),
        ("def f(): f()\nf()", {}, "calls are nested"),
        ("raise PermissionError(1, 'no')", {}, "the sandbox refuses this"),
        ("1 / 0", {}, None),
        ("qqq", {}, None),
        ("class E(NameError): name = property(lambda s: 1 / 0)\nraise E", {}, None),
    ],
)
def test_hint(run, source, changes, hint):
    found = run(source, "on", **changes)["error"]["hint"]
    assert found is None if hint is None else hint in found


def test_withheld_names_are_there_without_the_policy(run):
    assert run("del __builtins__.nothing", "off")["error"]["hint"] is None
    assert run("raise NameError('open', name='open')", "off")["error"]["hint"] is None


# --- the policy ---------------------------------------------------------------------------------


def test_refused(run):
    report = run("print('x')\nimport os\nimport os\n", "on")
    assert report["status"] == "refused"
    assert report.stdout == ""
    assert [finding["line"] for finding in report["findings"]] == [2, 3]
    assert report["error"] == {
        "type": "PolicyError",
        "message": "line 2: BJ201 import of 'os' is not allowed",
        "line": 2,
        "column": 1,
        "end_line": 2,
        "end_column": 10,
        "traceback": None,
        "hint": "leave it out",
    }
    assert report["variables"] == []


def test_allowed_imports_narrow(run):
    assert run("import math\n", "on")["status"] == "ok"
    assert run("import math\n", "on", allowed_imports=["math"])["status"] == "ok"
    assert run("import math\n", "on", allowed_imports=[])["status"] == "refused"


@pytest.mark.parametrize("mode", ["run", "validate"])
def test_policy_that_fails_refuses(run, stand_in, mode):
    stand_in.fails_with = ValueError("bug")
    report = run("print('x')", "on", mode=mode)
    assert report["status"] == "refused"
    assert report["findings"][0]["rule"] == "BJ004"
    assert report.stdout == ""


def test_many_findings(run):
    report = run("import os\n" * 5000, "on")
    assert len(report["findings"]) == 1000
    assert report["truncated"]["findings"] is True


# --- validate -----------------------------------------------------------------------------------


@POLICIES
def test_validate_runs_nothing(run, policy):
    report = run("print('x')\nsurprise = 1\n1 / 0\n", policy, mode="validate")
    assert (report["status"], report["findings"], report["error"]) == ("ok", [], None)
    assert (report.stdout, report["variables"], report["has_result"]) == ("", [], False)


def test_validate_tells_of_comments_when_asked(run):
    source = (
        "x = 1  # belljar: ignore[BJ501]\n"
        "y = '# belljar: ignore[BJ501]'  #belljar: other\n"
        "z = '''\n# belljar: no\n'''  # not for belljar: this\n"
    )
    assert run(source, mode="validate", comments=True)["comments"] == [
        {"line": 1, "text": "# belljar: ignore[BJ501]"},
        {"line": 2, "text": "#belljar: other"},
    ]
    assert "comments" not in run(source, mode="validate")
    assert "comments" not in run("x = (  # belljar: ignore[BJ001]", mode="validate", comments=True)
    many = "x = 1  # belljar: " + "y" * 300 + "\n"
    comments = run(many * 1500, mode="validate", comments=True)["comments"]
    assert (len(comments), len(comments[-1]["text"])) == (1000, 200)


def test_validate_without_an_analysis(run):
    assert run("import math\n", mode="validate", analysis=False)["analysis"] is None


def test_validate_reports_every_finding(run):
    report = run("import os\nimport math\n", "on", mode="validate", allowed_imports=[])
    assert report["status"] == "refused"
    assert [(f["rule"], f["line"]) for f in report["findings"]] == [("BJ201", 1), ("BJ201", 2)]
    assert report["error"] is None


ANALYSED = """\
from __future__ import annotations
import os.path as p, math
from . import a
from ..b import c
def f(x):
    import json
    if x and math or x:
        return [i for i in x]
    elif x:
        for i in x:
            pass
"""


@POLICIES
@pytest.mark.parametrize(
    ("source", "imports", "branches", "nesting"),
    [
        ("", [], 0, 0),
        ("import math\nimport math\nfrom math import pi\n", ["math"], 0, 0),
        (ANALYSED, [".", "..b", "__future__", "json", "math", "os.path"], 6, 3),
        ("match 1:\n    case 1: pass\n    case _: pass\n", [], 2, 1),
        ("try: pass\nexcept* ValueError: pass\n", [], 1, 1),
    ],
)
def test_validate_analyses(run, policy, source, imports, branches, nesting):
    report = run(source, policy, mode="validate")
    of_policy = [] if policy == "off" else ["absent"]
    assert report["analysis"] == {
        "imports": imports, "branches": branches, "nesting": nesting, "missing": of_policy,
    }  # fmt: skip
    assert report["truncated"]["imports"] is False


def test_what_is_refused_is_analysed_too_and_what_is_no_python_is_not(run):
    report = run("import os\n", "on", mode="validate")
    assert (report["status"], report["analysis"]["imports"]) == ("refused", ["os"])
    assert run("import os\n(", "on", mode="validate")["analysis"] is None
    assert run("import math\n", "on")["analysis"] is None, "a run needs none"


def test_an_analysis_is_bounded(run):
    many = "".join(f"import m{i:04}\n" for i in range(1000))
    report = run(many, mode="validate")
    assert report["analysis"]["imports"] == [f"m{i:04}" for i in range(200)]
    assert report["truncated"]["imports"] is True
    report = run(f"import {'x' * 100_000}\n", mode="validate")
    assert report["analysis"]["imports"] == ["x" * 200]
    report = run("x = " + "-" * 900 + "1\n", mode="validate")
    assert report["analysis"]["nesting"] == 0
    assert len(run(many, mode="validate", max_report=1000).raw) <= 1000


@pytest.mark.parametrize(
    ("source", "reason", "where"),
    [
        ("x = 1\ny = = 2\n", "invalid syntax", (2, 5, 2, 6)),
        (
            "if 1:\nx\n",
            "IndentationError: expected an indented block after 'if' statement on line 1",
            (2, 1, 2, 2),
        ),
        ("return\n", "'return' outside function", (1, 1, 1, 7)),
    ],
)
def test_validate_syntax_error(run, source, reason, where):
    report = run(source, mode="validate")
    assert report["status"] == "refused"
    (finding,) = report["findings"]
    assert (finding["rule"], finding["name"]) == ("BJ001", "syntax-error")
    assert (finding["reason"], place(finding)) == (reason, where)
    assert report["error"] is None


# --- the source's bytes -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("source", "result"),
    [
        (b"\xef\xbb\xbf1 + 1", 2),
        (b"x = 1\r\nx + 1\r\n", 2),
        (b"x = 1\rx + 1\r", 2),
        (b'"""a\r\nb\rc"""', "a\nb\nc"),
        (b"# -*- coding: utf-8 -*-\n'\xc3\xa4'", "ä"),
        (b"#!/usr/bin/python\n# vim: set fileencoding=UTF_8 :\n1", 1),
        (b"# coding=ascii\n1", 1),
        (b"x = 1\n# coding: latin-1\nx", 1),
        (b"'# coding: latin-1'", "# coding: latin-1"),
        (b"x = 1 # coding: latin-1\nx", None),
        (b"'\x0c'; x = 1\n\x0cx", 1),
        ("'\u2028'\n".encode(), "\u2028"),
    ],
)
def test_source_bytes(run, source, result):
    report = run(source)
    if result is None:
        # As in CPython, a cookie needs a line of its own.
        assert report["status"] == "ok"
        return
    assert report["error"] is None
    assert report["result"] == result


@POLICIES
@pytest.mark.parametrize(
    ("source", "message", "line", "column", "shown"),
    [
        (
            b"x = 1\n# a\ns = '\xc3\xa4\xe9'\n",
            "invalid UTF-8 at line 3, column 7: byte 0xe9 (invalid continuation byte); "
            "save the source as UTF-8",
            3,
            7,
            "    s = 'ä\ufffd'\n          ^\n",
        ),
        (
            b"x = 1\r\ry = '\xff",
            "invalid UTF-8 at line 3, column 6: byte 0xff (invalid start byte); "
            "save the source as UTF-8",
            3,
            6,
            "    y = '\ufffd\n         ^\n",
        ),
        (
            b"x = 1\ny = '\0'\n",
            "source code cannot contain NUL characters; there is one in line 2",
            2,
            6,
            "    y = '␀'\n         ^\n",
        ),
        (
            b"\xef\xbb\xbf#!x\n# -*- coding: latin-1 -*-\n'\xe4'\n",
            "encoding 'latin-1' is not supported; save the source as UTF-8",
            2,
            15,
            "    # -*- coding: latin-1 -*-\n                  ^^^^^^^\n",
        ),
    ],
)
def test_source_bytes_refused(run, policy, source, message, line, column, shown):
    report = run(source, policy)
    error = report["error"]
    assert (report["status"], error["type"]) == ("exception", "SyntaxError")
    assert (error["message"], error["line"], error["column"]) == (message, line, column)
    assert error["traceback"] == f'  File "main.py", line {line}\n{shown}SyntaxError: {message}\n'
    (finding,) = run(source, policy, mode="validate")["findings"]
    assert (finding["rule"], finding["reason"]) == ("BJ001", message)


@POLICIES
@pytest.mark.parametrize("mode", ["run", "validate"])
def test_source_too_large(run, policy, mode):
    report = run(b"#" * (10 << 20), policy, mode=mode)
    assert report["status"] == "refused"
    (finding,) = report["findings"]
    assert (finding["rule"], finding["line"]) == ("BJ003", 0)
    assert finding["reason"] == "source is 10.0 MB; the limit is 1.0 MB"
    assert finding["hint"]
    if mode == "run":
        assert report["error"]["message"] == "BJ003 source is 10.0 MB; the limit is 1.0 MB"
        assert report["error"]["line"] is None
    assert run(b"#" * (1 << 20), policy, mode=mode)["status"] == "ok"


@POLICIES
@pytest.mark.parametrize(
    "source",
    [
        "-" * 100_000 + "1",
        "x" + ".a" * 50_000,
        "x" + "()" * 50_000,
        "not " * 100_000 + "1",
        "lambda:" * 10_000 + "1",
        "+".join(["x"] * 100_000),
        "a" + "[0]" * 100_000,
    ],
    ids=["unary", "attributes", "calls", "not", "lambda", "sum", "subscripts"],
)
def test_nested_too_deeply(run, policy, source):
    report = run(source, policy)
    assert (report["status"], report["error"]["type"]) == ("exception", "SyntaxError")
    assert report["error"]["message"] == "the source is nested too deeply"
    assert (
        report["error"]["traceback"] == "SyntaxError: the source is nested too deeply (main.py)\n"
    )


# --- what a sealed worker could not do ------------------------------------------------------------

PROGRAMS = [
    "1 + 1",
    "x = 1\nx is 1",
    "'\\d'",
    "def f(): pritn(1)\nf()",
    "[].appendd",
    "x = = 1",
    "return",
    "if 1:\n  x\n\ty",
    "x = b'\udc80'",
    "-" * 100_000 + "1",
    "raise ExceptionGroup('g', [ValueError(1), KeyError(2)])",
    "try:\n    1 / 0\nexcept Exception as e:\n    raise ValueError('ä') from e",
    "a = (1 + 2) + None['k']",
    "[0] * 10**18",
    "input()",
    "raise SystemExit('bye')",
    "async def f(): pass\nf()\n1",
    "def f(): f()\nf()",
    "[1.5, b'x', {2: 3}, 2**5000, '\udc80', float('nan')]",
    "class A: pass\nA()",
    "raise ValueError('\udc80')",
]


def in_a_process_of_its_own(script, *arguments):
    """Runs `script`, which may call `execute(source, **changes)`."""
    prologue = f"""\
        import json, os, sys
        sys.path.insert(0, {os.path.dirname(__file__)!r})
        import conftest, belljar_runner
        from types import ModuleType
        package = sys.modules["belljar_policy"] = ModuleType("belljar_policy")
        package.Policy = conftest.FakePolicy
        belljar_runner.prepare({{}}, {{}})
        run = belljar_runner.execute
        def execute(source, **changes):
            request = dict(mode="run", policy="off", filename="main.py", allowed_imports=None,
                stdin=None, max_source=10**6, max_result=10**6, max_report=10**6)
            return run(request | changes, source.encode("utf-8", "surrogateescape"))
    """
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(prologue) + textwrap.dedent(script), *arguments],
        capture_output=True,
        check=False,
        timeout=60,
    )


def test_a_request_imports_and_opens_nothing():
    script = """\
        touched = []
        def watch(event, details):
            if event in ("import", "open", "os.stat"):
                touched.append((program, event, str(details[0])))
        sys.addaudithook(watch)
        for program in json.loads(sys.argv[1]):
            for policy in ("off", "on"):
                for mode in ("run", "validate"):
                    execute(program, policy=policy, mode=mode)
        os.write(1, json.dumps(touched).encode())
    """
    done = in_a_process_of_its_own(script, json.dumps(PROGRAMS))
    touched = json.loads(done.stdout)
    # CPython looks for the line of a SyntaxError in a file of that name, whatever it compiled. The
    # second is what `traceback` calls the piece of a line that it parses to mark a place in it.
    looks = [["open", "main.py"], ["open", "<unknown>"]]
    assert [t for t in touched if t[1:] not in looks] == [], done.stderr


@pytest.mark.parametrize(
    ("source", "stderr"),
    [
        (
            "x = 1\nx is 1\n",
            'main.py:2: SyntaxWarning: "is" with '
            + ("'int'" if sys.version_info >= (3, 12) else "a")
            + ' literal. Did you mean "=="?\n  x is 1\n',
        ),
        # Hidden before 3.12, where it is a DeprecationWarning.
        (
            "'\\d'\n",
            ""
            if sys.version_info < (3, 12)
            else "main.py:1: SyntaxWarning: invalid escape sequence '\\d'\n  '\\d'\n"
            if sys.version_info < (3, 14)
            else 'main.py:1: SyntaxWarning: "\\d" is an invalid escape sequence. Such sequences '
            'will not work in the future. Did you mean "\\\\d"? A raw string is also an option.'
            "\n  '\\d'\n",
        ),
        (
            "async def f(): pass\ndef g():\n    f()\ng()\n",
            "main.py:3: RuntimeWarning: coroutine 'f' was never awaited\n  f()\n"
            "RuntimeWarning: Enable tracemalloc to get the object allocation traceback\n",
        ),
        ("async def f(): pass\nf()\n", ""),
        ("async def f(): pass\nx = f()\n1 / 0\n", ""),
        (
            "class A:\n    def __del__(self): 1 / 0\na = A()\ndel a\n",
            (
                "Exception ignored in: <function A.__del__ at 0x>\n"
                if sys.version_info < (3, 14)
                else "Exception ignored while calling deallocator <function A.__del__ at 0x>:\n"
            )
            + "Traceback (most recent call last):\n"
            '  File "main.py", line 2, in __del__\nZeroDivisionError: division by zero\n',
        ),
    ],
)
def test_warnings_name_only_the_guests_file(source, stderr):
    script = """\
        execute(sys.argv[1])
        sys.stderr.flush()
        os._exit(0)
    """
    done = in_a_process_of_its_own(script, source)
    assert re.sub("0x[0-9a-f]+", "0x", done.stderr.decode()) == stderr


# --- standard streams ---------------------------------------------------------------------------


@POLICIES
def test_stdin(run, policy):
    source = "a = input('name? ')\nb = input()\nprint(a + b)\n"
    report = run(source, policy, stdin="ä\nb\n".encode())
    assert report["error"] is None
    assert report.stdout == "name? äb\n"
    assert report["variables"] == ["a", "b"]


@POLICIES
def test_input_without_stdin(run, policy):
    report = run("x = 1\nname = input('name? ')\n", policy)
    assert (report["error"]["type"], report["error"]["line"]) == ("EOFError", 2)
    assert report["error"]["message"] == "no standard input was given"
    assert report["error"]["traceback"] == (
        "Traceback (most recent call last):\n"
        '  File "main.py", line 2, in <module>\n'
        "    name = input('name? ')\n"
        # 3.13 marks nothing where it would mark all that the line does.
        + ("" if sys.version_info >= (3, 13) else "           ^^^^^^^^^^^^^^^\n")
        + "EOFError: no standard input was given\n"
    )


def test_reading_without_stdin(run):
    source = "import sys\n[sys.stdin.read(), sys.stdin.readline(), list(sys.stdin)]"
    assert run(source)["result"] == ["", "", []]
    assert run("import sys\nsys.stdin.buffer.read()")["result_repr"] == "b''"


def test_stdin_that_is_not_text(run):
    assert run("import sys\nsys.stdin.buffer.read()", stdin=b"\xff")["result_repr"] == "b'\\xff'"
    assert run("input()", stdin=b"\xff")["error"]["type"] == "UnicodeDecodeError"


def test_streams_that_the_guest_replaced(run):
    source = """\
        import io, sys
        real = sys.stdout
        class Late(io.StringIO):
            def flush(self): real.write(self.getvalue())
        sys.stdout = Late()
        class Bad:
            def write(self, text): pass
            def flush(self): raise SystemExit(9)
        sys.stderr = Bad()
        print("late")
        5
    """
    report = run(textwrap.dedent(source))
    assert (report["status"], report["result"], report.stdout) == ("ok", 5, "late\n")
    assert run("import sys\nsys.stdout = sys.stderr = None\n5")["result"] == 5
    assert run("import sys\ndel sys.stdout, sys.stderr\n5")["status"] in ("ok", "exception")


# --- a guest that breaks the interpreter (policy off) --------------------------------------------

HOSTILE = {
    "trace": "import sys\nsys.settrace(lambda *a: 1 / 0)\n5",
    "profile": "import sys\nsys.setprofile(lambda *a: 1 / 0)\n5",
    "recursion limit": "import sys\nsys.setrecursionlimit(60)\n5",
    "json": "import json\njson.JSONEncoder.encode = lambda *a: 1 / 0\n5",
    "linecache": "import linecache\nlinecache.cache = None\n5",
    "no main": "import sys\ndel sys.modules['__main__']\n5",
    "exit inside": "try:\n    raise SystemExit(3)\nfinally:\n    1 / 0\n",
    "built-ins": "import builtins\nvars(builtins).clear()\n5",
    "exceptions": "import builtins\ndel builtins.MemoryError, builtins.BaseException\n1 / 0",
    "frames": "import sys\nsys._getframe(1).f_globals.clear()\n5",
    "our frame": "import sys\nsys._getframe(1).f_globals['_leave_guest'] = None\n5",
}


@pytest.mark.parametrize("source", HOSTILE.values(), ids=HOSTILE)
def test_there_is_always_a_report(source):
    # In a process of its own: these break the tests too.
    script = """\
        write, leave = os.write, os._exit
        write(1, execute(sys.argv[1]))
        leave(0)
    """
    done = in_a_process_of_its_own(script, source)
    report = json.loads(done.stdout)
    assert report["status"] in ("ok", "exception"), done.stderr
    if report["status"] == "ok":
        assert report["result"] == 5


def test_finalizers_do_not_run_among_our_frames(run):
    source = """\
        class Loud:
            def __del__(self):
                print("finalized")
        def f():
            kept = Loud()
            1 / 0
        loud = [Loud()]
        loud.append(loud)
        f()
    """
    report = run(textwrap.dedent(source))
    assert (report["error"]["type"], report.stdout) == ("ZeroDivisionError", "")


# --- the report's size --------------------------------------------------------------------------


def test_report_is_shortened_in_order(run):
    source = (
        "result = 'r' * 3000\nlong_name_one = 1\nimport sys\n"
        "class A(Exception): pass\nsys.exit(4)\n"
    )
    whole = run(source)
    assert len(whole["result"]) == 3000
    first = run(source, max_report=len(whole.raw) - 1)
    assert (first["result"], len(first["result_repr"])) == (None, 3002)
    assert first["truncated"]["result"] is True
    assert first["truncated"]["result_repr"] is False
    second = run(source, max_report=2000)
    assert len(second["result_repr"]) == 201
    assert second["truncated"]["result_repr"] is True
    assert second["variables"] == whole["variables"]


def test_traceback_is_shortened_in_the_middle(run):
    source = "def f(n):\n    if n: g(n - 1)\n    else: 1 / 0\ndef g(n):\n    f(n)\nf(150)\n"
    assert len(run(source).raw) > 12_000
    report = run(source, max_report=10_000)
    text = report["error"]["traceback"]
    assert text.startswith("Traceback (most recent call last):\n")
    assert "characters left out" in text
    assert text.endswith("ZeroDivisionError: division by zero\n")
    assert report["truncated"]["traceback"] is True


@pytest.mark.parametrize(
    "source",
    [
        "raise ValueError('\\0' * 100_000)",
        "for i in range(300): globals()[('\\0' * 10_000) + str(i)] = i\n",
        "'\\0' * 100_000",
        "import os\n" * 2000,
        "raise type('T' * 10_000, (Exception,), {})('m' * 10_000)",
        "def f(): f()\nf()",
    ],
)
@pytest.mark.parametrize("limit", [4096, 20_000, 1 << 20])
def test_report_keeps_to_its_size(run, source, limit):
    policy = "on" if source.startswith("import os") else "off"
    report = run(source, policy, max_report=limit)
    assert len(report.raw) <= limit
    assert report["status"] in ("ok", "exception", "refused")


# --- rehearse, reseed ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    "rehearse, runs, variables, result",
    [
        ("rehearse", 1, [], 1),
        # Before them, five runs to see which code is run (locality.py); twelve times one that ends
        # well and three of other kinds.
        ("specialise", 53, ["Point", "total", "values"], {"a": [1.5, 2.5, 3.5], "b": "1"}),
    ],
)
def test_a_rehearsal_leaves_no_trace(
    stand_in, capsys, monkeypatch, rehearse, runs, variables, result
):
    import belljar_runner

    def state():
        return (
            dict(sys.modules),
            dict(linecache.cache),
            random.getstate(),
            (sys.stdin, sys.stdout, sys.stderr, sys.argv, list(sys.path)),
            (gc.isenabled(), sys.getrecursionlimit(), sys.gettrace(), sys.getprofile()),
            set(vars(__import__("builtins"))),
        )

    execute = sys.modules["belljar_runner.execute"]
    monkeypatch.setattr(execute, "reseed", lambda: None)  # each worker does it again
    original = execute.execute
    seen = []
    execute.execute = lambda *a: seen.append(original(*a)) or seen[-1]
    trace = sys.gettrace()
    before = state()
    try:
        getattr(belljar_runner, rehearse)()
    finally:
        execute.execute = original
        sys.settrace(trace)
    assert state() == before
    assert capsys.readouterr() == ("", "")
    assert len(seen) == runs
    for report in map(json.loads, seen[-48::4]):
        assert (report["status"], report["variables"]) == ("ok", variables)
        assert report["result"] == result


def test_what_is_less_frequent_is_rehearsed_without_a_trace(stand_in, monkeypatch):
    import belljar_runner

    execute = sys.modules["belljar_runner.execute"]
    monkeypatch.setattr(execute, "reseed", lambda: None)  # each worker does it again
    original = execute.execute
    seen = []
    monkeypatch.setattr(execute, "execute", lambda *a: seen.append(original(*a)) or seen[-1])
    modules, lines = dict(sys.modules), dict(linecache.cache)
    monkeypatch.setattr(execute, "_REFUSED_SOURCE", b"import os\n")
    belljar_runner.rehearse_others()
    failed, refused, validated = map(json.loads, seen)
    assert failed["error"]["type"] == "ZeroDivisionError"
    assert refused["status"] == "refused"
    assert "analysis" in validated
    assert (dict(sys.modules), dict(linecache.cache)) == (modules, lines)


def test_reseed_changes_random_numbers():
    import tempfile

    import belljar_runner
    from belljar_runner.randomness import find_generators

    find_generators(has_packages=False)
    random.seed(1)
    first = random.random()
    random.seed(1)
    tempfile._get_candidate_names()
    belljar_runner.reseed()
    assert random.random() != first
    assert tempfile._name_sequence is None


def test_prepare_keeps_the_other_profiles(stand_in):
    assert stand_in.other_profiles == {"data-science": ["numpy"], "network": ["requests"]}
    assert stand_in.profile == {"name": "basic"}
