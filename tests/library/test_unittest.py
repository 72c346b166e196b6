"""unittest, next to plain CPython."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from tests.policy.harness import assert_runs, assert_stopped, run, run_plain

# Runs the classes of a program at each verbosity, and prints the report.
REPORT = """
import io
def report(*classes):
    for verbosity in (0, 1, 2):
        suite = unittest.TestSuite(
            unittest.defaultTestLoader.loadTestsFromTestCase(each) for each in classes)
        out = io.StringIO()
        result = unittest.TextTestRunner(stream=out, verbosity=verbosity).run(suite)
        print(out.getvalue())
        print(suite.countTestCases(), result.testsRun, result.wasSuccessful())
        for found in (result.errors, result.failures, result.skipped, result.expectedFailures):
            print(len(found), [test.id() for test, _ in found])
"""


def normal(text: str) -> str:
    """Without times, and without the library's own frames, which only plain Python shows."""
    text = re.sub(r"in [0-9.]+s", "in 0.000s", text)
    library = re.escape(sysconfig.get_path("stdlib"))
    return re.sub(rf'  File "{library}/[^\n]*\n(?:    [^\n]*\n)*', "", text)


def assert_same_report(source: str) -> str:
    source = "import unittest\n" + REPORT + source
    ours, plain = assert_runs(source), run_plain(source)
    assert plain.error is None, plain.traceback
    assert normal(ours.stdout) == normal(plain.stdout)
    return ours.stdout


ASSERTIONS = [
    "self.assertEqual(1, 2)",
    "self.assertEqual(1, 2, 'with a message')",
    "self.assertEqual([1, 2, 3], [1, 4, 3])",
    "self.assertEqual((1,), (1, 2))",
    "self.assertEqual({'a': 1, 'b': 2}, {'a': 1, 'b': 3})",
    "self.assertEqual({1, 2}, frozenset({2, 3}))",
    "self.assertEqual({1, 2}, {2, 3})",
    "self.assertEqual('one\\ntwo\\n', 'one\\nthree\\n')",
    "self.assertEqual(list(range(500)), list(range(1, 501)))",
    "self.assertEquals(1, 2) if 0 else self.fail('failed')",
    "self.assertNotEqual(1, 1)",
    "self.assertTrue(0)",
    "self.assertFalse([0])",
    "self.assertIs([], [])",
    "self.assertIsNot(None, None)",
    "self.assertIsNone(1)",
    "self.assertIsNotNone(None)",
    "self.assertIn(1, [])",
    "self.assertNotIn(1, [1])",
    "self.assertIsInstance(1, str)",
    "self.assertNotIsInstance(1, int)",
    "self.assertAlmostEqual(1.0, 1.1)",
    "self.assertAlmostEqual(1.0, 1.5, delta=0.2)",
    "self.assertNotAlmostEqual(1.0, 1.0)",
    "self.assertGreater(1, 2)",
    "self.assertGreaterEqual(1, 2)",
    "self.assertLess(2, 1)",
    "self.assertLessEqual(2, 1)",
    "self.assertRegex('abc', 'x+')",
    "self.assertNotRegex('abc', 'b')",
    "self.assertCountEqual([1, 2, 2], [1, 1, 2])",
    "self.assertSequenceEqual([1], (2,))",
    "self.assertRaises(ValueError, int, '1')",
    "self.assertRaises((ValueError, KeyError), int, '1')",
    "self.assertRaisesRegex(ValueError, 'nothing', int, 'x')",
    "self.assertRaises(int, print)",
    "self.assertRaises(ValueError, msg=1, other=2)",
    "self.assertWarns(UserWarning, int)",
    "self.assertLogs('a', 'INFO').__enter__().__class__.missing",
]


def test_failing_assertions_say_the_same() -> None:
    lines = "\n".join(
        f"    def test_{number:02}(self): {call}" for number, call in enumerate(ASSERTIONS[:-1])
    )
    shown = assert_same_report(f"class T(unittest.TestCase):\n{lines}\nreport(T)\n")
    assert shown.count("\nFAIL: ") == 3 * (len(ASSERTIONS) - 3), shown
    assert shown.count("\nERROR: ") == 3 * 2, shown


def test_passing_assertions() -> None:
    assert_same_report("""
import warnings
class Point:
    def __init__(self, x): self.x = x
class T(unittest.TestCase):
    def test_exceptions(self):
        with self.assertRaises(ZeroDivisionError) as caught:
            1 / 0
        self.assertEqual(str(caught.exception), "division by zero")
        with self.assertRaisesRegex(ValueError, r"in.*lid") as caught:
            int("x")
        self.assertRaises(KeyError, {}.__getitem__, 1)
        with self.assertRaises((KeyError, IndexError)):
            [][0]
    def test_warnings(self):
        with self.assertWarns(DeprecationWarning) as caught:
            warnings.warn("old", DeprecationWarning)
        print(caught.warning, len(caught.warnings))
        with self.assertWarnsRegex(UserWarning, "l+"):
            warnings.warn("hello")
    def test_logs(self):
        import logging
        with self.assertLogs() as caught:
            logging.warning("one %d", 1)
            logging.getLogger("a.b").error("two")
        print(caught.output, [record.levelname for record in caught.records])
        with self.assertNoLogs("a", "ERROR"):
            logging.getLogger("a").info("quiet")
    def test_own_equality(self):
        self.addTypeEqualityFunc(Point, lambda a, b, msg=None: self.assertEqual(a.x, b.x, msg))
        self.assertEqual(Point(1), Point(1))
report(T)
""")


def test_steps_and_their_order() -> None:
    shown = assert_same_report("""
def setUpModule(): print("setUpModule")
def tearDownModule(): print("tearDownModule")
class T(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.shared = [1]
        cls.addClassCleanup(print, "class cleanup")
        print("setUpClass")
    @classmethod
    def tearDownClass(cls): print("tearDownClass", cls.shared)
    def setUp(self):
        self.own = 1
        self._private = 2
        print("setUp", self._testMethodName)
        self.addCleanup(print, "first", end=" cleanup\\n")
        self.addCleanup(print, "second")
    def tearDown(self): print("tearDown", self.own, self._private)
    def test_passes(self):
        "The first line.\\n\\nMore."
        self.shared.append(2)
    def test_fails(self): self.fail("here")
    def test_errs(self): raise KeyError("here")
    def test_chain(self):
        try: 1 / 0
        except ZeroDivisionError as error: raise ValueError("then") from error
    def helper(self): print("not a test")
class Other(T):
    def setUp(self): raise RuntimeError("no setUp")
class Broken(unittest.TestCase):
    @classmethod
    def setUpClass(cls): raise RuntimeError("no setUpClass")
    def test_never(self): print("never")
class Late(unittest.TestCase):
    def tearDown(self): raise RuntimeError("no tearDown")
    def test_passes(self): self.addCleanup(int, "x")
report(T, Other, Broken, Late)
""")
    assert "setUpModule" in shown and "never" not in shown


@pytest.mark.skipif(
    sys.version_info[:3] == (3, 12, 1), reason="3.12.1 counts skipped tests as no other does"
)
def test_skips_and_expected_failures() -> None:
    assert_same_report("""
class T(unittest.TestCase):
    @unittest.skip("reason")
    def test_skip(self): print("never")
    @unittest.skipIf(True, "so")
    def test_skip_if(self): print("never")
    @unittest.skipIf(False, "so")
    def test_not_skipped(self): pass
    @unittest.skipUnless(False, "so")
    def test_skip_unless(self): print("never")
    def test_skip_inside(self): self.skipTest("inside")
    def test_skip_raised(self): raise unittest.SkipTest("raised")
    @unittest.expectedFailure
    def test_fails(self): self.assertEqual(1, 2)
    @unittest.expectedFailure
    def test_does_not(self): pass
@unittest.skip("all of it")
class Skipped(unittest.TestCase):
    def test(self): print("never")
@unittest.expectedFailure
class Failing(unittest.TestCase):
    def test(self): self.fail()
report(T, Skipped, Failing)
""")


def test_subtests() -> None:
    assert_same_report("""
class T(unittest.TestCase):
    def test_some_fail(self):
        for i in range(4):
            with self.subTest(i=i):
                self.assertEqual(i % 2, 0)
    def test_message(self):
        with self.subTest("words", a=1):
            with self.subTest(b=2):
                raise ValueError("inner")
        with self.subTest():
            self.fail("outer")
    def test_skip(self):
        with self.subTest(i=1): self.skipTest("one")
        print("goes on")
    def test_pass(self):
        with self.subTest(i=1): pass
report(T)
""")


def test_loader_and_suite() -> None:
    source = """
import unittest
class T(unittest.TestCase):
    def test_b(self): pass
    def test_a(self): pass
    def check_c(self): pass
loader = unittest.TestLoader()
print(loader.getTestCaseNames(T))
suite = loader.loadTestsFromTestCase(T)
print([str(test) for test in suite], repr(list(suite)[0]), T("test_a") == T("test_a"))
loader.testMethodPrefix = "check"
print(loader.getTestCaseNames(T))
suite = unittest.TestSuite()
suite.addTest(T("test_b"))
suite.addTests([T("test_a"), unittest.TestSuite([T("check_c")])])
print(suite.countTestCases())
result = unittest.TestResult()
print(suite.run(result) is result, result.testsRun)
for wrong in (T, 3, "text"):
    try: suite.addTest(wrong)
    except TypeError as error: print(error)
try: T("missing")
except ValueError as error: print(error)
class Stop(unittest.TestCase):
    def test_1(self): self.fail()
    def test_2(self): print("never")
result = unittest.TestResult()
result.failfast = True
unittest.TestSuite([Stop("test_1"), Stop("test_2")]).run(result)
print(result.testsRun, result.shouldStop)
class Events(unittest.TestResult):
    def startTest(self, test):
        super().startTest(test)
        print("start", test)
    def addSuccess(self, test): print("success")
    def addFailure(self, test, err): print("failure", err[0], err[1])
T("test_a").run(Events())
Stop("test_1")(Events())
"""
    ours, plain = assert_runs(source), run_plain(source)
    assert plain.error is None, plain.traceback
    assert ours.stdout == plain.stdout


def test_names_and_load_tests() -> None:
    ran = assert_runs("""
import unittest
class T(unittest.TestCase):
    def test_a(self): print("a")
    def test_b(self): print("b")
def suite(): return unittest.TestSuite([T("test_b")])
loader = unittest.defaultTestLoader
for name in ("T", "T.test_b", "__main__.T.test_a", "suite"):
    print(name, loader.loadTestsFromName(name).countTestCases())
unittest.main(defaultTest="T.test_b", exit=False, verbosity=0)
unittest.main(argv=["x", "-q", "T.test_a"], exit=False)
def load_tests(loader, tests, pattern):
    print(tests.countTestCases())
    return unittest.TestSuite()
print(unittest.main(exit=False).result.testsRun)
""")
    assert ran.stdout.splitlines() == [
        "T 2", "T.test_b 1", "__main__.T.test_a 1", "suite 1", "b", "a", "2", "0",
    ]  # fmt: skip


def test_a_name_that_is_not_there() -> None:
    assert_stopped("import unittest\nunittest.main(defaultTest='Nothing')", "no test 'Nothing'")


@pytest.mark.parametrize("fails", [False, True])
def test_main_raises_system_exit(fails: bool) -> None:
    source = f"""
    import unittest
    class T(unittest.TestCase):
        def test(self): self.assertEqual(1, {2 if fails else 1})
    if __name__ == "__main__":
        unittest.main()
    """
    ran = run(source)
    assert (ran.error, ran.message) == ("SystemExit", str(fails))


PROGRAM = """\
import unittest

class T(unittest.TestCase):
    def test_passes(self):
        self.assertEqual(1, 1)
    def test_fails(self):
        self.assertEqual(2, 3)

unittest.main()
"""


def test_in_the_sandbox() -> None:
    done = subprocess.run(
        [Path(os.environ["BELLJAR_BUILD"]) / "belljar", "run", "-c", PROGRAM],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 1
    assert done.stdout == ""
    # 3.13 marks the call.
    shown = re.sub(r"\n +~*\^+\n", "\n", normal(done.stderr))
    assert shown.startswith("F.\n" + "=" * 70 + "\nFAIL: test_fails (__main__.T.test_fails)\n")
    assert "line 7, in test_fails\n    self.assertEqual(2, 3)\nAssertionError: 2 != 3\n" in shown
    assert shown.endswith("Ran 2 tests in 0.000s\n\nFAILED (failures=1)\n"), shown
