"""The rules of the language policy: one rule, one id, one page in docs/rules.md.

BJ0 source, BJ1 names, BJ2 imports, BJ3 attributes, BJ4 statements and classes, BJ5 builtins. Ids
are an interface: pipelines select, ignore and baseline by them. None ever changes its meaning.

This module imports nothing of ours: the build reads it too, for the command's own table.
"""

from __future__ import annotations

from typing import NamedTuple

COMPILE = "compile"  # a finding, before anything runs
RUN = "run"  # an exception with the id in its message, where only the object decides
BOTH = "compile and run"


class Rule(NamedTuple):
    """One rule.

    `reason` and `hint` are formats for the finding's own parts ({0} is the offender's name). For
    what a guard raises, the guard words the reason and `hint` stands for itself. `bad` is a program
    that the rule stops and `good` one that does what it meant: tests run both.
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
        """The advice that holds for every offender; "" where there is none."""
        return self.hint if "{" not in self.hint else ""


RULES: dict[str, Rule] = {
    "BJ001": Rule(
        "syntax-error",
        "The source is not Python",
        COMPILE,
        "{0}",
        "Correct the syntax.",
        "What CPython's own parser and compiler refuse is refused here, with their message and "
        "place. Also an encoding other than UTF-8, invalid UTF-8 and NUL characters.",
        "total = (1 + 2",
        "total = (1 + 2)",
    ),
    "BJ002": Rule(
        "too-deeply-nested",
        "The source is nested too deeply",
        COMPILE,
        "too deeply nested to be compiled",
        "Split the expression or the blocks into smaller parts.",
        "CPython's parser and compiler recurse, and end at a depth of their own. Where that is "
        "depends on the construct: about 100 brackets or 20 loops within each other.",
        "x = " + "(" * 250 + "1" + ")" * 250,
        "x = 1",
    ),
    "BJ003": Rule(
        "source-too-large",
        "The source is larger than the profile allows",
        COMPILE,
        "{0}",
        "Pass large data as standard input instead of embedding it in the program.",
        "Compiling takes memory and time in proportion to the source. The bound is the profile's "
        "`limits.source`, by default 1 MiB.",
        "",
        "",
    ),
    "BJ004": Rule(
        "source-not-checked",
        "The policy could not judge the source",
        COMPILE,
        "the language policy could not judge this source ({0})",
        "Please report this source; it should have been judged.",
        "A defect of the policy. What could not be judged does not run.",
        "",
        "",
    ),
    "BJ101": Rule(
        "reserved-name",
        "Names with two underscores on either side may not be bound",
        COMPILE,
        "the name {0!r} may not be bound here",
        "Names with two underscores on either side belong to Python; choose another name.",
        "Python looks such names up by itself: a function called `__build_class__` would take part "
        "in every class statement. What describes a module (`__version__`, `__all__`, `__doc__`, "
        "…) "
        "may be bound, and in a class the special methods of BJ403.",
        "__path__ = []",
        "search_path = []",
    ),
    "BJ102": Rule(
        "interpreter-name",
        "Names of the interpreter may not be used",
        COMPILE,
        "the name {0!r} gives access to the interpreter",
        "Leave it out: nothing in the sandbox needs it.",
        "`__builtins__`, `__import__`, `__loader__`, `__spec__` and their kin are how the "
        "interpreter finds modules and builtins.",
        "m = __import__('math')",
        "import math as m",
    ),
    "BJ201": Rule(
        "import-not-allowed",
        "The module is not part of the profile",
        BOTH,
        "module {0!r} is not available in profile {1!r}",
        "{2}",
        "A profile lists its modules; `belljar info` shows them. Everything else is refused before "
        "the program runs. An import inside `try: … except ImportError:` is how a program asks "
        "what there is: it is a warning, and raises `ImportError` when it runs.",
        "import socket",
        "try:\n    import socket\nexcept ImportError:\n    socket = None\nassert socket is None",
    ),
    "BJ202": Rule(
        "name-not-exported",
        "The module does not give this name",
        BOTH,
        "module {0!r} has no {1!r} in profile {2!r}",
        "{3}",
        "Of each module a profile gives a reviewed list of names. What is left out opens files, "
        "evaluates text, reads attributes by names it is given, or is another module.",
        "from functools import reduce, no_such_name",
        "from functools import reduce",
    ),
    "BJ203": Rule(
        "star-import",
        "'import *' where nobody can tell the names",
        COMPILE,
        "nobody can tell which names 'from {0} import *' binds here",
        "Name what you need: from {0} import name.",
        "At the top level of a program, and from a module that the profile has, a star is spelled "
        "out before the program runs: it binds the reviewed names of the module. In a function or "
        "a class, and where the module may be missing, no reader can tell which names it binds.",
        "def area(r):\n    from math import *\n    return pi * r * r",
        "from math import *\nassert floor(pi) == 3",
    ),
    "BJ204": Rule(
        "relative-import",
        "Relative imports have no package to start from",
        BOTH,
        "there is no package to import from",
        "The program is one file: import by the module's full name.",
        "A program in the sandbox is one module and part of no package.",
        "from . import helpers",
        "import math",
    ),
    "BJ205": Rule(
        "import-narrowed",
        "The caller left this module out",
        BOTH,
        "module {0!r} is not among the imports this call allows",
        "Add it to allowed_imports, or do without it.",
        "Whoever runs a program may narrow the profile's modules for that one run "
        "(`allowed_imports`, `--allow-import`). It can only be narrowed, never widened.",
        "",
        "",
    ),
    "BJ206": Rule(
        "lazy-import",
        "Lazy imports are not available",
        COMPILE,
        "lazy imports are not available",
        "Use a plain import statement.",
        "An import that happens later happens where nobody looks (PEP 810, Python 3.15).",
        "",
        "",
    ),
    "BJ301": Rule(
        "interpreter-attribute",
        "The attribute gives access to the interpreter",
        BOTH,
        "the attribute {0!r} gives access to the interpreter",
        "{1}",
        "From a function's `__globals__`, a class's `__subclasses__` or an exception's "
        "`__traceback__` everything in the process can be reached. The same holds for `getattr` "
        "and its kin with such a name.",
        "def f(): pass\nf.__globals__",
        "def f(settings): return settings['depth']\nassert f({'depth': 3}) == 3",
    ),
    "BJ302": Rule(
        "private-attribute",
        "A private attribute of a library class",
        RUN,
        "the attribute {0!r} is private to a class that the program did not make",
        "Use the public interface of the class.",
        "Names with a leading underscore are free in the program's own classes. In a library's "
        "they are its internals, which nobody has reviewed as something to hand out.",
        "import random\nrandom.Random()._randbelow",
        "import random\nrandom.Random().randrange(10)",
    ),
    "BJ303": Rule(
        "frame-attribute",
        "The attribute leads to frames, code or namespaces",
        BOTH,
        "the attribute {0!r} leads to frames, code or namespaces",
        "Choose another name for an attribute of your own; frames are not available.",
        "`gi_frame`, `tb_frame`, `f_back`, `f_globals`, `cell_contents` and their kin lead from a "
        "generator or an exception to the namespaces of the whole process (CVE-2023-37271).",
        "g = (x for x in [1])\ng.gi_frame",
        "g = (x for x in [1])\nassert next(g) == 1",
    ),
    "BJ304": Rule(
        "attribute-not-writable",
        "The attribute may not be set or deleted",
        BOTH,
        "the attribute {0!r} may not be set or deleted",
        "{1}",
        "What an object is (`__class__`, `__bases__`, `__mro__`, a function's defaults) decides "
        "what the guards allow for it, so it does not change.",
        "class A: pass\nclass B: pass\na = A()\na.__class__ = B",
        "class A: pass\nclass B: pass\na = B()",
    ),
    "BJ305": Rule(
        "not-the-programs-own",
        "What is not the program's own may not be changed",
        RUN,
        "the attribute {0!r} may not be set: the object is not the program's own",
        "Make an object or a class of your own and change that.",
        "Modules, library classes and library objects are what the library's own code relies on. "
        "Instances of some library classes take attributes by design "
        "(`decimal.getcontext().prec`): "
        "those do.",
        "import math\nmath.pi = 3",
        "pi = 3",
    ),
    "BJ306": Rule(
        "computed-name",
        "A computed attribute name must be a plain string",
        RUN,
        "an attribute name must be a plain str in NFKC form",
        "Pass the name as str(name), in NFKC form.",
        "A subclass of `str` may answer a check one way and the look-up another; a name in another "
        "Unicode form than Python's own would be a second spelling of a refused one.",
        "class Name(str): pass\nclass A: x = 1\ngetattr(A, Name('x'))",
        "class Name(str): pass\nclass A: x = 1\nassert getattr(A, str(Name('x'))) == 1",
    ),
    "BJ307": Rule(
        "pattern-attribute",
        "The attribute may not be matched in a class pattern",
        BOTH,
        "{0!r} may not be matched in a class pattern",
        "Bind the object first and read the attribute in the case's body.",
        "A class pattern loads attributes with no place for a guard. `__match_args__` is held to "
        "the same names.",
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
        "A construct that nobody has judged",
        COMPILE,
        "{0} is not known to this policy",
        "Write it with statements that docs/language.md has.",
        "Every construct stands in a table (docs/language.md). A newer Python may parse one that "
        "does not: it is refused until it has been judged.",
        "",
        "",
    ),
    "BJ402": Rule(
        "except-star",
        "'except*' takes no group of a class of the program's own",
        RUN,
        "except* takes groups of the class ExceptionGroup or BaseExceptionGroup only",
        "Catch it with except and look at its .exceptions.",
        "CPython before 3.13.2 trusts what `split` and `derive` of a caught group return "
        "(CVE-2025-22153): a subclass that lies there ends the process. So what is raised into a "
        "`try … except*`, and every group within it, must be a plain one.",
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
        "Most special methods may be defined; docs/language.md lists them. Refused are those that "
        "would let an object lie about what it is (`__class__`, `__dict__`, `__getattribute__`), "
        "run at a moment nobody chose (`__del__`) or say how to rebuild it (`__reduce__`).",
        "class A:\n    def __del__(self): print('gone')",
        "class A:\n    def __enter__(self): return self\n"
        "    def __exit__(self, *_): print('gone')\nwith A(): pass",
    ),
    "BJ404": Rule(
        "base-class",
        "The class may not be derived from",
        RUN,
        "class {0!r} may not be derived from",
        "Hold an instance in an attribute and delegate to it.",
        "A subclass supplies methods and attributes that its base's code then trusts. Each library "
        "class that may be derived from was read with that in mind.",
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
        "`eval`, `exec` and `compile` run text that no check has seen; `open` reaches files; "
        "`globals` and `locals` hand out namespaces.",
        "print(eval('1 + 1'))",
        "import json\nprint(json.loads('[1, 1]'))",
    ),
    "BJ502": Rule(
        "does-less-here",
        "The callable does less here than in plain Python",
        RUN,
        "the callable does less here",
        "The message says which part is missing and what takes its place.",
        "Some library callables open files, evaluate text or read names from what they are given. "
        "They are here without that part.",
        "import configparser\nconfigparser.ConfigParser().read('settings.ini')",
        "import configparser\nconfigparser.ConfigParser().read_string('[a]\\nb = 1')",
    ),
}
