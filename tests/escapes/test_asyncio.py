"""Ways out through asyncio and contextvars. Each works in plain Python; none does here."""

# ruff: noqa: E501 (attacks are kept as an attacker writes them)
from __future__ import annotations

import sys
import textwrap

import pytest

from tests.policy.harness import (
    assert_contained,
    check_attack,
    check_refused,
    run,
    run_plain,
)

# Run inside `async def main()`, with `loop` the running event loop and `loot` to be filled.
INSIDE = {
    "the frames of a task": "loot = asyncio.current_task().get_stack()",
    "the frames of a task, by its class": "loot = type(asyncio.current_task()).get_stack(asyncio.current_task())",
    "the frames of a failed task": """
        async def fail(): 1 / 0
        task = asyncio.create_task(fail())
        await asyncio.wait([task])
        loot = task.get_stack()
        """,
    "the frame of a task's coroutine": "loot = asyncio.current_task().get_coro().cr_frame",
    "the frame of a task's coroutine, computed": "loot = getattr(asyncio.current_task().get_coro(), 'cr_' + 'frame')",
    "the frame of the library's coroutine": """
        coro = asyncio.Queue().get()
        loot = getattr(coro, 'cr_' + 'frame')
        coro.close()
        """,
    "the code of the library's generator": """
        # before 3.13: as_completed() gives an object of a class
        loot = getattr(asyncio.as_completed([]), 'gi_' + 'code')
        """,
    "the traceback in an error handler's context": """
        contexts = []
        loop.set_exception_handler(lambda loop, context: contexts.append(context))
        loop.call_soon(lambda: 1 / 0)
        await asyncio.sleep(0.01)
        loot = getattr(contexts[0]['exception'], '__trace' + 'back__').tb_frame
        """,
    "the traceback given to __aexit__": """
        class Catch:
            async def __aenter__(self): return self
            async def __aexit__(self, kind, error, trace):
                self.frame = trace.tb_frame
                return True
        async with Catch() as caught:
            1 / 0
        loot = caught.frame
        """,
    "the namespace of a library function given as a callback": """
        class Waits:
            _asyncio_future_blocking = False
            def add_done_callback(self, fn, context=None): self.fn = fn
            def done(self): return False
            def get_loop(self): return loop
        waits = Waits()
        asyncio.gather(waits)
        loot = getattr(waits.fn, '__glo' + 'bals__')
        """,
    "a step of a task, given to a loop of the guest's": """
        class Loop:
            def get_debug(self): return False
            def call_soon(self, fn, *args, context=None): self.fn = fn
            def call_exception_handler(self, context): pass
        mine = Loop()
        coro = asyncio.sleep(0)
        task = asyncio.tasks._PyTask(coro, loop=mine) if hasattr(asyncio, 'tasks') else asyncio.Task(coro, loop=mine)
        loot = getattr(getattr(mine.fn, '__fu' + 'nc__'), '__glo' + 'bals__')
        """,
    "the namespace of the event loop's class": "loot = getattr(type(loop).run_forever, '__glo' + 'bals__')",
    "the function below a library method": """
        import functools
        method = asyncio.Queue.put
        loot = getattr(getattr(method, '__wrap' + 'ped__', method), '__co' + 'de__')
        """,
    "context variables of the interpreter": """
        import contextvars
        loot = contextvars.copy_context().run(lambda: contextvars.copy_context.__self__)
        """,
}


def _program(body: str) -> str:
    lines = textwrap.indent(textwrap.dedent(body).strip(), "    ")
    return (
        "import asyncio\nloot = None\nasync def main():\n    global loot\n"
        f"    loop = asyncio.get_running_loop()\n{lines}\nasyncio.run(main())\n"
    )


@pytest.mark.parametrize("body", INSIDE.values(), ids=INSIDE.keys())
def test_contained_from_inside_a_task(body: str) -> None:
    check_attack(_program(body))


# For the control: guests get the classes in Python, plain Python has some of them in C.
IN_PYTHON = """
import asyncio
asyncio.Future = asyncio.futures._PyFuture
asyncio.Task = asyncio.tasks.Task = asyncio.tasks._PyTask
if hasattr(asyncio.tasks, '_py_current_task'):  # 3.14: who runs is known to the class's own half only
    asyncio.current_task = asyncio.tasks.current_task = asyncio.tasks._py_current_task
"""

STORES = {
    "a method of the loop's class": "type(loop).time = lambda self: 0.0",
    "a method of the loop": "loop.time = lambda: 0.0",
    "a method of a queue's class": "asyncio.Queue.put = None",
    "a method of a task's class": "setattr(asyncio.Task, 'cancel', None)",
    "the module": "del asyncio.sleep",
    "what is private to a queue": "asyncio.Queue()._queue = None",
    "what is private to the loop": "import collections; setattr(loop, '_re' + 'ady', collections.deque())",
    "what is private to a task, by object's own method": "object.__setattr__(asyncio.current_task(), '_na' + 'me', 'x')",
}


@pytest.mark.parametrize("store", STORES.values(), ids=STORES.keys())
def test_nothing_of_the_library_can_be_changed(store: str) -> None:
    source = _program(f"""
        try:
            {store}
        except (TypeError, AttributeError) as error:
            print(error)
        """)
    ran = run(source)
    assert ran.error is None and ("[BJ30" in ran.stdout), ran
    assert run_plain(IN_PYTHON + source).stdout == ""


# A method written in Python writes to whatever it is given as `self`.
WRITES = {
    "Future.__init__": "asyncio.Future.__init__(target, loop=loop)",
    "Future.set_result": "asyncio.Future.set_result(target, 1)",
    "Task.set_name": "asyncio.Task.set_name(target, 'x')",
    "Task.uncancel": "asyncio.Task.uncancel(target)",
    "Queue.__init__": "asyncio.Queue.__init__(target)",
    "PriorityQueue.__init__": "asyncio.PriorityQueue.__init__(target)",
    "Lock.__init__": "asyncio.Lock.__init__(target)",
    "Event.__init__": "asyncio.Event.__init__(target)",
    "Event.set": "asyncio.Event.set(target)",
    "Condition.__init__": "asyncio.Condition.__init__(target)",
    "Semaphore.__init__": "asyncio.Semaphore.__init__(target, 5)",
    "Barrier.__init__": "asyncio.Barrier.__init__(target, 5)",
    "TaskGroup.__init__": "asyncio.TaskGroup.__init__(target)",
    "Runner.__init__": "asyncio.Runner.__init__(target)",
    "Timeout.__init__": "asyncio.Timeout.__init__(target, 5)",
    "Handle.__init__": "asyncio.Handle.__init__(target, print, (), loop)",
    "loop.stop": "type(loop).stop(target)",
    "loop.set_debug": "type(loop).set_debug(target, False)",
    "loop.set_exception_handler": "type(loop).set_exception_handler(target, None)",
    "Task.__await__": "next(asyncio.Task.__await__(target))",
    "TaskGroup.__aenter__": "await asyncio.TaskGroup.__aenter__(target)",
    "Timeout.__aenter__": (
        "answers['_state'] = getattr(asyncio.timeout(5), '_state', None); "
        "await asyncio.Timeout.__aenter__(target)"
    ),
}


@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES.keys())
def test_methods_take_only_their_own_kind(write: str) -> None:
    source = f"""
        import asyncio
        wrote = []
        answers = {{'_state': 'PENDING', '_num_cancels_requested': 1, 'done': lambda: False}}
        class Target:
            def __setattr__(self, name, value): wrote.append(name)
            def __getattr__(self, name): return answers.get(name, False)
        target = Target()
        async def main():
            loop = asyncio.get_running_loop()
            try:
                {write}
            except Exception as error:
                print(error)
        asyncio.run(main())
        result = wrote
        """
    ran = run(source)
    assert ran.result == "[]" and "() takes a" in ran.stdout, ran
    assert run_plain(IN_PYTHON + textwrap.dedent(source)).result != "[]"


FILE = "/etc/passwd"  # any that a worker without a jail can read, and with lines


def test_the_stack_of_a_debug_mode_reads_no_files() -> None:
    """A FrameSummary shows the line of any file: its class is its constructor."""
    source = f"""
        import asyncio
        loot = None
        contexts = []
        class Loop:
            def get_debug(self): return True
            def call_exception_handler(self, context): contexts.append(context)
        async def fail(): raise ValueError
        async def main():
            loop = asyncio.get_running_loop()
            loop.set_debug(True)
            loop.set_exception_handler(lambda loop, context: contexts.append(context))
            future = asyncio.Future(loop=Loop())
            task = asyncio.create_task(fail())
            task2 = asyncio.Future()
            task2.set_exception(ValueError())
            del task, future, task2
            loop.call_soon(lambda: 1 / 0)
            await asyncio.sleep(0.01)
        asyncio.run(main(), debug=True)
        for context in contexts:
            for entry in context.get('source_traceback', ()):
                print(type(entry)(filename={FILE!r}, lineno=1, name='x').line)
        """
    assert "root" in run_plain(source).stdout
    ran = run(source)
    assert ran.error is None and ran.stdout == "", ran


def test_the_log_of_an_error_reads_no_files() -> None:
    """An error may say of itself where its traceback is, and a group what its errors are."""
    source = f"""
        import asyncio, contextlib, io
        class Code: co_filename, co_name, co_qualname = {FILE!r}, 'f', 'f'
        class Frame:
            f_code, f_globals, f_lineno, f_locals = Code(), {{}}, 1, {{}}
        class Trace:
            tb_frame, tb_lineno, tb_lasti, tb_next = Frame(), 1, -1, None
        Code.co_positions = lambda self: iter([(1, 1, 0, 0)])
        class Fake:
            def __getattr__(self, name):
                if name == '__trace' + 'back__': return Trace()
                return None
        class Group(ExceptionGroup):
            exceptions = [Fake()]
        text = io.StringIO()
        async def main():
            loop = asyncio.get_running_loop()
            for error in (Fake(), Group('g', [ValueError()])):
                loop.call_exception_handler({{'message': 'm', 'exception': error}})
        with contextlib.redirect_stderr(text):
            asyncio.run(main())
        print(text.getvalue())
        """
    assert "root:" in run_plain(source).stdout
    ran = run(_with_computed_names(source))
    assert not ran.findings and "root:" not in ran.stdout, ran
    assert ran.stdout.count("m\n") == 2  # both were logged


def _with_computed_names(source: str) -> str:
    """The same objects, made so that no reserved name stands in the source."""
    made = f"""
class Answers:
    def __init__(self, **names): self.names = names
    def __getattr__(self, name):
        if name not in self.names: raise AttributeError(name)
        return self.names[name]
Code = lambda: None
code = Answers(**{{"co_" + "filename": {FILE!r}, "co_" + "name": "f", "co_" + "qualname": "f", "co_" + "positions": lambda: iter([(1, 1, 0, 0)])}})
frame = Answers(**{{"f_" + "code": code, "f_" + "globals": {{}}, "f_" + "lineno": 1, "f_" + "locals": {{}}}})
trace = Answers(**{{"tb_" + "frame": frame, "tb_" + "lineno": 1, "tb_" + "lasti": -1, "tb_" + "next": None}})
Trace = lambda: trace
"""
    dedented = textwrap.dedent(source)
    start, end = dedented.index("class Code"), dedented.index("class Fake")
    return dedented[:start] + made + dedented[end:]


SURVIVES = {
    "a loop of the guest's that frees what is being called": """
        import asyncio
        class Loop:
            def get_debug(self): return False
            def call_soon(self, fn, *args, context=None): future.remove_done_callback(fn)
        future = asyncio.Future(loop=Loop())
        for _ in range(9): future.add_done_callback(lambda f: None)
        future.set_result(1)
        """,
    "a callback whose comparison removes the callbacks": """
        import asyncio
        class Evil:
            def __eq__(self, other):
                future.cancel()
                return NotImplemented
        future = asyncio.new_event_loop().create_future()
        for _ in range(3): future.add_done_callback(Evil())
        future.remove_done_callback(Evil())
        """,
    "a task that is made anew while it runs": """
        import asyncio
        class Odd:
            _asyncio_future_blocking = True
            def get_loop(self):
                task = asyncio.current_task()
                if task is not None: task.__init__(asyncio.sleep(0), loop=loop)
                return loop
            def add_done_callback(self, fn, context=None): loop.call_soon(fn, self)
            def result(self): return 1
            def cancel(self, msg=None): return False
            def __await__(self): yield self
        async def main(): await Odd()
        loop = asyncio.new_event_loop()
        try:
            loop.run_until_complete(asyncio.wait_for(main(), 0.05))
        except Exception as error:
            print(type(error))
        """,
    "a loop that is made anew while it runs": """
        import asyncio
        async def main(): asyncio.get_running_loop().__init__()
        asyncio.run(main())
        """,
    "timers that compare as they like": """
        import asyncio
        class When(float):
            def __lt__(self, other):
                loop.call_at(1, print)
                return True
        loop = asyncio.new_event_loop()
        for _ in range(5): loop.call_at(When(1), print)
        loop.call_later(0.01, loop.stop)
        loop.run_forever()
        """,
    "a class that equals every type": """
        import asyncio
        class Meta(type):
            def __eq__(cls, other): return True
            def __hash__(cls): return hash(type(asyncio.sleep))
        class Odd(metaclass=Meta): pass
        async def main(): asyncio.create_task(Odd())
        asyncio.run(main())
        """,
    "a queue with insides of the guest's": """
        import asyncio
        class Mine(asyncio.Queue):
            def _init(self, maxsize): self._queue, self._loop, self._getters = [], self, self
            def create_future(self): return self
            def popleft(self): return self
            def done(self): return False
            def set_result(self, value): self._getters = []
        async def main():
            queue = Mine()
            queue.put_nowait(1)
        asyncio.run(main())
        """,
}


@pytest.mark.uncontrolled("which of them end plain Python differs from version to version")
@pytest.mark.parametrize("source", SURVIVES.values(), ids=SURVIVES.keys())
def test_the_interpreter_survives(source: str) -> None:
    assert_contained(source)


@pytest.mark.parametrize(
    "base", ["Future", "Task", "TaskGroup", "Runner", "AbstractEventLoop", "Handle"]
)
def test_classes_that_may_not_be_derived_from(base: str) -> None:
    check_refused(f"import asyncio\nclass Mine(asyncio.{base}): pass\n", "[BJ404]")


def test_no_part_of_the_library_was_loaded_with_sockets_and_threads() -> None:
    """What the process does not hold, nobody can reach."""
    import json
    import os
    import subprocess
    from pathlib import Path

    policy = Path(__file__).parents[2] / "policy"
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            "import json, sys\n"
            f"sys.path[:0] = [{str(policy)!r}, {os.environ['BELLJAR_GUARDS_DIR']!r}]\n"
            "import belljar_policy.library.asyncio\n"
            "print(json.dumps(sorted(name for name in sys.modules if sys.modules[name])))\n",
        ],
        capture_output=True,
        check=True,
    )
    loaded = set(json.loads(done.stdout))
    assert {"asyncio", "asyncio.tasks", "asyncio.runners"} <= loaded
    assert loaded.isdisjoint({
        "_asyncio", "asyncio.base_events", "asyncio.constants", "asyncio.selector_events",
        "asyncio.subprocess", "concurrent.futures", "logging", "select", "selectors", "signal",
        "socket", "ssl", "subprocess",
    })  # fmt: skip
    # From 3.12 on sysconfig imports it, which zoneinfo asks for the folders of time zones.
    assert sys.version_info >= (3, 12) or "threading" not in loaded
