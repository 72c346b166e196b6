"""The regular expressions that a zygote finds compiled are those that `re` would have made."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
import RestrictedPython

ROOT = Path(__file__).resolve().parents[2]

# What a zygote does, with the modules of the profile that compile most; then: how many were loaded,
# how many are compiled all the same, and which are not what the compiler makes of their text.
START = """
import json, re, sys
share, modules = sys.argv[1], sys.argv[2:]
sys.path.insert(0, share + '/runner')
compiled, compile_one = [], re._compiler.compile
def note(text, flags=0):
    compiled.append(str(text))
    return compile_one(text, flags)
re._compiler.compile = note
import belljar_runner
count = belljar_runner.patterns.load()
for name in modules:
    __import__(name)
others = []
for (kind, text, flags), pattern in re._cache.items():
    new = compile_one(text, flags)
    if new != pattern or new.groupindex != pattern.groupindex or type(text) is not kind:
        others.append(str(text))
print(json.dumps([count, len(compiled), others]))
"""
MODULES = ("json", "textwrap", "string", "tokenize", "html.parser", "configparser", "fractions")


@pytest.fixture(scope="module")
def share(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """share/belljar as a build lays it out, with links to the sources."""
    folder = tmp_path_factory.mktemp("share")
    (folder / "runner").mkdir()
    (folder / "runner/belljar_runner").symlink_to(ROOT / "engine/inside/runner")
    (folder / "policy").symlink_to(ROOT / "policy")
    (folder / "site-packages").symlink_to(Path(RestrictedPython.__file__).parents[1])
    made = subprocess.run(
        [sys.executable, "-I", ROOT / "tools/keep_patterns.py", "--share", folder,
         "--profile", ROOT / "profiles/basic.toml", "--output", folder / "patterns"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert made.returncode == 0, made.stderr
    return folder


def start(share: Path) -> tuple[int, int, list[str]]:
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", START, share, *MODULES],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return tuple(json.loads(done.stdout))


def test_nothing_is_compiled_twice_and_nothing_is_different(share: Path) -> None:
    count, compiled, others = start(share)
    assert count > 40 and compiled == 0 and others == []


def test_they_match_what_they_matched(share: Path) -> None:
    script = """
import sys
sys.path.insert(0, sys.argv[1] + '/runner')
import belljar_runner, textwrap, string, html.parser
assert belljar_runner.patterns.load()
print(textwrap.wrap("one two-three four", 9), string.Template("$a ${b} $$").substitute(a=1, b=2))
"""
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", script, share],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "['one two-', 'three', 'four'] 1 2 $\n"


@pytest.mark.parametrize("damage", ["missing", "other", "short", "no header", "not a list"])
def test_a_file_that_does_not_fit_is_no_file(share: Path, tmp_path: Path, damage: str) -> None:
    good = (share / "patterns").read_bytes()
    for name in ("runner", "policy", "site-packages"):
        (tmp_path / name).symlink_to(share / name)
    header = good.index(sys.version.encode()) + len(sys.version)
    file = tmp_path / "patterns"
    if damage == "other":  # of another build of Python
        file.write_bytes(good.replace(b"3.", b"2.", 1))
    elif damage == "short":
        file.write_bytes(good[: len(good) // 2])
    elif damage == "no header":
        file.write_bytes(good[header:])
    elif damage == "not a list":
        file.write_bytes(good[:header] + b"i\0\0\0\0")
    count, compiled, others = start(tmp_path)
    assert count == 0 and compiled > 20 and others == []


def test_the_cache_is_where_this_python_has_it() -> None:
    """load() puts them under the key that re._compile() asks for."""
    re.purge()
    pattern = re.compile("a+(?i:b)", re.VERBOSE)
    assert re._cache[str, "a+(?i:b)", int(re.VERBOSE)] is pattern
