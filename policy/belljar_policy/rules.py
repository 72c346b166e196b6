"""The rules of the language policy, each with an id and a section in docs/rules.md.

BJ0 source, BJ1 names, BJ2 imports, BJ3 attributes, BJ4 statements and classes, BJ5 builtins. Ids
are an interface: pipelines use them in select, ignore and baselines. They never change meaning.

This module imports nothing else of Belljar, because the build reads it for the command's table.
"""

from __future__ import annotations

from typing import NamedTuple

COMPILE = "compile"  # a finding, before anything runs
RUN = "run"  # an exception with the id in its message; depends on the object
BOTH = "compile and run"


class Rule(NamedTuple):
    """One rule.

    `reason` and `hint` are format strings for the parts of a finding ({0} is the offending name).
    Guards raise with a reason of their own and use `hint` as it is. `bad` is a program that the
    rule stops, `good` a program that achieves the same: tests run both.
    """

    name: str
    title: str
    when: str
    reason: str
    hint: str
    why: str
    bad: str
    good: str

    @property
    def general_hint(self) -> str:
        """The hint if it applies to every finding, else ""."""
        return self.hint if "{" not in self.hint else ""


RULES: dict[str, Rule] = {
    "BJ001": Rule(
        "syntax-error",
        "The source is not Python",
        COMPILE,
        "{0}",
        "Correct the syntax.",
        "CPython's parser or compiler rejects the source; message and position are CPython's. "
        "Encodings other than UTF-8, invalid UTF-8 and NUL characters are refused too.",
        "total = (1 + 2",
        "total = (1 + 2)",
    ),
    "BJ002": Rule(
        "too-deeply-nested",
        "The source is nested too deeply",
        COMPILE,
        "too deeply nested to be compiled",
        "Split the expression or the blocks into smaller parts.",
        "CPython's parser and compiler are recursive and have a maximum depth, which depends on "
        "the construct: about 100 nested brackets or 20 nested loops.",
        "x = " + "(" * 250 + "1" + ")" * 250,
        "x = 1",
    ),
    "BJ003": Rule(
        "source-too-large",
        "The source is larger than the profile allows",
        COMPILE,
        "{0}",
        "Pass large data as standard input instead of embedding it in the program.",
        "Compiling takes memory and time proportional to the source. The limit is the profile's "
        "`limits.source`, by default 1 MiB.",
        "",
        "",
    ),
    "BJ004": Rule(
        "source-not-checked",
        "The policy could not check the source",
        COMPILE,
        "the language policy could not check this source ({0})",
        "Please report this source; it should have been checked.",
        "This is a bug in the policy. Source that was not checked does not run.",
        "",
        "",
    ),
    "BJ101": Rule(
        "reserved-name",
        "Names with two underscores on either side may not be bound",
        COMPILE,
        "the name {0!r} may not be bound here",
        "Names with two underscores on either side belong to Python; choose another name.",
        "Python itself looks up such names: a function named `__build_class__` would be called for "
        "every class statement. Names that describe a module (`__version__`, `__all__`, `__doc__`, "
        "…) may be bound, and in a class the special methods of BJ403.",
        "__path__ = []",
        "search_path = []",
    ),
    "BJ102": Rule(
        "interpreter-name",
        "Names of the interpreter may not be used",
        COMPILE,
        "the name {0!r} gives access to the interpreter",
        "Remove it: no program in the sandbox needs it.",
        "The interpreter uses `__builtins__`, `__import__`, `__loader__`, `__spec__` and similar "
        "names to find modules and builtins.",
        "load = __import__",
        "import importlib\nload = importlib.import_module",
    ),
    "BJ201": Rule(
        "import-not-allowed",
        "The module is not part of the profile",
        BOTH,
        "module {0!r} is not available in profile {1!r}",
        "{2}",
        "A profile lists its modules; `belljar info` shows them. All others are refused before "
        "the program runs. An import inside `try: … except ImportError:` tests whether a module "
        "is available: it is only a warning, and raises `ImportError` at run time.",
        "import socket",
        "try:\n    import socket\nexcept ImportError:\n    socket = None\nassert socket is None",
    ),
    "BJ202": Rule(
        "name-not-exported",
        "The module does not export this name",
        BOTH,
        "module {0!r} has no {1!r} in profile {2!r}",
        "{3}",
        "A profile has a reviewed list of names for each module. Names that are left out open "
        "files, evaluate text, look up attributes by name, or are other modules.",
        "from functools import reduce, no_such_name",
        "from functools import reduce",
    ),
    "BJ203": Rule(
        "star-import",
        "'import *' with unknown names",
        COMPILE,
        "it cannot be determined which names 'from {0} import *' binds here",
        "Name what you need: from {0} import name.",
        "At the top level of a program, a star import from a module of the profile is expanded "
        "before the program runs: it binds the module's reviewed names. From a module of the "
        "program's own files it binds what the module has when it runs. In a function or a class "
        "it cannot be determined which names it binds.",
        "def area(r):\n    from math import *\n    return pi * r * r",
        "from math import *\nassert floor(pi) == 3",
    ),
    "BJ204": Rule(
        "relative-import",
        "Relative imports have no package to start from",
        BOTH,
        "there is no package to import from",
        "Import by the module's full name, or run the package with its files: belljar run -m "
        "package.",
        "A program that was given alone is a module of no package. In the files of a package that "
        "were given with it relative imports mean what they mean in Python.",
        "from . import helpers",
        "import math",
    ),
    "BJ205": Rule(
        "import-narrowed",
        "The caller excluded this module",
        BOTH,
        "module {0!r} is not among the imports this call allows",
        "Add it to allowed_imports, or do without it.",
        "The caller may restrict a run to some of the profile's modules "
        "(`allowed_imports`, `--allow-import`), but cannot add modules.",
        "",
        "",
    ),
    "BJ206": Rule(
        "lazy-import",
        "Lazy imports are not available",
        COMPILE,
        "lazy imports are not available",
        "Use a plain import statement.",
        "A lazy import happens later, at a place that cannot be checked (PEP 810, Python 3.15).",
        "",
        "",
    ),
    "BJ301": Rule(
        "interpreter-attribute",
        "The attribute gives access to the interpreter",
        BOTH,
        "the attribute {0!r} gives access to the interpreter",
        "{1}",
        "Everything in the process can be reached from a function's `__globals__`, a class's "
        "`__subclasses__` or a traceback's frames. The rule also covers `getattr` and "
        "similar functions with such a name.",
        "def f(): pass\nf.__globals__",
        "def f(settings): return settings['depth']\nassert f({'depth': 3}) == 3",
    ),
    "BJ302": Rule(
        "private-attribute",
        "A private attribute of a library class",
        RUN,
        "the attribute {0!r} is private to a class that the program did not define",
        "Use the public interface of the class.",
        "The program may use names with a leading underscore in its own classes. In library "
        "classes they are internals that have not been reviewed.",
        "import random\nrandom.Random()._randbelow",
        "import random\nrandom.Random().randrange(10)",
    ),
    "BJ303": Rule(
        "frame-attribute",
        "The attribute leads to frames, code or namespaces",
        BOTH,
        "the attribute {0!r} leads to frames, code or namespaces",
        "{1}",
        "`gi_frame`, `tb_frame`, `f_back`, `f_globals`, `cell_contents` and similar names lead "
        "from a generator or an exception to the namespaces of the process (CVE-2023-37271).",
        "g = (x for x in [1])\ng.gi_frame",
        "g = (x for x in [1])\nassert next(g) == 1",
    ),
    "BJ304": Rule(
        "attribute-not-writable",
        "The attribute may not be set or deleted",
        BOTH,
        "the attribute {0!r} may not be set or deleted",
        "{1}",
        "The guards decide by an object's type (`__class__`, `__bases__`, `__mro__`, a function's "
        "defaults), so these attributes must not change.",
        "class A: pass\nclass B: pass\na = A()\na.__class__ = B",
        "class A: pass\nclass B: pass\na = B()",
    ),
    "BJ305": Rule(
        "not-the-programs-own",
        "Objects that the program did not create may not be changed",
        RUN,
        "the attribute {0!r} may not be set: the program did not create the object",
        "Change an object or class that the program created.",
        "Library code relies on its classes and objects. Attributes may be set on instances of the "
        "library classes that are designed for it (`decimal.getcontext().prec`), and names on a "
        "module (`random.random = f`), which only the program's own code then sees.",
        "import fractions\nfractions.Fraction.unit = 1",
        "unit = 1",
    ),
    "BJ306": Rule(
        "computed-name",
        "A computed attribute name must be a plain string",
        RUN,
        "an attribute name must be a plain str in NFKC form",
        "Pass the name as str(name), in NFKC form.",
        "A subclass of `str` could behave differently in the check and in the lookup; a name in "
        "another Unicode form would be a second spelling of a refused one.",
        "class Name(str): pass\nclass A: x = 1\ngetattr(A, Name('x'))",
        "class Name(str): pass\nclass A: x = 1\nassert getattr(A, str(Name('x'))) == 1",
    ),
    "BJ307": Rule(
        "pattern-attribute",
        "The attribute may not be matched in a class pattern",
        BOTH,
        "{0!r} may not be matched in a class pattern",
        "Bind the object first and read the attribute in the case's body.",
        "A class pattern loads attributes where no guard can be inserted. The same names are "
        "refused in `__match_args__`.",
        "def f(x):\n    match x:\n        case object(_secret=value): return value",
        "def f(x):\n    match x:\n        case object(public=value): return value",
    ),
    "BJ308": Rule(
        "format-attribute",
        "The attribute may not be used in a format string",
        RUN,
        "the attribute {0!r} may not be used in a format string",
        "Use an f-string: f'{value.name}'.",
        "A format string is data that reads attributes (CVE-2023-41039). Public attributes of "
        "ordinary values may be used; an f-string is code and is checked as code.",
        "'{0.__class__.__mro__}'.format(1)",
        "'{0.real}'.format(1)",
    ),
    "BJ401": Rule(
        "statement-not-allowed",
        "The construct has not been reviewed",
        COMPILE,
        "{0} is not known to this policy",
        "Use the statements listed in docs/language.md.",
        "docs/language.md lists every construct. A construct of a newer Python is refused until it "
        "has been reviewed.",
        "",
        "",
    ),
    "BJ402": Rule(
        "except-star",
        "'except*' does not accept subclasses of exception groups",
        RUN,
        "except* takes groups of the class ExceptionGroup or BaseExceptionGroup only",
        "Catch it with except and look at its .exceptions.",
        "CPython before 3.13.2 trusts the return values of a caught group's `split` and `derive` "
        "(CVE-2025-22153): a malicious subclass can crash the process. So what is raised into a "
        "`try … except*`, and every group within it, must be a plain group.",
        "class Group(ExceptionGroup): pass\n"
        "try:\n    raise Group('g', [ValueError(1)])\nexcept* ValueError:\n    pass",
        "try:\n    raise ExceptionGroup('g', [ValueError(1)])\n"
        "except* ValueError as group:\n    assert len(group.exceptions) == 1",
    ),
    "BJ403": Rule(
        "special-method",
        "A class may not define this special method",
        BOTH,
        "a class may not define {0!r}",
        "{1}",
        "Most special methods may be defined; docs/language.md lists them. The rule refuses those "
        "that let an object misreport what it is (`__class__`, `__dict__`, `__getattribute__`) or "
        "replace what Python itself makes (`__prepare__`, `__qualname__`).",
        "class A:\n    def __getattribute__(self, name): return 1",
        "class A:\n    def __getattr__(self, name): return 1",
    ),
    "BJ404": Rule(
        "base-class",
        "The class may not be derived from",
        RUN,
        "class {0!r} may not be derived from",
        "Hold an instance in an attribute and delegate to it.",
        "A subclass supplies methods and attributes that the code of its base class trusts. Each "
        "library class that may be derived from was reviewed for that.",
        "import contextlib\nclass Quiet(contextlib.redirect_stdout): pass",
        "import contextlib\nclass Quiet:\n"
        "    def __init__(self, target): self.redirection = contextlib.redirect_stdout(target)",
    ),
    "BJ501": Rule(
        "builtin-not-available",
        "The builtin is not available",
        BOTH,
        "{0!r} is not available",
        "{1}",
        "`open` gives access to files; others need a terminal.",
        "value = 3\nbreakpoint()",
        "value = 3\nprint(value)",
    ),
    "BJ502": Rule(
        "does-less-here",
        "The callable is restricted in the sandbox",
        RUN,
        "the callable is restricted in the sandbox",
        "The message says which part is missing and what to use instead.",
        "Some library callables open files, evaluate text or look up names from their arguments. "
        "They are available without that part.",
        "import configparser\nconfigparser.ConfigParser().read('settings.ini')",
        "import configparser\nconfigparser.ConfigParser().read_string('[a]\\nb = 1')",
    ),
}
