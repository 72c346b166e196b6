"""What `run` takes and gives."""

from __future__ import annotations

import asyncio
import copy
import dataclasses
import math
import os
import pickle
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from belljar import AsyncSandbox, BelljarError, GuestFailed, Result, Sandbox, _host
from belljar._async import around

from tests.clocks import UNTIL_KILLED
from tests.python.conftest import named


def test_all_parts_of_a_result(box: Sandbox) -> None:
    result = box.run("import sys\nprint('out')\nprint('err', file=sys.stderr)\nx = 1\n6 * 7")
    assert (result.ok, result.status, result.value, result.has_value) == (True, "ok", 42, True)
    assert (result.value_repr, result.stdout, result.stderr) == ("42", "out\n", "err\n")
    assert (result.stdout_dropped, result.stderr_dropped, result.error) == (0, 0, None)
    assert (result.exit_code, result.findings, result.truncated) == (None, (), ())
    assert "x" in result.variables
    assert (result.artifacts, result.artifacts_left_out, result.network) == ((), 0, ())
    assert (result.isolation.mode, result.isolation.policy) == ("strict", "on")
    assert {"namespaces", "landlock", "seccomp"} <= {
        each.name for each in result.isolation.layers if each.held
    }
    assert 0 < result.usage.wall_time < 10
    assert result.usage.max_rss_bytes > 1 << 20
    assert (result.limits.timeout, result.limits.memory_bytes) == (30, 256 << 20)
    assert (result.security_events, result.container) == ((), None)
    assert len(result.execution_id) == 36
    result.raise_for_status()


def test_results_are_plain_values(box: Sandbox) -> None:
    result = box.run("print(1)\n{'a': [1, (2,)]}")
    again = pickle.loads(pickle.dumps(result))
    assert again == result
    assert copy.deepcopy(result) == result
    assert dataclasses.asdict(result)["usage"]["wall_time"] == result.usage.wall_time
    with pytest.raises(dataclasses.FrozenInstanceError):
        result.value = 1  # type: ignore[misc]
    assert not hasattr(result, "__dict__")


def test_repr_is_short(box: Sandbox) -> None:
    shown = repr(box.run("print('x' * 1000)\n'y' * 1000"))
    assert shown.startswith("<belljar.Result ok value='yyy")
    assert shown.endswith("y... stdout=1,001 characters>")
    assert len(shown) < 120
    assert repr(box.run("1 / 0")) == "<belljar.Result exception error=ZeroDivisionError>"


@pytest.mark.parametrize(
    "value",
    [
        None,
        True,
        -1,
        2**53,
        -(2**20000),
        1.5,
        math.inf,
        "ü",
        "\ud800",
        b"\0\xff",
        [1, [2]],
        (1, (2,)),
        {"a": 1, "$type": 2},
        {"b": 1, "a": 2, "c": {"z": 1, "y": 2}},
        {1: 2, (3,): [4]},
        {1, "a"},
        frozenset({(1, 2)}),
    ],
    ids=lambda value: ascii(type(value).__name__),
)
def test_values_go_in_and_come_back(box: Sandbox, value: object) -> None:
    result = box.run("[given]", inputs={"given": value})
    assert result.value == [value]
    if isinstance(value, dict):
        assert list(result.value[0]) == list(value)
    assert type(result.value[0]) is type(value)


def test_what_is_no_plain_data(box: Sandbox) -> None:
    result = box.run("class A: pass\nA()")
    assert (result.value, result.has_value) == (None, False)
    assert result.value_repr is not None and "A object" in result.value_repr
    result = box.run("'x' * 3_000_000")
    assert (result.value, result.has_value, "value" in result.truncated) == (None, False, True)
    result = box.run("x = 1")
    assert (result.value, result.has_value, result.value_repr) == (None, False, None)


def test_the_guests_failures_are_results(box: Sandbox) -> None:
    result = box.run("print('before')\nundefined")
    assert (result.ok, result.status, result.stdout) == (False, "exception", "before\n")
    assert result.error is not None
    assert (result.error.type, result.error.line) == ("NameError", 2)
    with pytest.raises(GuestFailed, match="exception: NameError: name 'undefined'") as raised:
        result.raise_for_status()
    assert raised.value.result is result
    assert pickle.loads(pickle.dumps(raised.value)).result == result
    with pytest.raises(GuestFailed):
        box.run("1 / 0", raise_on_error=True)
    refused = box.run("import glob")
    assert (refused.status, refused.findings[0].rule) == ("refused", "BJ201")
    exited = box.run("import sys\nsys.exit(3)")
    assert (exited.status, exited.exit_code) == ("exception", 3)
    broken = box.run("if")
    assert broken.error is not None and broken.error.type == "SyntaxError"
    assert box.run("'\ud800'").error is not None  # no UTF-8 at all


@pytest.mark.parametrize("given", [0.2, "200ms", 1])
def test_the_clock(box: Sandbox, given: float | str) -> None:
    result = box.run(UNTIL_KILLED, timeout=given)
    assert result.status == "timeout"
    assert result.limits.timeout == result.limits.cpu == (1 if given == 1 else 0.2)


def test_limits_of_the_sandbox_are_defaults_of_runs() -> None:
    with Sandbox(timeout=7, memory="64m", output=5) as box:
        limits = box.run("1").limits
        assert (limits.timeout, limits.cpu, limits.memory_bytes) == (7, 7, 64 << 20)
        result = box.run("print('123456789')", timeout=3, cpu=2)
        assert (result.limits.timeout, result.limits.cpu) == (3, 2)
        assert (result.stdout, result.stdout_dropped) == ("12345", 5)
        assert result.truncated == ("stdout",)
        assert box.run("bytearray(200 << 20)").status == "memory_limit"


def test_bytes_and_standard_input(box: Sandbox) -> None:
    assert box.run(b"\xef\xbb\xbf'\xc3\xa4'").value == "ä"
    assert box.run("[input(), input()]", stdin="Ada\nüber\n").value == ["Ada", "über"]
    assert box.run("import sys\nsys.stdin.read()", stdin="").value == ""
    error = box.run("input()").error
    assert error is not None and error.type == "EOFError"


def test_output_that_is_no_utf8() -> None:
    code = "import sys\nsys.stdout.buffer.write(b'a\\xff\\xe4b\\xf0\\x9f')"
    pieces: list[str] = []
    with Sandbox(policy="off") as full:
        result = full.run(code, stream=lambda name, text: pieces.append(text))
    assert result.ok, result.error
    assert result.stdout == "a\ufffd\ufffdb\ufffd"
    assert "".join(pieces) == result.stdout
    assert result.stdout_bytes == b"a\xff\xe4b\xf0\x9f"
    assert result.stderr_bytes is None
    assert "a\\xff\\xe4b\\xf0\\x9f" in result.for_model()
    assert pickle.loads(pickle.dumps(result)) == result


def test_output_that_is_utf8_is_there_once(box: Sandbox) -> None:
    result = box.run("import sys\nprint('ä')\nprint('ö', file=sys.stderr)")
    assert (result.stdout, result.stderr) == ("ä\n", "ö\n")
    assert (result.stdout_bytes, result.stderr_bytes) == (None, None)


def test_streams_come_while_it_runs(box: Sandbox) -> None:
    seen: list[tuple[str, str]] = []
    code = """
import sys, time
print("zwölf €uro", flush=True)
wait()
print("err", file=sys.stderr, flush=True)
"""

    def wait() -> None:
        assert seen, "it was to be shown before the program went on"

    result = box.run(
        code, stream=lambda name, text: seen.append((name, text)), functions={"wait": wait}
    )
    assert result.ok, result.error
    assert "".join(text for name, text in seen if name == "stdout") == result.stdout
    assert seen[-1] == ("stderr", "err\n")


def test_functions(box: Sandbox) -> None:
    calls: list[object] = []

    def look_up(key: str, *, default: object = None) -> object:
        calls.append((key, default))
        return {"a": (1, b"x")}.get(key, default)

    result = box.run("[look_up('a'), look_up('b', default={1})]", functions={"look_up": look_up})
    assert result.value == [(1, b"x"), {1}]
    assert calls == [("a", None), ("b", {1})]


def test_exceptions_of_functions_are_the_programs(box: Sandbox) -> None:
    def fail() -> None:
        raise KeyError("nothing")

    def odd() -> object:
        return object()

    result = box.run(
        """
told = []
for function in (fail, odd):
    try:
        function()
    except Exception as error:
        told.append((type(error).__name__, str(error)))
told
""",
        functions={"fail": fail, "odd": odd},
    )
    assert result.value[0] == ("KeyError", "'nothing'")
    assert result.value[1][0] == "TypeError"
    assert "what odd returned is a object" in result.value[1][1]


class Enough(BaseException):
    pass


@pytest.mark.parametrize("where", ["stream", "functions"])
def test_an_exception_of_a_callback_ends_the_run(box: Sandbox, where: str) -> None:
    def enough(*_: object) -> None:
        raise Enough("of it")

    code = "print('x', flush=True)\nf()\n" + UNTIL_KILLED
    given = {"stream": enough} if where == "stream" else {"functions": {"f": enough}}
    if where == "stream":
        given["functions"] = {"f": lambda: None}
    with pytest.raises(Enough, match="of it"):
        box.run(code, **given)
    assert box.run("1").value == 1


def test_files(files: Sandbox, tmp_path: Path) -> None:
    mine = tmp_path / "mine.bin"
    mine.write_bytes(b"\0\1")
    result = files.run(
        "from pathlib import Path\nPath('out').mkdir()\nPath('out/a.txt').write_text('ü')\n"
        "[Path('d/t').read_text(), Path('b').read_bytes(), Path('m').read_bytes()]",
        files={"d/t": "text ü", "b": b"\xff", "m": mine},
    )
    assert result.value == ["text ü", b"\xff", b"\0\1"]
    (made,) = result.artifacts
    assert (made.name, made.origin, made.content, made.text) == (
        "out/a.txt",
        "file",
        "ü".encode(),
        "ü",
    )
    assert made.size == 2
    path = made.save(tmp_path / "saved")
    assert Path(path).read_text() == "ü"
    with pytest.raises(FileExistsError):
        made.save(tmp_path / "saved")
    made.save(tmp_path / "saved", overwrite=True)
    assert sorted(each.name for each in (tmp_path / "saved/out").iterdir()) == ["a.txt"]


def test_narrowing(box: Sandbox) -> None:
    assert box.run("import math\nmath.floor(2.5)", allowed_imports=["math"]).value == 2
    assert box.run("import json", allowed_imports=["math"]).status == "refused"
    with Sandbox(allowed_imports=["math"]) as narrow:
        assert narrow.run("import json").status == "refused"
        assert narrow.run("import math", allowed_imports=[]).status == "refused"
        with pytest.raises(ValueError, match="'json' is not one of the modules"):
            narrow.run("1", allowed_imports=["json"])


async def awaited(name: str, text: str) -> None:
    pass


@pytest.mark.parametrize(
    ("options", "error", "said"),
    [
        ({"timeout": 0}, ValueError, "timeout is 0"),
        ({"timeout": float("nan")}, ValueError, "timeout is nan"),
        ({"timeout": "soon"}, ValueError, 'timeout: "soon"'),
        ({"timeout": [1]}, TypeError, "timeout is a list"),
        ({"timeout": True}, TypeError, "timeout is a bool"),
        ({"timeout": 1e4}, ValueError, "the maximum of profile basic"),
        ({"memory": -1}, ValueError, "memory is -1"),
        ({"memory": "1x"}, ValueError, 'memory: "1x"'),
        ({"memory": "64g"}, ValueError, "memory: 64g is over 4g"),
        ({"output": 0}, ValueError, "output is 0"),
        ({"stdin": 1}, TypeError, "stdin is a int"),
        ({"filename": "a\0b"}, ValueError, "filename is 'a\\\\x00b'"),
        ({"filename": "\ud800"}, ValueError, "lone surrogate"),
        ({"inputs": {"a b": 1}}, ValueError, "'a b' is not a valid variable name"),
        ({"inputs": {"class": 1}}, ValueError, "'class' is not a valid variable name"),
        ({"inputs": {"a": object()}}, TypeError, r"inputs\['a'\] is a object"),
        ({"inputs": {"a": [1, {"x": {2: open}}]}}, TypeError, r"inputs\['a'\]\[1\]\['x'\]\[2\]"),
        ({"inputs": [1]}, TypeError, "inputs is a list"),
        ({"functions": {"f": 1}}, TypeError, r"functions\['f'\] is a int, not callable"),
        ({"functions": {"f": print}, "inputs": {"f": 1}}, ValueError, "both define 'f'"),
        ({"files": {"a": b""}}, ValueError, "files: "),
        ({"files": {"a": 1}}, TypeError, r"files\['a'\] is a int"),
        ({"allowed_imports": "math"}, TypeError, "allowed_imports is a str"),
        ({"allowed_imports": ["mth"]}, ValueError, 'did you mean "math"'),
        ({"allowed_domains": ["a.org"]}, ValueError, "has no network"),
        ({"stream": 1}, TypeError, "stream is a int"),
        ({"stream": awaited}, TypeError, "stream is a coroutine function"),
        ({"timeout": 10**400}, ValueError, "timeout is an int of 1329 bits"),
        ({"memory": 10**5000}, ValueError, "memory is an int of 16610 bits"),
        ({"functions": 5}, TypeError, "functions is a int; give a dict"),
        ({"functions": [print]}, TypeError, "functions is a list; give a dict"),
    ],
    ids=named,
)
def test_bad_arguments_are_named(
    box: Sandbox, options: dict[str, object], error: type[Exception], said: str
) -> None:
    with pytest.raises(error, match=said):
        box.run("1", **options)  # type: ignore[arg-type]
    with pytest.raises(error, match=said):
        asyncio.run(around(box).run("1", **options))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("options", "error", "said"),
    [
        ({"profile": "basics"}, ValueError, 'unknown profile "basics"; did you mean "basic"'),
        ({"profile": "./none.toml"}, ValueError, "none.toml"),
        ({"profile": 1}, TypeError, "profile is a int"),
        ({"isolation": "weak"}, ValueError, "isolation is 'weak'"),
        ({"policy": "none"}, ValueError, "policy is 'none'"),
        ({"language": "perll"}, ValueError, 'unknown language "perll"; did you mean "perl"?'),
        ({"policy": "off", "language": "restricted"}, ValueError, "contradict each other"),
        ({"policy": "on", "language": "full"}, ValueError, "contradict each other"),
        ({"spares": 0}, ValueError, "spares is 0"),
        ({"spares": "2"}, TypeError, "spares is a str"),
        ({"spares": 10**5000}, ValueError, "spares is an int of 16610 bits"),
        ({"allow_domains": ["a.org"]}, ValueError, "has no network"),
        ({"profile": "network", "allow_domains": ["a b"]}, ValueError, "allow_domains: "),
        ({"container": "docker"}, TypeError, "container is a str"),
        ({"timeout": -1}, ValueError, "timeout is -1"),
        ({"timeout": 1e4}, ValueError, "timeout: .* the maximum of profile basic"),
        ({"memory": "64g"}, ValueError, "memory: 64g is over 4g"),
        ({"allowed_imports": ["mth"]}, ValueError, 'did you mean "math"'),
        ({"policy": "off", "allowed_imports": ["math"]}, ValueError, 'policy="off"'),
    ],
    ids=named,
)
def test_bad_options_are_named(
    options: dict[str, object], error: type[Exception], said: str
) -> None:
    with pytest.raises(error, match=said):
        Sandbox(**options)  # type: ignore[arg-type]

    async def opens() -> None:
        async with AsyncSandbox(**options):  # type: ignore[arg-type]
            pass

    with pytest.raises(error, match=said):
        asyncio.run(opens())


def test_a_program_that_is_too_long(box: Sandbox) -> None:
    result = box.run("#" * (20 << 20))
    assert (result.status, result.findings[0].rule) == ("refused", "BJ003")


def test_validate(box: Sandbox) -> None:
    good = box.validate("import math\nmath.pi")
    assert good.ok and not good.findings
    assert good.analysis is not None and good.analysis.imports == ("math",)
    bad = box.validate("x = 1\nimport glob", filename="a.py")
    assert not bad.ok and (bad.findings[0].rule, bad.findings[0].line) == ("BJ201", 2)
    assert not box.validate("if").ok


@pytest.mark.parametrize(
    ("options", "is_off"),
    [
        ({"policy": "off"}, True),
        ({"language": "full"}, True),
        ({"policy": "off", "language": "full"}, True),
        ({"policy": "on", "language": "restricted"}, False),
        ({"language": "restricted"}, False),
        ({"language": "python"}, False),
    ],
    ids=str,
)
def test_the_policy_and_its_former_name(options: dict[str, Any], is_off: bool) -> None:
    with Sandbox("basic", spares=1, **options) as box:
        result = box.run("import sys\nsys._getframe() is not None")
        told = box.info()
    assert result.ok == is_off
    expected = ("off", "full") if is_off else ("on", "restricted")
    for each in (result.isolation, told):
        assert (each.policy, each.language) == expected


def test_info() -> None:
    with Sandbox("filesystem", isolation="standard") as box:
        info = box.info()
    assert (info.profile, info.isolation, info.policy) == ("filesystem", "standard", "on")
    assert info.workspace is not None and info.workspace.path == "/workspace"
    assert info.limits.maximum.timeout >= info.limits.default.timeout == 30
    assert "sqrt" in info.modules["math"]
    assert info.python.startswith("3.")


def test_closing() -> None:
    box = Sandbox()
    assert box.run("1").value == 1
    box.close()
    box.close()
    assert "closed" in repr(box)
    for call in (lambda: box.run("1"), lambda: box.validate("1"), box.wait_until_ready, box.info):
        with pytest.raises(BelljarError, match="closed"):
            call()


@pytest.mark.parametrize("where", ["stream", "functions"])
def test_closing_from_within_a_run(where: str) -> None:
    box = Sandbox(spares=2)
    engine = box._open()

    def close(*_: object) -> None:
        box.close()
        box.close()

    given = {"stream": close} if where == "stream" else {"functions": {"close": close}}
    code = "print('begun', flush=True)\nclose()\n" + UNTIL_KILLED
    if where == "stream":
        given["functions"] = {"close": int}
    result = box.run(code, **given)  # type: ignore[arg-type]
    assert result.error is not None
    assert (result.status, result.error.type, result.stdout) == ("killed", "Cancelled", "begun\n")
    with pytest.raises(BelljarError, match="closed"):
        box.run("1")
    # Its workers are gone with the run: this name alone kept it.
    pid = engine.counters()["zygote_pid"]
    del engine
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_closing_from_within_a_run_and_leaving() -> None:
    def leave() -> None:
        box.close()
        raise SystemExit(3)

    with Sandbox() as box, pytest.raises(SystemExit):
        box.run("leave()", functions={"leave": leave})


def test_closing_while_it_opens(box: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    """As a signal's handler does, in the thread that is opening it."""
    unopened = copy.copy(box)

    def engine(*options: Any) -> object:
        unopened.close()
        return _host.Engine(*options)

    monkeypatch.setattr("belljar._sandbox._host", SimpleNamespace(Engine=engine))
    for _ in range(2):
        with pytest.raises(BelljarError, match="closed"):
            unopened.run("1")
    assert unopened._engine is None


def test_a_run_within_a_run(box: Sandbox) -> None:
    def deeper(level: int) -> object:
        result: Result = box.run(
            "deeper(level - 1) if level else 'ground'",
            inputs={"level": level},
            functions={"deeper": deeper},
        )
        return result.value

    assert deeper(6) == "ground"


def test_network_domains_are_narrowed() -> None:
    with Sandbox("network", allow_domains=["*.example.org"]) as box:
        assert box.info().has_network
        code = "import urllib.request\nurllib.request.urlopen('http://a.example.org/')"
        result = box.run(code, allowed_domains=["b.example.org"], timeout=20)
        assert not result.ok
        assert [(each.host, each.allowed) for each in result.network] == [("a.example.org", False)]
        with pytest.raises(ValueError, match="allowed_domains"):
            box.run("1", allowed_domains=["example.com"])
