"""Attacks on unittest, doctest, timeit, inspect, traceback, warnings, logging and help()."""

from __future__ import annotations

import pytest

from tests.escapes.suite import check_attack
from tests.policy.harness import assert_runs, check_refused, run, run_plain

# Each succeeds in plain Python.
ATTACKS = {
    "the code objects of a profile": """
        import cProfile
        p = cProfile.Profile()
        def f(): pass
        p.runcall(f)
        loot = [entry.code for entry in p.getstats() if type(entry.code) is not str][0]
        """,
    "the frame that a profile holds": """
        import profile
        p = profile.Profile()
        p.dispatch = dict(p.dispatch)
        before = p.dispatch['call']
        def see(self, frame, t): kept.append(frame); return before(self, frame, t)
        kept = []
        p.dispatch['call'] = see
        def f(): pass
        p.runcall(f)
        loot = kept[-1]
        """,
    "a profile calls a method of the program's with frames": """
        import profile
        kept = []
        class P(profile.Profile):
            def trace_dispatch_call(self, frame, t):
                kept.append(frame)
                return profile.Profile.trace_dispatch_call(self, frame, t)
            dispatch = {**profile.Profile.dispatch, 'call': trace_dispatch_call}
        def f(): pass
        P().runcall(f)
        loot = kept[-1]
        """,
    "what the interpreter calls while a profile is on": """
        import cProfile, sys, profile
        p = profile.Profile()
        kept = []
        def f(): kept.append(sys.getprofile())
        p.runcall(f)
        loot = kept[0].__self__.cur[-2]
        """,
    "exec without exec: a profile": """
        import cProfile
        got = []
        cProfile.runctx('got.append(__import__("os"))', {'got': got}, {})
        loot = got[0]
        """,
    "a profile's own globals": """
        import cProfile
        loot = cProfile.Profile.print_stats.__globals__['__builtins__']
        """,
    "a profile is set up in another object": """
        import profile
        class Mine:
            bias = 0
            def __setattr__(self, name, value): kept.append((name, value))
        kept = []
        try: profile.Profile.__init__(Mine())
        except AttributeError: pass
        loot = 'escaped' if 'timings' in dict(kept) else None
        """,
    "a table is read from an object of the program's": """
        import pstats
        class Mine:
            stats = {('f', 1, 'g'): (1, 1, 1, 1, {})}
            all_callees = None
        m = Mine()
        pstats.Stats.strip_dirs(m) if 0 else None
        try: pstats.Stats.calc_callees(m)
        except Exception: pass
        loot = 'escaped' if m.all_callees else None
        """,
    "the keys of all tables": """
        import pstats
        pstats.Stats.sort_arg_dict_default['mine'] = (((1, -1),), 'escaped')
        loot = pstats.Stats.sort_arg_dict_default['mine'][1]
        """,
    "tables are replaced for a profile": """
        import contextlib, cProfile, io, pstats
        class S(pstats.Stats):
            def print_stats(self, *amount): kept.append('escaped')
        kept = []
        pstats.Stats = S
        cProfile.Profile().run('1').print_stats()
        loot = kept[0]
        """,
    "a name of a builtin that runs while a profile is on": """
        import cProfile
        ran = []
        class Name:
            def __repr__(self): ran.append(1); return 'x'
        class L(list): append = Name()
        p = cProfile.Profile()
        p.enable()
        list.append(L(), 1)
        p.disable()
        loot = 'escaped' if ran else None
        """,
    "an example of doctest imports": """
        import doctest
        box = []
        def f():
            '''
            >>> box.append(__import__("os"))
            '''
        doctest.run_docstring_examples(f, {"box": box, "f": f})
        loot = box and box[0]
    """,
    "an example runs where its globals have no builtins": """
        import doctest
        box = []
        def f():
            '''
            >>> box.append(getattr(f, "__glo" + "bals__"))
            '''
        doctest.run_docstring_examples(f, {"box": box, "f": f, "__builtins__": __builtins__})
        loot = box and box[0]
    """,
    "an example runs in globals that bring builtins": """
        import doctest
        box = []
        names = {"box": box, "__builtins__": {"getattr": getattr, "len": len}}
        def f():
            '''
            >>> box.append(getattr(len, "__se" + "lf__"))
            '''
        doctest.run_docstring_examples(f, names)
        loot = box and box[0]
    """,
    "an example reads a frame": """
        import doctest
        box = []
        def g():
            yield
        def f():
            '''
            >>> box.append(g().gi_frame)
            '''
        doctest.run_docstring_examples(f, {"box": box, "g": g})
        loot = box and box[0]
    """,
    "testmod finds an example of a class": """
        import doctest
        box = []
        class A:
            @property
            def p(self):
                '''
                >>> box.append(open)
                '''
        try:
            doctest.run_docstring_examples(A.p, {"box": box})
        except TypeError:
            doctest.testmod()
        loot = box and box[0]
    """,
    "timeit imports": """
        import timeit
        box = []
        timeit.timeit("box.append(__import__('os'))", globals={"box": box}, number=1)
        loot = box[0]
    """,
    "timeit imports on a second line": """
        import timeit
        box = []
        timeit.timeit("pass\\nimport os\\nbox.append(os)", globals={"box": box}, number=1)
        loot = box[0]
    """,
    "timeit's setup opens files": """
        import timeit
        box = []
        timeit.timeit("pass", setup="box.append(open)", globals={"box": box}, number=1)
        loot = box[0]
    """,
    "timeit runs in globals without builtins": """
        import timeit
        box = []
        timeit.timeit("box.append(getattr(len, '__se' + 'lf__'))", globals={"box": box}, number=1)
        loot = box[0]
    """,
    "timeit runs text that shows the check another": """
        import timeit
        box = []
        class Text(str):
            def split(self, *args): return ["pass"]
        timeit.timeit(Text("box.append(open)"), globals={"box": box}, number=1)
        loot = box[0]
    """,
    "unittest.main looks a module up": """
        import unittest
        loot = unittest.main(module="os", exit=False, argv=["x"]).module
    """,
    "a loader looks a module up by name": """
        import unittest
        class Loader(unittest.TestLoader):
            def loadTestsFromModule(self, module, *args, **kwargs):
                box.append(module)
                return unittest.TestSuite()
        box = []
        try:
            Loader().loadTestsFromName("os")
        except AttributeError:
            pass
        loot = box and box[0]
    """,
    "a result gets a traceback": """
        import unittest
        class Result(unittest.TestResult):
            def addError(self, test, err):
                box.append(getattr(err[2], "tb_" + "frame"))
        class T(unittest.TestCase):
            def test(self):
                1 / 0
        box = []
        T("test").run(Result())
        loot = box and box[0]
    """,
    "a class fixture's failure has a traceback": """
        import unittest
        class Result(unittest.TestResult):
            def addError(self, test, err):
                box.append(getattr(err[2], "tb_" + "frame"))
        class T(unittest.TestCase):
            @classmethod
            def setUpClass(cls):
                1 / 0
            def test(self):
                pass
        box = []
        unittest.TestSuite([T("test")]).run(Result())
        loot = box and box[0]
    """,
    "an unpacked name of unittest is a module": """
        import unittest
        loot = unittest.loader
    """,
    "a test's method leads to globals": """
        import unittest
        class T(unittest.TestCase):
            def runTest(self):
                pass
        loot = getattr(T().assertEqual, "__glo" + "bals__", None) or getattr(
            getattr(T().assertEqual, "__fu" + "nc__"), "__glo" + "bals__")
    """,
    "members of a function": """
        import inspect
        def f():
            pass
        loot = dict(inspect.getmembers(f))["__globals__"]
    """,
    "a predicate sees the members": """
        import inspect
        box = []
        def f():
            pass
        def keep(value):
            if type(value) is dict and "f" in value:
                box.append(value)
        inspect.getmembers(f, keep)
        loot = box and box[0]
    """,
    "inspect gives frames": """
        import inspect
        loot = inspect.currentframe()
    """,
    "inspect gives modules": """
        import inspect
        loot = inspect.getmodule(inspect.signature)
    """,
    "a log record holds a traceback": """
        import logging
        box = []
        class H(logging.Handler):
            def emit(self, record):
                box.append(getattr(record.exc_info[2], "tb_" + "frame"))
        logging.getLogger().addHandler(H())
        try:
            1 / 0
        except ZeroDivisionError:
            logging.exception("x")
        loot = box[0]
    """,
    "logging's module": """
        import logging
        loot = logging.os
    """,
    "a logger's manager finds the module's globals": """
        import logging
        loot = getattr(logging.getLogger, "__glo" + "bals__")
    """,
    "traceback's objects walk frames": """
        import traceback
        def f():
            try:
                1 / 0
            except ZeroDivisionError as error:
                return next(traceback.walk_tb(error.__traceback__))[0]
        loot = f()
    """,
    "the module of traceback": """
        import traceback
        loot = traceback.sys
    """,
    "warnings gives its modules": """
        import warnings
        loot = warnings.sys
    """,
    "catch_warnings writes into a module that it is given": """
        import warnings
        box = []
        class Module:
            filters = []
            def _filters_mutated(self): pass
            _filters_mutated_lock_held = _filters_mutated  # 3.14
            def __setattr__(self, name, value): box.append(warnings._showwarnmsg_impl)
            showwarning = _showwarning_orig = _showwarnmsg_impl = None
        with warnings.catch_warnings(module=Module(), record=True):
            pass
        loot = getattr(box[-1], "__glo" + "bals__")
    """,
    "a documentation that is not the text that was checked": """
        import doctest
        box = []
        class Text(str):
            def expandtabs(self, *_): return Text(">>> box.append(__import__('os'))")
        def f(): pass
        f.__doc__ = Text("harmless")
        doctest.run_docstring_examples(f, {"box": box})
        loot = box and box[0]
    """,
    "a class's cleanup fails with a traceback": """
        import unittest
        class Result(unittest.TestResult):
            def addError(self, test, err):
                box.append(getattr(err[2], "tb_" + "frame"))
        class T(unittest.TestCase):
            def test(self):
                self.addClassCleanup(lambda: 1 / 0)
        box = []
        unittest.TestSuite([T("test")]).run(Result())
        loot = box and box[0]
    """,
    "a result that is anything gets a traceback": """
        import unittest
        box = []
        class R:
            def __getattr__(self, name): return lambda *args: box.extend(args)
        class T(unittest.TestCase):
            def test(self):
                with self.subTest(): 1 / 0
        T("test").run(R())
        loot = [getattr(error[2], "tb_" + "frame") for error in box if type(error) is tuple]
    """,
    "help() asks a class of the program's": """
        box = []
        class Meta(type):
            @property
            def __doc__(cls):
                try:
                    1 / 0
                except ZeroDivisionError as error:
                    frame = getattr(getattr(error, "__trace" + "back__"), "tb_" + "frame")
                    box.append(getattr(frame, "f_" + "back"))
        class A(metaclass=Meta): pass
        try:
            help(A)
        except AttributeError:
            pass
        loot = box and box[0]
    """,
    "the default of a library function": """
        import difflib, inspect
        default = inspect.signature(difflib.ndiff).parameters["charjunk"].default
        loot = getattr(default, "__glo" + "bals__")
    """,
}


@pytest.mark.parametrize("source", ATTACKS.values(), ids=ATTACKS)
def test_attack(source: str) -> None:
    check_attack(source)


# A method of a library's class would do to anything what it does to its own.
ALIEN_SELF = {
    "Filter": "logging.Filter.__init__(textwrap.TextWrapper(), 'x')",
    "Handler": "logging.Handler.setLevel(textwrap.TextWrapper(), 5)",
    "LogRecord": "logging.LogRecord.__init__(logging.getLogger(), *'abcdefg')",
    "Formatter": "logging.Formatter.__init__(logging.getLogger())",
    "format": """
class Fake:
    exc_info = exc_text = stack_info = None
    def getMessage(self): return 'x'
fake = Fake()
logging.Formatter().format(fake)
assert fake.message == 'x'
""",
    "TestCase": """
class Fake:
    def addTypeEqualityFunc(self, *args): pass
unittest.TestCase.__init__(Fake())
""",
    "TestResult": "unittest.TestResult.__init__(logging.getLogger())",
    "Parameter": (
        "inspect.Parameter.__init__(logging.getLogger(), 'x', inspect.Parameter.KEYWORD_ONLY)"
    ),
    "Timer": "timeit.Timer.__init__(logging.getLogger())",
    "the context of an assertion": """
kind = type(unittest.TestCase().assertRaises(ValueError))
kind.__init__(logging.getLogger(), ValueError, unittest.TestCase())
""",
    "the context of a part": """
class Fake: _outcome = None
with unittest.TestCase.subTest(Fake()): pass
""",
    "WarningMessage": (
        "warnings.WarningMessage.__init__(logging.getLogger(), 'x', UserWarning, 'x', 1)"
    ),
}


@pytest.mark.parametrize("source", ALIEN_SELF.values(), ids=ALIEN_SELF)
def test_methods_insist_on_their_own(source: str) -> None:
    source = "import inspect, logging, textwrap, timeit, unittest, warnings\n" + source
    ran = check_refused(source, "a ", ", not '")  # "takes a Filter", "a LogRecord is needed"
    assert ran.error == "TypeError"


STOPPED = {
    "decorators mark no library function": (
        "unittest.expectedFailure(textwrap.dedent)",
        "only the program's own tests",
    ),
    "no module is looked up": (
        "unittest.main(module='sys', argv=['x'], exit=False)",
        "the tests of the program itself",
    ),
    "a test's name does not lie": (
        "class S(str): pass\nunittest.TestCase(S('run'))",
        "[BJ306]",
    ),
    "no log files": ("logging.basicConfig(filename='/dev/null')", "does not write files"),
    "text that is a subclass": (
        "class S(str): pass\ntimeit.timeit(S('1'))",
        "neither a string",
    ),
    "a format's attribute": (
        "logging.Formatter('{f.__globals__}', style='{', defaults={'f': textwrap.dedent})"
        ".format(logging.makeLogRecord({}))",
        "[BJ308]",
    ),
    "timeit's text is judged": ("timeit.timeit('import glob', number=1)", "BJ201"),
    "discovery": ("unittest.TestLoader().discover('/sys/kernel')", "opens files"),
}  # fmt: skip


@pytest.mark.parametrize(("source", "said"), STOPPED.values(), ids=STOPPED)
def test_stopped(source: str, said: str) -> None:
    check_refused(f"import logging, textwrap, timeit, unittest\n{source}", said)


def test_a_mark_does_not_reach_the_library() -> None:
    source = (
        "import unittest, logging\n"
        "skipped = unittest.skip('x')(logging.Handler)\n"
        "try:\n    skipped()\nexcept unittest.SkipTest as error:\n    print('skipped', error)\n"
        "print(hasattr(logging.Handler, '__unittest_skip__'))\n"
    )
    assert run_plain(source).stdout == "True\n"
    assert run(source).stdout == "skipped x\nFalse\n"


SIGNATURE_IN_A_DICT = """
    import inspect
    def f(): pass
    f.__dict__["__text_signature__"] = "(a=sys.maxsize)"
    loot = inspect.signature(f).parameters.get("a")
    print(loot)
"""


def test_a_signature_is_not_evaluated_from_text() -> None:
    assert "a=" in run_plain(SIGNATURE_IN_A_DICT).stdout  # evaluated
    assert run(SIGNATURE_IN_A_DICT).stdout == "None\n"


def test_defaults_of_library_functions_are_text() -> None:
    source = """
        import difflib, inspect, json, logging
        for function in (json.dumps, logging.getLogger, inspect.signature, difflib.ndiff):
            for parameter in inspect.signature(function).parameters.values():
                value = parameter.default
                if value is not inspect.Parameter.empty:
                    print(type(value).__name__)
    """
    assert "function" in run_plain(source).stdout.split()
    assert set(assert_runs(source).stdout.split()) == {"NoneType", "bool", "_Shown"}


def test_library_frames_are_not_in_texts() -> None:
    source = """
        import io, json, logging, traceback, unittest
        out = io.StringIO()
        class T(unittest.TestCase):
            def test(self): json.loads("{")
        unittest.TextTestRunner(stream=out).run(T("test"))
        try:
            json.loads("{")
        except ValueError:
            traceback.print_exc(file=out)
            logging.basicConfig(stream=out)
            logging.exception("x")
        print(out.getvalue())
    """
    plain = run_plain(source).stdout
    assert "/json/" in plain
    shown = run(source).stdout
    assert shown.count("JSONDecodeError") == 3
    assert "/" not in shown and "belljar" not in shown


def test_an_example_closes_its_own_stream_only() -> None:
    source = """
        import doctest
        def f():
            '''
            >>> import sys
            >>> sys.stdout.close()
            '''
        doctest.testmod()
        print("still here")
    """
    assert run_plain(source).message == "I/O operation on closed file"
    assert assert_runs(source).stdout == "still here\n"
