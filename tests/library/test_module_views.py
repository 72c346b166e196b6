"""Names that a program sets on a module: its own code sees them, and nobody else does."""

from __future__ import annotations

import pytest

from tests.policy.harness import assert_runs, assert_same, assert_stopped, run, run_plain

AS_IN_PYTHON = {
    "a function": """
        import random
        before = random.random
        random.random = lambda: 0.5
        print(random.random(), random.random is before)
        from random import random as again
        print(again())
        random.random = before
        print(random.random is before)
        """,
    "a function that the program calls elsewhere": """
        import time
        def work():
            time.sleep(1000)
        time.sleep = lambda seconds: print('slept', seconds)
        work()
        """,
    "a class": """
        import datetime
        class Fixed(datetime.date):
            @classmethod
            def today(cls):
                return cls(2020, 1, 2)
        datetime.date = Fixed
        print(datetime.date.today(), isinstance(datetime.date.today(), datetime.date))
        """,
    "a name that the module does not have": """
        import collections, collections.abc
        collections.Callable = collections.abc.Callable
        print(isinstance(print, collections.Callable), 'Callable' in dir(collections))
        del collections.Callable
        print(hasattr(collections, 'Callable'), 'Callable' in dir(collections))
        """,
    "in every way": """
        import math
        math.pi += 1
        print(round(math.pi, 2))
        setattr(math, 'sqrt', len)
        print(math.sqrt('abc'), getattr(math, 'sqrt')('ab'))
        for math.e in [1, 2]:
            pass
        (math.tau, x) = (7, 8)
        print(math.e, math.tau, [setattr(math, 'inf', f) for f in [3]], math.inf)
        match math:
            case object(sqrt=found):
                print(found is len)
        """,
    "a submodule": """
        import os
        class Mine:
            sep = 'mine'
        os.path = Mine
        print(os.path.sep)
        import os.path as path
        print(path.join('a', 'b') if path is not Mine else 'a/b')
        """,
    "a mock over it": """
        import random
        from unittest.mock import patch
        random.random = lambda: 1
        with patch('random.random', lambda: 2):
            print(random.random())
        print(random.random())
        """,
    "what sys does with it": """
        import io, sys
        sys.stdout, before = io.StringIO(), sys.stdout
        print('kept')
        text = sys.stdout.getvalue()
        sys.stdout = before
        print(text)
        sys.exit = lambda code=0: print('no exit', code)
        sys.exit(3)
        """,
}


@pytest.mark.parametrize("name", AS_IN_PYTHON)
def test_as_in_python(name: str) -> None:
    assert_same(AS_IN_PYTHON[name])


def test_the_librarys_own_code_does_not_see_it() -> None:
    source = """
        import io, json
        json.loads = lambda text, **options: 'mine'
        print(json.load(io.StringIO('1')))
        """
    assert run_plain(source).stdout == "mine\n"
    assert assert_runs(source).stdout == "1\n"


def test_the_next_program_does_not_see_it() -> None:
    assert_runs("import math\nmath.pi = 3\nprint(math.pi)")
    assert assert_runs("import math\nprint(math.pi > 3)").stdout == "True\n"


def test_a_deletion_gives_the_librarys_back() -> None:
    source = "import math\nbefore = math.pi\nmath.pi = 3\ndel math.pi\nprint(math.pi == before)"
    assert assert_runs(source).stdout == "True\n"


@pytest.mark.parametrize(
    ("store", "text"),
    [
        # The interpreter would have to read it: a program must not believe that it does.
        ("sys.excepthook = print", "[BJ305] 'excepthook' of module 'sys' may not be set"),
        ("setattr(sys, 'settrace', print)", "the profile withholds it"),
        ("warnings.showwarning = print", "[BJ305] 'showwarning' of module 'warnings'"),
        ("threading.excepthook = print", "[BJ305] 'excepthook' of module 'threading'"),
        ("logging.config.listen = print", "[BJ305] 'listen' of module 'logging.config'"),
        ("sys._mine = 1", "[BJ302]"),
        ("setattr(sys, '@write', 1)", "may not be set"),
        ("setattr(sys, '__import__', 1)", "belongs to the interpreter"),
        ("del sys.maxsize", "[BJ305] 'maxsize' of module 'sys' may not be deleted"),
    ],
)
def test_what_cannot_be_set_says_so(store: str, text: str) -> None:
    assert_stopped(f"import logging.config, sys, threading, warnings\n{store}", text)


def test_a_name_that_is_no_plain_string_sets_nothing() -> None:
    ran = run("""
        import math
        class Name(str): pass
        setattr(math, Name('pi'), 3)
        """)
    assert ran.error is not None and "[BJ306]" in ran.message
