"""Modules of data and text, which are loaded when a program imports them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.policy.harness import assert_runs, assert_same, assert_stopped, run

FOLDER = Path(__file__).parent / "programs"


@pytest.mark.parametrize(
    "name", ["data_modules", "messages", "own_sources", "pickled", "pure_paths"]
)
def test_program(name: str) -> None:
    source = (FOLDER / f"{name}.py").read_text(encoding="utf-8")
    assert assert_same(source).stdout


def test_the_main_module_takes_no_name_of_a_hook_or_of_the_interpreter() -> None:
    for name in ("@write", "@private", "__builtins__", "__import__"):
        source = f"import sys\nsetattr(sys.modules['__main__'], {name!r}, None)"
        assert run(source).error is not None, name


def test_namespaces_of_argparse_keep_no_secrets_and_give_none() -> None:
    assert_same("""
    import argparse
    a = argparse.Namespace(x=1)
    a._y = 2
    vars(a)['z'] = 3
    print(sorted(vars(a)), a._y, a.z, a == argparse.Namespace(x=1, _y=2, z=3), a)
    """)
    assert_stopped("import argparse\nvars(argparse.ArgumentParser())", "[BJ301]")


@pytest.mark.parametrize(
    "load", ["import ipaddress as m", "import importlib\nm = importlib.import_module('ipaddress')"]
)
def test_a_class_made_while_a_module_loads_is_the_librarys(load: str) -> None:
    # Before the program starts, and while it runs.
    assert_stopped(f"{load}\nm.IPv4Address.extra = 1", "[BJ305]")
    assert_stopped(f"{load}\nclass Mine(m.IPv4Address): pass", "[BJ404]")
    assert_runs(f"{load}\nprint(m.ip_address('10.0.0.1').is_private)")


def test_a_call_that_narrows_the_imports_narrows_those_by_name() -> None:
    source = "import importlib\nprint(importlib.import_module('math').pi)"
    assert run(source, allowed_imports=["importlib", "math"]).error is None
    assert run(source, allowed_imports=["importlib"]).error == "ModuleNotFoundError"


def test_what_is_known_of_the_machine_is_not_the_hosts() -> None:
    ran = assert_runs("""
    import getpass, platform, sys
    print(platform.node(), platform.release() + platform.version(), getpass.getuser())
    print(platform.system(), repr(sys.executable), sys.path)
    """)
    assert ran.stdout == "localhost  user\nLinux '/usr/bin/python3' ['']\n"


def test_passwords_are_lines_of_input() -> None:
    ran = assert_runs("import getpass\nprint(len(getpass.getpass()), input())", stdin="secret\nx\n")
    assert ran.stdout == "6 x\n"


def test_an_error_handler_has_a_name_of_its_own() -> None:
    assert_same("""
    import codecs
    codecs.register_error("mine", lambda error: ("?", error.end))
    print("añb".encode("ascii", "mine"))
    """)
    assert_stopped("import codecs\ncodecs.register_error('strict', print)", "[BJ502]")


def test_text_in_annotations_is_checked() -> None:
    ran = run('import typing\nclass A:\n    x: "(lambda: 0).__globals__"\ntyping.get_type_hints(A)')
    assert ran.error == "PermissionError" and "[BJ301]" in ran.message


def test_sources_are_the_programs() -> None:
    for value in ("print", "inspect.signature", "dict"):
        ran = run(f"import inspect\ninspect.getsource({value})")
        assert ran.error in ("OSError", "TypeError"), value


def test_every_late_module_can_be_loaded_while_the_program_runs() -> None:
    from belljar_policy import reviewed

    names = sorted((reviewed.LATE | reviewed.LATE_ANYWAY) - {"shelve"})  # which needs files
    assert_runs(f"""
    import importlib
    class Mine(Exception): pass
    for name in {names}:
        assert importlib.import_module(name).__name__ == name
    from io import StringIO
    m = importlib.import_module('email').message_from_string('Subject: x\\n\\ny')
    assert m['subject'] == 'x'
    """)
