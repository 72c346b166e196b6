"""What gather() does to functions: their code moves, and they do the same."""

import importlib
import sys
from types import FunctionType, ModuleType

import pytest

locality = importlib.import_module("belljar_runner.locality")

SOURCE = """
def outer(values, factor=2, *, more=1):
    def inner(value):
        return value * factor + more
    return [inner(value) for value in values]

def idle():
    return 0
"""


def module_of(name: str) -> ModuleType:
    module = ModuleType(name)
    exec(compile(SOURCE, f"{name}.py", "exec"), module.__dict__)
    return module


def gathered(module: ModuleType) -> dict:
    before = {name: vars(module)[name].__code__ for name in ("outer", "idle")}

    def run(profiler):
        assert sys.getprofile() is profiler
        module.outer([1, 2])

    locality.gather(locality.watch(run))
    assert sys.getprofile() is None
    return before


def test_code_that_ran_is_copied():
    module = module_of("belljar_example")
    before = gathered(module)
    outer: FunctionType = module.outer
    assert outer.__code__ is not before["outer"] and outer.__code__ == before["outer"]
    assert module.idle.__code__ is before["idle"]
    assert outer([1, 2], 3, more=0) == [3, 6]
    code = type(outer.__code__)
    (inner, *_) = [each for each in outer.__code__.co_consts if type(each) is code]
    assert all(inner is not each for each in before["outer"].co_consts)


@pytest.mark.parametrize("name", ["numpy.example", "__main__"])
def test_packages_and_programs_keep_theirs(name):
    """Guards know the code of some of their functions by its identity."""
    module = module_of(name)
    before = gathered(module)
    assert module.outer.__code__ is before["outer"]


def test_code_after_the_guest_is_seen(run, stand_in):
    """The guest's profiler is taken off when its program has ended, and ours must stay."""
    execute = sys.modules["belljar_runner.execute"]
    seen = {code.co_name for code in locality.watch(execute._rehearse_watched).values()}
    assert {"_compile", "_run", "_variables", "to_bytes"} <= seen
    assert execute._prepared.profiler is None
