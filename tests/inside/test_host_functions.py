"""Inputs, and functions of the host's, as the Python half of a worker gives them to a program."""

import json

import pytest


@pytest.fixture
def call(run):
    """call(source, answer) -> the report, with the calls that were made as `.calls`."""

    def call(source, answer='{"value": null}', **changes):
        calls = []

        def call_host(name, arguments):
            calls.append((name, json.loads(arguments)))
            return answer

        report = run(source, functions=["ask"], call_host=call_host, **changes)
        report.calls = calls
        return report

    return call


def test_inputs_are_variables(run):
    report = run("[a, b]", inputs={"a": 1, "b": {"$type": "set", "items": [2]}})
    assert report["result"] == [1, {"$type": "set", "items": [2]}]


def test_inputs_are_not_among_the_variables_of_the_program(run):
    report = run("c = a", inputs={"a": 1})
    assert report["variables"] == ["c"]


@pytest.mark.parametrize(
    ("source", "result"),
    [
        ("1", 1),
        ("x = result", None),
        ("result = [2]", [2]),
        ("result", [7]),  # the last expression
    ],
)
def test_an_input_is_no_result(run, source, result):
    assert run(source, inputs={"result": [7]}).get("result") == result


def test_a_function_is_no_result(run):
    report = run("1 if result else 0\nNone", functions=["result"], call_host=lambda *_: "")
    assert report.get("result_repr") is None


def test_a_function_is_called(call):
    report = call("ask(1, x=(2,))", '{"value": {"$type": "tuple", "items": [3]}}', exact_types=True)
    assert report["result"] == {"$type": "tuple", "items": [3]}
    assert report.calls == [
        ("ask", {"args": [1], "kwargs": {"x": {"$type": "tuple", "items": [2]}}})
    ]


def test_a_function_has_its_name(call):
    assert call("(ask.__name__, ask.__qualname__)")["result"] == ["ask", "ask"]


@pytest.mark.parametrize(
    ("type_name", "shown"),
    [
        ("ValueError", "ValueError: why"),
        ("KeyError", "KeyError: 'why'"),
        ("OSError", "OSError: why"),
        ("TimeoutError", "TimeoutError: why"),
        ("library.Error", "RuntimeError: library.Error: why"),
        ("UnicodeDecodeError", "RuntimeError: UnicodeDecodeError: why"),
        ("BaseExceptionGroup", "RuntimeError: BaseExceptionGroup: why"),
        ("SystemExit", "RuntimeError: SystemExit: why"),
        ("KeyboardInterrupt", "RuntimeError: KeyboardInterrupt: why"),
        ("eval", "RuntimeError: eval: why"),
        ("MemoryError", "RuntimeError: MemoryError: why"),
    ],
)
def test_failures_are_exceptions(call, type_name, shown):
    answer = json.dumps({"error": {"type": type_name, "message": "why"}})
    error = call("ask()", answer)["error"]
    assert f"{error['type']}: {error['message']}" == shown


def test_a_failure_is_the_programs_own_line(call):
    """Our frames are nobody's business."""
    error = call("x = 1\nask()", '{"error": {"type": "ValueError", "message": "why"}}')["error"]
    assert error["line"] == 2
    assert "host_functions" not in error["traceback"]


@pytest.mark.parametrize("argument", ["object()", "print", "[[lambda: 0]]", "range(3)", "1j"])
def test_arguments_are_plain_data(call, argument):
    report = call(f"ask({argument})")
    assert report["error"]["type"] == "TypeError"
    assert report["error"]["message"].startswith("ask(): arguments are plain data only")
    assert not report.calls


def test_subclasses_are_not_plain_data(call):
    """A method of theirs would be the guest's."""
    report = call("class S(str):\n    pass\nask(S('x'))")
    assert report["error"]["type"] == "TypeError"
    assert not report.calls


def test_arguments_are_bounded(call):
    report = call("ask('x' * 1000)", max_result=999)
    assert report["error"]["type"] == "ValueError"
    assert report["error"]["message"] == "ask(): its arguments take more than 999 bytes"
    assert not report.calls


def test_cycles_are_not_plain_data(call):
    report = call("x = []\nx.append(x)\nask(x)")
    assert report["error"]["type"] == "TypeError"


def test_arguments_nest_as_deep_as_inputs(call):
    from belljar_runner.plain_data import MAX_DEPTH

    deepest = 0
    for _ in range(MAX_DEPTH):
        deepest = [deepest]
    report = call("ask(x, key=x)", inputs={"x": deepest})
    assert report["status"] == "ok", report
    assert report.calls == [("ask", {"args": [deepest], "kwargs": {"key": deepest}})]
    assert call("ask([x])", inputs={"x": deepest})["error"]["type"] == "TypeError"


def test_where_the_stack_ends_it_is_said_so(call):
    report = call("def deeper():\n    ask(1)\n    deeper()\ndeeper()")
    assert report["error"]["type"] == "RecursionError"
