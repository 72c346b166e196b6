"""Commands in a session of the shell."""

import asyncio
import os
import signal
import threading
import uuid
from collections.abc import Iterator

import belljar
import pytest

from tests.clocks import until
from tests.languages.conftest import need_language, processes_with

MIB = 1 << 20


@pytest.fixture(scope="module")
def box() -> Iterator[belljar.Sandbox]:
    need_language("shell")
    with belljar.Sandbox(language="shell") as box:
        yield box


@pytest.fixture
def session(box: belljar.Sandbox) -> Iterator[belljar.Session]:
    with box.session() as session:
        yield session


# --- one command ----------------------------------------------------------------------------------


def test_a_command_has_streams_an_exit_code_and_usage(session: belljar.Session) -> None:
    result = session.command(["bash", "-c", "echo out; echo err >&2; exit 3"])
    assert (result.stdout, result.stderr, result.exit_code, result.ok) == (
        "out\n",
        "err\n",
        3,
        False,
    )
    status = result.status
    assert (status.state, status.signal, status.reason) == ("exited", None, None)
    assert status.duration > 0 and status.max_rss_bytes > 0 and not status.background
    with pytest.raises(belljar.CommandFailed, match="bash: exit code 3: err"):
        result.raise_for_status()
    assert session.command(["true"], check=True).ok


def test_a_line_is_for_bash(session: belljar.Session) -> None:
    assert session.command("seq 3 | tac | paste -sd,").stdout == "3,2,1\n"


def test_input_environment_and_directory(session: belljar.Session) -> None:
    session.files["sub/a.txt"] = "a"
    result = session.command(
        'pwd; cat; echo "$GIVEN $HOME"', directory="sub", env={"GIVEN": "x y"}, stdin="typed\n"
    )
    assert result.stdout == "/workspace/sub\ntyped\nx y /workspace\n"
    assert session.command(["cat"]).stdout == ""  # no input: at its end at once
    assert session.command("pwd", directory="/tmp").stdout == "/tmp\n"


def test_files_go_both_ways_and_stay(session: belljar.Session) -> None:
    session.files["in.txt"] = "one\n"
    assert session.command("cat in.txt > out.txt; echo two >> out.txt; cd /tmp; touch x").ok
    assert session.files["out.txt"] == b"one\ntwo\n"
    del session.files["in.txt"]
    assert session.command("ls; ls /tmp").stdout == "out.txt\nx\n"


def test_what_it_sees(session: belljar.Session) -> None:
    """The machine's programs, and of the machine nothing else."""
    there = (
        "/usr/bin/bash /usr/share /etc/services /dev/null /dev/pts /dev/tty /proc/self /workspace"
    )
    missing = (
        "/etc/passwd /etc/shadow /root /home /var/log /sys /dev/mem /dev/kmsg /proc/kcore /run"
    )
    script = f"for path in {there} {missing}; do [ -e $path ] && echo $path; done"
    assert session.command(script).stdout.split() == there.split()
    assert session.command(["id", "-u"]).stdout == "65534\n"
    processes = set(session.command("ps -e -o comm=").stdout.split())
    assert processes <= {"bash", "belljar-launche", "ps"}, processes
    written = session.command("touch /usr/x /etc/x /dev/x /x; id -u > /proc/1/oom_score_adj")
    assert written.exit_code != 0 and "Read-only file system" in written.stderr


def test_what_it_wrote_itself_can_be_executed(session: belljar.Session) -> None:
    session.files["tool"] = "#!/bin/sh\necho tool $1\n"
    assert session.command("chmod +x tool && ./tool 7").stdout == "tool 7\n"


def test_make_starts_what_it_needs(session: belljar.Session) -> None:
    """By posix_spawn, which sets the effective id to the real one."""
    session.files["Makefile"] = "all: a b\n\tcat a b\na b:\n\techo $@ > $@\n"
    made = session.command("make -s -j2")
    assert (made.stdout, made.exit_code) == ("a\nb\n", 0), made.stderr


def test_a_stopped_command_says_why_and_leaves_nothing(session: belljar.Session) -> None:
    word = f"belljar-{uuid.uuid4().hex}"
    script = f"trap '' TERM HUP; : {word}; sleep 1000 & (setsid sleep 1000 &) & sleep 1000"
    result = session.command(script, timeout=0.3)
    assert (result.status.state, result.status.signal) == ("timeout", signal.SIGKILL)
    assert result.status.reason == "stopped after 300ms of wall time"
    assert not processes_with(word)
    assert session.command("ps -e | grep -c sleep").stdout == "0\n"


def test_cpu_time_of_all_that_it_starts_is_limited(session: belljar.Session) -> None:
    result = session.command("(while :; do :; done) & (while :; do :; done)", cpu=0.5)
    assert result.status.state == "cpu_limit", result


def test_memory_of_all_that_it_starts_is_limited(box: belljar.Sandbox) -> None:
    """The one that has the most is ended, and no other."""
    with box.session(memory="200m") as session:
        other = session.spawn(["sleep", "1000"])
        # sleeps: it waits for its end
        hungry = "x = bytearray(80 << 20); import time; time.sleep(1000)"
        result = session.command(f"for i in 1 2 3; do python3 -c '{hungry}' & done; wait")
        assert result.status.state == "memory_limit", result
        assert other.status.state == "running"
        one = session.command(["python3", "-c", "x = bytearray(300 << 20)"])
        assert one.exit_code == 1 and "MemoryError" in one.stderr  # RLIMIT_DATA of each


def test_a_fork_bomb_ends_with_its_command(session: belljar.Session) -> None:
    result = session.command("f() { f | f & }; f; sleep 1000", timeout=1)
    assert result.status.state == "timeout", result
    assert until(lambda: session.command("ps -e | wc -l").stdout.strip() in {"5", "6", "7"})


# --- what cannot be started -----------------------------------------------------------------------


def test_a_command_that_is_not_there_names_the_nearest(session: belljar.Session) -> None:
    with pytest.raises(belljar.BelljarError, match='no command "pythno3"; did you mean "python3"'):
        session.command(["pythno3"])
    with pytest.raises(belljar.BelljarError, match="no file"):
        session.command(["./nothing"])
    with pytest.raises(belljar.BelljarError, match='directory "/workspace/no/such"'):
        session.command(["true"], directory="no/such")
    with pytest.raises(belljar.BelljarError, match="Permission denied"):
        session.command(["/usr"])
    assert session.command(["true"]).ok


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        ([], {}, "there is no command"),
        ([""], {}, "there is no command"),
        (["echo", "a\0b"], {}, "NUL"),
        (["echo", "x" * 3 * MIB], {}, "at most 2097152"),
        (["true"], {"directory": "a\0b"}, "NUL"),
        (["true"], {"timeout": -1}, "timeout"),
        (["true"], {"timeout": "200m"}, "at most"),
    ],
)
def test_bad_requests(
    session: belljar.Session, arguments: list[str], options: dict[str, object], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        session.command(arguments, **options)  # type: ignore[arg-type]


def test_other_sessions_have_no_commands() -> None:
    with belljar.Sandbox("basic") as box, box.session() as session:
        with pytest.raises(ValueError, match='open one in the language "shell"'):
            session.command(["true"])
        assert session.commands == ()


def test_a_session_of_commands_has_no_cells(session: belljar.Session) -> None:
    with pytest.raises(belljar.BelljarError, match="runs commands"):
        session.run("echo hello")


# --- in the background ----------------------------------------------------------------------------


def test_output_is_read_by_address_while_it_runs(session: belljar.Session) -> None:
    command = session.spawn(["bash", "-c", "echo one; read line; echo got $line; echo bad >&2"])
    first = command.read()
    assert (first.content, first.begin, first.end, first.last) == (b"one\n", 0, 4, False)
    assert command.read(0, most=2).content == b"on"
    with pytest.raises(TimeoutError):
        command.read(first.end, timeout=0)
    with pytest.raises(TimeoutError):
        command.wait(timeout=0.01)
    command.write("typed\n")
    assert command.wait().ok
    rest = command.read(first.end)
    assert (rest.content, rest.last) == (b"got typed\n", True)
    assert command.read(stream="stderr").content == b"bad\n"
    assert command.read(10**9).last
    with pytest.raises(BrokenPipeError):
        command.write("more")


def test_only_the_end_of_much_output_is_kept(session: belljar.Session) -> None:
    result = session.command("seq 200000", output="1k")
    assert result.stdout.endswith("199999\n200000\n") and len(result.stdout) == 1024
    assert result.stdout_dropped == sum(len(str(i)) + 1 for i in range(1, 200001)) - 1024
    command = session.spawn("seq 200000", output="1k")
    command.wait()
    piece = command.read(0)
    assert piece.begin == result.stdout_dropped and piece.content.endswith(b"200000\n")


def test_all_output_passes_through_a_callback(session: belljar.Session) -> None:
    shown: dict[str, int] = {"stdout": 0, "stderr": 0}

    def show(text: str, stream: str) -> None:
        shown[stream] += len(text)

    result = session.command(
        "head -c 30000000 /dev/zero; head -c 20000000 /dev/zero >&2", stream=show, output="1m"
    )
    assert result.ok and shown == {"stdout": 30_000_000, "stderr": 20_000_000}
    assert (len(result.stdout), result.stdout_dropped) == (MIB, 30_000_000 - MIB)


def test_an_exception_of_the_callback_ends_the_command(session: belljar.Session) -> None:
    def show(_: str, stream: str) -> None:
        raise RuntimeError(stream)

    for script in ("yes", "yes >&2"):
        with pytest.raises(RuntimeError):
            session.command(script, stream=show)
    until(lambda: all(each.status.state == "killed" for each in session.commands))


def test_what_a_command_leaves_goes_on_until_it_is_killed(session: belljar.Session) -> None:
    command = session.spawn("sleep 1000 & echo started")
    assert list(command.lines()) == ["started"]
    status = command.status
    assert status.ok and status.background
    command.kill()
    until(lambda: not command.status.background)
    assert command.status.ok  # as it ended
    assert session.command("ps -e | grep -c sleep").stdout == "0\n"


def test_signals_reach_the_group(session: belljar.Session) -> None:
    command = session.spawn("trap 'exit 5' USR1; echo ready; while :; do sleep 0.01; done")
    command.read()
    assert command.signal(signal.SIGUSR1)
    assert command.wait().exit_code == 5
    assert not command.signal(signal.SIGTERM)
    killed = session.spawn(["sleep", "1000"])
    assert killed.signal(signal.SIGKILL)
    assert (killed.wait().signal, killed.status.exit_code) == (9, 137)


def test_commands_are_listed_and_end_with_the_session(box: belljar.Sandbox) -> None:
    word = f"belljar-{uuid.uuid4().hex}"
    with box.session() as session:
        assert session.command(["true"]).ok
        command = session.spawn(["bash", "-c", "sleep 1000; :", word])
        assert [each.id for each in session.commands] == [1, 2]
        assert session.commands[1].arguments == ("bash", "-c", "sleep 1000; :", word)
        assert processes_with(word)
    assert command.wait().state == "lost"
    assert command.status.reason == "the session has ended"
    until(lambda: not processes_with(word))
    with pytest.raises(belljar.SessionClosed):
        session.command(["true"])


def test_a_command_can_be_used_after_its_session(box: belljar.Sandbox) -> None:
    with box.session() as session:
        command = session.spawn(["sh", "-c", "echo on; cat"])
        typed = session.spawn(["cat"], terminal=True)
        assert command.read().content == b"on\n"
    assert command.wait().state == typed.wait().state == "lost"
    for each in (command, typed):
        each.kill()
        each.close_input()
        assert not each.signal(signal.SIGTERM)
        with pytest.raises(BrokenPipeError):
            each.write("x")
        assert each.read(10**6).last
    assert command.read().content == b"on\n"
    typed.resize(100, 30)


def test_sessions_do_not_see_each_other(box: belljar.Sandbox) -> None:
    with box.session() as one, box.session() as other:
        sleeper = one.spawn(["sleep", "777"])
        one.files["secret"] = "s"
        one.command("echo s > /tmp/secret")
        assert other.command("ps -e -o args | grep -c 'sleep [7]77'").stdout == "0\n"
        assert other.command("ls /workspace /tmp").stdout == "/tmp:\n\n/workspace:\n"
        own = other.spawn(["sleep", "1000"])
        assert other.command("kill -9 -1; echo alive").stdout in {"alive\n", ""}
        assert own.wait().state in {"exited", "lost"}  # the control
        assert sleeper.status.state == "running"


def test_too_many_commands(session: belljar.Session) -> None:
    many = [session.spawn(["sleep", "1000"]) for _ in range(64)]
    with pytest.raises(belljar.BelljarError, match="64 commands of the session run"):
        session.spawn(["true"])
    many[0].kill()
    until(lambda: many[0].status.state == "killed")
    assert session.command(["true"]).ok


def test_many_short_commands_leave_no_descriptor(session: belljar.Session) -> None:
    session.command(["true"])
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(300):
        session.command(["true"])
    until(lambda: len(os.listdir("/proc/self/fd")) <= before)
    assert len(session.commands) == 256


def test_several_threads(session: belljar.Session) -> None:
    results: list[str] = []

    def run(number: int) -> None:
        results.extend(session.command(f"echo {number}").stdout for _ in range(10))

    threads = [threading.Thread(target=run, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(results) == sorted([f"{number}\n" for number in range(4)] * 10)


# --- terminals ------------------------------------------------------------------------------------


def screen(command: belljar.Command) -> str:
    return command.read().content.decode()


def test_a_terminal_has_a_name_a_size_and_one_stream(session: belljar.Session) -> None:
    command = session.spawn("tty; stty size; echo err >&2; echo > /dev/tty", terminal=(100, 30))
    command.wait()
    assert screen(command) == "/dev/pts/0\r\n30 100\r\nerr\r\n\r\n"
    assert command.read(stream="stderr").last
    assert session.command("tty").stdout == "not a tty\n"


def test_job_control_by_keys(session: belljar.Session) -> None:
    shell = session.spawn(["bash"], terminal=True)

    def shows(text: str) -> None:
        until(lambda: text in screen(shell), lambda: screen(shell))

    shows("jar:~$ ")
    shell.write("sleep 1000\n")
    until(lambda: "sleep" in session.command("ps -e -o comm").stdout)
    shell.write("\x03")
    # What is typed before the prompt is dropped by the terminal.
    until(lambda: screen(shell).count("jar:~$ ") == 2, lambda: screen(shell))
    shell.write("echo code $?\n")
    shows("code 130\r\n")
    shell.write("sleep 1001\n")
    until(lambda: "sleep" in session.command("ps -e -o comm").stdout)
    shell.write("\x1a")
    shows("Stopped")
    until(lambda: screen(shell).count("jar:~$ ") == 4, lambda: screen(shell))
    shell.write("kill %1; stty size\n")
    shows("24 80\r\n")
    shell.resize(132, 43)
    shell.write("stty size\n")
    shows("43 132\r\n")
    shell.write("exit 7\n")
    assert shell.wait().exit_code == 7


def test_the_end_of_input_in_a_terminal(session: belljar.Session) -> None:
    command = session.spawn(["cat"], terminal=True)
    command.write("line\n")
    until(lambda: screen(command) == "line\r\nline\r\n", lambda: screen(command))
    command.close_input()
    assert command.wait().ok


def test_programs_open_terminals_of_their_own(session: belljar.Session) -> None:
    source = "import pty, sys; sys.exit(pty.spawn(['tty']) >> 8)"
    result = session.command(["python3", "-c", source])
    assert (result.stdout, result.exit_code) == ("/dev/pts/0\r\n", 0), result


@pytest.mark.parametrize("size", [(0, 0), (80, 0), (1 << 16, 24)])
def test_impossible_sizes(session: belljar.Session, size: tuple[int, int]) -> None:
    with pytest.raises(ValueError, match="give 1 to 65535"):
        session.spawn(["true"], terminal=size)


def test_terminals_end_with_their_commands(session: belljar.Session) -> None:
    for _ in range(70):  # more than a session may have at once
        session.spawn(["true"], terminal=True).wait()
    assert session.command("ls /dev/pts").stdout == "ptmx\n"


def test_what_has_no_terminal_cannot_be_resized(session: belljar.Session) -> None:
    command = session.spawn(["sleep", "1000"])
    with pytest.raises(ValueError, match="has none"):
        command.resize(80, 24)


# --- asyncio --------------------------------------------------------------------------------------


def test_commands_of_asyncio() -> None:
    need_language("shell")

    async def main() -> None:
        shown: list[str] = []
        async with belljar.AsyncSandbox(language="shell") as box, box.session() as session:
            assert session.commands == ()
            results = await asyncio.gather(
                session.command(["cat"], stdin="x"),
                session.command("exit 3"),
                session.command("echo out; echo err >&2", stream=lambda *each: shown.extend(each)),
            )
            assert [each.exit_code for each in results] == [0, 3, 0]
            assert results[0].stdout == "x" and results[2].stderr == "err\n"
            assert sorted(shown) == ["err\n", "out\n", "stderr", "stdout"]
            with pytest.raises(belljar.CommandFailed):
                await session.command(["false"], check=True)
            with pytest.raises(belljar.BelljarError, match="no command"):
                await session.command(["nosuchcommand-7"])
            command = await session.spawn("read line; echo got $line", terminal=True)
            with pytest.raises(TimeoutError):
                await command.wait(0.01)
            await command.write("typed\n")
            assert (await command.wait()).ok
            assert [line async for line in command.lines()] == ["typed\r", "got typed\r"]
            assert [each.id for each in session.commands][-1] == command.id
            many = [asyncio.ensure_future(session.command(["sleep", "1000"])) for _ in range(9)]
            await asyncio.sleep(0)  # sleeps: they begin
            for each in many:
                each.cancel()
            await asyncio.gather(*many, return_exceptions=True)
            assert (await session.command(["true"])).ok
            until(lambda: all(each.status.state != "running" for each in session.commands))

    asyncio.run(main())
