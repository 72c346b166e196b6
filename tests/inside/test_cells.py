"""execute_cell(): cells that share a namespace."""

import linecache
import sys

import pytest

LANGUAGES = pytest.mark.parametrize("language", ["full", "restricted"])


@pytest.fixture
def cell(run, monkeypatch):
    """cell(source) -> its report, in one session for each test."""
    import belljar_runner

    execute = sys.modules["belljar_runner.execute"]
    monkeypatch.setattr(execute, "_session", execute._Session())
    monkeypatch.setattr(belljar_runner, "execute", belljar_runner.execute_cell)
    belljar_runner.begin_session()
    count = iter(range(1, 1000))

    def run_cell(source, language="full", **request):
        filename = f"In[{next(count)}]"
        report = run(source, language, filename=filename, **request)
        lines = source.splitlines(keepends=True)
        linecache.cache[filename] = (len(source), None, lines, filename)  # run() took it away
        return report

    yield run_cell
    for filename in [name for name in linecache.cache if name.startswith("In[")]:
        del linecache.cache[filename]


@LANGUAGES
def test_variables_stay(cell, language):
    assert cell("x = 1", language)["variables"] == ["x"]
    report = cell("x += 1\ny = x\nx", language)
    assert report["result"] == 2
    assert report["variables"] == ["x", "y"]


@LANGUAGES
def test_the_last_value_is_underscore(cell, language):
    cell("6 * 7", language)
    assert cell("_ + 1", language)["result"] == 43
    cell("None", language)
    assert cell("_", language)["result"] == 43
    assert cell("_ is not None", language)["result"] is True


@LANGUAGES
def test_only_an_expression_is_a_result(cell, language):
    assert not cell("result = 5", language)["has_result"]
    assert not cell("x = 1", language)["has_result"]
    assert cell("result", language)["result"] == 5


@LANGUAGES
def test_an_exception_costs_nothing_else(cell, language):
    cell("x = [1]", language)
    report = cell("x.append(2)\n1 / 0", language)
    assert report["status"] == "exception"
    assert 'File "In[2]", line 2' in report["error"]["traceback"]
    assert cell("x", language)["result"] == [1, 2]


def test_tracebacks_have_the_other_cells(cell):
    cell("def f():\n    return 1 / 0")
    report = cell("f()")
    text = report["error"]["traceback"]
    assert 'File "In[2]", line 1, in <module>' in text
    assert 'File "In[1]", line 2, in f' in text
    assert "return 1 / 0" in text, "the line of the other cell"


def test_a_refused_cell_changes_nothing(cell):
    cell("x = 1", "restricted")
    assert cell("x = 2\nimport os", "restricted")["status"] == "refused"
    assert cell("x", "restricted")["result"] == 1


def test_exit_ends_the_cell_alone(cell):
    cell("x = 1")
    assert cell("raise SystemExit(3)")["exit_code"] == 3
    assert cell("x")["result"] == 1


def test_inputs_are_variables_of_the_session(cell):
    assert cell("n + 1", inputs={"n": 4})["result"] == 5
    report = cell("m = n")
    assert report["variables"] == ["m"]


def test_finalizers_of_a_failure_run_in_the_next_cell(cell):
    cell("class A:\n    def __del__(self): done.append(1)\ndone = []")
    cell("def f():\n    a = A()\n    1 / 0\nf()")
    assert cell("done")["result"] == [1]


def test_top_level_await(cell):
    cell("import asyncio\nasync def f(): return 3")
    assert cell("x = await f()\nx")["result"] == 3
    assert cell("await f() + x")["result"] == 6
