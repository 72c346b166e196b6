"""`belljar run` at a terminal: the program asks the person who sits there."""

import os
import pty
import re
import select
import signal
import subprocess
import termios

import pytest

from tests.clocks import HANG, until


class Terminal:
    """The command with a terminal as its standard input, output and error."""

    def __init__(self, program, arguments, cwd) -> None:
        self.fd, self.theirs = pty.openpty()
        self.process = subprocess.Popen(
            [program, "run", *arguments],
            cwd=cwd,
            env={**os.environ, "NO_COLOR": "1"},
            stdin=self.theirs,
            stdout=self.theirs,
            stderr=self.theirs,
            preexec_fn=lambda: os.login_tty(0),
        )
        self.shown = ""

    def until(self, text: str) -> str:
        """What is shown up to this text, from where the last call ended."""
        while text not in self.shown:
            self._read(text)
        at = self.shown.index(text) + len(text)
        shown, self.shown = self.shown[:at], self.shown[at:]
        return shown

    def _read(self, waiting_for: str) -> None:
        assert select.select([self.fd], [], [], HANG)[0], (waiting_for, self.shown)
        try:
            read = os.read(self.fd, 65536)
        except OSError:
            read = b""
        assert read, (waiting_for, self.shown)
        self.shown += read.decode(errors="replace").replace("\r\n", "\n")

    def type(self, keys: str) -> None:
        os.write(self.fd, keys.encode())

    def echoes(self) -> bool:
        return bool(termios.tcgetattr(self.fd)[3] & termios.ECHO)

    def ended(self) -> tuple[int, str]:
        """The exit code, and what was shown since the last until()."""
        os.close(self.theirs)
        self.theirs = -1
        while select.select([self.fd], [], [], HANG)[0]:
            try:
                read = os.read(self.fd, 65536)
            except OSError:
                break
            if not read:
                break
            self.shown += read.decode(errors="replace").replace("\r\n", "\n")
        return self.process.wait(HANG), self.shown

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        os.close(self.fd)
        if self.theirs >= 0:
            os.close(self.theirs)


@pytest.fixture
def terminal(program, tmp_path):
    opened = []

    def start(code: str, *options: str) -> Terminal:
        (tmp_path / "game.py").write_text(code)
        one = Terminal(program, [*options, "game.py"], tmp_path)
        opened.append(one)
        return one

    yield start
    for each in opened:
        each.close()


POLICIES = pytest.mark.parametrize("policy", ["on", "off"])


@POLICIES
def test_the_prompt_comes_before_the_answer(terminal, policy):
    game = terminal(
        "name = input('Name? ')\nprint(f'Hello, {name}!', input('Age? '))", "--policy", policy
    )
    assert game.until("Name? ") == "Name? "
    game.type("Ada\n")
    assert game.until("Age? ") == "Ada\nAge? "
    game.type("36\n")
    assert game.ended() == (0, "36\nHello, Ada! 36\n")


def test_the_terminal_edits_the_line(terminal):
    game = terminal("print(repr(input('? ')))")
    game.until("? ")
    game.type("wrong\x15rigt\x7fht\n")
    assert game.ended()[1].endswith("\n'right'\n")


@POLICIES
def test_ctrl_d_is_the_end_for_good(terminal, policy):
    code = """
import sys
print(input('? '))
for _ in range(3):
    try: input('! ')
    except EOFError: print('end')
print(sys.stdin.read() == '')
"""
    game = terminal(code, "--policy", policy)
    game.until("? ")
    game.type("line\n")
    game.until("! ")
    game.type("\x04")
    code, shown = game.ended()
    assert (code, shown.replace("\n", " ").split()) == (0, ["end", "!", "end", "!", "end", "True"])


def test_without_an_answer_to_ctrl_d_it_is_an_eof_error(terminal):
    game = terminal("input('? ')")
    game.until("? ")
    game.type("\x04")
    code, shown = game.ended()
    assert code == 1
    assert "EOFError" in shown and "no more lines" in shown


@POLICIES
def test_ctrl_c_names_the_line_that_asks(terminal, policy):
    game = terminal("def ask():\n    return input('? ')\nask()", "--policy", policy)
    game.until("? ")
    game.type("\x03")
    code, shown = game.ended()
    assert code == 130
    assert '  File "game.py", line 3, in <module>\n    ask()\n' in shown
    assert "line 2, in ask\n    return input('? ')\nbelljar: cancelled\n" in shown


@POLICIES
def test_getpass_shows_nothing(terminal, policy):
    code = "import getpass, warnings\nwarnings.simplefilter('ignore')\n"
    game = terminal(code + "print(len(getpass.getpass('Word: ')), input('? '))", "--policy", policy)
    game.until("Word: ")
    until(lambda: not game.echoes())
    game.type("secret\n")
    shown = game.until("? ")
    assert "secret" not in shown and game.echoes()
    game.type("seen\n")
    assert game.ended()[1] == "seen\n6 seen\n"


def test_the_echo_is_back_after_an_interrupted_password(terminal):
    game = terminal("import getpass\ngetpass.getpass('Word: ')")
    game.until("Word: ")
    until(lambda: not game.echoes())
    game.type("\x03")
    until(lambda: game.process.poll() is not None)
    assert game.echoes()


def test_the_clock_stands_still(terminal):
    game = terminal("input('? ')\nprint('still here')", "--timeout", "300ms")
    game.until("? ")
    # Longer than the program may take.
    with pytest.raises(subprocess.TimeoutExpired):
        game.process.wait(1)
    game.type("\n")
    assert game.ended() == (0, "\nstill here\n")


def test_who_never_answers_ends_the_input(terminal):
    """An attack by a client, or a person who has left; the control is the answer to the first."""
    code = "print(input('one? '))\ntry: input('two? ')\nexcept EOFError: print('end')\n"
    game = terminal(code, "--input-timeout", "1")
    game.until("one? ")
    game.type("1\n")
    game.until("two? ")
    code, shown = game.ended()
    assert code == 0
    assert "nothing was entered for 1s (--input-timeout): the program's input has ended" in shown
    assert shown.endswith("end\n")


def test_a_flood_of_prompts_after_the_end_ends_with_the_time(terminal):
    code = "while True:\n    try: input('?' * 1000)\n    except EOFError: pass\n"
    game = terminal(code, "--timeout", "500ms", "--max-output", "10k")
    game.until("?" * 1000)
    game.type("the control: it is asked\n")
    game.until("?" * 1000)
    game.type("\x04")
    code, shown = game.ended()
    assert code == 4
    assert "belljar: stopped after 500ms of wall time" in shown
    assert re.search(r'File "game.py", line \d', shown)


def test_what_is_started_over_asks_once(terminal):
    """The name of the module is put together: the program starts again with all of them."""
    code = "print(input('name? '))\nimport importlib\nimportlib.import_module('stat' + 'istics')\n"
    game = terminal(code + "print(input('more? '))", "--policy", "off", "--profile", "basic")
    game.until("name? ")
    game.type("Ada\n")
    assert game.until("more? ") == "Ada\nAda\nmore? "
    game.type("no\n")
    assert game.ended() == (0, "no\nno\n")


def test_without_a_terminal_nobody_is_asked(belljar):
    done = belljar("run", "-c", "input('? ')", stdin=b"line\n")
    assert done.code == 1
    assert "pass the program's input as stdin" in done.stderr


@pytest.mark.parametrize("options", [["--json"], ["--lean"]])
def test_where_the_prompt_would_not_be_seen_nobody_is_asked(terminal, options):
    game = terminal("input('? ')", *options)
    code, shown = game.ended()
    assert code == 1 and "EOFError" in shown


def test_a_given_file_is_what_it_reads(terminal, tmp_path):
    (tmp_path / "data.txt").write_text("from the file\n")
    game = terminal("print(input('? '))", "--stdin", "data.txt")
    assert game.ended() == (0, "? from the file\n")


def test_what_is_typed_is_in_the_receipt(terminal, tmp_path, belljar):
    def verify(name):
        words = ("--key", "key.pub", "--stdin", name)
        return belljar("receipt", "verify", "r.json", *words, cwd=tmp_path)

    game = terminal("print(input('? '))", "--receipt", "r.json", "--receipt-key", "key")
    game.until("? ")
    game.type("typed\n")
    assert game.ended()[0] == 0
    (tmp_path / "typed.txt").write_text("typed\n")
    (tmp_path / "other.txt").write_text("other\n")
    assert verify("typed.txt").code == 0
    assert verify("other.txt").code != 0


@pytest.mark.parametrize("value", ["soon", "-1", ""])
def test_the_input_timeout_is_a_time(belljar, value):
    done = belljar("run", "-c", "1", f"--input-timeout={value}")
    assert done.code == 2
    assert "--input-timeout" in done.stderr


def test_a_hangup_ends_the_run(terminal):
    game = terminal("input('? ')")
    game.until("? ")
    game.process.send_signal(signal.SIGTERM)
    assert game.process.wait(HANG) == 143
