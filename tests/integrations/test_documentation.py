"""docs/integrations.md and docs/training.md: their examples do what they show, and their tables
name what there is."""

import doctest
import re
from importlib.metadata import version

import pytest
from belljar.langchain import BelljarTool
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output

from tests.integrations.conftest import ROOT

PAGE = "".join((ROOT / f"docs/{name}.md").read_text() for name in ("integrations", "training"))


def blocks(section: str, language: str) -> list[str]:
    text = PAGE.split(f"\n## {section}\n")[1].split("\n## ")[0]
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.M | re.S)


def check(block: str) -> None:
    test = doctest.DocTestParser().get_doctest(block, {}, "docs", None, 0)
    assert test.examples
    assert doctest.DocTestRunner().run(test).failed == 0


def test_langchain():
    (example,) = blocks("LangChain", "python")
    check(example)


def test_smolagents():
    from tests.integrations.test_smolagents import Scripted, lookup

    making, session, program = blocks("smolagents", "python")
    names = {"tools": [lookup], "model": Scripted("final_answer(lookup('Rome')['degrees'])")}
    exec(making, names)
    assert names["agent"].run("How warm?") == 21
    assert "one live Python" in names["model"].seen[0]
    names["executor"].cleanup()
    check(session)
    check(program)


def test_pytest(pytester):
    (example,) = blocks("pytest", "python")
    pytester.path.joinpath("student.py").write_text(
        "import math\nprint(f'Hello, {input()}')\ndef add(a, b): return a + b\n"
    )
    pytester.makepyfile(test_it=example)
    pytester.runpytest_subprocess("-p", "belljar.pytest_plugin").assert_outcomes(passed=2)


def test_verl():
    (example,) = blocks("verl", "python")
    check(example)


def test_ipython():
    shell = InteractiveShell.instance()
    shell.user_ns["prices"] = [1.5, 2.5]
    with capture_output() as captured:
        for block in blocks("IPython", "ipython"):
            shell.run_cell(block).raise_error()
    assert captured.stdout == "4.0\n"
    assert shell.user_ns["total"] == 4.0
    shell.run_cell("%unload_ext belljar.ipython")


@pytest.mark.parametrize(
    "library", ["langchain-core", "smolagents", "pytest", "IPython", "ipykernel", "ray"]
)
def test_versions_are_those_that_were_tried(library):
    assert f"{library} {version(library)} |" in PAGE


def test_tables_have_every_option():
    def options(section: str) -> set[str]:
        text = PAGE.split(f"\n## {section}\n")[1].split("\n## ")[0]
        return set(re.findall(r"`(--[\w-]+|\w+)", "".join(re.findall(r"^\|.*?\|", text, re.M))))

    ours = BelljarTool.__annotations__.keys() - {"args_schema", "response_format"}
    ours = {name for name in ours if not name.startswith("_")}
    assert ours <= options("LangChain")
    from belljar.ray import SandboxPool
    from belljar.rewards import compute_score

    said = PAGE.split("\n## Ray\n")[1].split("\n## ")[0]
    for name in ("actors", "cpus", "in_flight"):
        assert name in SandboxPool.__init__.__kwdefaults__ and f"| `{name}` |" in said
    for name, method in vars(SandboxPool).items():
        assert name.startswith("_") or not callable(method) or f"`{name}" in said, name
    for name in compute_score.__kwdefaults__:
        assert name.startswith("reward_") or name in options("verl"), name
    from belljar.ipython import BelljarMagics

    parser = BelljarMagics.belljar.parser
    shown = {text for action in parser._actions for text in action.option_strings}
    assert {text for text in shown if text.startswith("--")} <= options("IPython") | {"--help"}
