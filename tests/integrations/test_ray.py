"""belljar.ray on a cluster of Ray's own: two nodes of one processor each, all on this machine."""

import asyncio
import os
import re
import signal
import socket
import subprocess
import sys
import time
from contextlib import ExitStack
from pathlib import Path

import pytest

# Before Ray is imported: it sends nothing, and listens on loopback.
os.environ |= {
    "RAY_USAGE_STATS_ENABLED": "0",
    # A busy machine takes longer than Ray expects.
    "RAY_DASHBOARD_STARTUP_TIMEOUT_S": "150",
    "RAY_agent_register_timeout_ms": "150000",
    "RAY_worker_register_timeout_seconds": "150",
}

import ray
from belljar import BelljarError, Result
from belljar.ray import BatchRunner, DeadlineExceeded, ExecutionLost, SandboxPool
from ray.cluster_utils import Cluster
from ray.data import ActorPoolStrategy

from tests.integrations.conftest import ROOT
from tests.integrations.test_documentation import blocks

pytestmark = pytest.mark.timeout(250)  # with the cluster's start, beside other tests

# Of loopback, but not its first one: a driver takes that for this machine's address on its network,
# where nobody listens.
ADDRESS = "127.0.0.2"
STARTS_WITHIN = 100  # seconds: the machine may be busy with other tests


def a_node(**more) -> dict:
    """Options of a node that starts as little as possible."""
    # Ray chooses ports by itself, but waits 30 seconds at most to be told by its agents.
    ports = ("metrics_agent", "metrics_export", "dashboard_agent_listen", "runtime_env_agent")
    with ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in ports]
        for each in sockets:
            each.bind((ADDRESS, 0))
        chosen = {f"{name}_port": each.getsockname()[1] for name, each in zip(ports, sockets)}
    return {
        "num_cpus": 1,
        "object_store_memory": 80 << 20,
        "node_ip_address": ADDRESS,
        "include_log_monitor": False,
        **chosen,
        **more,
    }


def started_cluster() -> Cluster:
    for attempt in range(4):
        started = Cluster()
        try:
            started.add_node(**a_node(include_dashboard=False, no_monitor=True))
            started.add_node(**a_node())
            return started
        except Exception:
            # A node gives itself 30 seconds to start, which may be too few beside a compiler.
            started.shutdown()
            if attempt == 3:
                raise


@pytest.fixture(scope="module")
def cluster():
    started = started_cluster()
    ray.init(started.address, log_to_driver=False, logging_level="ERROR")
    yield started
    ray.shutdown()
    started.shutdown()


@pytest.fixture(scope="module")
def pool(cluster):
    with SandboxPool(timeout=20, memory="64m") as opened:
        opened.wait_until_ready(STARTS_WITHIN)
        yield opened


def wait_for(condition):
    end = time.monotonic() + STARTS_WITHIN  # clock: longer than until() waits
    while not (found := condition()):
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.05)  # sleeps: it polls
    return found


def two_ready(pool) -> bool:
    return sum(node.is_ready for node in pool.nodes()) == 2


def below(pid: int) -> set[int]:
    """The process and all that descend from it."""
    parents = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            parents[int(path.parent.name)] = int(path.read_text().rpartition(")")[2].split()[1])
        except OSError:
            pass  # it has ended
    found = {pid}
    while more := {child for child, parent in parents.items() if parent in found} - found:
        found |= more
    return found


def is_gone(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


def holder(pool):
    """The actor that holds a program."""
    return wait_for(lambda: [node for node in pool.nodes() if node.in_flight])[0]


def kill(node) -> set[int]:
    processes = below(node.pid)
    os.kill(node.pid, signal.SIGKILL)
    return processes


def test_without_ray_it_says_what_to_install():
    program = "import sys; sys.modules['ray'] = None; import belljar.ray"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 1
    assert "pip install 'belljar-sandbox[ray]'" in done.stderr


def test_each_node_has_an_actor_as_large_as_it_is(pool):
    nodes = pool.nodes()
    assert len({node.node for node in nodes}) == len({node.pid for node in nodes}) == 2
    assert [node.concurrency for node in nodes] == [1, 1]
    assert all(node.is_ready and node.error is None for node in nodes)


def test_a_program_runs_there(pool):
    execution = pool.run("print(input())\n6 * 7", stdin="hello")
    assert isinstance(execution.result, Result)
    assert (execution.result.value, execution.result.stdout) == (42, "hello\n")
    assert (execution.index, execution.attempts, execution.error) == (0, 1, None)
    assert execution.node in {node.node for node in pool.nodes()}
    assert execution.result.limits.memory_bytes == 64 << 20


def test_what_a_program_did_is_an_outcome(pool):
    assert pool.run("1 / 0").result.status == "exception"
    assert pool.run("import socket").result.status == "refused"
    assert pool.run("while True: pass", timeout="200ms").result.status == "timeout"
    assert pool.run("x = 'a' * 10**9").result.status == "memory_limit"


def test_results_are_in_the_order_of_programs_on_both_nodes(pool):
    done = list(pool.map(str(i) for i in range(300)))
    assert [each.index for each in done] == [each.result.value for each in done] == [*range(300)]
    assert {each.attempts for each in done} == {1}
    assert len({each.node for each in done}) == 2


def test_results_as_they_end(pool):
    # sleeps: longer than the others take
    programs = ["import time\ntime.sleep(1)\n'slow'", *(["'fast'"] * 20)]
    done = list(pool.map(programs, in_order=False))
    assert sorted(each.index for each in done) == [*range(21)]
    assert done[0].result.value == "fast"


def test_each_program_may_have_options_of_its_own(pool):
    programs = [{"code": "input()", "stdin": str(i)} for i in range(3)]
    assert [each.result.stdout for each in pool.map(programs)] == ["", "", ""]
    programs = [{"code": "print(input())", "stdin": str(i)} for i in range(3)]
    assert [each.result.stdout for each in pool.map(programs)] == ["0\n", "1\n", "2\n"]
    programs = ["while True: pass", {"code": "while True: pass", "timeout": 0.1}]
    limits = [each.result.limits.timeout for each in pool.map(programs, timeout=0.2)]
    assert limits == [0.2, 0.1]


def test_programs_are_taken_as_results_are(cluster, pool):
    taken = 0

    def endless():
        nonlocal taken
        while True:
            taken += 1
            yield "1"

    results = pool.map(endless())
    assert [next(results).result.value for _ in range(5)] == [1] * 5
    time.sleep(0.3)  # sleeps: more would be taken
    assert taken <= 64 + 5
    results.close()
    wait_for(lambda: not any(node.in_flight for node in pool.nodes()))


def test_closing_the_iterator_kills_what_is_pending(pool):
    results = pool.map(["1", "while True: pass", "while True: pass"])
    next(results)
    results.close()
    wait_for(lambda: not any(node.in_flight for node in pool.nodes()))


def test_a_deadline_counts_while_a_program_waits_and_while_it_runs(pool):
    done = list(pool.map(["while True: pass"] * 6, deadline="800ms", timeout=15))
    assert all(isinstance(each.error, DeadlineExceeded) for each in done)
    assert {each.attempts for each in done} <= {0, 1}
    with pytest.raises(DeadlineExceeded, match="deadline has passed"):
        pool.run("while True: pass", deadline=0.5)
    # They were killed, so that there is room.
    assert pool.run("1", deadline=10).result.ok


def test_arguments_are_checked_where_the_caller_is(pool):
    with pytest.raises(TypeError, match="functions is not an option of a pool: it would be called"):
        pool.run("f()", functions={"f": print})
    with pytest.raises(TypeError, match="validate is not an option"):
        pool.run("1", validate=True)
    with pytest.raises(ValueError, match="timeout"):
        pool.run("1", timeout=-1)
    with pytest.raises(TypeError, match="retries"):
        pool.run("1", retries="2")
    with pytest.raises(TypeError, match="give several"):
        pool.map("1 + 1")
    with pytest.raises(TypeError, match="unexpected keyword argument 'timout'"):
        SandboxPool(timout=1)
    # What only the profile knows is an error of that program.
    (execution,) = pool.map(["1"], timeout=80_000)
    assert isinstance(execution.error, ValueError) and "timeout" in str(execution.error)


def test_the_asynchronous_forms(pool):
    async def main():
        one, *others = await asyncio.gather(*(pool.run_async(f"{i}") for i in range(5)))
        assert [one.result.value, *(each.result.value for each in others)] == [0, 1, 2, 3, 4]
        done = [each.result.value async for each in pool.map_async(str(i) for i in range(40))]
        assert done == [*range(40)]
        task = asyncio.create_task(pool.run_async("while True: pass"))
        await asyncio.sleep(0.3)  # sleeps: it runs by then, or waits
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())
    wait_for(lambda: not any(node.in_flight for node in pool.nodes()))


def test_a_program_whose_actor_is_killed_is_lost_and_its_guests_with_it(pool):
    results = pool.map(["while True: pass"], timeout=20)
    import threading

    lost = []
    waiting = threading.Thread(target=lambda: lost.extend(results))
    waiting.start()
    processes = kill(holder(pool))
    assert len(processes) >= 3  # the actor, a zygote, a worker
    waiting.join()
    (execution,) = lost
    assert isinstance(execution.error, ExecutionLost)
    assert (execution.attempts, execution.outcome) == (1, None)
    assert "may have run" in str(execution.error)
    with pytest.raises(ExecutionLost):
        execution.result
    wait_for(lambda: all(map(is_gone, processes)))
    wait_for(lambda: two_ready(pool))
    assert pool.run("1").result.value == 1


def test_it_is_repeated_only_as_often_as_the_caller_allows(pool):
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor() as threads:
        # sleeps: it runs when its actor is killed
        running = threads.submit(pool.run, "import time\ntime.sleep(1.5)\n7", retries=1)
        kill(holder(pool))
        execution = running.result()
        assert (execution.attempts, execution.result.value) == (2, 7)
        running = threads.submit(pool.run, "while True: pass", retries=1)
        first = holder(pool)
        kill(first)
        kill(wait_for(lambda: [n for n in pool.nodes() if n.in_flight and n.pid != first.pid])[0])
        with pytest.raises(ExecutionLost, match=r"attempt 2\b"):
            running.result()
    wait_for(lambda: two_ready(pool))


def test_none_is_lost_silently_while_actors_are_killed(pool):
    seen = set()
    for number, execution in enumerate(pool.map((str(i) for i in range(400)), retries=5)):
        assert execution.result.value == execution.index == number
        seen.add(execution.attempts)
        if number in (20, 200):
            ready = [node for node in pool.nodes() if node.is_ready]
            kill(ready[0])
    assert seen <= {1, 2, 3}
    wait_for(lambda: two_ready(pool))


def test_a_pool_stays_in_its_process(pool):
    @ray.remote
    def elsewhere(pool):
        pass

    with pytest.raises(TypeError, match="stays in the process"):
        elsewhere.remote(pool)


def test_a_node_that_leaves_takes_no_program_with_it_unsaid(cluster, pool):
    added = cluster.add_node(**a_node())
    wait_for(lambda: sum(node.is_ready for node in pool.nodes()) == 3)
    name = added.node_id if isinstance(added.node_id, str) else added.node_id.hex()
    # sleeps: some run when their node leaves
    results = pool.map(["import time\ntime.sleep(1)\n1"] * 9, retries=2)
    first = next(results)
    cluster.remove_node(added, allow_graceful=False)
    done = [first, *results]
    assert [each.result.value for each in done] == [1] * 9
    wait_for(lambda: name not in {node.node for node in pool.nodes()})
    assert two_ready(pool)


def test_the_last_ones(cluster, pool):
    """Uses the processors that the pool has taken until now."""
    with SandboxPool(cpus=1) as second:
        with pytest.raises(BelljarError, match="0 of 2 actors are ready; has Ray as many free"):
            second.wait_until_ready(0.5)
        with pytest.raises(DeadlineExceeded, match="attempts: 0"):
            second.run("1", deadline=0.2)
    running = pool.map(["while True: pass"])
    next_one = asyncio.run(_closed_while_it_waits(pool, running))
    assert "the pool was closed" in str(next_one.error)
    with pytest.raises(BelljarError, match="the pool is closed"):
        pool.run("1")
    pool.close()

    rows = [{"program": f"print(int(input()) * {i})", "put": str(i)} for i in range(5)]
    rows.append({"program": "1 / 0", "put": ""})
    found = ray.data.from_items(rows, override_num_blocks=1).map_batches(
        BatchRunner,
        compute=ActorPoolStrategy(size=1),
        batch_size=4,
        fn_constructor_kwargs={"code": "program", "stdin": "put", "timeout": 5},
    )
    done = sorted(found.take_all(), key=lambda row: row["program"])
    assert done[0]["program"] == "1 / 0" and done[0]["status"] == "exception"
    assert done[0]["error"] == "ZeroDivisionError: division by zero"
    assert [row["stdout"] for row in done[1:]] == ["0\n", "1\n", "4\n", "9\n", "16\n"]
    assert all(row["status"] == "ok" and row["cpu_time"] > 0 for row in done[1:])

    (scale,) = re.findall(
        r"^```python\n(.*?)^```$", (ROOT / "docs/scale.md").read_text(), re.M | re.S
    )
    exec(scale, {"programs": ["1", "1 / 0"]})
    page, batches = blocks("Ray", "python")
    shown = {}
    exec(page, shown)
    assert shown["total"] == 6 and shown["answer"].result.stdout == "hello\n"
    exec(batches, shown)
    assert [row["stdout"] for row in shown["done"]] == ["hello\n"]

    with SandboxPool("no-such-profile") as none:
        with pytest.raises(ValueError, match="unknown profile"):
            none.wait_until_ready(STARTS_WITHIN)
        with pytest.raises(ValueError, match="unknown profile"):
            none.run("1")
        assert all("unknown profile" in node.error for node in none.nodes())

    with SandboxPool(actors=1, isolation="standard") as spread:
        assert spread.run("1").result.isolation.mode == "standard"
        assert len(spread.nodes()) == 1


async def _closed_while_it_waits(pool, results):
    waiting = asyncio.create_task(asyncio.to_thread(next, results))
    await asyncio.to_thread(holder, pool)
    pool.close()
    return await waiting
