"""belljar.smolagents under smolagents' own CodeAgent, with a model that says what it is told to."""

import pytest
from belljar import Sandbox, SessionClosed
from belljar.smolagents import BelljarExecutor, _Left
from smolagents import CodeAgent, LocalPythonExecutor, tool
from smolagents.local_python_executor import InterpreterError
from smolagents.models import ChatMessage, MessageRole, Model

from tests.machine import need_engine


class Scripted(Model):
    """Answers with one action after the other, and keeps what it was shown."""

    def __init__(self, *actions: str) -> None:
        super().__init__(model_id="scripted")
        self.actions = list(actions)
        self.seen: list[str] = []

    def generate(self, messages, **_) -> ChatMessage:
        self.seen.append(str([message.content for message in messages]))
        text = f"Thought: next.\n<code>\n{self.actions.pop(0)}\n</code>"
        return ChatMessage(role=MessageRole.ASSISTANT, content=text)


@tool
def lookup(city: str) -> dict:
    """Says how warm a place is.

    Args:
        city: Its name.
    """
    if city == "Atlantis":
        raise LookupError("no such place")
    return {"city": city, "degrees": 21}


TOOLS = {"lookup": lookup, "final_answer": lambda answer: answer}


@pytest.fixture
def executor(box):
    """Whose actions are programs of their own."""
    executor = BelljarExecutor(box, session=False)
    executor.send_tools(TOOLS)
    return executor


@pytest.fixture
def live(box):
    """Whose actions are cells of one session: the default."""
    executor = BelljarExecutor(box)
    executor.send_tools(TOOLS)
    yield executor
    executor.cleanup()


def agent(executor, *actions: str, **options) -> CodeAgent:
    return CodeAgent(
        [lookup], Scripted(*actions), executor=executor, instructions=executor.instructions,
        verbosity_level=0, **options,
    )  # fmt: skip


def test_an_agent_works_with_tools_state_and_a_final_answer(box):
    scripted = agent(
        BelljarExecutor(box),
        "import json\ndef name(found): return found['city']\nwarm = lookup('Rome')",
        "print(json.dumps(warm))\nfinal_answer(f\"{name(warm)}: {warm['degrees'] + extra}\")",
    )
    assert scripted.run("How warm?", additional_args={"extra": 1}) == "Rome: 22"
    scripted.python_executor.cleanup()


def test_without_a_session_an_agent_is_told_what_was_not_kept(box):
    scripted = agent(
        BelljarExecutor(box, session=False),
        "import json\nwarm = lookup('Rome')\nprint(json.dumps(warm))",
        "final_answer(f\"{warm['city']}: {warm['degrees'] + extra}\")",
    )
    assert scripted.run("How warm?", additional_args={"extra": 1}) == "Rome: 22"
    shown = scripted.model.seen[1]
    assert '{"city": "Rome", "degrees": 21}' in shown
    assert "not kept for the next action" in shown and "json" in shown


@pytest.mark.parametrize(
    ("session", "said"), [(True, "one live Python"), (False, "runs in a fresh Python process")]
)
def test_an_agent_is_told_how_it_is(box, session, said):
    scripted = agent(BelljarExecutor(box, timeout=3, session=session), "final_answer(1)")
    assert scripted.run("?") == 1
    prompt = scripted.model.seen[0]
    assert said in prompt
    assert "the standard library except " in prompt and "Limits: at 3s or " in prompt


def test_an_agent_mends_what_failed(box):
    answers = ("print('so far')\n1 / 0", "import glob", "final_answer(2)")
    scripted = agent(BelljarExecutor(box), *answers)
    assert scripted.run("?") == 2
    assert "so far" in scripted.model.seen[1] and "ZeroDivisionError" in scripted.model.seen[1]
    assert "BJ201" in scripted.model.seen[2]


def test_a_conversation_goes_on_with_the_variables(box):
    scripted = agent(BelljarExecutor(box), "kept = [1]", "final_answer(1)", "final_answer(kept)")
    assert scripted.run("?") == 1
    assert scripted.run("?", reset=False) == [1]


def test_a_session_keeps_everything(live):
    live("import math\nclass C: n = 1\ndef f(c): return c.n + math.pi\nc = C()")
    assert live("c.n = 2\nf(c)").output == pytest.approx(5.14159, abs=1e-5)
    assert live.session.info().cells == 2 and live.last_result.session.cell == 2
    live.session.undo()
    assert live("c.n").output == 1


def test_an_action_of_a_session_that_a_limit_stops_is_undone(box):
    executor = BelljarExecutor(box, timeout="500ms")
    executor("n = [1]")
    with pytest.raises(InterpreterError, match="Timeout"):
        executor("n.append(2)\nwhile True: pass")
    assert "the action was undone" in executor.state["_print_outputs"]
    with pytest.raises(InterpreterError, match="ZeroDivisionError"):
        executor("n.append(3)\n1 / 0")
    assert executor("n").output == [1, 3]
    executor.cleanup()


def test_a_final_answer_ends_an_action_of_a_session(live):
    done = live("kept = 1\nfinal_answer([kept])\nkept = 2")
    assert (done.output, done.is_final_answer) == ([1], True)
    assert live("kept").output == 1


def test_the_session_opens_with_the_first_action(box):
    executor = BelljarExecutor(box)
    executor.cleanup()
    with pytest.raises(SessionClosed):
        executor("1")
    assert BelljarExecutor(box, session=False).session is None


def test_containers_have_no_sessions():
    need_engine("runsc")
    with pytest.raises(ValueError, match="pass session=False"):
        BelljarExecutor(Sandbox(container=True))


def test_the_last_value_and_what_was_printed_come_back(executor):
    done = executor("import sys\nprint('a')\nprint('b', file=sys.stderr)\n[1, (2,), {3}]")
    assert done.output == [1, (2,), {3}] and done.is_final_answer is False
    assert done.logs.startswith("a\nb\n")
    assert executor("x = 1").output is None
    assert executor("lambda: 1").output.startswith("<function <lambda>")
    assert executor.last_result.ok


def test_what_python_cannot_print_does_not_reach_the_agent(executor):
    output = executor("10 ** 5000").output
    assert isinstance(output, str) and output
    with pytest.raises(InterpreterError, match="more digits than Python prints"):
        executor("final_answer([10 ** 5000])")
    assert executor("n = 10 ** 5000\nn % 7").output == 10**5000 % 7
    assert executor.variables["n"] == 10**5000


def test_variables_of_plain_data_are_kept_as_they_are(executor):
    executor("a = [1, (2.5, None)]\nb = {'x': {1, 2}, 3: b'y'}\nc = 2**100\nd = 1")
    executor("a.append('more')\nb['x'].add(3)\ndel d")
    assert executor.variables == {
        "a": [1, (2.5, None), "more"],
        "b": {"x": {1, 2, 3}, 3: b"y"},
        "c": 2**100,
    }
    assert executor("(a, b, c)").output == tuple(executor.variables.values())


def test_variables_are_kept_when_an_action_fails(executor):
    executor("n = 1")
    with pytest.raises(InterpreterError, match="ZeroDivisionError"):
        executor("n = 2\nm = 3\n1 / 0")
    assert executor.variables == {"n": 2, "m": 3}


@pytest.mark.parametrize(
    ("action", "said"),
    [
        ("n = 2\nwhile True: pass", "Timeout"),
        ("n = 2\nx = 'a' * 10**12", "memory"),
        ("n = 2\nimport glob", "BJ201"),
        ("n = 2\nx = (", "SyntaxError"),
    ],
)
def test_what_did_not_end_by_itself_leaves_variables_as_they_were(box, action, said):
    executor = BelljarExecutor(box, timeout="500ms", session=False)
    executor("n = 1")
    with pytest.raises(InterpreterError, match=said):
        executor(action)
    assert executor.variables == {"n": 1}
    assert executor("n").output == 1


def test_what_cannot_be_kept_is_said(executor):
    done = executor(
        "import math as m\ndef f(): pass\nclass C: pass\ngröße = 1\nc = C()\nn = [f]\nk = 1"
    )
    assert (
        "[belljar: not kept for the next action, too large or not plain data: C, c, f, größe, m, n]"
        in (done.logs)
    )
    assert executor.variables == {"k": 1}
    with pytest.raises(InterpreterError, match="hint: 'f' of an earlier action was too large"):
        executor("f()")
    with pytest.raises(InterpreterError) as failed:
        executor("never_there")
    assert "earlier action" not in str(failed.value)
    assert executor("def f(): return 1\nf()").output == 1


def test_lines_are_those_of_the_action(executor):
    executor("a, b = 1, 2")
    with pytest.raises(InterpreterError, match='File "action.py", line 3'):
        executor("# one\n# two\na / 0")


def test_a_final_answer_ends_the_action_and_cannot_be_caught(executor):
    done = executor(
        "print('before')\ntry:\n    final_answer(answer=[1])\nexcept BaseException:\n    pass\n"
        "finally:\n    print('after')\nlookup('Rome')"
    )
    assert (done.output, done.is_final_answer) == ([1], True)
    assert done.logs == "before"
    assert executor.last_result is None


def test_the_final_answer_is_one_that_crosses(executor):
    with pytest.raises(InterpreterError, match="plain data only"):
        executor("final_answer(object())")


def test_tools_get_and_give_plain_data(executor):
    assert executor("lookup(city='Rome')['degrees']").output == 21
    with pytest.raises(InterpreterError, match="LookupError: no such place"):
        executor("lookup('Atlantis')")
    executor.send_tools({"machine": lambda: object()})
    with pytest.raises(InterpreterError, match="what machine returned is a object"):
        executor("machine()")


def test_a_tool_wins_over_a_variable_of_its_name(executor):
    executor.send_variables({"late": 1})
    executor.send_tools({"late": lambda: 2})
    assert executor("late()").output == 2


def test_what_cannot_be_sent_is_named(executor):
    with pytest.raises(TypeError, match=r"variables\['image'\] is a object; only plain data"):
        executor.send_variables({"image": object()})
    with pytest.raises(ValueError, match="'2x' is not a valid variable name"):
        executor.send_variables({"2x": 1})
    with pytest.raises(ValueError, match="tools: 'my tool'"):
        executor.send_tools({"my tool": print})
    for sent, said in ((5, "is a int; give a dict"), ([print], "is a list; give a dict")):
        with pytest.raises(TypeError, match=f"variables {said}"):
            executor.send_variables(sent)
        with pytest.raises(TypeError, match=f"tools {said}"):
            executor.send_tools(sent)
    with pytest.raises(TypeError, match=r"tools\['a'\] is a int, not callable"):
        executor.send_tools({"a": 1})
    assert executor.variables == {}


def test_wrong_options_are_named(box):
    with pytest.raises(ValueError, match="profile: the given sandbox"):
        BelljarExecutor(box, profile="basic")
    with pytest.raises(ValueError, match="timeout"):
        BelljarExecutor(box, timeout="soon")
    with pytest.raises(ValueError, match="memory"):
        BelljarExecutor(box, memory=-1)


def test_output_before_a_failure_is_where_agents_look_for_it(executor):
    with pytest.raises(InterpreterError):
        executor("print('so far')\n1 / 0")
    assert executor.state["_print_outputs"].startswith("so far")


def test_long_output_is_cut(box):
    done = BelljarExecutor(box, max_characters=100)("print('a' * 100_000)")
    assert len(done.logs) < 200 and "characters left out" in done.logs


def test_state_is_bounded(box):
    executor = BelljarExecutor(box, session=False)
    source = "\n".join(f"v{n} = 'a' * 900_000" for n in range(24))
    done = executor(source)
    assert len(executor.variables) == (16 << 20) // 900_002
    assert "not kept" in done.logs
    executor("v0")  # and what was kept can be given
    done = executor("large = 'a' * 2_000_000\nf = print")
    assert (
        "[belljar: not kept for the next action, too large or not plain data: f, large]"
        in done.logs
    )
    with pytest.raises(InterpreterError, match="'large' of an earlier action was too large or not"):
        executor("len(large)")


@pytest.mark.parametrize("session", [True, False])
def test_many_actions_keep_what_they_made(box, session):
    executor = BelljarExecutor(box, session=session)
    executor("n = 1")
    for _ in range(20):
        executor("n += 1")
    assert executor("n").output == 21


def test_cleanup_closes_only_its_own(box):
    BelljarExecutor(box).cleanup()
    assert box.run("1").ok
    own = BelljarExecutor(profile="basic")
    own.cleanup()
    with pytest.raises(Exception, match="closed"):
        own("1")


def test_an_action_cannot_read_the_hosts_files(box, full, secret):
    attack = f"found = open({str(secret)!r}).read()\nfinal_answer(found)"
    local = LocalPythonExecutor([], additional_functions={"open": open})
    local.send_tools({"final_answer": lambda answer: answer})
    plain = {"final_answer": str}
    exec(attack, plain)
    assert plain["found"] == secret.read_text()  # so the attack is one
    assert local(attack).output == secret.read_text()  # and smolagents' own lets it where it may
    for sandbox in (box, full):
        executor = BelljarExecutor(sandbox)
        executor.send_tools({"final_answer": lambda answer: answer})
        with pytest.raises(InterpreterError) as failed:
            executor(attack)
        assert secret.read_text() not in str(failed.value)
    assert "FileNotFoundError" in str(failed.value)  # without the policy: the kernel's doing


def test_a_hostile_worker_says_what_it_likes_of_its_variables(full):
    """With all of Python a program finds what hands its variables over, and calls it itself."""
    executor = BelljarExecutor(full, session=False)
    lies = """
import gc, json
runner = __import__("belljar_runner.host_functions", fromlist=["x"])
def say(text):
    for value in gc.get_objects():
        if type(value) is dict and "call_host" in value and "max_result" in value:
            return value["call_host"]("@variable", text)
    raise LookupError("call_host")
"""
    for arguments, name in (
        ('["planted", 1]', "planted"),  # it is said, and heard
        ("[5, 1]", 5),
        ('[["x"], 1]', None),
        ('["a b", 1]', "a b"),
        ('["__class__", 1]', "__class__"),
        ('["ok", 1, 2]', None),
        ("[null, 1]", None),
    ):
        text = f'{{"args":{arguments},"kwargs":{{}}}}'
        assert executor(f"{lies}\nsay({text!r})").output is not None
        assert (name in executor.variables) == (name == "planted")


def test_a_hostile_worker_does_not_fill_the_host():
    """It says names without end: as many, and as long, as it likes."""
    left = _Left()
    left.take("a" * 256, 1)
    left.take("b" * 257, 1)
    left.take("c" * 1_000_000)
    left.take("no name")
    assert left.variables == {"a" * 256: 1} and left.lost == set()
    left.take("d", "x" * (16 << 20))
    assert left.lost == {"d"}
    for number in range(20_000):
        left.take(f"e{number}")
        left.take(f"f{number}", 1)
    assert len(left.lost) + len(left.variables) == 10_000
    names = _Left()
    for number in range(100):
        names.take(f"{number}".rjust(250, "n"), "x" * 200_000)
    assert sum(len(name) + 200_002 for name in names.variables) <= 16 << 20
