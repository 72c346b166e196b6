"""`from m import *` binds what it binds in CPython, as far as the profile exports it."""

from __future__ import annotations

import pytest

from tests.policy.harness import ENTRIES, EXPORTING, assert_runs, run, run_plain

# CPython has no IPython to compare with.
MODULES = [each for each in EXPORTING if each[1].partition(".")[0] != "IPython"]

# Deprecated names of `ast` since Python 3.12, which its __getattr__ puts into the module.
_ON_REQUEST = {"Bytes", "Ellipsis", "NameConstant", "Num", "Str"}

BOUND = """
from {module} import *
print(sorted(n for n in globals() if n[0] != "_"))
"""


@pytest.mark.parametrize(("kind", "module"), MODULES)
def test_a_star_binds_what_it_binds_in_cpython(kind: str, module: str) -> None:
    source, entry = BOUND.format(module=module), ENTRIES[kind][module]
    ran, plain = run(source, kind=kind), run_plain(source)
    assert plain.error is None, plain.traceback
    theirs = eval(plain.stdout)
    if ran.findings:
        assert ran.rules == ["BJ203"], ran.findings
        assert not set(theirs).intersection(entry["exports"])
        return
    assert ran.error is None, ran.traceback
    ours, exports = set(eval(ran.stdout)), set(entry["exports"])
    assert ours >= exports.intersection(theirs), sorted(exports.intersection(theirs) - ours)
    # Of a module that is ours, the library's `__all__` is not there to be asked.
    if not entry.get("synthetic", False):
        more = ours - set(theirs) - _ON_REQUEST
        assert not more, sorted(more)


def test_builtins_may_be_spelled_out() -> None:
    assert_runs("from builtins import *\nprint(len('abc'), sorted is not None)")
    ran = assert_runs("from builtins import *\nprint([n for n in globals() if n[0] in '_@'])")
    assert "@" not in ran.stdout


def test_the_usual_wrapper_of_programs() -> None:
    """What reward functions put before a model's program."""
    wrapper = """
from string import *
from re import *
from datetime import *
from collections import *
from heapq import *
from bisect import *
from copy import *
from math import *
from random import *
from statistics import *
from itertools import *
from functools import *
from operator import *
from io import *
from sys import *
from json import *
from builtins import *
from typing import *
import string
import re
import datetime
import collections
import heapq
import bisect
import copy
import math
import random
import statistics
import itertools
import functools
import operator
import io
import sys
import json
sys.setrecursionlimit(50000)
class Solution:
    def f(self, a: List[int]) -> int: return sum(a) + floor(pi)
print(Solution().f([1, 2]))
"""
    assert assert_runs(wrapper).stdout == run_plain(wrapper).stdout == "6\n"


def test_a_star_of_a_module_that_may_be_missing_raises_there() -> None:
    source = """
try:
    from no_such_module import *
except ImportError as error:
    print(type(error).__name__)
"""
    assert assert_runs(source).stdout == "ModuleNotFoundError\n"
