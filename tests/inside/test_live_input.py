"""Standard input that asks the host, as the Python half of a worker has it."""

import json

import pytest

SOURCE = "import sys\n"


@pytest.fixture
def asked(run):
    """asked(source, *lines) -> the report, with the questions as `.questions`. None is the end."""

    def ask(source, *lines, output=(), **changes):
        left, outputs, questions = list(lines), list(output), []

        def call_host(name, arguments):
            assert name == "@input"
            questions.append(json.loads(arguments))
            return json.dumps({"value": left.pop(0)})

        report = run(
            source,
            functions=["@input"],
            call_host=call_host,
            new_output=lambda: outputs.pop(0) if outputs else (b"", b""),
            **changes,
        )
        report.questions = [each["args"] for each in questions]
        return report

    return ask


def test_each_line_is_asked_for_when_it_is_read(asked):
    report = asked("[input(), input('age? ')]", "Ada\n", "36\n")
    assert report["result"] == ["Ada", "36"]
    assert report.questions == [["", False], ["", False]]


def test_a_program_that_reads_nothing_asks_nothing(asked):
    assert asked("1").questions == []


def test_the_prompt_is_the_rest_of_the_line(asked):
    output = [(b"Welcome!\nname? ", b""), (b"", b"log\nPassword: "), (b"\xff\xfe", b"")]
    report = asked("[input() for _ in range(3)]", *["a\n"] * 3, output=output)
    assert [prompt for prompt, _ in report.questions] == ["name? ", "Password: ", "\ufffd\ufffd"]


@pytest.mark.parametrize(
    ("source", "result"),
    [
        ("sys.stdin.readline()", "a\n"),
        ("sys.stdin.read(1)", "a"),
        ("sys.stdin.read()", "a\nb\n"),
        ("list(sys.stdin)", ["a\n", "b\n"]),
        ("[next(sys.stdin), input()]", ["a\n", "b"]),
        ("sys.stdin.buffer.readline().decode()", "a\n"),
    ],
)
def test_other_ways_to_read(asked, source, result):
    assert asked(SOURCE + source, "a\n", "b\n", None)["result"] == result


def test_an_end_is_final(asked):
    source = (
        SOURCE
        + """
def ends():
    try: input()
    except EOFError: return True
[ends(), ends(), sys.stdin.read()]
"""
    )
    report = asked(source, None)
    assert report["result"] == [True, True, ""]
    assert len(report.questions) == 1


def test_a_long_line_comes_whole(asked):
    assert asked("len(input())", "x" * 100_000 + "\n")["result"] == 100_000


@pytest.mark.parametrize("line", [7, ["a"], True])
def test_what_is_no_text_is_the_end(asked, line):
    assert asked("input()", line)["error"]["type"] == "EOFError"


def test_getpass_is_hidden(asked):
    source = "import getpass, warnings\nwarnings.simplefilter('ignore')\n"
    report = asked(source + "[getpass.getpass(), input()]", "secret\n", "seen\n")
    assert report["result"] == ["secret", "seen"]
    assert [hidden for _, hidden in report.questions] == [True, False]


def test_the_hint_at_the_end_is_not_to_pass_any(asked):
    assert "no more lines" in asked("input()", None)["error"]["hint"]
