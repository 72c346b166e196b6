"""`stdin=callable`: a program asks for each line when it reads it."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from tests.python.conftest import CALL_HOST

if TYPE_CHECKING:
    from belljar import Sandbox


class Person:
    """Answers what it is asked, and keeps the prompts."""

    def __init__(self, *answers: str | None, then: Callable[[], str | None] = lambda: None) -> None:
        self.answers, self.then = list(answers), then
        self.prompts: list[str] = []
        self.hidden: list[bool] = []

    def __call__(self, prompt: str) -> str | None:
        self.prompts.append(prompt)
        self.hidden.append(prompt.hidden)  # type: ignore[attr-defined]
        return self.answers.pop(0) if self.answers else self.then()


@pytest.fixture(params=["on", "off"])
def sandbox(request: pytest.FixtureRequest, box: Sandbox) -> object:
    from belljar import Sandbox

    if request.param == "on":
        yield box
        return
    with Sandbox("basic", policy="off", spares=1) as full:
        yield full


def test_each_line_is_asked_for(sandbox: Sandbox) -> None:
    person = Person("Ada", "36\n", "")
    code = "name = input('name? ')\nage = input('age? ')\n[name, age, input()]"
    result = sandbox.run(code, stdin=person)
    assert result.value == ["Ada", "36", ""]
    assert person.prompts == ["name? ", "age? ", ""]
    assert result.stdout == "name? age? "


def test_the_prompt_has_come_before_the_question(sandbox: Sandbox) -> None:
    seen: list[str] = []

    def answer(_prompt: str) -> str:
        seen.append("asked")
        return "x"

    code = "input('first ')\nprint('second')"
    sandbox.run(code, stdin=answer, stream=lambda _, text: seen.append(text))
    assert seen[:2] == ["first ", "asked"]


def test_getpass_is_hidden(sandbox: Sandbox) -> None:
    person = Person("secret", "seen")
    code = "import getpass, warnings\nwarnings.simplefilter('ignore')\n"
    result = sandbox.run(code + "[getpass.getpass('word: '), input()]", stdin=person)
    assert result.value == ["secret", "seen"]
    assert person.hidden == [True, False]
    assert person.prompts[0] == "word: "


def test_none_is_the_end_for_good(sandbox: Sandbox) -> None:
    person = Person("one", None, "never")
    code = """
import sys
lines = [input()]
for _ in range(100):
    try: lines.append(input())
    except EOFError: pass
lines + list(sys.stdin)
"""
    assert sandbox.run(code, stdin=person).value == ["one"]
    assert len(person.prompts) == 2
    ends = sandbox.run("input()", stdin=Person())
    assert ends.error is not None and ends.error.type == "EOFError"


def test_the_clock_stands_still_while_a_person_thinks(sandbox: Sandbox) -> None:
    def slowly() -> str:
        time.sleep(0.8)  # sleeps: longer than the program may take
        return "x"

    result = sandbox.run("input()", stdin=Person(then=slowly), timeout=0.5)
    assert (result.status, result.value) == ("ok", "x")
    assert result.usage.wall_time < 0.5
    # Its own time is what it was.
    spun = sandbox.run("input()\nwhile True: pass", stdin=Person(then=slowly), timeout=0.5)
    assert spun.status == "timeout"
    assert spun.error is not None and spun.error.line == 2


def test_an_exception_of_the_callable_is_the_programs(sandbox: Sandbox) -> None:
    def fails(_prompt: str) -> str:
        raise ValueError("no keyboard")

    result = sandbox.run("input()", stdin=fails)
    assert result.error is not None
    assert (result.error.type, result.error.message) == ("ValueError", "no keyboard")
    wrong = sandbox.run("input()", stdin=lambda _prompt: 7)  # type: ignore[arg-type,return-value]
    assert wrong.error is not None and "stdin returned a int" in wrong.error.message


def test_a_callable_beside_functions(box: Sandbox) -> None:
    functions = {"double": lambda number: 2 * number}
    result = box.run("double(int(input()))", stdin=Person("21"), functions=functions)
    assert result.value == 42


def test_cells_ask_too(box: Sandbox) -> None:
    with box.session() as session:
        assert session.run("x = input('a')\nx", stdin=Person("one")).value == "one"
        assert session.run("input('b') + x", stdin=Person("two")).value == "twoone"
        ends = session.run("input()")
        assert ends.error is not None and ends.error.type == "EOFError"


def test_what_is_no_input_is_refused(box: Sandbox) -> None:
    with pytest.raises(TypeError, match="stdin is a int; give a str, bytes or a callable"):
        box.run("1", stdin=7)  # type: ignore[arg-type]


# --- attacks --------------------------------------------------------------------------------------


def test_a_flood_of_prompts(sandbox: Sandbox) -> None:
    """A program that asks and asks gets its answers, its prompts are short, and its time ends."""
    person = Person(then=lambda: "x")
    result = sandbox.run("while True: input('y' * 100_000)", stdin=person, timeout=1)
    assert result.status == "timeout"
    assert len(person.prompts) > 1, "the control: it asks"
    assert all(len(prompt) <= 1000 for prompt in person.prompts)
    # Without a person nobody is asked more than once.
    nobody = Person()
    code = "while True:\n    try: input('y' * 100_000)\n    except EOFError: pass"
    assert sandbox.run(code, stdin=nobody, timeout=1).status == "timeout"
    assert len(nobody.prompts) == 1


def test_a_prompt_of_all_bytes(sandbox: Sandbox) -> None:
    person = Person("x", "y")
    code = """
import sys
input('plain ')
sys.stdout.buffer.write(bytes(range(11, 256)) + '\\u202eevil\\u2066'.encode())
sys.stdout.flush()
input()
"""
    assert sandbox.run(code, stdin=person).ok
    plain, hostile = person.prompts
    assert plain == "plain "
    assert "evil" in hostile
    assert not any(ord(each) < 32 or 127 <= ord(each) < 160 for each in hostile)
    assert not {"\u202e", "\u2066"} & set(hostile)


FORGED = (
    CALL_HOST
    + """
answers = []
for question in QUESTIONS:
    answers.append(call_host()("@input", question))
answers
"""
)


@pytest.mark.parametrize(
    ("question", "prompt"),
    [
        ('{"args":["q? ",false],"kwargs":{}}', "q? "),  # the control: as the runner asks
        ('{"args":["%s",false],"kwargs":{}}' % ("z" * 200_000), "z" * 1000),
        ('{"args":["\\u001b[2J\\n",1],"kwargs":{}}', "\\x1b[2J "),
    ],
)
def test_a_question_that_an_attacker_sends(question: str, prompt: str) -> None:
    from belljar import Sandbox

    person = Person("answer")
    with Sandbox("basic", policy="off", spares=1) as full:
        result = full.run(FORGED, stdin=person, inputs={"QUESTIONS": [question]})
    assert result.value == ['{"value":"answer\\n"}'], result.error
    assert person.prompts == [prompt]


@pytest.mark.parametrize(
    "question",
    [
        '{"args":[],"kwargs":{}}',
        '{"args":["a",false,1],"kwargs":{}}',
        '{"args":["a"],"kwargs":{"b":1}}',
        '{"args":"ab","kwargs":{}}',
        "[]",
        "nothing",
    ],
)
def test_no_question_asks_nobody(question: str) -> None:
    from belljar import Sandbox

    person = Person("answer")
    with Sandbox("basic", policy="off", spares=1) as full:
        result = full.run(FORGED, stdin=person, inputs={"QUESTIONS": [question]})
        assert full.run("input()", stdin=person).value == "answer", "the control"
    assert result.value is not None and '"error"' in result.value[0]
    assert person.prompts == [""]
