"""Ways out of the language policy through these packages, each by its class.

Every attack is a function that returns something true where it succeeds. Those of a class run in
one process: in plain Python, where each must succeed, and in the sandbox, where each must be
stopped with the words beside it.
"""

from __future__ import annotations

import json
import textwrap

import pytest

from tests.data_science import forward_attacks, import_attacks, late_attacks
from tests.data_science.import_attacks import NOTHING
from tests.policy import harness
from tests.policy.harness import OWN_FILE

pytestmark = pytest.mark.usefixtures("policy")

# class: (what its attacks share, {what is tried: (body of the function, what stops it)})
ATTACKS: dict[str, tuple[str, dict[str, tuple[str, str]]]] = {
    "imports": (import_attacks.SHARED, import_attacks.ATTACKS),
    "forwarders": (forward_attacks.SHARED, forward_attacks.ATTACKS),
    "late packages": (late_attacks.SHARED, late_attacks.ATTACKS),
    # A special method that is C all the way has no frame: the nearest is the package's, whose code
    # makes classes itself. A class of the library's may name private attributes in patterns.
    "classes without a frame": (
        """
        import abc, dataclasses, fractions, functools, itertools
        import numpy as np, pandas as pd, sympy
        caught = []
        class Tell:
            def __set_name__(self, owner, name):
                caught.append(owner)
        def forging(**names):
            caught.clear()
            namespace = {"t": Tell(), **names}
            forge = functools.partial(
                next, itertools.starmap(abc.ABCMeta, [("C", (), namespace)] * 100))
            class Key:
                __float__ = __int__ = __index__ = __len__ = __iter__ = __bool__ = forge
                __add__ = __mul__ = __getitem__ = __eq__ = __str__ = forge
                __hash__ = object.__hash__
            return Key()
        def run(function, *args):
            try:
                function(*args)
            except Exception:
                pass
        def reads():
            for C in caught:
                C.register(fractions.Fraction)
                try:
                    match fractions.Fraction(3, 4):
                        case C(value):
                            return value == 3
                except TypeError:  # it accepts no sub-patterns
                    pass
        PRIVATE = {"__match_args__": ("_numerator",)}
        """,
        {
            "numpy": ("run(np.mean, forging(**PRIVATE))\nreturn reads()", NOTHING),
            "pandas": (
                "key = forging(**PRIVATE)\nrun(pd.MultiIndex, key, key)\nreturn reads()",
                NOTHING,
            ),
            "sympy": (
                "key = forging(**PRIVATE)\nrun(sympy.integrate, key, key)\nreturn reads()",
                NOTHING,
            ),
            "a data class later": (
                """
                run(np.mean, forging(**{"__annotations__": {"_numerator": int}}))
                run(dataclasses.dataclass, caught[0])
                return reads()
                """,
                NOTHING,
            ),
            "it says that it is another": (
                """
                run(np.mean, forging(**{"__class__": fractions.Fraction}))
                return any(isinstance(C(), fractions.Fraction) for C in caught)
                """,
                NOTHING,
            ),
        },
    ),
    # The runner shows tables after the program: what it calls is the library's.
    "accessors": (
        """
        import pandas as pd
        from pandas.api import extensions
        class Mine:
            def __init__(self, frame): self.frame = frame
            def __call__(self, *args, **options): return "mine"
        def replaced(cls, name, register=extensions.register_dataframe_accessor):
            before = getattr(cls, name, None)
            register(name)(Mine)
            done = getattr(cls, name, None) is not before
            if before is None:
                delattr(cls, name)
            else:
                setattr(cls, name, before)
            return done
        """,
        {
            "how a table is shown": ("return replaced(pd.DataFrame, 'to_html')", "BJ305"),
            "how a notebook shows it": ("return replaced(pd.DataFrame, '_repr_html_')", "BJ305"),
            "a special method": ("return replaced(pd.DataFrame, '__len__')", "BJ305"),
            "its columns": ("return replaced(pd.DataFrame, 'columns')", "BJ305"),
            "of a series": (
                "return replaced(pd.Series, 'to_frame', extensions.register_series_accessor)",
                "BJ305",
            ),
            "of an index": (
                "return replaced(pd.Index, 'tolist', extensions.register_index_accessor)",
                "BJ305",
            ),
            "a name that is another one": (
                """
                class Name(str):
                    def isidentifier(self): return True
                    def __getitem__(self, key): return "a"
                before = pd.DataFrame.to_html
                extensions.register_dataframe_accessor(Name("to_html"))(Mine)
                done = pd.DataFrame.to_html is not before
                pd.DataFrame.to_html = before
                return done
                """,
                "BJ305",
            ),
            "what the old names hold besides": (
                """
                core = pd.core
                return getattr(core.frame, "s" + "ys") and getattr(core.series, "oper" + "ator")
                """,
                "BJ202",
            ),
            "modules behind the old name of arrays": (
                "import numpy as np\nreturn getattr(np.core.multiarray, 'func' + 'tools')",
                "no attribute 'functools'",
            ),
        },
    ),
    # Their with statement gives the program's object a real traceback.
    "tracebacks": (
        """
        import operator, types
        from matplotlib.colors import MultiNorm
        caught = []
        class Seen:
            def __enter__(self): pass
            def __exit__(self, kind, error, traceback):
                caught.append(traceback)
        class Callbacks:
            def blocked(self): return Seen()
        class Norm:
            callbacks = Callbacks()
        try:
            MultiNorm.autoscale_None(Norm(), [1])
        except Exception:
            pass
        FRAME = "tb_" + "frame"
        """,
        {
            "by getattr": ("return getattr(caught[0], FRAME) is not None", "BJ"),
            "by attrgetter": ("return operator.attrgetter(FRAME)(caught[0]) is not None", "BJ"),
            "by a format string": (
                "return 'frame' in ('{0.' + FRAME + '}').format(caught[0])",
                "BJ",
            ),
            "by its descriptor": ("return vars(type(caught[0]))[FRAME].__get__(caught[0])", "BJ"),
        },
    ),
    "addresses": (
        """
        import numpy as np
        import types
        from numpy.lib.stride_tricks import sliding_window_view
        from sklearn.utils import Bunch
        class Mine(np.ndarray):
            @property
            def shape(self):
                return (1 << 20,)
        def where(thing):
            return {"shape": (8,), "typestr": "|u1", "data": (id(thing), False), "version": 3}
        class Says:
            def __getattr__(self, name):
                if name == "__array_interface__":
                    return where(self)
                raise AttributeError(name)
        class Beside:
            def __getattr__(self, name):
                if name == "__array_interface__":
                    return {"shape": (8,), "typestr": "|u1", "data": bytearray(1), "version": 3,
                            "offset": 1 << 20}
                raise AttributeError(name)
        """,
        {
            "an object says where its memory is": (
                "return np.asarray(Says()).dtype == np.uint8",
                NOTHING,
            ),
            "in an array of others": ("return np.array([Says()]).dtype == np.uint8", NOTHING),
            "past the end of a buffer": ("return np.asarray(Beside()).dtype == np.uint8", NOTHING),
            "a namespace says so": (
                """
                it = types.SimpleNamespace(**{"__array_interface__": where(np)})
                return np.asarray(it).dtype == np.uint8
                """,
                NOTHING,
            ),
            "a library's dict with attributes says so": (
                """
                it = Bunch(**{"__array_interface__": where(np)})
                return np.asarray(it).dtype == np.uint8
                """,
                NOTHING,
            ),
            "a function says so": (
                """
                def it():
                    pass
                vars(it)["__array_interface__"] = where(np)
                return np.asarray(it).dtype == np.uint8
                """,
                NOTHING,
            ),
            "a class of ctypes reads any address": (
                "kind = type(np.zeros(2).ctypes.shape)\nreturn kind.from_address(id(kind))",
                "from_address",
            ),
            "a pointer is made of an array": (
                "it = np.zeros(2).ctypes\nreturn it.data_as(type(it._data))",
                "_data",
            ),
            "a pointer as scipy's distributions make one": (
                """
                from scipy import stats
                kind = stats._continuous_distns.ctypes.c_void_p
                return np.zeros(2).ctypes.data_as(kind).value
                """,
                "_continuous_distns",
            ),
            "numbers of a distribution that no array holds": (
                """
                from scipy import stats
                class Nothing:
                    def __len__(self): return 0
                    def __getitem__(self, index): raise IndexError
                    def __gt__(self, other): return True
                    def __le__(self, other): return True
                    def __eq__(self, other): return True
                    def __abs__(self): return 0.5
                    def __mul__(self, other): return 1.0
                    __ge__ = __ne__ = __gt__
                    __add__ = __radd__ = __rmul__ = __sub__ = __rsub__ = __truediv__ = __mul__
                    __rtruediv__ = __pow__ = __rpow__ = __mul__
                one = np.empty(1, dtype=object)
                one[0] = Nothing()
                return stats.geninvgauss.cdf(np.array([1.0]), one, one).shape == (1,)
                """,
                "must be numbers",
            ),
            "functions of a generator by their addresses": (
                "return np.random.PCG64().ctypes.next_uint64",
                "BJ502",
            ),
            "the base of a view says so": (
                """
                held = sliding_window_view(np.arange(4), 2).base
                while type(held) in (np.ndarray, Mine):
                    held = held.base
                kind = type(held)
                return np.asarray(kind(where(np))).dtype == np.uint8
                """,
                NOTHING,
            ),
            "an array says that it is longer": (
                """
                long = np.arange(4).view(Mine)
                return sliding_window_view(long, 2, subok=True).shape[0] > 4
                """,
                "BJ502",
            ),
            "ctypes itself": ("return np.zeros(1).ctypes._ctypes.string_at", "_ctypes"),
        },
    ),
    "memory": (
        """
        import io
        import operator
        import struct
        import numpy as np
        import pandas as pd
        secret = ["secret"]
        kept = [secret] * 99  # more references than the attacks take away
        address = id(secret).to_bytes(8, "little")
        class Mine(np.ndarray):
            def shrink(self):
                super().resize(1, refcheck=False)
        class Twice:
            asked = 0
            def __getattr__(self, name):
                if name != "dtype":
                    raise AttributeError(name)
                self.asked += 1
                return np.dtype("i8" if self.asked == 1 else "O")
        """,
        {
            "objects over a buffer": (
                'return np.ndarray((1,), "O", bytearray(address))[0] is secret',
                "BJ502",
            ),
            "records of objects over a buffer": (
                """
                return Mine((1,), dtype=[("x", "O")], buffer=bytearray(address))[0]["x"] is secret
                """,
                "BJ502",
            ),
            "by a class of the library's": (
                """
                made = np.recarray((1,), dtype=[("x", "O")], buf=bytearray(address))
                return made[0]["x"] is secret
                """,
                "BJ502",
            ),
            "of a class without a look at its own constructor": (
                """
                made = np.ndarray.__new__(np.matrix, (1, 1), "O", bytearray(address))
                return made[0, 0] is secret
                """,
                "BJ502",
            ),
            "references written as bytes": (
                """
                a = np.zeros(1, object)
                memoryview(a).cast("B")[:] = address
                return a[0] is secret
                """,
                "read-only",
            ),
            "references written as numbers": (
                """
                a = np.zeros(1, object).view(Mine)
                np.frombuffer(a, "i8")[0] = id(secret)
                return a[0] is secret
                """,
                "read-only",
            ),
            "references read from a file": (
                """
                a = np.zeros(1, object)
                io.BytesIO(address).readinto(a)
                return a[0] is secret
                """,
                "read-write",
            ),
            "references packed": (
                """
                a = np.zeros(1, object)
                struct.pack_into("8s", a, 0, address)
                return a[0] is secret
                """,
                "read-write",
            ),
            "a view of freed memory": (
                "a = np.zeros(9)\nview = a[:]\na.resize(1, refcheck=False)\nreturn True",
                "BJ502",
            ),
            "by a computed name": (
                'a = np.zeros(9)\ngetattr(a, "resize")(1, refcheck=False)\nreturn True',
                "BJ502",
            ),
            "by the library's operator": (
                """
                operator.methodcaller("resize", 1, refcheck=False)(np.zeros(9))
                return True
                """,
                "BJ502",
            ),
            "by the class": (
                "np.ndarray.resize(np.zeros(9), 1, refcheck=False)\nreturn True",
                "BJ502",
            ),
            "by super()": ("Mine((9,)).shrink()\nreturn True", "BJ502"),
            "by a pattern": (
                """
                match np.zeros(9):
                    case object(resize=method):
                        method(1, refcheck=False)
                        return True
                """,
                "BJ502",
            ),
            "called by the library": (
                "pd.Series([1]).apply(np.zeros(9).resize, refcheck=False)\nreturn True",
                "BJ502",
            ),
        },
    ),
    "modules": (
        """
        import operator
        import pandas as pd
        import plotly.graph_objects as go
        import sympy
        held = go.Layout.re
        kept = []
        def keep(value):
            kept.append(value)
            return 1
        x = sympy.Symbol("x")
        drawn = sympy.plot(x, show=False)
        drawn = drawn.backend(drawn)
        """,
        {
            "an attribute of a library's class is a module": (
                'return held.enum.sys.modules["os"]',
                "BJ301",
            ),
            "often enough to be specialised": (
                """
                for _ in range(300):
                    try:
                        kept.append(held.enum)
                    except AttributeError:
                        pass
                return kept.pop()
                """,
                "pop from empty list",
            ),
            "an attribute of an instance is one": ("return drawn.plt.sys", "BJ301"),
            "a method of a module": ('return held.compile("x")', "BJ301"),
            "by a computed name": ('return getattr(held, "enum")', "BJ301"),
            "by a path": ('return operator.attrgetter("enum.sys")(held)', "BJ301"),
            "by a format string": ('return "{0.enum.sys.modules}".format(held)', "BJ301"),
            "by a pattern": (
                "match held:\n    case object(enum=found):\n        return found",
                NOTHING,
            ),
            "its namespace": ("return vars(held)", "BJ301"),
            "written to": (
                'setattr(held, "planted", 1)\nreturn True',
                "BJ305",
            ),
            "in an expression of pandas": (
                """
                held = go.Layout.re
                pd.DataFrame({"a": [1]}).query("a == @keep(@held.enum)")
                return kept
                """,
                "BJ301",
            ),
            "as the functions of lambdify": (
                """
                call = sympy.lambdify(x, sympy.Function("get_backend")(), modules=[drawn.plt])
                return call(1)
                """,
                "BJ301",
            ),
        },
    ),
    "names": (
        """
        import numpy as np
        import pandas as pd
        import sympy
        from sklearn.base import BaseEstimator
        from sklearn.feature_selection import RFE, SelectFromModel
        class Model(BaseEstimator):
            def fit(self, x, y=None):
                self.coef_ = np.ones(2)
                return self
        class Hook(sympy.Symbol):
            def __call__(self, target):
                return target
        table = pd.DataFrame({"a": [1, 1], "b": [2, 3]})
        """,
        {
            "agg calls what it is named": ('return table.a.agg("__reduce__")', "BJ30"),
            "agg shows a namespace": ('return table.agg("__dict__")', "BJ30"),
            "agg gets by a name": (
                'return table.agg("__getattribute__", 0, "__dict__")',
                "BJ30",
            ),
            "groups too": (
                'return table.groupby("a").b.agg("__getattribute__", "__dict__")',
                "BJ30",
            ),
            "an estimator's path": (
                """
                chosen = SelectFromModel(Model(), importance_getter="fit.__func__.__globals__")
                try:
                    chosen.fit(np.ones((4, 2)), [0, 1, 0, 1]).get_support()
                except (AttributeError, TypeError) as error:
                    if "'dict'" not in str(error):
                        raise
                return True
                """,
                "BJ301",
            ),
            "a symbol in place of a hook": (
                'sympy.var("@private", cls=Hook)\nreturn True',
                "BJ101",
            ),
            "a symbol in place of the builtins": ('return sympy.var("__builtins__")', "BJ101"),
            "a ring in place of the builtins": (
                'return sympy.vring("__builtins__", sympy.ZZ)',
                "BJ101",
            ),
            "a field in place of the builtins": (
                'return sympy.vfield("__builtins__", sympy.ZZ)',
                "BJ101",
            ),
        },
    ),
    "calls": (
        """
        import contextlib
        import functools
        import pandas as pd
        def lie(*_):
            return 42
        def called(function, *args):
            return pd.Series(["Made"]).apply(function, args=args)[0]
        """,
        {
            "the library makes a class that lies": (
                'return called(type, (), {"__getattribute__": lie})().anything == 42',
                "BJ403",
            ),
            "with a property": (
                'return called(type, (), {"__class__": property(lie)})().__class__ == 42',
                "BJ403",
            ),
            "that looks up everything": (
                'return called(type, (), {"__getattribute__": lie}) is not None',
                "BJ403",
            ),
            "a metaclass with an order of its own": (
                """
                order = {"mro": lambda cls: [cls, type, object]}
                return called(type, (type,), order) is not None
                """,
                "BJ403",
            ),
            "derived from what may not be": (
                "return called(type, (contextlib.redirect_stdout,), {}) is not None",
                "BJ404",
            ),
        },
    ),
    "acts": (
        """
        import io
        import matplotlib.pyplot as plt
        import numpy as np
        import pandas as pd
        import plotly.graph_objects as go
        import statsmodels.api as sm
        """,
        {
            "a figure to a file": (
                'plt.gcf().canvas.print_figure("' + OWN_FILE + '.png")\nreturn True',
                "BJ502",
            ),
            "a page to a file": (
                'go.Figure().write_html("' + OWN_FILE + '.html")\nreturn True',
                "BJ502",
            ),
            "a model to a file": (
                'sm.OLS([1.0, 2, 4], [1.0, 2, 3]).fit().save("' + OWN_FILE + '.pkl")\nreturn True',
                "BJ502",
            ),
            "a table from a file": ('return len(pd.read_table("/etc/passwd", sep=":"))', "BJ502"),
            "an array of objects is unpickled": (
                """
                file = io.BytesIO()
                np.save(file, np.array([{}], dtype=object))
                file.seek(0)
                return np.load(file, allow_pickle=True) is not None
                """,
                "BJ502",
            ),
        },
    ),
}

DRIVER = """
import json
said = []
for attack in ({names}):
    try:
        said.append("escaped" if attack() else "nothing")
    except Exception as error:
        said.append(str(error))
print(json.dumps(said))
"""


def program(shared: str, bodies: list[str]) -> str:
    parts = [textwrap.dedent(shared)]
    for number, body in enumerate(bodies):
        parts.append(f"def attack_{number}():")
        parts.append(textwrap.indent(textwrap.dedent(body), "    "))
    names = "".join(f"attack_{number}, " for number in range(len(bodies)))
    return "\n".join(parts) + DRIVER.format(names=names)


@pytest.mark.parametrize("library", ATTACKS)
def test_attacks(library: str) -> None:
    shared, attacks = ATTACKS[library]
    source = program(shared, [body for body, _ in attacks.values()])
    plain = harness.run_plain(source, kind="plain:data-science")
    assert plain.error is None, plain.traceback
    controls = dict(zip(attacks, json.loads(plain.stdout), strict=True))
    assert set(controls.values()) == {"escaped"}, controls
    ran = harness.run(source, kind="restricted:data-science")
    assert not ran.findings, ran.findings
    assert ran.error is None, (ran.error, ran.signal, ran.traceback)
    for (name, (_, stopped_by)), said in zip(attacks.items(), json.loads(ran.stdout), strict=True):
        assert said != "escaped", name
        assert stopped_by in said, (name, said)


def test_what_these_take_away_is_little() -> None:
    ran = harness.run(
        """
        import io
        import sys
        import matplotlib.pyplot as plt
        import numpy as np
        import pandas as pd
        import plotly.express
        import scipy.linalg
        import sympy
        import sympy.stats
        from numpy.lib.stride_tricks import sliding_window_view
        from sklearn.utils import Bunch

        if sys.version_info < (3, 14):  # there numpy itself refuses whatever has a name
            grown = np.zeros(2)
            grown.resize(4)
            assert grown.size == 4
        view = np.ndarray((2,), dtype="i8", buffer=bytearray(16))
        view[0] = 5
        assert np.frombuffer(view, "i8")[0] == 5
        assert memoryview(np.array([None, 1], dtype=object)).readonly
        windows = sliding_window_view(np.arange(5), 3)
        assert windows.sum(axis=1).tolist() == [3, 6, 9]
        assert scipy.linalg.toeplitz([1, 2, 3])[2].tolist() == [3, 2, 1]
        objects = sliding_window_view(np.array([[1], "a"], object), 1)
        assert objects.tolist() == [[[1]], ["a"]]
        address = np.zeros((2, 3)).ctypes
        assert address.data and address.shape == (2, 3) and address.strides == (24, 8)
        assert np.asarray(Bunch(a=1)).shape == ()

        words = pd.Series(["a", "b", "a", None], dtype=object)
        assert words.value_counts().to_dict() == {"a": 2, "b": 1}
        table = pd.DataFrame({"k": [1, 1], "v": [2, 3]})
        assert table.groupby("k").v.agg("mean").tolist() == [2.5]
        assert table.groupby("k").agg({"v": ["sum", "max"]}).size == 2
        assert table.agg("sum").v == 5 and table.transform("cumsum").v.iloc[-1] == 5

        q, r = sympy.var("q r")
        sympy.var("step", cls=sympy.Function)
        assert str(step(q) + r) == "r + step(q)"
        assert sympy.lambdify(q, sympy.cos(q), modules=[np])(0.0) == 1.0

        own = [{"sin": lambda v: v}, "numpy"]
        for modules in ("math", "mpmath", "numpy", "scipy", "sympy", own):
            assert float(sympy.lambdify(q, sympy.sin(q) + q, modules)(0)) == 0.0, modules
        area = sympy.Integral(sympy.exp(-q), (q, 0, sympy.oo))
        assert abs(sympy.lambdify((), area, "scipy")() - 1) < 1e-9
        assert sympy.lambdify(q, sympy.gamma(q) + sympy.besselj(0, q), "scipy")(1.0) > 1
        assert sympy.lambdify(q, sympy.SparseMatrix([[q]]), "scipy")(2).toarray() == 2
        assert sympy.plot(q, show=False) and sympy.parse_expr("2*x + gamma(3)")
        assert sympy.ask(sympy.Q.prime(7)) and sympy.stats.sample(sympy.stats.Die("D")) > 0

        plt.switch_backend("svg")
        plt.switch_backend("agg")
        plt.style.use("ggplot")
        plt.gcf().savefig(io.BytesIO(), format="pdf", backend="pdf")
        with pd.option_context("plotting.backend", "matplotlib"):
            pd.Series([1, 2]).plot(backend="matplotlib")
        np.info("sin", output=io.StringIO())
        assert len(plotly.express.data.iris(return_type="pandas")) == 150
        plt.plot([1, 2])
        kept = io.BytesIO()
        plt.savefig(kept)
        kept.seek(0)
        assert plt.imread(kept).ndim == 3
        """,
        kind="restricted:data-science",
    )
    assert not ran.findings, ran.findings
    assert ran.error is None, ran.traceback


# What numpy, matplotlib and others refuse by themselves: here for the version that no longer does.
REFUSED_BY_THEMSELVES = (
    'np.dtype({"names": ["a", "b"], "formats": ["O", "i8"], "offsets": [0, 0]})',
    'np.dtype(("i8", {"x": ("O", 0)}))',
    'np.dtype(("O", {"x": ("i8", 0)}))',
    'np.array([1]).view("O")',
    'np.array([1]).view([("x", "O")])',
    'np.array([1]).getfield("O", 0)',
    'np.array([1]).setfield(None, "O", 0)',
    'np.void(b"12345678").getfield("O", 0)',
    'np.frombuffer(bytearray(8), "O")',
    'np.zeros(1, [("a", "O"), ("b", "i8")])[["b"]].view("V16")',
    'np.ndarray((2,), "i8", bytearray(8), strides=(8,))',
    'np.ndarray((1,), "i8", bytearray(8), 8)',
    'np.frombuffer(b"constant", "u1").setflags(write=True)',
    'setattr(np.zeros(4), "strides", (800,))',
    'setattr(np.zeros(4), "shape", (400,))',
    'setattr(np.zeros(4), "data", bytearray(8))',
    'setattr(np.zeros(1), "dtype", "O")',
    'sympy.lambdify(x, x, modules=["os"])',
    'sympy.lambdify(x, sympy.Symbol("__builtins__"))(1)',
    "matplotlib.rcParams.__setitem__(\"axes.prop_cycle\", \"cycler('color', ['r']).__class__\")",
    'matplotlib.use("module://os")',
    'pd.Series([1]).plot(backend="subprocess")',
    'pd.eval("().__class__")',
    'pd.DataFrame({"a": [1]}).query("a.__class__ == 1")',
    '"{0.__class__.__mro__}".format(np.float64(1))',
    'ticker.StrMethodFormatter("{x.__class__.__subclasses__}")(np.float64(1), 0)',
    "np.sum.__wrapped__",
    "np.vectorize(len).pyfunc.__self__.eval",
)


def test_refused_by_themselves() -> None:
    source = "\n".join((
        "import matplotlib, matplotlib.ticker as ticker, numpy as np, pandas as pd, sympy",
        'x = sympy.Symbol("x")',
        *(
            f"try:\n    {expression}\nexcept Exception:\n    pass\nelse:\n    print({expression!r})"
            for expression in REFUSED_BY_THEMSELVES
        ),
    ))  # fmt: skip
    ran = harness.run(source, kind="restricted:data-science")
    assert not ran.findings, ran.findings
    assert ran.error is None, ran.traceback
    assert ran.stdout == ""
