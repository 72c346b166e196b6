"""What these packages open, evaluate, unpickle and hand out, tried by programs.

Each attack works in plain Python with the same packages. The language policy promises less here
than without them (docs/policy-surface.md, "Packages that are left open"): these are the ways
that people know.
"""

from __future__ import annotations

import textwrap

import pytest

from tests.policy import harness
from tests.policy.harness import OWN_FILE, Ran

pytestmark = pytest.mark.usefixtures("policy")

PICKLE = "b\"cposix\\nsystem\\n(S'true'\\ntR.\""

# name: (program that ends with `loot`, what the refusal says)
ATTACKS = {
    "np.load unpickles": (
        f"""
        import io, numpy as np
        loot = np.load(io.BytesIO({PICKLE}), allow_pickle=True)
        loot = "escaped"
        """,
        "Failed to interpret",
    ),
    "np.load opens a file": (
        'import numpy as np\ntry:\n    np.load("/etc/hostname")\nexcept ValueError:\n'
        '    loot = "escaped"',
        "BJ502",
    ),
    "np.genfromtxt opens a file": (
        'import numpy as np\nloot = "escaped" if np.genfromtxt("/etc/passwd", str, delimiter=":")'
        '.size else ""',
        "BJ502",
    ),
    "np.loadtxt opens a file": (
        'import numpy as np\nnp.loadtxt("/etc/passwd", str, delimiter="\\0")\nloot = "escaped"',
        "BJ502",
    ),
    "np.array.tofile writes a file": (
        'import numpy as np\nnp.zeros(1).tofile("' + OWN_FILE + '-tofile")\nloot = "escaped"',
        "",  # numpy loses the words of it
    ),
    "read_pickle": (
        f'import io, pandas as pd\npd.read_pickle(io.BytesIO({PICKLE}))\nloot = "escaped"',
        "BJ502",
    ),
    "read_pickle by way of the module that has it": (
        f"import io\nfrom pandas.io.pickle import read_pickle\nread_pickle(io.BytesIO({PICKLE}))\n"
        'loot = "escaped"',
        "BJ201",
    ),
    "read_csv opens a file": (
        """
        import pandas as pd
        frame = pd.read_csv("/etc/passwd", sep="\\x01", engine="python")
        loot = "escaped" if len(frame) else ""
        """,
        "BJ502",
    ),
    "to_csv writes a file": (
        'import pandas as pd\npd.DataFrame({"a": [1]}).to_csv("' + OWN_FILE + '.csv")\n'
        'loot = "escaped"',
        "BJ502",
    ),
    "to_pickle writes a file": (
        'import pandas as pd\npd.Series([1]).to_pickle("' + OWN_FILE + '.pkl")\nloot = "escaped"',
        "BJ502",
    ),
    "query reads a private attribute": (
        """
        import pandas as pd
        class Holder:
            pass
        it = Holder()
        kept = []
        def keep(value):
            kept.append(value)
            return 1
        pd.DataFrame({"a": [1]}).query("a == @keep(@it.__class__)")
        loot = "escaped" if kept else ""
        """,
        "BJ302",
    ),
    "query reaches globals": (
        """
        import pandas as pd
        kept = []
        def keep(value):
            kept.append(value)
            return 1
        pd.DataFrame({"a": [1]}).query("a == @keep(@keep.__globals__)")
        loot = kept[0]
        """,
        "BJ302",
    ),
    "query sees the library's own names": (
        """
        import pandas as pd
        kept = []
        def keep(value):
            kept.append(value)
            return 1
        frame = pd.DataFrame({"a": [1]})
        frame.query("a == @keep(@np)", level=-1, local_dict={"keep": keep})
        loot = kept[0]
        """,
        "",
    ),
    "eval of a frame": (
        """
        import pandas as pd
        kept = []
        def keep(value):
            kept.append(value)
            return 1
        pd.DataFrame({"a": [1]}).eval("b = @keep(@keep.__code__)")
        loot = kept[0]
        """,
        "BJ302",
    ),
    "sympify evaluates": (
        """
        import sympy
        sympy.sympify("__import__('os').system('true')")
        loot = "escaped"
        """,
        "BJ",
    ),
    "sympify walks attributes": (
        """
        import sympy
        loot = sympy.sympify("().__class__.__base__.__subclasses__()")
        loot = "escaped"
        """,
        "BJ",
    ),
    "sympify evaluates without evaluating": (
        """
        import sympy
        sympy.sympify("open('/etc/passwd')", evaluate=False)
        loot = "escaped"
        """,
        "",
    ),
    "parse_expr with names of its own": (
        """
        import sympy
        from sympy.parsing.sympy_parser import parse_expr
        text = "().__class__.__base__.__subclasses__()"
        loot = parse_expr(text, global_dict={"Integer": int}, transformations=())
        loot = "escaped" if type(loot) is list else ""
        """,
        "",
    ),
    "lambdify runs the name of a function": (
        """
        import sympy
        x = sympy.Symbol("x")
        evil = sympy.Function("(lambda v: ().__class__.__base__.__subclasses__())")
        loot = sympy.lambdify(x, evil(x), modules=[{}])(1)
        loot = "escaped" if type(loot) is list else ""
        """,
        "BJ",
    ),
    "lambdify evaluates what a patched printer returns": (
        """
        import sympy
        from unittest.mock import patch
        from sympy.printing.numpy import NumPyPrinter
        x = sympy.Symbol("x")
        evil = lambda *_: "().__class__.__base__.__subclasses__()"
        with patch.object(NumPyPrinter, "doprint", evil):
            loot = sympy.lambdify(x, sympy.sin(x))(1)
        loot = "escaped" if type(loot) is list else ""
        """,
        "BJ",
    ),
    "lambdify imports for a printer": (
        """
        import sympy
        from sympy.printing.numpy import NumPyPrinter
        class Printer(NumPyPrinter):
            def doprint(self, expr):
                self.module_imports["os"].add("getpid")
                return "getpid()"
        x = sympy.Symbol("x")
        loot = sympy.lambdify(x, x, printer=Printer())(1)
        loot = "escaped" if type(loot) is int else ""
        """,
        "BJ",
    ),
    "a formula calls": (
        """
        import pandas as pd
        import statsmodels.formula.api as smf
        frame = pd.DataFrame({"y": [1.0, 2, 4], "x": [1.0, 2, 3]})
        smf.ols("y ~ x + I(__import__('posix').getpid() * x ** 2)", frame)
        loot = "escaped"
        """,
        "BJ",
    ),
    "a formula walks attributes": (
        """
        import pandas as pd
        import statsmodels.formula.api as smf
        def keep():
            pass
        frame = pd.DataFrame({"y": [1.0, 2, 4], "x": [1.0, 2, 3]})
        smf.ols("y ~ x + I(len(keep.__globals__) * x ** 2)", frame)
        loot = "escaped"
        """,
        "BJ",
    ),
    "a formula sees the library's names": (
        """
        import pandas as pd
        import statsmodels.formula.api as smf
        frame = pd.DataFrame({"y": [1.0, 2, 4], "x": [1.0, 2, 3]})
        smf.ols("y ~ x + I(np.ones(3) * x ** 2)", frame, eval_env=0)
        loot = "escaped"
        """,
        "name 'np' is not defined",
    ),
    "a distribution with methods of its own text": (
        """
        from scipy import stats
        class Mine(stats.rv_continuous):
            def __setattr__(self, name, value):
                if name == "_parse_arg_template":
                    value += "\\ndef _parse_args(self):\\n    return open\\n"
                object.__setattr__(self, name, value)
        loot = Mine()._parse_args()
        """,
        "",
    ),
    "a module by an attribute: matplotlib.os": (
        "import matplotlib\nloot = matplotlib.os",
        "BJ202",
    ),
    "a module by an attribute: seaborn.utils.os": (
        "import seaborn\nloot = seaborn.utils.os",
        "BJ202",
    ),
    "a module by an attribute: numpy.ctypeslib": (
        "import numpy\nloot = numpy.ctypeslib.ctypes",
        "BJ202",
    ),
    "a module by its own import": ("from matplotlib import os\nloot = os", "BJ202"),
    "a module that no profile lists": (
        "import numpy.f2py\nloot = numpy.f2py",
        "BJ201",
    ),
    "numpy.testing runs a string": (
        'from numpy.testing import runstring\nit = {}\nrunstring("loot = 1", it)\n'
        'loot = "escaped" if it else ""',
        "BJ202",
    ),
    "a decorator changes a class of the library": (
        "import pandas as pd\nfrom sklearn.utils import deprecated\nbefore = pd.Series.__new__\n"
        'deprecated("")(pd.Series)\nloot = "escaped" if pd.Series.__new__ is not before else ""',
        "BJ202",
    ),
    "classes that no list names": (
        "from sklearn.utils import all_estimators\n"
        'loot = "escaped" if len(all_estimators()) > 100 else ""',
        "BJ202",
    ),
    "a decorator writes to a module": (
        """
        import math
        from sympy import public
        class mine:
            pass
        mine.__module__ = "math"
        public(mine)
        loot = "escaped" if math.__all__ == ["mine"] else ""
        """,
        "BJ202",
    ),
    "as_strided": (
        "import numpy as np\nfrom numpy.lib.stride_tricks import as_strided\n"
        "as_strided(np.zeros(1), (99,), (8,)).sum()\nloot = 'escaped'",
        "BJ202",
    ),
    "a method of a class is set": (
        "import pandas as pd\npd.DataFrame.head = lambda self: 1\n"
        "loot = 'escaped' if pd.DataFrame().head() == 1 else ''",
        "BJ305",
    ),
    "a method of a class is set by name": (
        "import pandas as pd\nsetattr(pd.DataFrame, 'head', lambda self: 1)\n"
        "loot = 'escaped' if pd.DataFrame().head() == 1 else ''",
        "BJ305",
    ),
    "the globals of a library's function": (
        "import pandas as pd\nloot = pd.concat.__globals__",
        "BJ",
    ),
    "a private module of an array's C code": (
        "import numpy as np\nloot = np.array.__self__ if hasattr(np.array, '__self__') else np.sum"
        ".__wrapped__.__globals__",
        "BJ",
    ),
    "arrays of another's __array_function__": (
        """
        import numpy as np
        class Spy(np.ndarray):
            def __array_function__(self, func, types, args, kwargs):
                return func.__wrapped__.__globals__
        loot = np.mean(np.zeros(2).view(Spy))
        """,
        "BJ",
    ),
}


def run(source: str) -> Ran:
    return harness.run(source, kind="restricted:data-science")


@pytest.mark.parametrize("name", ATTACKS)
def test_attack(name: str) -> None:
    source, said = ATTACKS[name]
    source = textwrap.dedent(source)
    plain = harness.run_plain(source, kind="plain:data-science")
    assert plain.loot, f"the control fails: {plain.error}: {plain.message}"
    ran = run(source)
    assert not ran.loot, "escaped"
    assert ran.error not in {"Died", "HarnessError"}, (ran.signal, ran.message)
    assert said in ran.message or said in " ".join(ran.rules), (ran.error, ran.message, ran.rules)


def test_what_a_program_sets_on_a_module_is_not_called_by_the_library() -> None:
    source = textwrap.dedent(
        """
        import numpy as np, pandas as pd
        called = []
        real = np.asarray
        def spy(*args, **names):
            called.append(1)
            return real(*args, **names)
        np.asarray = spy
        np.asarray([1])
        own = len(called)
        pd.cut([1, 2, 3], 2)
        loot = own == 1 < len(called) and 'escaped'
        np.asarray = real
        """
    )
    plain = harness.run_plain(source, kind="plain:data-science")
    assert plain.loot, f"the control fails: {plain.error}: {plain.message}"
    ran = run(f"{source}\nprint(own)")
    assert (ran.error, ran.stdout) == (None, "1\n"), (ran.error, ran.message, ran.stdout)
    assert not ran.loot, "escaped"


def test_distributions_of_ones_own_work() -> None:
    ran = run(
        """
        from scipy import stats
        class Triangle(stats.rv_continuous):
            def _pdf(self, x, top):
                return 2 * x / top**2
        one = Triangle(a=0, b=1, shapes="top", name="triangle")
        print(round(one.cdf(0.5, 1.0), 6), one(1.0).mean().round(6))
        """
    )
    assert ran.error is None, ran.traceback
    assert ran.stdout == "0.25 0.666667\n"


def test_jobs_run_one_after_the_other() -> None:
    ran = run(
        """
        import numpy as np
        from sklearn.ensemble import RandomForestClassifier
        from sklearn.model_selection import GridSearchCV
        x, y = np.arange(40.0).reshape(-1, 1), np.arange(40) % 2
        model = RandomForestClassifier(n_estimators=4, n_jobs=2, random_state=0)
        print(GridSearchCV(model, {"max_depth": [1, 2]}, n_jobs=-1, cv=2).fit(x, y).best_params_)
        """
    )
    assert ran.error is None, ran.traceback


def test_buffers_do_what_files_do() -> None:
    ran = run(
        """
        import io
        import numpy as np, pandas as pd, matplotlib.pyplot as plt
        text = io.StringIO()
        pd.DataFrame({"a": [1, 2]}).to_csv(text, index=False)
        text.seek(0)
        assert pd.read_csv(text).a.sum() == 3
        data = io.BytesIO()
        plt.plot([1, 2])
        plt.savefig(data, format="svg")
        assert b"<svg" in data.getvalue()
        saved = io.BytesIO()
        np.savez(saved, a=np.arange(3))
        saved.seek(0)
        assert np.load(saved)["a"].sum() == 3
        assert np.loadtxt(io.StringIO("1 2\\n3 4")).sum() == 10
        assert np.genfromtxt(["1,2", "3,4"], delimiter=",").shape == (2, 2)
        """
    )
    assert ran.error is None, ran.traceback


@pytest.mark.parametrize(
    "source",
    [
        "from scipy import stats\nassert stats.make_distribution(stats.gamma)(a=1).mean() == 1",
        "from sympy import Abs, plot_implicit, symbols\n"
        "x, y = symbols('x y')\nplot_implicit(Abs(x) + y**2 < 3)",
        "import io\nfrom scipy import sparse\nfile = io.BytesIO()\n"
        "sparse.save_npz(file, sparse.eye_array(2, format='csr'))\nfile.seek(0)\n"
        "assert sparse.load_npz(file).shape == (2, 2)",
    ],
    ids=["make_distribution", "plot_implicit", "load_npz"],
)
def test_libraries_read_their_own_modules_by_names_that_they_make(source: str) -> None:
    ran = run(source)
    assert ran.error is None, ran.traceback


def test_what_is_refused_says_what_to_do() -> None:
    message = run('import pandas as pd\npd.read_csv("data.csv")').message
    assert "io.StringIO" in message and "profile" in message
    message = run('import matplotlib.pyplot as plt\nplt.plot([1])\nplt.savefig("a.png")').message
    assert "io.BytesIO" in message


def test_judged_text_does_what_it_says() -> None:
    ran = run(
        """
        import pandas as pd, sympy
        import statsmodels.formula.api as smf
        frame = pd.DataFrame({"y": [1.0, 2, 4, 8], "x": [1.0, 2, 3, 4]})
        limit = 2
        def double(values):
            return values * 2
        def inside():
            local = 3
            return frame.query("x > @local").shape[0]
        print(frame.query("x > @limit and y < 9").shape, inside())
        print(frame.eval("z = x + y").z.sum(), frame.query("`x` == 1").y.item())
        print(smf.ols("y ~ double(x)", frame).fit().params.round(3).tolist())
        print(sympy.sympify("x + 1").subs("x", 2), sympy.sympify("max(2, y)"))
        """
    )
    assert ran.error is None, ran.traceback
    assert ran.stdout.splitlines() == [
        "(2, 2) 1",
        "25.0 1.0",
        "[-2.0, 1.15]",
        "3 Max(2, y)",
    ]
