"""belljar.rewards, as verl loads and calls it: by the code of verl itself, from its package on PyPI
without its dependencies (torch and others, gigabytes). Those of its functions that are used here
need none of them; what they are given in place of tensors are arrays.
"""

import ast
import asyncio
import importlib.util
import inspect
import json
import sys
import types
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest
from belljar import BelljarError, Sandbox
from belljar.rewards import compute_score, extract_code, grade

from tests.integrations.conftest import BUILD
from tests.machine import need_files

VERL = BUILD.parent / "sources/verl"

ADD = "Adding:\n```python\ndef add(a, b):\n    return a + b\n```\nThat is all."
TESTS = {"assert_case": ["assert add(1, 2) == 3", "assert add('a', 'b') == 'ab'"]}


def block(code: str) -> str:
    return f"```python\n{code}\n```"


def score(code: str, tests, **options) -> dict:
    return compute_score("tests", block(code), tests, {}, timeout=2, memory="64m", **options)


def statuses(scored: dict) -> list[str]:
    return [status for status, _ in json.loads(scored["detail"])]


# --- verl's own code ------------------------------------------------------------------------------


@pytest.fixture
def verl(monkeypatch):
    """Its loader of reward functions, and the reward manager's method that calls them."""
    need_files(VERL)
    loader = importlib.util.spec_from_file_location(
        "verl.utils.import_utils", VERL / "utils/import_utils.py"
    )
    imports = importlib.util.module_from_spec(loader)
    loader.loader.exec_module(imports)
    # Where the functions below import it from: the packages themselves would import torch.
    for name in ("verl", "verl.utils"):
        monkeypatch.setitem(sys.modules, name, types.ModuleType(name))
    monkeypatch.setitem(sys.modules, "verl.utils.import_utils", imports)
    names = {"inspect": inspect, "partial": partial}
    functions(
        VERL / "trainer/ppo/reward.py",
        {"_call_with_kwargs", "_call_with_kwargs_async", "get_custom_reward_fn"},
        names,
    )
    functions(VERL / "experimental/reward_loop/reward_manager/naive.py", {"run_single"}, names)
    return SimpleNamespace(**names)


def functions(path, wanted: set[str], names: dict) -> None:
    """Those of a file, as they are there."""
    nodes = ast.FunctionDef | ast.AsyncFunctionDef
    found = [
        node
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, nodes) and node.name in wanted
    ]
    assert {node.name for node in found} == wanted
    # Annotations name classes of torch's.
    head = ast.parse("from __future__ import annotations").body
    exec(compile(ast.Module([*head, *found], []), str(path), "exec"), names)


class Item:
    """One answer, as the part of verl's DataProto that the reward manager reads."""

    def __init__(self, text: str, ground_truth) -> None:
        tokens = np.frombuffer(text.encode(), np.uint8)
        padding = np.zeros(5, np.uint8)
        self.batch = {
            "responses": np.concatenate([tokens, padding]),
            "attention_mask": np.concatenate([np.ones(3 + len(tokens), int), padding]),
        }
        self.non_tensor_batch = {
            "data_source": "codecontests",
            "reward_model": {"ground_truth": ground_truth},
            "extra_info": {"index": 0},
        }

    def __getitem__(self, index):
        return self  # a batch of one


def test_verl_loads_it_calls_it_and_collects_what_it_says(verl):
    config = SimpleNamespace(
        reward={
            "custom_reward_function": {
                "path": "pkg://belljar.rewards",
                "name": "compute_score",
                "reward_kwargs": {"timeout": 2, "memory": "64m", "continuous": True},
            }
        }
    )
    compute = verl.get_custom_reward_fn(config)
    answers = [
        (ADD, TESTS),
        (block("def add(a, b): return 3"), json.dumps(TESTS)),
        (block("print(int(input()) * 2)"), {"inputs": ["1", "2"], "outputs": ["2", "4\n"]}),
        (block("while True: pass"), {"inputs": [""], "outputs": [""]}),
        ("I do not know.", TESTS),
    ]

    async def all_of_them():
        manager = SimpleNamespace(
            loop=asyncio.get_running_loop(),
            tokenizer=SimpleNamespace(decode=lambda tokens, **_: bytes(tokens).decode()),
            compute_score=compute,
            is_async_reward_score=inspect.iscoroutinefunction(compute),
            reward_router_address=None,
        )
        return await asyncio.gather(*(verl.run_single(manager, Item(*each)) for each in answers))

    done = asyncio.run(all_of_them())
    assert [each["reward_score"] for each in done] == [1.0, 0.5, 1.0, 0.0, 0.0]
    # Then verl makes an array of each key (reward_loop.py), which needs the same ones in each.
    infos = [each["reward_extra_info"] for each in done]
    collected = {key: np.array([info[key] for info in infos]) for key in infos[0]}
    assert all(array.shape == (5,) for array in collected.values())
    assert list(collected["status"]) == ["passed", "wrong", "passed", "timeout", "no_program"]


def test_it_takes_what_verl_passes():
    parameters = inspect.signature(compute_score).parameters
    assert list(parameters)[:4] == ["data_source", "solution_str", "ground_truth", "extra_info"]
    with_router = compute_score(
        data_source="x", solution_str=ADD, ground_truth=TESTS, extra_info={"num_turns": None},
        reward_router_address="127.0.0.1:1", reward_model_tokenizer=None,
    )  # fmt: skip
    assert with_router["score"] == 1.0


# --- scores ---------------------------------------------------------------------------------------


def test_all_or_nothing_and_the_share():
    half = "def add(a, b): return int(a) + b"
    assert score(half, TESTS)["score"] == 0.0
    share = score(half, TESTS, continuous=True)
    assert (share["score"], share["acc"], share["passed"], share["tests"]) == (0.5, False, 1, 2)
    assert statuses(share) == ["passed", "exception"] and share["status"] == "exception"
    # All or nothing: none is run after one that failed.
    assert statuses(score("def add(a, b): return 0", TESTS)) == ["wrong"]
    assert score(half, TESTS, max_tests=1)["score"] == 1.0
    assert score(half, TESTS, most_tests=1)["score"] == 1.0  # its former name
    assert score("1", {"assert_case": []})["score"] == 0.0


def test_standard_input_and_output():
    tests = {"inputs": ["2\n3\n", ["1", "4"]], "outputs": ["5", ["5", ""]]}
    assert score("print(int(input()) + int(input()))", tests)["score"] == 1.0
    assert score("print(5, '  \\n')", tests)["score"] == 1.0  # spaces at the ends of lines
    assert statuses(score("print(50)", tests)) == ["wrong"]
    assert statuses(score("print(5)\nraise SystemExit(1)", tests)) == ["exception"]
    assert statuses(score("print('5' * 10**7)", tests)) == ["wrong"]


def test_functions():
    tests = {"fn_name": "pair", "inputs": ["1\n[2]", "3\n[]"], "outputs": ["[1, [2]]", [3, []]]}
    assert score("def pair(a, b): return a, b", tests)["score"] == 1.0
    assert score("class Solution:\n    def pair(s, a, b): return [a, b]", tests)["score"] == 1.0
    assert statuses(score("def pears(a, b): return a, b", tests)) == ["exception"]
    named = {"fn_name": "f", "inputs": ["1"], "outputs": ['{"1": null}']}
    assert score("def f(n): return {n: None}", named)["score"] == 1.0
    with pytest.raises(ValueError, match="not the name of a function"):
        score("1", {"fn_name": "f(); print", "inputs": [""], "outputs": [""]})


def test_limits():
    tests = {"assert_case": ["assert f() == 1"]}
    assert statuses(score("def f():\n while 1: pass", tests)) == ["timeout"]
    assert statuses(score("def f(): return 'a' * 10**9", tests)) == ["memory_limit"]
    assert statuses(score("import subprocess", tests)) == ["refused"]


@pytest.mark.parametrize(
    ("code", "status"),
    [
        # An object that equals everything.
        ("class E:\n    __eq__ = lambda s, o: True\ndef add(a, b): return E()", "no_value"),
        ("class E(int):\n    __eq__ = lambda s, o: True\ndef add(a, b): return E()", None),
        ("def add(a, b): exit()", "exited"),
        ("raise SystemExit", "exited"),
        ("def add(a, b): raise SystemExit(0)", "exited"),
        # Whatever follows is text.
        ("'''", "exception"),
        ("def add(a, b): return 3\nif False:", "exception"),
        ("def add(a, b): return (3,)", "wrong"),
        ("print((3,))", "exception"),
    ],
)
def test_a_program_cannot_score_itself(code, status):
    scored = score(code, {"assert_case": ["assert add(1, 2) == 3"]})
    assert scored["score"] == 0.0 and scored["inside"] == 0
    assert status is None or statuses(scored) == [status]


def test_what_is_expected_never_reaches_the_program():
    tests = {"assert_case": ["assert f() == 'expected-7391'"]}
    with Sandbox("full", timeout=5) as box:
        looked = "def f():\n    return f'{globals()} {sys.argv} {linecache.cache}'"
        case = grade(f"import linecache, sys\n{looked}", tests, sandbox=box).cases[0]
    assert case.status == "wrong" and "expected-7391" not in case.detail


def test_what_is_decided_inside_is_said():
    tests = {"assert_case": ["assert add(1, 2) in (3, 4)", "x = add(1, 1)\nassert x == 2"]}
    done = score("def add(a, b): return a + b", tests)
    assert (done["score"], done["inside"]) == (1.0, 1)
    assert statuses(score("def add(a, b): return 5", tests)) == ["wrong"]
    assert statuses(score("exit()", tests)) == ["exited"]
    # This is why it is said.
    cheat = "class E:\n    __eq__ = lambda s, o: True\ndef add(a, b): return E()"
    assert statuses(score(cheat, tests, continuous=True)) == ["passed", "no_value"]
    same = {"assert_case": ["assert add(1, 1) is True"]}
    assert statuses(score("def add(a, b): return 1", same)) == ["wrong"]


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        ("1 + 1", "1 + 1"),
        ("```\na\n```", "a\n"),
        ("```python\na\n```\n```py\nb\n```\n```sh\nls\n```", "b\n"),
        ("```sh\nls\n```\n```\nb\n```", "b\n"),
        ("```python\nprint('cut off", "print('cut off"),
        ("x ```python y``` z", "x ```python y``` z"),
        ("1.\n   ```Python\n   a\n   ```", "   a\n"),
    ],
)
def test_the_last_block_is_the_program(answer, code):
    assert extract_code(answer) == code


@pytest.mark.parametrize(
    "answer",
    [
        "I cannot solve this.",
        "",
        "```python\n\n```",
        "```cpp\nint main() {}\n```",
        "(" * 100_000,
        "é\x00",
    ],
)
def test_an_answer_without_a_program_has_none(answer):
    # What an empty program would solve.
    tests = {"inputs": ["", ""], "outputs": ["", ""]}
    for continuous in (False, True):
        scored = compute_score("tests", answer, tests, continuous=continuous, timeout=2)
        assert (scored["score"], scored["acc"], scored["tests"]) == (0.0, False, 2), scored
        assert scored["status"] == "no_program" and statuses(scored) == ["no_program"]


def test_a_program_that_is_wrong_is_one_all_the_same():
    tests = {"inputs": [""], "outputs": ["1\n"]}
    assert statuses(score("print(1", tests)) == ["exception"]
    assert compute_score("tests", "print(1)", tests)["score"] == 1.0  # without a block
    assert statuses(compute_score("tests", "print(2)", tests)) == ["wrong"]


@pytest.mark.parametrize("tests", ["[]", {}, {"inputs": [""]}, {"inputs": [""], "outputs": []}])
def test_tests_without_a_form_are_an_error(tests):
    with pytest.raises(ValueError, match="tests: "):
        score("1", tests)


def test_what_fails_here_is_no_score():
    with Sandbox() as box:
        pass
    with pytest.raises(BelljarError, match="closed"):
        grade("1", TESTS, sandbox=box)
