"""unittest.mock, next to plain CPython."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.policy.harness import assert_refused, assert_runs, assert_same, run

PROGRAM = (Path(__file__).parent / "programs/mocks.py").read_text(encoding="utf-8")


def test_mocks_specifications_and_patches() -> None:
    shown = assert_same(PROGRAM).stdout
    assert "Expected: mock(2)\nActual: mock(1, b=2)" in shown


def test_under_unittest() -> None:
    assert_same("""
    import io, time, unittest
    from unittest.mock import Mock, patch
    def wait(seconds):
        time.sleep(seconds)
        return "waited"
    class Service:
        def load(self): return wait(10)
    @patch("time.sleep")
    class WaitTest(unittest.TestCase):
        def setUp(self):
            patcher = patch.object(Service, "load", return_value="loaded")
            self.load = patcher.start()
            self.addCleanup(patcher.stop)
        def test_wait(self, sleep):
            self.assertEqual(wait(5), "waited")
            sleep.assert_called_once_with(5)
        @patch("__main__.wait", side_effect=RuntimeError("late"))
        def test_two(self, waits, sleep):
            with self.assertRaisesRegex(RuntimeError, "late"):
                wait(1)
            self.assertEqual(Service().load(), "loaded")
            self.assertIsInstance(Mock(spec=Service), Service)
        def test_fails(self, sleep):
            sleep.assert_called_once_with(3)
    out = io.StringIO()
    result = unittest.TextTestRunner(out).run(
        unittest.defaultTestLoader.loadTestsFromTestCase(WaitTest))
    print(result.testsRun, len(result.failures), len(result.errors))
    """)


def test_missing_modules_and_names() -> None:
    ran = assert_runs("""
    import json, unittest.mock
    from unittest.mock import patch
    for target in ("httpx.get", "glob.glob", "time.nothing", "json.nothing.dumps"):
        try:
            with patch(target): print("patched")
        except Exception as error:
            print(type(error).__name__, error)
    print(unittest.mock.patch is patch)
    """)
    assert ran.stdout.splitlines() == [
        "ModuleNotFoundError [BJ201] module 'httpx' is not available in this sandbox",
        "ModuleNotFoundError [BJ201] module 'glob' is not available in this sandbox",
        "AttributeError <module 'time'> does not have the attribute 'nothing'",
        "AttributeError module 'json' has no attribute 'nothing'",
        "True",
    ]


def test_the_calls_modules_are_those_that_patch_finds() -> None:
    ran = run(
        """
        from unittest.mock import patch, AsyncMock
        patch("json.dumps").start()
        """,
        allowed_imports=["unittest"],
    )
    assert ran.error == "ModuleNotFoundError" and "BJ205" in ran.message


@pytest.mark.parametrize(
    "target", ["datetime.datetime.now", "fractions.Fraction.limit_denominator"]
)
def test_a_class_of_the_library_is_patched_by_its_name(target: str) -> None:
    ran = run(f"""
    from unittest.mock import patch
    patch({target!r}).start()
    """)
    assert ran.error == "AttributeError"
    assert "patch('__main__." in ran.message, ran.message


def test_open_without_files() -> None:
    program = """
    from unittest.mock import mock_open, patch
    def load(path):
        with open(path) as file:
            return file.read()
    with patch({target}, mock_open(read_data="data")):
        print(load("x"))
    try: load("x")
    except {error} as error: print("none")
    """
    for target in ('"builtins.open"', '"__main__.open"', 'f"{__name__}.open"'):
        ran = assert_runs(program.format(target=target, error="PermissionError"))
        assert ran.stdout == "data\nnone\n"
    assert_refused("open('x')", "BJ501")


def test_modules_of_the_program() -> None:
    assert_same("""
    import __main__ as here, builtins
    from __main__ import here as again
    x = 1
    here.x += 1
    here.y = 5
    print(x, y, here.x, here is again, hasattr(here, "z"))
    print(builtins.len("ab"), "print" in dir(builtins))
    from builtins import sorted as other
    print(other is sorted, builtins.print is print)
    del here.x
    try: x
    except NameError as error: print(error)
    try: from __main__ import nothing
    except ImportError: print("no such name")
    """)


def test_special_names_of_an_own_object() -> None:
    assert_same("""
    class A:
        def __setattr__(self, name, value):
            print("sets", name)
            object.__setattr__(self, name, value)
    a = A()
    a.__str__ = 1
    a.__len__ = 2
    print(a.__str__, a.__len__, sorted(vars(a)))
    """)


def test_bind_takes_an_argument_called_self() -> None:
    assert_same("""
    import inspect
    def f(self, a): pass
    print(inspect.signature(f).bind(self=1, a=2))
    """)
