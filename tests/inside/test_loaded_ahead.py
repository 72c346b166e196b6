"""What a zygote of basic has loaded before a program runs. Each of these modules is time of a start
and memory of every sandbox, whatever programs do: one more is added here on purpose, with its cost
in docs/performance-starting.md. What few programs import belongs in `reviewed.LATE` or
`LATE_ANYWAY`.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BELLJAR = Path(os.environ.get("BELLJAR_BUILD", ROOT / "build/release")) / "belljar"

POLICY = set(
    """
    alternatives constructs findings library lookout modules namespace restricted_python
    preload reviewed rules tables transformer unshared
    """.split()
)
LIBRARY = set(
    """
    IPython IPython_display alone asyncio asyncio.event_loop asyncio.executors asyncio.host_calls
    asyncio.lean asyncio.log asyncio.sealing
    builtins collections concurrent_futures configparser contextlib copy dataclasses descriptors
    difflib enum functools hashlib help importlib inspect interruptible ipaddress kept linecache
    logging objects operator os os_path own_modules pprint program queue resource scheduler
    scopes streams string sys threading time tokenize traceback types typing uuid warnings
    xml_etree_ElementTree zoneinfo
    """.split()
)
# Of those that are not packages of our own, without the parts of packages and what is in C.
STANDARD_LIBRARY = set(
    """
    __future__ abc ast asyncio base64 bisect calendar codecs collections concurrent configparser
    contextlib contextvars copy copyreg csv dataclasses datetime decimal difflib dis encodings enum
    fractions functools genericpath graphlib hashlib heapq hmac importlib inspect io ipaddress json
    keyword linecache locale numbers opcode operator os platform posixpath pprint random re reprlib
    secrets selectors sre_compile sre_constants sre_parse stat statistics string stringprep struct
    sysconfig textwrap token tokenize traceback types typing urllib uuid warnings weakref xml
    zipimport zoneinfo
    """.split()
)
if sys.version_info >= (3, 14):
    LIBRARY |= {"annotationlib", "lazy_annotations"}
    STANDARD_LIBRARY |= {"annotationlib", "codeop", "threading"}  # the last for sysconfig
else:
    LIBRARY.add("lazy_annotations")
LOADED = (
    "import json, sys\n"
    "print(json.dumps({n: hasattr(m, '__file__') for n, m in sys.modules.items()}))\n"
)


@pytest.fixture(scope="module")
def loaded() -> dict[str, bool]:
    """The names of the loaded modules, and whether each comes from a file. In a session: `belljar
    run` loads what its program names."""
    ran = subprocess.run(
        [BELLJAR, "repl", "--profile", "basic", "--policy", "off"],
        input=LOADED,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert ran.stdout, ran.stderr
    return json.loads(ran.stdout)


def below(package: str, names: dict[str, bool]) -> set[str]:
    return {name.removeprefix(package) for name in names if name.startswith(package)}


def test_of_the_policy(loaded):
    ours = below("belljar_policy.", loaded)
    parts = {name for name in ours if not name.startswith("library.")}
    assert parts == POLICY
    assert {name.removeprefix("library.") for name in ours - parts} == LIBRARY


def test_of_the_standard_library(loaded):
    names = {name for name in loaded if name.partition(".")[0] in sys.stdlib_module_names}
    tops = {name for name in names if "." not in name and name[0] != "_" and loaded[name]}
    in_c = {"array", "cmath", "math", "pyexpat", "resource", "select", "unicodedata"}
    assert tops - in_c - STANDARD_LIBRARY == set()


def test_nothing_else(loaded):
    known = sys.stdlib_module_names | {
        "_belljar_guards", "_frozen_importlib", "_frozen_importlib_external", "_sysconfigdata",
        "belljar_policy", "belljar_runner", "RestrictedPython", "__main__",
    }  # fmt: skip
    tops = {name.partition(".")[0].partition("__")[0] or name for name in loaded}
    assert tops - known == set()


def test_rare_modules_are_loaded_by_their_import():
    source = """
    import doctest, html.parser, sched, timeit, logging.config, unittest
    from unittest.mock import Mock
    from html.entities import name2codepoint
    class Tags(html.parser.HTMLParser):
        def handle_starttag(self, tag, attrs):
            print(tag)
    Tags().feed("<p>")
    logging.config.dictConfig({"version": 1})
    case = unittest.TestCase()
    case.assertEqual(Mock(return_value=name2codepoint["lt"])(), 60)
    print(timeit.timeit("1", number=1) >= 0, sched.scheduler().empty(), doctest.testmod().failed)
    """
    lines = "\n".join(line[4:] for line in source.split("\n"))
    ran = subprocess.run(
        [BELLJAR, "run", "--profile", "basic", "-c", lines],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert ran.stdout == "p\nTrue True 0\n", ran.stderr
