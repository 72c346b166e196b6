"""A policy that has loaded only some modules: what it has is what one that has loaded all has, and
what it has not starts the program over."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

# In a process for each list of names: {module: [export or class flag]}, or what it raised.
BUILD = """
import json, os, sys
root, names_of = sys.argv[1], json.loads(sys.argv[2])
sys.path[:0] = [root, f"{root}/policy", os.environ["BELLJAR_GUARDS_DIR"]]
from pathlib import Path
from tools.profile_document import read_profile
import belljar_policy
import _belljar_guards as guards
profile = read_profile(Path(root) / "profiles" / f"{sys.argv[3]}.toml")

SUBCLASSABLE = 1 << 16

def tell(named):
    policy = belljar_policy.Policy(profile, named=named)
    modules = policy.modules
    return {
        "proxies": {name: sorted(guards.export_names(each))
                    for name, each in modules.proxies.items()},
        "absent": sorted(modules.absent),
        "blocked": sorted(modules.cannot_be_loaded()),
        "loaded": sorted(sys.modules),
        "known": sorted(modules._exports),
        "subclassable": sorted(f"{each.__module__}.{each.__qualname__}"
                               for each in modules.subclassable),
        "writable": sorted(f"{each.__module__}.{each.__qualname__}" for each in modules.writable),
        "reduced": sorted(belljar_policy.library._reduced),
        "signed": sorted(f"{name}.{export}" for name, each in list(modules.proxies.items())
                         for export in guards.export_names(each)
                         if "__signature__" in getattr(guards.getattr(each, export, 0),
                                                       "__dict__", ())),
    }

for named in names_of:
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        with os.fdopen(writing, "w") as to:
            json.dump(tell(named), to)
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as answer:
        print(answer.read())
    os.waitpid(child, 0)
"""


def python(code: str, *arguments: str, timeout: float = 600) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code, str(ROOT), *arguments],
        capture_output=True,
        text=True,
        timeout=timeout,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
    )


def build(names_of: list[list[str] | None], profile: str = "basic") -> list[dict]:
    done = python(BUILD, json.dumps(names_of), profile)
    assert done.returncode == 0, done.stderr
    answers = [json.loads(line or "null") for line in done.stdout.split("\n")[:-1]]
    assert None not in answers, done.stderr
    return answers


@pytest.fixture(scope="module")
def whole() -> dict:
    return build([None])[0]


def test_nothing_is_absent_where_nothing_is_known(whole: dict) -> None:
    assert whole["absent"] == whole["blocked"] == []
    assert "statistics" in whole["proxies"]


def test_each_module_alone_is_as_with_all_others(whole: dict) -> None:
    tops = sorted({name.partition(".")[0] for name in whole["known"]} - {"builtins", "__main__"})
    assert len(tops) > 90
    from belljar_policy import reviewed

    for top, part in zip(tops, build([[top] for top in tops]), strict=True):
        for name, exports in part["proxies"].items():
            assert exports == whole["proxies"][name], (top, name)
        of_top = {name for name in part["known"] if name.partition(".")[0] == top}
        assert not of_top & set(part["absent"]), top
        # All that is loaded has its proxy, and no module is without an answer.
        assert set(part["proxies"]).isdisjoint(part["absent"]), top
        assert part["known"] == whole["known"], top
        assert set(part["absent"]) & set(part["loaded"]) <= reviewed.LATE_ANYWAY, top
        assert not set(part["blocked"]) & set(part["loaded"]), top
        for flag in ("subclassable", "writable"):
            assert set(part[flag]) <= set(whole[flag]), (top, flag)
            of_loaded = {each for each in whole[flag] if each.rpartition(".")[0] in part["proxies"]}
            assert of_loaded <= set(part[flag]), (top, flag)
        # Nothing that is loaded, by itself or for another, is left as it was; and who can ask for
        # signatures finds those that all have.
        assert set(whole["reduced"]) & set(part["loaded"]) <= set(part["reduced"]), top
        if "inspect" in part["proxies"]:
            signed = {
                each for each in whole["signed"] if each.rpartition(".")[0] in part["proxies"]
            }
            assert signed == set(part["signed"]), top


def test_a_program_that_names_nothing_finds_little_loaded(whole: dict) -> None:
    (bare,) = build([[]])
    assert {"statistics", "decimal", "asyncio", "csv", "uuid"} <= set(bare["absent"])
    assert {"statistics", "decimal", "csv", "encodings.cp1252"} <= set(bare["blocked"])
    assert len(bare["loaded"]) < len(whole["loaded"]) - 80
    assert {"copy", "dataclasses", "inspect", "threading", "pprint"} <= set(whole["reduced"])
    assert not {"copy", "dataclasses", "inspect", "weakref"} & set(bare["loaded"])
    assert "random.choice" not in bare["signed"] and len(whole["signed"]) > 50


OF_NO_LIBRARY = ["IPython", "IPython.display"]


def test_what_is_loaded_later_has_the_library_it_imports() -> None:
    """argparse is loaded when it is imported, and imports gettext, shutil and re then."""
    (part,) = build([["argparse"]])
    assert part["absent"] == part["blocked"] == OF_NO_LIBRARY


def test_the_whole_library_can_be_named() -> None:
    (part,) = build([["*"]])
    assert part["absent"] == part["blocked"] == OF_NO_LIBRARY


START_OVER = """
import os, sys
root = sys.argv[1]
sys.path[:0] = [root, f"{root}/policy", os.environ["BELLJAR_GUARDS_DIR"]]
from pathlib import Path
from tools.profile_document import read_profile
import belljar_policy
policy = belljar_policy.Policy(
    read_profile(Path(root) / "profiles" / "basic.toml"), named=sys.argv[3].split())
def start_over():
    os.write(1, b"started over")
    os._exit(0)
policy.start_over_by(start_over)
compiled = policy.compile(sys.argv[2])
assert not compiled.findings, compiled.findings
exec(compiled.code, policy.guest_globals())
print("ended")
"""


@pytest.mark.parametrize(
    ("source", "named", "expected"),
    [
        ("pass", "", "ended"),
        ("import math\nmath.sqrt(4)", "math", "ended"),
        ("import datetime\ndatetime.datetime.strptime('2024', '%Y')", "datetime", "ended"),
        ("import time\ntime.strptime('2024', '%Y')", "time", "ended"),
        ("import statistics", "", "started over"),
        ("__import__('statistics')", "", "started over"),
        ("try:\n    __import__('statistics')\nexcept BaseException:\n    pass", "", "started over"),
        ("b'\\x80'.decode('cp1252')", "", "started over"),
        ("from unittest.mock import patch\npatch('math.sqrt').start()", "unittest", "ended"),
        ("import sys\nsys.modules", "sys", "started over"),
        ("help('statistics')", "", "started over"),
        ("help(len)", "", "started over"),
        ("import inspect\nhelp(inspect)", "inspect", "Help on module inspect"),
        ("import inspect\ninspect.signature(help)", "inspect", "ended"),
        ("'x'.encode('no such codec', 'ignore') if False else 1", "", "ended"),
    ],
)
def test_what_starts_a_program_over(source: str, named: str, expected: str) -> None:
    done = python(START_OVER, source, named, timeout=120)
    assert done.stdout.startswith(expected), done.stderr
