"""`Session`: cells, checkpoints, branches, files, and how they end."""

from __future__ import annotations

import asyncio
import copy
import gc
import inspect
import json
import os
import pickle
import threading
import time
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from belljar import (
    AsyncSandbox,
    AsyncSession,
    BelljarError,
    GuestFailed,
    Sandbox,
    Session,
    SessionBusy,
    SessionClosed,
)
from belljar._session_data import completions, inspection, variables

from tests.clocks import HANG, until
from tests.python.conftest import Script
from tests.python.test_async import meeting
from tests.python.test_leaks import State
from tests.python.test_processes import in_child

FOREVER = "x = 'changed'\nprint('begun', flush=True)\nwhile True: pass"


@pytest.fixture(scope="module")
def box() -> Iterator[Sandbox]:
    with Sandbox("basic", spares=1) as sandbox:
        sandbox.wait_until_ready(60)
        yield sandbox


@pytest.fixture
def session(box: Sandbox) -> Iterator[Session]:
    with box.session() as opened:
        yield opened


@pytest.fixture
def with_files(files: Sandbox) -> Iterator[Session]:
    with files.session() as opened:
        yield opened


def values(session: Session, *cells: str) -> list[object]:
    return [session.run(cell, raise_on_error=True).value for cell in cells]


# --- cells ----------------------------------------------------------------------------------------


def test_names_imports_and_objects_stay(session: Session) -> None:
    cells = [
        "import math\nclass A: n = 2",
        "a = A()",
        "def f(): return a.n * math.floor(2.5)",
        "f()",
    ]
    assert values(session, *cells)[-1] == 4
    result = session.run("print(f())\nf() + 1")
    assert (result.value, result.stdout) == (5, "4\n")
    assert result.session is not None
    assert (result.session.id, result.session.cell) == (session.id, 5)
    assert (result.session.restored, result.session.note) == (False, None)
    assert result.session.checkpoint in {each.id for each in session.checkpoints}
    assert pickle.loads(pickle.dumps(result)) == result
    assert values(session, "_", "_;") == [5, None]


def test_a_run_has_no_session(box: Sandbox) -> None:
    assert box.run("1").session is None


def test_plain_values_and_functions(session: Session) -> None:
    given = {"a": [1, (2, {3})], "b": b"\0", 1: None}
    called: list[object] = []

    def note(*args: object, **kwargs: object) -> object:
        called.append((args, kwargs, threading.get_ident()))
        return (args, kwargs)

    result = session.run("note(given, k=1)", inputs={"given": given}, functions={"note": note})
    assert result.value == ((given,), {"k": 1})
    assert called == [((given,), {"k": 1}, threading.get_ident())]
    assert values(session, "given") == [given]
    # It is called by cells that are given it only.
    assert not session.run("note()").ok and not called[1:]
    assert session.run("note(2)", functions={"note": abs}).value == 2

    def fails() -> None:
        raise LookupError("none")

    result = session.run("fails()", functions={"fails": fails})
    assert result.error is not None and result.error.type == "LookupError"
    assert values(session, "1") == [1]


def test_what_a_cell_is_given(session: Session) -> None:
    code = "import os, sys\nprint(input(), file=sys.stderr)\n(sys.argv, os.environ.get('A'))"
    seen: list[tuple[str, str]] = []
    result = session.run(
        code,
        stdin="in\n",
        args=["1"],
        env={"A": "b"},
        filename="mine.py",
        stream=lambda *given: seen.append(given),
    )
    if result.ok:  # basic may not have os
        assert result.value == (["mine.py", "1"], "b")
        assert seen == [("stderr", "in\n")]
    assert session.run("import glob").status == "refused"
    assert session.run("import math", allowed_imports=[]).status == "refused"
    assert values(session, "import math\nmath.floor(1.5)") == [1]


def test_tracebacks_quote_the_cells(session: Session) -> None:
    values(session, "def f(x):\n    return 1 / x  # here")
    result = session.run("f(0)")
    assert result.error is not None and result.error.traceback is not None
    assert "return 1 / x  # here" in result.error.traceback
    assert "In[1]" in result.error.traceback and "In[2]" in result.error.traceback
    with pytest.raises(GuestFailed, match="ZeroDivisionError"):
        session.run("f(0)", raise_on_error=True)


def test_limits_are_the_sandboxes_the_sessions_and_the_cells() -> None:
    with Sandbox("basic", timeout=9, memory="64m") as box:
        with box.session(output=1000) as session:
            limits = session.run("1").limits
            assert (limits.timeout, limits.memory_bytes) == (9, 64 << 20)
            assert limits.output_bytes == 1000
            assert session.run("1", timeout=3).limits.timeout == 3
        with box.session(timeout=2, memory="32m") as session:
            limits = session.run("1").limits
            assert (limits.timeout, limits.cpu, limits.memory_bytes) == (2, 2, 32 << 20)
        with pytest.raises(ValueError, match="timeout: .* the maximum of profile basic"):
            box.session(timeout=9999)


@pytest.mark.parametrize(
    ("cell", "limits", "status"),
    [
        (FOREVER, {"timeout": 0.3}, "timeout"),
        (FOREVER, {"cpu": 0.2, "timeout": 5}, "cpu_limit"),
    ],
    ids=["timeout", "cpu"],
)
def test_a_stopped_cell_costs_the_cell(
    session: Session, cell: str, limits: dict[str, Any], status: str
) -> None:
    values(session, "x = [1]")
    result = session.run(cell, **limits)
    assert (result.status, result.stdout) == (status, "begun\n")
    assert result.session is not None
    assert (result.session.cell, result.session.restored) == (2, True)
    assert values(session, "x") == [[1]]
    result = session.run("1")
    assert result.session is not None and not result.session.restored


def test_an_exception_keeps_what_the_cell_did(session: Session) -> None:
    result = session.run("x = 1\n1 / 0")
    assert result.session is not None and not result.session.restored
    assert values(session, "x") == [1]


# --- checkpoints ----------------------------------------------------------------------------------


def test_checkpoints(session: Session) -> None:
    assert [each.cell for each in session.checkpoints] in ([], [0])
    values(session, "x = [1]")
    first = session.checkpoint("first")
    assert (first.cell, first.label, first.current) == (1, "first", True)
    assert abs(first.made.timestamp() - time.time()) < 60
    values(session, "x.append(2)", "x.append(3)")
    last = session.checkpoint()
    assert (last.cell, last.label, last.current) == (3, None, True)
    by_id = {each.id: each for each in session.checkpoints}
    assert by_id[first.id] == first and not by_id[first.id].current
    assert by_id[last.parent or ""].parent == first.id
    session.rollback(first)
    assert values(session, "x") == [[1]]
    session.rollback(last.id)
    assert values(session, "x") == [[1, 2, 3]]
    session.undo(2)
    assert values(session, "x") == [[1, 2]]


def test_the_oldest_goes_first(box: Sandbox) -> None:
    with box.session(checkpoints=2) as session:
        values(session, "x = 1")
        first = session.checkpoint()
        kept = [each.id for each in session.checkpoints]
        values(session, *(f"x = {n}" for n in range(5)))
        until(lambda: len(session.checkpoints) == 2)
        with pytest.raises(ValueError, match=f"^checkpoint: {first.id} is no longer held"):
            session.rollback(first)
        assert first.id in kept


def test_unknown_checkpoints(session: Session) -> None:
    for use in (session.rollback, session.compare, lambda name: session.branch(1, name)):
        with pytest.raises(ValueError, match='^checkpoint: there is no "c999" in this session'):
            use("c999")
        with pytest.raises(TypeError, match="is a int; give a"):
            use(3)  # type: ignore[arg-type]
    values(session, "1")
    with pytest.raises(ValueError, match="^cells: only 1 have run$"):
        session.undo(2)


def test_arguments(box: Sandbox, session: Session) -> None:
    for use, message in (
        (lambda: session.undo(0), "cells"),
        (lambda: session.branch(0), "^n is 0"),
        (lambda: session.branch(257), "^n is 257"),
        (lambda: session.checkpoint("x" * 201), "^label"),
        (lambda: session.complete("x", 2), "^cursor is 2"),
        (lambda: session.compare(session), "^other is this very session"),
        (lambda: box.session(wait=0), "^wait is 0"),
        (lambda: box.session(checkpoints=0), "^checkpoints is 0"),
        (lambda: session.run("1", timeout=9999), "the maximum of profile"),
        (lambda: session.run("1", files={"a": b""}), "^files: .*has no workspace"),
        (lambda: session.files.sizes(), "^files: profile basic has no workspace"),
    ):
        with pytest.raises(ValueError, match=message):
            use()
    with pytest.raises(TypeError, match="memory"):
        session.run("1", memory="64m")  # type: ignore[call-arg]
    for duplicate in (copy.copy, pickle.dumps):
        with pytest.raises(TypeError, match="a session cannot be copied"):
            duplicate(session)


# --- branches -------------------------------------------------------------------------------------


def test_branches_run_at_a_time(session: Session) -> None:
    values(session, "import random\nx = [0]")
    start = session.checkpoint()
    values(session, "x.append('later')")
    branches = session.branch(4, start)
    meet = {"meet": threading.Barrier(4, timeout=HANG).wait}
    with ThreadPoolExecutor(4) as pool:
        results = list(
            pool.map(
                lambda n: branches[n].run(
                    "meet()\nx.append(n)\nx", inputs={"n": n}, functions=meet
                ),
                range(4),
            )
        )
    assert [each.value for each in results] == [[0, n] for n in range(4)]
    assert values(session, "x") == [[0, "later"]]
    assert len({each.id for each in [session, *branches]}) == 5
    drawn = [values(each, "random.random()")[0] for each in branches]
    assert len(set(drawn)) == 4
    same = [values(each, "random.random()")[0] for each in session.branch(2, reseed=False)]
    assert len(set(same)) == 1


def test_keep_closes_the_others(session: Session) -> None:
    branches = session.branch(3)
    others = session.branch(1)
    assert branches[1].keep() is branches[1]
    assert [each.closed for each in branches] == [
        "another branch was kept",
        None,
        "another branch was kept",
    ]
    assert (session.closed, others[0].closed) == (None, None)
    with pytest.raises(
        SessionClosed, match="^use a session: it is closed: another branch was kept$"
    ):
        branches[0].run("1")


def test_a_branch_outlives_its_origin(box: Sandbox) -> None:
    session = box.session()
    values(session, "x = 5")
    (branch,) = session.branch(1)
    session.close()
    assert values(branch, "x") == [5]
    branch.close()


def test_compare(with_files: Session) -> None:
    session = with_files
    values(
        session,
        "import os\na = 1\nb = 2\nc = 3\nopen('kept', 'w').write('1')\nopen('gone', 'w').close()",
    )
    before = session.checkpoint()
    assert not session.compare(before)
    assert str(session.compare(before)) == "no difference"
    (other,) = session.branch(1)
    values(other, "b = 'two'\ndel c\nd = [4]\nopen('new', 'w').write('2')\nos.remove('gone')")
    difference = session.compare(other)
    assert difference
    assert [(each.kind, each.name) for each in difference.variables] == [
        ("changed", "b"),
        ("removed", "c"),
        ("added", "d"),
    ]
    changed = difference.variables[0]
    assert changed.type_before == "int" and (changed.type_after or "").startswith("str")
    assert (changed.repr_before, changed.repr_after) == ("2", "'two'")
    assert (difference.variables[1].repr_after, difference.variables[2].repr_before) == (None, None)
    assert (difference.files.added, difference.files.removed) == (("new",), ("gone",))
    assert difference.cells_after - difference.cells_before == 1
    assert "~ b: 2 -> 'two'" in str(difference) and "+ file new" in str(difference)
    # The way back.
    assert [each.kind for each in other.compare(session).variables] == [
        "changed",
        "added",
        "removed",
    ]
    assert other.compare(before)


# --- what is in it --------------------------------------------------------------------------------


def test_files(with_files: Session) -> None:
    files = with_files.files
    assert (dict(files), len(files), "a" in files) == ({}, 0, False)
    files["a.csv"] = b"1,2\n"
    files.write("folder/b.txt", "ü")
    assert values(with_files, "open('a.csv').read()") == ["1,2\n"]
    files.update({"c": b"", "d": b"\0"})
    assert files.sizes() == {"a.csv": 4, "c": 0, "d": 1, "folder/b.txt": 2}
    assert sorted(files) == ["a.csv", "c", "d", "folder/b.txt"]
    assert (files["d"], files.read_text("folder/b.txt"), "c" in files) == (b"\0", "ü", True)
    values(with_files, "open('a.csv', 'a').write('3,4\\n')")
    assert files["a.csv"] == b"1,2\n3,4\n"
    del files["a.csv"]
    assert "a.csv" not in files and files.get("a.csv") is None
    for use in (files.__getitem__, files.__delitem__, files.read_text):
        with pytest.raises(KeyError, match="^'a.csv'$"):
            use("a.csv")
    with pytest.raises(ValueError, match="^files: "):
        files["../up"] = b""
    with pytest.raises(TypeError, match="files"):
        files["x"] = 3  # type: ignore[assignment]
    result = with_files.run("open('c').read()", files={"c": "given"})
    assert result.value == "given" and files["c"] == b"given"


def test_what_the_program_put_in_the_way_of_a_file_is_the_callers_to_solve(
    with_files: Session,
) -> None:
    files = with_files.files
    values(with_files, "import os\nos.symlink('/etc', 'link')\nos.mkdir('folder')")
    with pytest.raises(ValueError, match=r'^files: .*"link/x" cannot be written.*symbolic link'):
        files["link/x"] = b""
    with pytest.raises(ValueError, match='^files: .*"folder" cannot be written.*folder'):
        files["folder"] = b""
    with pytest.raises(ValueError, match='^files: .*"folder" cannot be removed.*folder'):
        del files["folder"]
    files["link"] = b"a file"
    assert dict(files) == {"link": b"a file"}


def test_files_are_part_of_the_state(with_files: Session) -> None:
    files = with_files.files
    files["a"] = b"1"
    before = with_files.checkpoint()
    files["a"] = b"2"
    values(with_files, "open('b', 'w').close()")
    with_files.rollback(before)
    assert dict(files) == {"a": b"1"}
    one, two = with_files.branch(2)
    one.files["a"] = b"one"
    assert values(two, "open('a').read()") == ["1"]
    assert values(one, "open('a').read()") == ["one"]


def test_questions(session: Session) -> None:
    values(session, "class Dog:\n    'Barks.'\n    def bark(self): pass\nrex = Dog()\nnumber = 3")
    assert [(each.name, each.type, each.repr) for each in session.variables()][-1] == (
        "number",
        "int",
        "3",
    )
    (found,) = session.complete("rex.ba + 1", 6)
    assert (found.text, found.start, found.end, found.type) == ("bark", 4, 6, "function")
    assert "Barks." in (session.inspect("Dog") or "")
    assert session.inspect("unheard_of") is None
    assert session.info().cells == 1


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "1",
        "{}",
        '{"status":3}',
        "[" * 100_000,
        "1" * 5000,
        '{"completions":[1,{"text":3}]}',
    ],
    ids=lambda text: text[:20] or "empty",
)
def test_hostile_answers(text: str) -> None:
    assert completions(text) == () and inspection(text) is None
    with pytest.raises(BelljarError, match="did not answer"):
        variables(text)


def test_hostile_variables() -> None:
    good = {"name": "a", "type": "int", "repr": "1"}
    told = variables(json.dumps({"status": "ok", "variables": [good, 3, {**good, "name": 1}]}))
    assert [(each.name, each.shape, each.digest) for each in told] == [("a", None, None)]
    (told_shape,) = variables(
        json.dumps({"status": "ok", "variables": [{**good, "shape": [2, "x"]}]})
    )
    assert told_shape.shape is None


def test_info(session: Session) -> None:
    values(session, "1", "2")
    info = session.info()
    assert (info.id, info.cells) == (session.id, 2)
    assert len(session.id) == 32
    assert 0 < info.memory_bytes < 1 << 30
    assert 0 <= info.idle < 60
    assert session.id[:8] in repr(session) and "closed" not in repr(session)


# --- one thing at a time --------------------------------------------------------------------------


class Running:
    """A cell in a thread of its own, which has begun."""

    def __init__(self, session: Session, cell: str = FOREVER) -> None:
        begun = threading.Event()
        self.result: Any = None

        def run() -> None:
            try:
                self.result = session.run(cell, stream=lambda *_: begun.set())
            except BaseException as error:
                self.result = error

        self.thread = threading.Thread(target=run)
        self.thread.start()
        assert begun.wait(HANG)

    def ended(self) -> Any:
        self.thread.join(HANG)
        assert not self.thread.is_alive()
        return self.result


def test_interrupt(session: Session) -> None:
    assert not session.interrupt()
    values(session, "x = 1")
    cell = Running(session)
    assert session.interrupt()
    result = cell.ended()
    assert (result.status, result.error.type) == ("exception", "KeyboardInterrupt")
    assert not result.session.restored
    assert values(session, "x") == ["changed"]


def test_a_cell_that_does_not_end_is_killed() -> None:
    with Sandbox("basic", policy="off", spares=1) as box, box.session() as session:
        check_that_it_is_killed(session)


def check_that_it_is_killed(session: Session) -> None:
    values(session, "import time\nx = 1")
    cell = Running(
        session,
        # sleeps: until it is killed
        "x = 2\nprint('begun', flush=True)\nwhile True:\n    try:\n        time.sleep(100)\n"
        "    except KeyboardInterrupt: pass",
    )
    assert session.interrupt()
    result = cell.ended()
    assert (result.status, result.session.restored) == ("killed", True)
    assert values(session, "x") == [1]


def test_busy(box: Sandbox) -> None:
    with box.session(wait=0.2) as session:
        cell = Running(session)
        for use in (
            lambda: session.run("1"),
            session.checkpoint,
            session.undo,
            session.variables,
            lambda: session.branch(2),
        ):
            with pytest.raises(SessionBusy, match="^use a session: it was busy with other calls"):
                use()
        # These need no turn.
        assert session.info().busy and session.closed is None and session.checkpoints
        session.interrupt()
        cell.ended()
        assert values(session, "1") == [1]
        assert issubclass(SessionBusy, BelljarError) and issubclass(SessionClosed, BelljarError)


def test_calls_wait_for_their_turn(session: Session) -> None:
    values(session, "import time\nx = 0")
    with ThreadPoolExecutor(4) as pool:
        # sleeps: others come meanwhile
        done = list(pool.map(lambda _: session.run("time.sleep(0.05)\nx += 1\nx").value, range(8)))
    assert sorted(done) == list(range(1, 9))  # type: ignore[type-var]


def test_a_cell_cannot_wait_for_itself(session: Session) -> None:
    for use in (lambda: session.run("1").value, lambda: session.undo(), session.variables):
        result = session.run("use()", functions={"use": use})
        assert result.error is not None
        assert result.error.message.startswith(
            "SessionBusy: use a session: it is busy with the cell that makes this very call"
        )
    # Another session, even a branch, is not it.
    (branch,) = session.branch(1)
    assert session.run("f()", functions={"f": lambda: branch.run("1 + 1").value}).value == 2


def test_an_exception_of_a_callback_ends_the_cell_only(session: Session) -> None:
    def stop(*_: str) -> None:
        raise KeyError("enough")

    class Stop(BaseException):
        pass

    def end() -> None:
        raise Stop

    with pytest.raises(KeyError, match="enough"):
        session.run(FOREVER, stream=stop)
    with pytest.raises(Stop):
        session.run("y = 1\nend()\ny = 2", functions={"end": end})
    assert values(session, "x", "y") == ["changed", 1]  # nothing had to be killed


def test_ctrl_c_interrupts_the_cell(script: Script) -> None:
    done = script(
        """
import os, signal, threading, time
from belljar import Sandbox
with Sandbox("basic", spares=1) as box, box.session() as session:
    session.run("x = 1")
    def press(name, text):
        os.kill(os.getpid(), signal.SIGINT)
    try:
        session.run("x = 2\\nprint('begun', flush=True)\\nwhile True: pass", stream=press)
    except KeyboardInterrupt:
        pass
    else:
        raise AssertionError
    assert session.run("x").value == 2
    # While it waits for its turn, too.
    begun = threading.Event()
    other = threading.Thread(target=lambda: session.run(
        "print('begun', flush=True)\\nwhile True: pass", stream=lambda *_: begun.set()))
    other.start()
    begun.wait()
    for use in (lambda: session.run("1"), session.checkpoint):
        threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
        try:
            use()
        except KeyboardInterrupt:
            continue
        raise AssertionError
    session.interrupt()
    other.join()
    assert session.run("x").value == 2
print("good")
"""
    )
    assert (done.stdout, done.returncode) == ("good\n", 0), done.stderr


# --- the end --------------------------------------------------------------------------------------


def test_closing(box: Sandbox) -> None:
    session = box.session()
    session.close()
    session.close()
    assert session.closed == "its caller closed it"
    assert "closed" in repr(session)
    for use in (
        lambda: session.run("1"),
        session.checkpoint,
        session.undo,
        session.variables,
        lambda: session.rollback("c0"),
        lambda: session.branch(2),
        lambda: session.compare("c0"),
    ):
        with pytest.raises(SessionClosed) as raised:
            use()
        assert str(raised.value) == "use a session: it is closed: its caller closed it"
    assert not session.interrupt()


def test_closing_ends_the_cell(box: Sandbox) -> None:
    session = box.session()
    cell = Running(session)
    session.close()
    assert isinstance(cell.ended(), SessionClosed)


def test_a_function_may_close_it(box: Sandbox) -> None:
    session = box.session()
    with pytest.raises(SessionClosed, match="its caller closed it$"):
        session.run("end()\nwhile True: pass", functions={"end": session.close})


def test_closing_the_sandbox_closes_its_sessions() -> None:
    box = Sandbox("basic", spares=1)
    idle, busy, waiting = box.session(), box.session(), box.session()
    (branch,) = idle.branch(1)
    cell = Running(busy)
    first = Running(waiting)
    second = threading.Thread(target=lambda: pytest.raises(SessionClosed, waiting.checkpoint))
    second.start()
    time.sleep(0.1)  # sleeps: it waits by then
    box.close()
    second.join(HANG)
    assert isinstance(cell.ended(), SessionClosed) and isinstance(first.ended(), SessionClosed)
    for each in (idle, busy, waiting, branch):
        assert each.closed == "its sandbox was closed"
        with pytest.raises(SessionClosed, match="its sandbox was closed$"):
            each.run("1")
    with pytest.raises(BelljarError, match="closed"):
        box.session()


def test_a_dropped_session_ends(box: Sandbox) -> None:
    box.session().close()
    before = State.now().descriptors
    session: Session | None = box.session()
    assert session is not None
    session.run("1")
    session.branch(2)
    live = session._live
    assert State.now().descriptors > before
    del session, live
    gc.collect()
    until(lambda: State.now().descriptors <= before)


def test_a_sandbox_that_was_dropped_lives_as_long_as_its_session() -> None:
    session = Sandbox("basic", spares=1).session()
    gc.collect()
    assert values(session, "6 * 7") == [42]
    session.close()


def test_a_forked_child_cannot_use_it(box: Sandbox, session: Session) -> None:
    values(session, "x = 1")

    def step() -> bool:
        good = session.closed == "it belongs to the parent process of this fork"
        for use in (
            lambda: session.run("1"),
            session.checkpoint,
            session.info,
            session.files.sizes,
        ):
            try:
                use()
                good = False
            except SessionClosed as error:
                good &= str(error).startswith("use a session: it is closed: it belongs to the")
        good &= not session.interrupt()
        session.close()
        with box.session() as mine:
            good &= mine.run("2").value == 2
        box.close()
        gc.collect()
        return good

    assert in_child(step)
    assert values(session, "x") == [1]


def test_the_interpreter_ends_with_sessions_open(script: Script) -> None:
    done = script(
        """
import threading
from belljar import Sandbox
box = Sandbox("basic", spares=1)
session = box.session()
begun = threading.Event()
threading.Thread(target=lambda: session.run(
    "print('begun', flush=True)\\nwhile True: pass", stream=lambda *_: begun.set()),
    daemon=True).start()
begun.wait()
branches = box.session().branch(3)
print("good")
"""
    )
    assert (done.stdout, done.returncode) == ("good\n", 0), done.stderr


def work(box: Sandbox, sessions: int) -> None:
    for _ in range(sessions):
        with box.session(checkpoints=3) as session:
            values(session, "x = 0", *(["x += 1"] * 4))
            one, two = session.branch(2)
            values(one, "x += 1")
            session.compare(one)
            two.keep()
            session.undo()
            assert session.run(FOREVER, timeout=0.05).session.restored  # type: ignore[union-attr]
            assert values(session, "x") == [3]


def test_nothing_grows() -> None:
    others = descendants()
    with Sandbox("basic", spares=1) as box:
        work(box, 3)
        before = settled()
        work(box, 10)
        until(lambda: State.now().descriptors <= before.descriptors + 2)
        after = settled()
        # Those in the background come as they are needed, up to 16; one for each of the ten
        # sessions would be too many.
        assert after.threads <= before.threads + 6
        assert after.children <= before.children + 1
        assert after.resident - before.resident < 8 << 20
        assert descendants() <= others + 8
    assert descendants() <= others


def settled() -> State:
    gc.collect()
    time.sleep(0.5)  # sleeps: what is ended in the background ends
    return State.now()


def descendants() -> int:
    """Processes below the parents that this process's sandboxes have."""
    parents: dict[int, int] = {}
    for name in os.listdir("/proc"):
        if name.isdecimal():
            try:
                with open(f"/proc/{name}/stat") as file:
                    parents[int(name)] = int(file.read().rpartition(")")[2].split()[1])
            except OSError:
                continue
    found = {os.getpid()}
    count = -1
    while count < len(found):
        count = len(found)
        found |= {pid for pid, parent in parents.items() if parent in found}
    return len(found) - 1


# --- the asynchronous one -------------------------------------------------------------------------


def test_both_have_the_same_methods() -> None:
    def public(kind: type) -> dict[str, Any]:
        return {name: each for name, each in vars(kind).items() if not name.startswith("_")}

    sync, parallel = public(Session), public(AsyncSession)
    assert sync.keys() == parallel.keys()
    for name, method in sync.items():
        if callable(method):
            mine, other = (
                list(inspect.signature(each).parameters) for each in (method, parallel[name])
            )
            assert mine == other, name


def with_session(step: Callable[[AsyncSession], Awaitable[Any]], **options: Any) -> Any:
    async def main() -> Any:
        async with AsyncSandbox("basic", spares=1, **options) as box, box.session() as session:
            return await step(session)

    return asyncio.run(asyncio.wait_for(main(), 60))


def test_all_of_the_asynchronous_one() -> None:
    async def step(session: AsyncSession) -> None:
        result = await session.run("x = [1]\nprint('hi')", inputs={"y": (1,)})
        assert result.stdout == "hi\n" and result.session is not None
        assert result.session.id == session.id
        before = await session.checkpoint("before")
        assert before.label == "before" and before in session.checkpoints
        await session.run("x.append(y)")
        assert [each.name for each in (await session.compare(before)).variables] == ["x"]
        (branch,) = await session.branch(1)
        await session.undo()
        assert (await session.run("x")).value == [1]
        assert [each.name for each in (await session.compare(branch)).variables] == ["x"]
        await session.rollback(before)
        assert {each.name for each in await session.variables()} == {"x"}
        assert [each.text for each in await session.complete("x.app")] == ["append"]
        assert await session.inspect("len")
        assert (await session.info()).cells == 3
        assert await branch.keep() is branch
        with pytest.raises(ValueError, match="no workspace"):
            await session.files.sizes()
        with pytest.raises(GuestFailed):
            await session.run("1 / 0", raise_on_error=True)
        with pytest.raises(TypeError, match="cannot be copied"):
            pickle.dumps(session)
        assert session.closed is None
        await session.close()
        await session.close()
        assert session.closed == "its caller closed it"
        for use in (session.run("1"), session.checkpoint(), session.variables()):
            with pytest.raises(SessionClosed, match="its caller closed it$"):
                await use

    with_session(step)


def test_asynchronous_files() -> None:
    async def main() -> None:
        async with AsyncSandbox("filesystem", spares=1) as box, box.session() as session:
            files = session.files
            await files.write("a", "1")
            await files.update({"b": b"2", "c": b"3"})
            assert await files.sizes() == {"a": 1, "b": 1, "c": 1}
            assert (await files.read("b"), await files.read_text("a")) == (b"2", "1")
            await files.remove("c")
            with pytest.raises(KeyError):
                await files.read("c")

    asyncio.run(asyncio.wait_for(main(), 60))


def test_it_opens_when_it_is_used() -> None:
    async def main() -> None:
        async with AsyncSandbox("basic", spares=1) as box:
            first = box.session()
            assert "not open yet" in repr(first) and first.checkpoints == ()
            with pytest.raises(BelljarError, match="first use"):
                first.id  # noqa: B018
            results = await asyncio.gather(*(first.run(f"x{n} = {n}") for n in range(3)))
            assert len({each.session.id for each in results if each.session}) == 1
            second = await box.session()
            assert second.id != first.id and not second.interrupt()
            unused = box.session()
            await unused.close()
            with pytest.raises(SessionClosed, match="closed"):
                await unused.run("1")
            with pytest.raises(ValueError, match="the maximum of profile"):
                await box.session(timeout=9999)
            dropped = asyncio.create_task(box.session().run("1"))
            await asyncio.sleep(0)
            dropped.cancel()
            with pytest.raises(asyncio.CancelledError):
                await dropped
            await first.close()
            assert first.closed and second.closed is None
        assert second.closed == "its sandbox was closed"

    asyncio.run(asyncio.wait_for(main(), 60))


def test_asynchronous_branches_run_at_a_time() -> None:
    async def step(session: AsyncSession) -> None:
        await session.run("x = 1")
        branches = await session.branch(4)
        meet = {"meet": meeting(4)}
        results = await asyncio.gather(
            *(
                each.run("await meet()\nx + n", inputs={"n": n}, functions=meet)
                for n, each in enumerate(branches)
            )
        )
        assert [each.value for each in results] == [1, 2, 3, 4]

    with_session(step)


def test_cancelling_interrupts_the_cell() -> None:
    async def step(session: AsyncSession) -> None:
        begun = asyncio.Event()
        task = asyncio.create_task(session.run(FOREVER, stream=lambda *_: begun.set()))
        await begun.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert (await session.run("x")).value == "changed"

    with_session(step, concurrency=1)


def test_asynchronous_functions() -> None:
    async def step(session: AsyncSession) -> None:
        here = threading.get_ident()

        async def slow(x: int) -> int:
            await asyncio.sleep(0)
            assert threading.get_ident() == here
            return x + 1

        assert (await session.run("await slow(1)", functions={"slow": slow})).value == 2

        async def deeper() -> object:
            return (await session.run("1")).value

        result = await session.run("await f()", functions={"f": deeper})
        assert result.error is not None
        assert result.error.message.startswith(
            "SessionBusy: use a session: it is busy with the cell"
        )

        (branch,) = await session.branch(1)

        async def elsewhere() -> object:
            return (await branch.run("6 * 7")).value

        assert (await session.run("await f()", functions={"f": elsewhere})).value == 42

        begun = asyncio.Event()

        async def forever() -> None:
            begun.set()
            await asyncio.Event().wait()

        task = asyncio.create_task(session.run("y = 1\nawait f()\ny = 2", functions={"f": forever}))
        await begun.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert (await session.run("y")).value == 1

    with_session(step, concurrency=1)


def test_closing_ends_a_function_that_is_awaited() -> None:
    async def step(session: AsyncSession) -> None:
        begun = asyncio.Event()
        ended = asyncio.Event()

        async def forever() -> None:
            begun.set()
            try:
                await asyncio.Event().wait()
            finally:
                ended.set()

        task = asyncio.create_task(session.run("await f()", functions={"f": forever}))
        await begun.wait()
        await asyncio.wait_for(session.close(), HANG)
        with pytest.raises(SessionClosed, match="its caller closed it$"):
            await task
        await asyncio.wait_for(ended.wait(), HANG)

    with_session(step, concurrency=1)


def test_closing_the_asynchronous_sandbox_closes_its_sessions() -> None:
    async def main() -> None:
        box = AsyncSandbox("basic", spares=1)
        session = await box.session()
        begun = asyncio.Event()
        task = asyncio.create_task(session.run(FOREVER, stream=lambda *_: begun.set()))
        await begun.wait()
        waiting = asyncio.create_task(session.checkpoint())
        await asyncio.sleep(0.1)  # sleeps: it waits by then
        await asyncio.wait_for(box.close(), HANG)
        for each in (task, waiting):
            with pytest.raises(SessionClosed, match="its sandbox was closed$"):
                await each
        with pytest.raises(BelljarError, match="closed"):
            await box.session()

    asyncio.run(main())
