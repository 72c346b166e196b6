"""Files of the program's own that it imports: what they must not reach, and what must not be read."""

# ruff: noqa: E501 (attacks are kept as an attacker writes them)
from __future__ import annotations

import io
import os
import subprocess
import sys
import sysconfig
import textwrap
import zipfile
from importlib import _bootstrap_external
from pathlib import Path
from typing import Any

import pytest

from tests.policy import harness
from tests.policy.harness import Ran, run

MEMORY, DISK = "restricted", "restricted:filesystem"

# Name: (the program, its files).
ATTACKS: dict[str, tuple[str, dict[str, str]]] = {
    "a module that imports os": ("from helper import loot", {"helper.py": "import os as loot"}),
    "a module of a package that imports os": (
        "from pkg.a import loot", {"pkg/__init__.py": "", "pkg/a.py": "from os import system as loot"}),
    "the globals of its function": (
        "import helper\nloot = helper.f.__globals__", {"helper.py": "def f(): pass"}),
    "the globals of its function by getattr": (
        "import helper\nloot = getattr(helper.f, '__glo' + 'bals__')", {"helper.py": "def f(): pass"}),
    "its builtins": ("import helper\nloot = helper.__builtins__", {"helper.py": ""}),
    "its builtins by getattr": (
        "import helper\nloot = getattr(helper, '__built' + 'ins__')", {"helper.py": ""}),
    "its builtins in its own globals": (
        "from helper import loot", {"helper.py": "loot = globals()['__builtins__']"}),
    "its dict": ("import helper\nloot = vars(helper)", {"helper.py": ""}),
    "its dict's builtins": ("import helper\nloot = helper.__dict__['__builtins__']", {"helper.py": ""}),
    "its loader": (
        "import helper\nloot = helper.__loader__.get_data.__func__.__globals__", {"helper.py": ""}),
    "its spec": (
        "import helper\nloot = helper.__spec__.loader.get_data.__func__.__globals__", {"helper.py": ""}),
    "its spec by getattr": (
        "import helper\nloot = getattr(getattr(helper, '__sp' + 'ec__').loader.get_data, '__glo' + 'bals__')",
        {"helper.py": ""}),
    "the class of a module": (
        """
        import helper
        class Module(type(helper)):
            @property
            def loot(self): return self.__dict__
        helper.__class__ = Module
        loot = helper.loot
        """, {"helper.py": ""}),
    "a __getattr__ of the module": (
        "from helper import anything as loot",
        {"helper.py": "def __getattr__(name):\n    import os\n    return os"}),
    "a submodule of the library's under a name of its own": (
        "from collections import abc as loot", {"collections/__init__.py": ""}),
    "a private submodule of the library's": (
        "import json\nfrom json import scanner as loot", {"json.py": ""}),
    "what is removed between two names of one statement": (
        """
        import os
        os.a = 1
        class Removes:
            def __del__(self):
                del os.path
        a = Removes()
        from os import a, path
        loot = path
        """, {"os.py": "path = 2"}),
    "what a patch removes between two names": (
        """
        import json
        from unittest.mock import patch
        patched = patch('json.scanner', 1)
        patched.start()
        class Removes:
            def __del__(self):
                patched.stop()
                if hasattr(json, 'scanner'):
                    del json.scanner
        loads = Removes()
        try:
            from json import loads, scanner
            loot = scanner
        except ImportError:
            loot = None
        """, {"helper.py": ""}),
    "a module that has the name of a hook": (
        """
        import importlib
        found = importlib.import_module('pkg.@write')
        loot = 'escaped' if getattr(importlib.import_module('pkg'), '@write', None) is found else None
        """, {"pkg/__init__.py": "", "pkg/@write.py": ""}),
    "a star that binds the name of a hook": (
        "from helper import *\nloot = 'escaped' if '@write' in globals() else None",
        {"helper.py": "globals()['@write'] = print\n__all__ = ['@write']"}),
    "a star that binds the builtins": (
        "from helper import *\nloot = globals()['__builtins__']", {"helper.py": "__all__ = ['__builtins__']"}),
    "a star whose names are the module's own class": (
        """
        from helper import *
        loot = 'escaped' if '@write' in globals() else None
        """,
        {"helper.py": "class Name(str):\n    def __eq__(self, other): return True\n"
                      "    def __hash__(self): return hash('@write')\n"
                      "globals()['@write'] = print\n__all__ = [Name('@write')]"}),
    "text that runs in the module": (
        "import helper\nexec('loot = __builtins__', helper.__dict__)\nloot = helper.loot", {"helper.py": ""}),
    "the frame of an import": (
        "import helper\nloot = helper.loot",
        {"helper.py": "try:\n    1 / 0\nexcept ZeroDivisionError as e:\n    loot = e.__traceback__.tb_frame"}),
    "a frame of who imports it": (
        "try:\n    import helper\nexcept ValueError as e:\n    loot = e.__traceback__.tb_next.tb_frame",
        {"helper.py": "raise ValueError"}),
    "a module of the library's is replaced for the library": (
        "loot = None\nimport argparse",
        {"gettext.py": "import __main__\n__main__.loot = 'escaped'\n"
                       "def gettext(text): return text\ndef ngettext(a, b, n): return a\n"}),
    "a package whose path leads to the library's": (
        "from pkg import ElementTree as loot",
        {"pkg/__init__.py": "import xml.etree\n__path__ = list(xml.etree.__path__)"}),
    "__package__ is another": (
        "import helper\nloot = helper.loot",
        {"helper.py": "__package__ = 'xml.etree'\nimport xml.etree.ElementTree\nfrom . import ElementTree as loot"}),
    "a module that puts another into sys.modules": (
        "import helper\nimport other as loot",
        {"helper.py": "import sys\nimport os\nsys.modules['other'] = os", "other.py": ""}),
    "a module says that it is the library's": (
        "import helper\nloot = helper.C.__module__ == 'os' and __import__('sys').modules[helper.C.__module__]",
        {"helper.py": "__name__ = 'os'\nclass C: pass"}),
    "text in another encoding": (
        "from helper import loot", {"helper.py": "# coding: utf-7\n+AGkAbQBwAG8AcgB0- os as loot\n"}),
}  # fmt: skip


def check(
    source: str, folder: Path, given: dict[str, str], kind: str = MEMORY, *, before: str = ""
) -> Ran:
    """Succeeds in plain Python with the same files, and is contained."""
    source = before + textwrap.dedent(source)
    for each in ("plain", "ours"):
        (folder / each).mkdir()
    harness.assert_escapes_in_plain_python(source, folder=str(folder / "plain"), files=given)
    where: dict[str, Any] = {"modules" if kind == MEMORY else "files": given}
    return harness.assert_contained(source, kind=kind, folder=str(folder / "ours"), **where)


@pytest.mark.parametrize("kind", [MEMORY, DISK])
@pytest.mark.parametrize("name", ATTACKS)
def test_attack(name: str, kind: str, tmp_path: Path) -> None:
    source, given = ATTACKS[name]
    check(source, tmp_path, given, kind)


LOOT = "from os import path as loot\n"


def test_a_link_that_leads_out_is_no_module(tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "secret.py").write_text("loot = 'escaped'\n")
    outside = tmp_path / "outside"
    for number, given in enumerate(
        (
            {"helper.py": f"-> {outside}/secret.py"},
            {"helper": f"-> {outside}"},
            {"helper/__init__.py": "", "helper/secret.py": "-> ../../../outside/secret.py"},
        )
    ):
        folder = tmp_path / str(number)
        folder.mkdir()
        source = "import importlib\nloot = importlib.import_module('helper{}').loot"
        source = source.format(".secret" if number else "")
        ran = check(source, folder, given, DISK)
        assert ran.error == "ModuleNotFoundError", ran


def test_a_link_inside_is_one(tmp_path: Path) -> None:
    given = {"real.py": "x = 3\n", "helper.py": "-> real.py"}
    ran = run("import helper\nprint(helper.x)", kind=DISK, folder=str(tmp_path), files=given)
    assert ran.stdout == "3\n", ran


def test_bytecode_is_not_read(tmp_path: Path) -> None:
    code = compile(LOOT, "helper.py", "exec")
    bytecode = _bootstrap_external._code_to_timestamp_pyc(code)  # type: ignore[attr-defined]
    text = bytes(bytecode).decode("latin-1")
    ran = check("from helper import loot", tmp_path, {"helper.pyc": text}, DISK)
    assert ran.rules == ["BJ201"]
    # Nor that beside the text, whatever its age.
    cached = {
        "helper.py": "x = 1\n",
        f"__pycache__/helper.{sys.implementation.cache_tag}.pyc": text,
    }
    ran = run("from helper import x, loot", kind=DISK, folder=str(tmp_path / "ours"), files=cached)
    assert ran.error == "ImportError", ran


def test_native_code_is_not_loaded(tmp_path: Path) -> None:
    found = sorted(Path(sysconfig.get_config_var("DESTSHARED")).glob("_*.so"))
    names = {path.name.partition(".")[0]: path for path in found}
    name = next(each for each in names if each not in sys.modules)
    given = {names[name].name: names[name].read_bytes().decode("latin-1")}
    ran = check(f"import {name} as loot", tmp_path, given, DISK)
    assert ran.rules == ["BJ201"]


def test_archives_are_not_searched(tmp_path: Path) -> None:
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as writer:
        writer.writestr("helper.py", LOOT)
    given = {"lib.zip": archive.getvalue().decode("latin-1")}
    check(
        "import sys\nsys.path.insert(0, 'lib.zip')\nfrom helper import loot", tmp_path, given, DISK
    )


@pytest.mark.parametrize("name", ["sitecustomize", "usercustomize"])
def test_no_file_runs_by_itself(name: str, tmp_path: Path) -> None:
    given = {f"{name}.py": "print('runs')\n"}
    (tmp_path / f"{name}.py").write_text(given[f"{name}.py"])
    plain = subprocess.run(
        [sys.executable, "-c", "import site"],
        env={**os.environ, "PYTHONPATH": str(tmp_path), "ENABLE_USER_SITE": "1"},
        capture_output=True,
        text=True,
    )
    assert plain.stdout == ("runs\n" if name == "sitecustomize" else plain.stdout)
    harness.runs.plain += 1
    for kind in (MEMORY, DISK):
        where: dict[str, Any] = {"modules" if kind == MEMORY else "files": given}
        (tmp_path / kind).mkdir()
        assert (
            run("print('mine')", kind=kind, folder=str(tmp_path / kind), **where).stdout == "mine\n"
        )


@pytest.mark.uncontrolled  # plain Python has none of these modules
@pytest.mark.parametrize("name", ["belljar_policy", "_belljar_guards", "belljar_runner"])
def test_a_file_named_as_ours_is_the_programs(name: str, tmp_path: Path) -> None:
    given = {
        f"{name}/__init__.py": "x = 1\nclass C: pass\n",
        f"{name}/library/__init__.py": "y = 2\n",
    }
    ran = run(
        f"import {name}, {name}.library\nprint({name}.x, {name}.library.y, {name}.C.__module__)\n"
        f"try:\n    from {name} import transformer as loot\nexcept ImportError:\n    print('no')",
        folder=str(tmp_path),
        modules=given,
    )
    assert ran.stdout == f"1 2 own {name}\nno\n", ran
    assert not ran.loot


def test_ten_thousand_files(tmp_path: Path) -> None:
    given = {f"m{i}.py": f"import m{i + 1}\nx = {i}\n" for i in range(9_999)}
    given |= {"m9999.py": "x = 9999\n", "wide/__init__.py": ""}
    ran = run("import m9998\nprint(m9998.x, m9998.m9999.x)", folder=str(tmp_path), modules=given)
    assert ran.stdout == "9998 9999\n", ran
    # Deeper than calls may nest, as in plain Python.
    ran = run(
        "try:\n    import m0\nexcept RecursionError:\n    print('too deep')",
        folder=str(tmp_path),
        modules=given,
    )
    assert (ran.stdout, ran.signal) == ("too deep\n", 0), ran.traceback
    harness.runs.plain += 1


def test_a_large_file_is_refused(tmp_path: Path) -> None:
    given = {"helper.py": "x = 1\n#" + "x" * (1 << 20)}
    ran = run("import helper", folder=str(tmp_path), modules=given)
    assert ran.error == "SyntaxError" and "[BJ003]" in ran.message, ran
    plain = harness.run_plain("import helper", folder=str(tmp_path), files=given)
    assert plain.error is None


@pytest.mark.parametrize(
    "text", ["x = '\xff'\n", "x = 1\0\n", "# coding: latin-1\nx = '\xff'\n", "x = (\n", "\x80"]
)
@pytest.mark.uncontrolled  # what some of these say in plain Python depends on its version
def test_text_that_is_none_is_a_syntax_error(text: str, tmp_path: Path) -> None:
    ran = run("import helper", folder=str(tmp_path), modules={"helper.py": text})
    assert ran.error == "SyntaxError", ran
    assert 'File "helper.py"' in ran.traceback


@pytest.mark.uncontrolled  # what the next cells see is tests/inside'
def test_a_module_is_changed_by_the_program_and_by_no_library(tmp_path: Path) -> None:
    """The program writes to its own modules, also by sys.modules, and to no other but for itself."""
    ran = run("""
        import io, sys, helper, json
        sys.modules['helper'].x = 2
        print(helper.x, helper.get())
        sys.modules['helper'] = None
        import helper as again
        print(again is helper)
        sys.modules['json'].loads = lambda text, **options: 'mine'
        print(json.loads('3'), json.load(io.StringIO('3')))
        """, folder=str(tmp_path), modules={"helper.py": "x = 1\ndef get(): return x\n"})  # fmt: skip
    assert ran.stdout == "2 2\nTrue\nmine 3\n", ran


def test_a_library_module_of_the_name_is_the_librarys(tmp_path: Path) -> None:
    """A file that stands for a module of the library in the program does so nowhere else: not for
    what is looked up by a class's module either."""
    ran = run("""
        import enum, typing, json
        print(json.A(1), json.A.__module__, json.dumps)
        print(typing.get_type_hints(json.A))
        import logging.config
        """, folder=str(tmp_path), modules={
            "json.py": "from __future__ import annotations\nfrom dataclasses import dataclass\n"
                       "dumps = 'mine'\nclass Mine: pass\n@dataclass\nclass A:\n    x: Mine\n"})  # fmt: skip
    assert ran.error is None, (ran.findings, ran.traceback)
    assert ran.stdout.startswith("A(x=1) own json mine\n{'x': <class 'own json.Mine'>}"), ran
    harness.runs.plain += 1
