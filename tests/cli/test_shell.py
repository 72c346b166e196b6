"""`belljar shell`: commands and a terminal in the sandbox."""

import os
import pty
import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.cli.conftest import Done
from tests.clocks import until
from tests.languages.conftest import need_language

Belljar = Callable[..., Done]


@pytest.fixture(autouse=True)
def shell() -> None:
    need_language("shell")


def test_one_command_with_streams_and_its_exit_code(belljar: Belljar) -> None:
    done = belljar("shell", "--", "sh", "-c", "cat; echo err >&2; exit 3", stdin=b"in\n")
    assert (done.code, done.stdout, done.stderr) == (3, "in\n", "err\n")
    assert belljar("shell", "--", "sh", "-c", "kill -9 $$").code == 137


def test_bash_reads_commands_from_standard_input(belljar: Belljar) -> None:
    done = belljar("shell", stdin=b"pwd\necho $((6 * 7))\nexit 2\n")
    assert (done.code, done.stdout) == (2, "/workspace\n42\n")


def test_files_environment_and_directory(belljar: Belljar, tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data/a.txt").write_text("content\n")
    done = belljar(
        "shell", "--file", tmp_path / "data", "--env", "A=b c", "--directory", "data", "--",
        "sh", "-c", 'cat a.txt; echo "$A"; echo x > a.txt',
    )  # fmt: skip
    assert (done.code, done.stdout) == (0, "content\nb c\n"), done
    assert (tmp_path / "data/a.txt").read_text() == "content\n"


def test_what_cannot_be_run(belljar: Belljar) -> None:
    done = belljar("shell", "--", "nosuchcommand-7")
    assert (done.code, done.stdout) == (127, "")
    assert done.stderr == 'belljar shell: there is no command "nosuchcommand-7"\n'
    done = belljar("shell", "--timeout", "200ms", "--", "sleep", "1000")
    assert (done.code, done.stderr) == (4, "belljar shell: stopped after 200ms of wall time\n")
    done = belljar("shell", "--env", "A", "--", "true")
    assert done.code == 2 and "NAME=value" in done.stderr
    assert belljar("shell", "--memory", "1t", "--", "true").code == 2


def test_a_reader_that_is_gone_ends_the_command(program: Path) -> None:
    with subprocess.Popen([program, "shell", "--", "yes"], stdout=subprocess.PIPE) as running:
        assert running.stdout is not None
        assert running.stdout.read(4) == b"y\ny\n"
        running.stdout.close()
        assert running.wait() == 141


def test_an_interruption_ends_the_command(program: Path) -> None:
    command = [program, "shell", "--", "sh", "-c", "echo on; sleep 1000"]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as running:
        assert running.stdout is not None
        assert running.stdout.readline() == b"on\n"
        running.send_signal(signal.SIGINT)
        assert running.wait() == 130


class Terminal:
    """The command at a terminal of its own."""

    def __init__(self, program: Path, *arguments: str, command: str = "shell") -> None:
        self._pid, self._fd = pty.fork()
        if self._pid == 0:
            os.environ["TERM"] = "xterm"
            os.execv(program, ["belljar", command, *arguments])
        os.set_blocking(self._fd, False)
        self.shown = ""

    def type(self, text: str) -> None:
        os.write(self._fd, text.encode())

    def shows(self, text: str) -> None:
        def has_come() -> bool:
            try:
                self.shown += os.read(self._fd, 1 << 16).decode(errors="replace")
            except (BlockingIOError, OSError):
                pass
            return text in self.shown

        until(has_come, lambda: f"{text!r} in {self.shown!r}")
        self.shown = self.shown.split(text, 1)[1]

    def end(self) -> int:
        _, status = os.waitpid(self._pid, 0)
        self._pid = 0
        return os.waitstatus_to_exitcode(status)

    def close(self) -> None:
        if self._pid:
            os.kill(self._pid, signal.SIGKILL)
            os.waitpid(self._pid, 0)
        os.close(self._fd)


@pytest.fixture
def terminal(program: Path) -> Iterator[Callable[..., Terminal]]:
    opened: list[Terminal] = []

    def start(*arguments: str) -> Terminal:
        opened.append(Terminal(program, *arguments))
        return opened[-1]

    yield start
    for each in opened:
        each.close()


def test_a_terminal_with_completion_interrupts_and_stops(
    terminal: Callable[..., Terminal],
) -> None:
    opened = terminal()
    opened.shows("jar:~$ ")
    opened.type("tty; echo $TERM\n")
    opened.shows("/dev/pts/0\r\nxterm\r\n")
    opened.type("ls /usr/share/zoneinfo/Etc/UT\t\n")  # completed: there is one name
    opened.shows("UTC\r\n")
    opened.type("sh -c 'echo on; exec cat'\n")
    opened.shows("\ron\r\n")
    opened.type("typed\n")
    opened.shows("typed\r\ntyped\r\n")
    opened.type("\x1a")
    # What is typed before the prompt is dropped by the terminal, here and after Ctrl-C.
    opened.shows("Stopped")
    opened.shows("jar:~$ ")
    opened.type("fg\n")
    opened.shows("exec cat'\r\n")
    opened.type("\x03")
    opened.shows("jar:~$ ")
    opened.type("echo code $?\n")
    opened.shows("code 130\r\n")
    opened.type("exit 9\n")
    assert opened.end() == 9


def test_the_size_of_the_window_is_passed_on(terminal: Callable[..., Terminal]) -> None:
    import fcntl
    import struct
    import termios

    script = "trap 'stty size' WINCH; echo on; while :; do sleep 0.01; done"
    opened = terminal("--", "bash", "-c", script)
    opened.shows("on\r\n")
    fcntl.ioctl(opened._fd, termios.TIOCSWINSZ, struct.pack("HHHH", 33, 111, 0, 0))
    opened.shows("33 111\r\n")


def test_without_a_terminal_its_streams_stay_apart(terminal: Callable[..., Terminal]) -> None:
    opened = terminal("--no-terminal", "--", "sh", "-c", "test -t 1 || echo pipe")
    opened.shows("pipe")
    assert opened.end() == 0
