"""For test_escapes.py: attacks that name a module, or a name in one, and have a package import it.

A package that imports by name (a backend, a hook, a printer's imports, an engine) does it with the
library's rights. What the profile does not export must not come in that way, nor run as it is
imported.
"""

from __future__ import annotations

NOTHING = "nothing"
"""It runs, and what it gets is worth nothing."""

SHARED = """
import contextlib
import io
import matplotlib
import matplotlib.figure
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import plotly.express as px
import sympy
import sympy.stats
from sympy.parsing.sympy_parser import parse_expr
x = sympy.Symbol("x")
kept = []
class PandasAtFirst(str):
    asked = 0
    def __eq__(self, other):
        self.asked += 1
        return self.asked == 1
    def __hash__(self):
        return hash("pandas")
class Called(matplotlib.figure.Figure):
    def __call__(self):
        kept.append("called")
def imported(module, name):
    class Printer:
        module_imports = {module: [name]}
        def doprint(self, expression):
            return name
    return sympy.lambdify(x, x, printer=Printer())(1)
def hooked(hook):
    with plt.rc_context({"figure.hooks": [hook]}):
        plt.figure(FigureClass=Called)
    return True
def lacks_a_canvas(use, *args, **more):
    try:
        use(*args, **more)
    except AttributeError as error:  # the module was imported, and is no backend
        return "FigureCanvas" in str(error)
"""

# what is tried: (body of the function, what stops it)
ATTACKS: dict[str, tuple[str, str]] = {
    "a printer brings calls of any address": (
        """
        make = imported("scipy._lib._ccallback_c", "get_raw_capsule")
        return make(1 << 20, "double (double)", 0) is not None
        """,
        "BJ502",
    ),
    "a printer brings a class of ctypes": (
        'return imported("numpy.ctypeslib", "c_intp").from_address',
        "BJ502",
    ),
    "a printer brings another program": (
        'return imported("numpy.f2py", "run_main")',
        "BJ502",
    ),
    "a printer brings what runs text": (
        """
        run = imported("numpy.testing", "runstring")
        run("kept.append(1)", {"kept": kept})
        return kept.pop() == 1
        """,
        "name 'runstring' is not defined",
    ),
    "a printer brings what opens files": (
        'return imported("numpy.lib._datasource", "DataSource")',
        "functions of 'numpy.lib._datasource' are not available",
    ),
    "a printer brings a withheld function": (
        """
        look = imported("numpy.lib.stride_tricks", "as_strided")
        return look(np.zeros(1), (2,), (8,)).size == 2
        """,
        "name 'as_strided' is not defined",
    ),
    "a printer brings private functions": (
        'return imported("mpmath", "runtests")',
        "name 'runtests' is not defined",
    ),
    "a printer brings private classes": (
        'return imported("sympy.utilities.lambdify", "_EvaluatorPrinter")',
        "name '_EvaluatorPrinter' is not defined",
    ),
    "the parser knows what is withheld": (
        'return callable(sympy.sympify("init_session"))',
        NOTHING,
    ),
    "a sample by a module": (
        """
        try:
            sympy.stats.sample(sympy.stats.Normal("N", 0, 1), library="wave")
        except NameError as error:  # imported, and no library of functions
            return "'wave' module cannot be used" in str(error)
        """,
        "Failed to import wave",
    ),
    "an assumption by a name": (
        """
        waves = sympy.Predicate("waves", handlers=["wave.Wave_read"])
        return sympy.ask(waves(x)) is None
        """,
        "BJ502",
    ),
    "a figure's hook": ('return hooked("atexit:register")', "BJ502"),
    "a figure's hook by attributes": ('return hooked("atexit:register.__call__")', "BJ502"),
    "a backend of a file": (
        'return lacks_a_canvas(plt.gcf().savefig, io.BytesIO(), backend="module://wave")',
        "BJ502",
    ),
    "a backend switched to": (
        'return lacks_a_canvas(plt.switch_backend, "module://wave")',
        "BJ502",
    ),
    "a backend used": ('return lacks_a_canvas(matplotlib.use, "module://wave")', "BJ502"),
    "a backend set": (
        """
        with plt.rc_context({"backend": "module://wave"}):
            return lacks_a_canvas(plt.switch_backend, plt.rcParams["backend"])
        """,
        "BJ502",
    ),
    "a backend of a registry": (
        'return plt.backend_registry.load_backend_module("module://wave")',
        "BJ502",
    ),
    "a style of a package": (
        """
        said = io.StringIO()
        with contextlib.redirect_stdout(said):  # it prints as it is imported
            try:
                plt.style.use("this.that")
            except OSError:
                pass
        return "Zen of Python" in said.getvalue()
        """,
        NOTHING,
    ),
    "a backend of pandas": (
        """
        with pd.option_context("plotting.backend", "pylab"):
            return True
        """,
        "BJ502",
    ),
    "a backend of one plot": (
        """
        try:
            pd.Series([1.0, 2.0]).plot(backend="pylab")
        except TypeError as error:  # its function was called
            return "unexpected keyword argument" in str(error)
        """,
        "BJ502",
    ),
    "a help of a module": (
        'np.info("nothing", output=io.StringIO(), toplevel="wave")\nreturn True',
        "BJ502",
    ),
    "a table by a module": (
        """
        try:
            px.data.iris(return_type=PandasAtFirst("wave"))
        except Exception as error:
            if "has no attribute 'read_csv'" not in str(error):
                raise
            return True  # it was imported
        """,
        "BJ502",
    ),
}
