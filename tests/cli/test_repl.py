"""belljar repl: at a terminal, over a pipe, and what it refuses."""

import fcntl
import os
import pty
import re
import select
import signal
import stat
import struct
import subprocess
import termios
import time

import pytest

from tests.clocks import HANG
from tests.languages.conftest import need_language
from tests.machine import need_layers, need_packages

BANNER = "%help lists the commands"


@pytest.fixture(autouse=True)
def plain(monkeypatch):
    """Without packages, whose zygote takes seconds, unless a test names them."""
    monkeypatch.setenv("SANDBOX_ENABLE_DATA_SCIENCE", "false")


# Sequences that move the cursor or erase, and colours: libedit's and the prompt's own.
SEQUENCE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


class Terminal:
    """The command at a terminal of its own, of which it is the foreground group."""

    def __init__(self, program, arguments, env, cwd) -> None:
        self.fd, theirs = pty.openpty()
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
        self.process = subprocess.Popen(
            [program, "repl", *arguments],
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            cwd=cwd,
            env={**os.environ, "TERM": "xterm-256color", **env},
            preexec_fn=lambda: os.login_tty(0),
        )
        os.close(theirs)
        self.raw = ""

    def until(self, *texts: str) -> str:
        """What is shown up to the last of `texts`, in this order, without sequences."""
        shown = b""
        while True:
            text = SEQUENCE.sub("", shown.decode(errors="replace")).replace("\r", "")
            at = 0
            for each in texts:
                at = text.find(each, at) + len(each) if at >= 0 and each in text[at:] else -1
            if at >= 0:
                self.raw = shown.decode(errors="replace")
                return text
            assert select.select([self.fd], [], [], HANG)[0], (texts, text)
            try:
                shown += os.read(self.fd, 65536)
            except OSError:
                raise AssertionError((texts, text, "it has ended")) from None

    def enter(self, line: str, *texts: str) -> str:
        """Types a line, and waits for the next prompt or what is given."""
        os.write(self.fd, line.encode() + b"\r")
        return self.until(*(texts or ("\nIn [",)), *(() if texts else ("]: ",)))

    def type(self, keys: str) -> None:
        os.write(self.fd, keys.encode())

    def ended(self) -> int:
        """The exit code; reads what is still shown, so that nothing waits for us."""
        while self.process.poll() is None and select.select([self.fd], [], [], HANG)[0]:
            try:
                os.read(self.fd, 65536)
            except OSError:
                break
        return self.process.wait(HANG)

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        os.close(self.fd)


@pytest.fixture
def terminal(program, tmp_path):
    opened = []

    def start(*arguments: str, env: dict[str, str] | None = None) -> Terminal:
        home = {"HOME": str(tmp_path), "XDG_STATE_HOME": "", "NO_COLOR": "1", **(env or {})}
        one = Terminal(program, arguments, home, tmp_path)
        opened.append(one)
        assert BANNER in one.until("In [1]: ")
        return one

    yield start
    for each in opened:
        each.close()


# --- at a terminal ------------------------------------------------------------------------------


def test_results_and_names_stay(terminal):
    prompt = terminal()
    prompt.enter("x = 40")
    assert "Out[2]: 42\n" in prompt.enter("x + 2")
    assert "Out" not in prompt.enter("None")
    assert "hi\nOut[4]: 'a\\nb'" in prompt.enter("print('hi'); 'a\\nb'")
    assert "partly\nIn [6]: " in prompt.enter("print('partly', end='')")
    prompt.type("\x04")
    assert prompt.ended() == 0


def test_a_block_ends_with_an_empty_line(terminal):
    prompt = terminal()
    prompt.enter("def double(a):", "   ...: ")
    prompt.enter("return 2 * a", "   ...: ")
    prompt.enter("")
    assert "Out[2]: [\n" not in prompt.enter("[1,", "   ...: ")
    assert "Out[2]: [1, 4]" in prompt.enter("double(2)]")
    prompt.enter("'''a", "   ...: ")
    assert "Out[3]: 'a\\nb'" in prompt.enter("b'''")


def test_the_prompt_is_there_before_the_session(terminal):
    """Leaving it, and an empty line, wait for nothing; the first cell has all that is enabled."""
    prompt = terminal()
    prompt.type("\rexit\r")
    assert prompt.ended() == 0
    prompt = terminal(env={"SANDBOX_ENABLE_FILESYSTEM": "true"})
    prompt.enter("x = 1")
    assert "Out[2]: 2" in prompt.enter("open('a', 'w').write('b') + x")


def test_undo_and_rollback(terminal):
    prompt = terminal()
    prompt.enter("x = [1]")
    prompt.enter("x.append(2)")
    assert "as it was after cell 1 (checkpoint c1)" in prompt.enter("%undo")
    assert "Out[3]: [1]" in prompt.enter("x")
    shown = prompt.enter("%checkpoints")
    assert re.search(r"c0  \d\d:\d\d:\d\d  before the first cell\n", shown)
    assert re.search(r"c1  \d\d:\d\d:\d\d  after cell 1\n", shown)
    assert "before the first cell (checkpoint c0)" in prompt.enter("%rollback c0")
    assert "NameError" in prompt.enter("x")
    assert "checkpoint " in prompt.enter("%checkpoint  fine")
    assert re.search(r"after cell 4  fine\n", prompt.enter("%checkpoints"))
    assert "there is no" in prompt.enter("%rollback c99")
    assert "is not a number of cells" in prompt.enter("%undo x")
    assert "undo cells: only" in prompt.enter("%undo 99")


def test_branches(terminal):
    prompt = terminal()
    prompt.enter("x = 1")
    assert "branch try of main" in prompt.enter("%branch try", "In [2] try: ")
    prompt.enter("x = 2", "In [3] try: ")
    assert "  main  1 cell\n* try  2 cells\n" in prompt.enter("%branches", "In [3] try: ")
    prompt.enter("%switch main", "In [2]: ")
    assert "Out[2]: 1" in prompt.enter("x")
    assert "there is a branch try already" in prompt.enter("%branch try")
    assert 'no branch "tri"' in prompt.enter("%switch tri")
    assert "letters, digits" in prompt.enter("%branch a/b")
    assert "a new session\nIn [1]: " in prompt.enter("%reset")
    assert "NameError" in prompt.enter("x")


def test_tab_completes_inside_the_seal(terminal):
    prompt = terminal()
    prompt.enter("import math; numbers = {'first key': 1}")
    prompt.type("math.sq\t")
    prompt.until("rt")
    assert "Out[2]: 3.0" in prompt.enter("(9)")
    prompt.type("math.acos\t")
    prompt.until("acos   acosh", "In [3]: math.acos")
    assert "Out[3]: 0.0" in prompt.enter("(1)")
    prompt.enter("(0 +", "...: ")
    prompt.type("\t")  # indents
    assert "Out[4]: 1" in prompt.enter("numb\t['first key'])")
    prompt.type("%bran\t\t")
    prompt.until("branch    branches")
    prompt.type("\x15%switch m\t")
    assert "on branch main" in prompt.enter("")


def test_completions_are_safe_to_insert(terminal):
    prompt = terminal()
    prompt.enter("d = {'key\\x1b[31m\\nprint(1)': 1}")
    prompt.type("d['k\t")
    prompt.until("\x07")
    assert "\x1b[31m" not in prompt.raw
    assert "Out[2]: 5" in prompt.enter("\x155")


def test_inspection(terminal):
    prompt = terminal()
    prompt.enter("def f(a, b=2):", "...: ")
    prompt.enter("    'Adds, \\x1b[31m.'", "...: ")
    prompt.enter("")
    shown = prompt.enter("?f")
    assert "Signature: f(a, b=2)" in shown
    assert "\\x1b[31m" in shown
    assert "Signature: f(a, b=2)" in prompt.enter("f?")
    assert "nothing is not defined here" in prompt.enter("?nothing")
    assert re.search(r"\nf +function ", prompt.enter("%vars"))


def test_control_c_interrupts_the_cell_only(terminal):
    prompt = terminal()
    prompt.enter("x = 1")
    prompt.enter("while True: pass", "pass\n")
    time.sleep(0.3)  # sleeps: it runs by then, or the key waits for it
    prompt.type("\x03")
    assert "KeyboardInterrupt" in prompt.until("In [3]: ")
    assert "Out[3]: 1" in prompt.enter("x")
    # One that does not look is killed, and the session goes on from before it.
    prompt.enter("x = 2; sum(range(1 << 60))", "60))\n")
    time.sleep(0.3)  # sleeps: it runs by then, or the keys wait for it
    prompt.type("\x03\x03\x03")
    assert "the cell was undone" in prompt.until("In [5]: ")
    assert "Out[5]: 1" in prompt.enter("x")


def test_control_c_at_the_prompt_clears_the_line(terminal):
    prompt = terminal()
    prompt.type("unwanted\x03")
    prompt.until("^C\nIn [1]: ")
    prompt.enter("def f():", "...: ")
    prompt.type("\x03")
    prompt.until("^C\nIn [1]: ")
    assert "Out[1]: 7" in prompt.enter("7")
    prompt.enter("(", "...: ")
    prompt.type("\x04")
    prompt.until("In [2]: ")
    os.kill(prompt.process.pid, signal.SIGINT)
    prompt.until("^C\nIn [2]: ")
    prompt.type("\x04")
    assert prompt.ended() == 0


def test_control_z_stops_and_goes_on(terminal):
    prompt = terminal()
    prompt.enter("x = 1")
    prompt.type("\x1a")
    # Without a shell the group is orphaned, and the kernel lets it run on: the prompt must survive.
    prompt.until("In [2]: ")  # drawn again
    assert "Out[2]: 1" in prompt.enter("x")


def test_keys_typed_ahead_are_kept(terminal):
    prompt = terminal()
    prompt.enter("import time; time.sleep(1)", "sleep(1)\n")  # sleeps: keys come meanwhile
    prompt.type("40 + 2\r")
    assert "Out[2]: 42" in prompt.until("In [3]: ")


def test_sigterm_ends_it(terminal):
    prompt = terminal()
    before = termios.tcgetattr(prompt.fd)
    assert not before[3] & termios.ECHO
    prompt.process.terminate()
    assert prompt.ended() == 143
    prompt = terminal()
    prompt.enter("while True: pass", "pass\n")
    prompt.process.terminate()
    assert prompt.ended() == 143


def test_the_terminal_is_left_as_it_was(terminal):
    prompt = terminal()
    prompt.enter("1")
    prompt.type("%quit\r")
    # The mode of a pseudo-terminal outlives its last process as long as we hold our end.
    assert prompt.ended() == 0
    assert termios.tcgetattr(prompt.fd)[3] & (termios.ECHO | termios.ICANON | termios.ISIG)


@pytest.mark.parametrize("word", ["exit", "quit()", "%quit", "%q"])
def test_words_that_end_it(terminal, word):
    prompt = terminal()
    if word == "%q":
        assert "unknown command %q" in prompt.enter(word)
        return
    prompt.type(word + "\r")
    assert prompt.ended() == 0


def test_an_exit_in_a_cell_ends_the_cell(terminal):
    prompt = terminal()
    assert "exited with 3" in prompt.enter("import sys; sys.exit(3)")
    assert "Out[2]: 1" in prompt.enter("1")


def test_hostile_output_is_shown_escaped(terminal):
    prompt = terminal()
    shown = prompt.enter("print('\\x1b]0;title\\x07\\x9b5n\\u202e', 'a\\tb', sep='\\n')")
    assert "\\x1b]0;title\\x07" in shown
    assert "a       b" in shown or "a\tb" in shown
    assert "\x1b]0" not in prompt.raw and "\u202e" not in prompt.raw and "\x9b" not in prompt.raw
    prompt.enter("class C:", "...: ")
    prompt.enter("    def __repr__(self): return '\\x1b[2Jrepr'", "...: ")
    prompt.enter("")
    assert "Out[3]: \\x1b[2Jrepr" in prompt.enter("C()")
    assert "\x1b[2J" not in prompt.raw
    assert "ValueError: \\x1b[2Jerror" in prompt.enter("raise ValueError('\\x1b[2Jerror')")
    assert "\x1b[2J" not in prompt.raw
    prompt.enter("import sys; c = C(); sys.stderr.write('\\x1b[2Jstderr\\n');")
    assert "\x1b[2J" not in prompt.raw
    prompt.enter("%vars")
    assert "\x1b[2J" not in prompt.raw


def test_colours(terminal):
    prompt = terminal(env={"NO_COLOR": ""})
    prompt.enter("1/0")
    assert "\x1b[31mZeroDivisionError\x1b[0m: division by zero" in prompt.raw
    assert '\x1b[35m"<cell 1>"\x1b[0m, line \x1b[35m1\x1b[0m' in prompt.raw
    assert "\x1b[32mIn [2]:\x1b[0m " in prompt.raw
    prompt.enter("5")
    assert "\x1b[31mOut[2]: \x1b[0m5" in prompt.raw
    prompt = terminal("--color", "never", env={"NO_COLOR": ""})
    prompt.enter("1/0")
    assert not re.search(r"\x1b\[3\dm", prompt.raw)


def test_a_cell_asks(terminal):
    prompt = terminal()
    prompt.enter("name = input('Name? ')", "\nName? ")
    prompt.enter("Adb\x7fa")
    assert "Out[2]: 'Ada'" in prompt.enter("name")
    # Ctrl-C is a KeyboardInterrupt at the line that asks, and the session goes on.
    prompt.enter("name = input('Again? ')", "\nAgain? ")
    prompt.type("x\x03")
    shown = prompt.until("KeyboardInterrupt", "In [4]: ")
    assert "name = input('Again? ')" in shown
    # Ctrl-D is the end of the cell's input, not of the prompt.
    prompt.enter("input('End? ')", "\nEnd? ")
    prompt.type("\x04")
    assert "EOFError" in prompt.until("In [5]: ")
    assert "Out[5]: 'Ada'" in prompt.enter("name")
    prompt.type("\x04")
    assert prompt.ended() == 0


def test_what_is_typed_for_a_cell_is_edited_whenever_it_is_typed(terminal):
    """Before the question, and all at once: keys mean the same."""
    prompt = terminal()
    # sleeps: all is typed meanwhile
    program = "import time; time.sleep(0.3); a = input('a? '); b = input('b? '); input('c? ')"
    keys = "Adb\x7fa\r\x15one twö\x17\xe4\x7f\x08 2\r\x04print(a, b, flush=True)\r"
    os.write(prompt.fd, program.encode() + b"\r" + keys.encode())
    shown = prompt.until("EOFError", "print(a", "\nIn [3]: ")
    assert "\nAda one 2\n" in shown


def test_a_cell_asks_for_a_password(terminal):
    prompt = terminal()
    prompt.enter("import getpass; word = getpass.getpass('Word: ')", "\nWord: ")
    assert "secret" not in prompt.enter("secret")
    assert "Out[2]: 'secret'" in prompt.enter("word")


def test_a_prompt_cannot_move_the_cursor(terminal):
    prompt = terminal()
    shown = prompt.enter("input('a\\x1b[2Jb? ')", "b? ")
    assert "a\\x1b[2Jb? " in shown and "\x1b[2J" not in prompt.raw
    assert "'control'" in prompt.enter("control")


def test_who_never_answers_a_cell_ends_its_input(terminal):
    prompt = terminal("--input-timeout", "500ms")
    ended = "(--input-timeout): the program's input has ended"
    assert "EOFError" in prompt.enter("input('a? ')", "\na? ", ended, "In [2]: ")
    assert "Out[2]: 3" in prompt.enter("1 + 2")


def test_what_was_typed_while_a_cell_ran_is_its_answer(terminal):
    prompt = terminal()
    code = "print('begun', flush=True); import time; time.sleep(0.5); input('a? ')"
    prompt.enter(code, "\nbegun")  # sleeps: something is typed meanwhile
    prompt.type("early\r")
    assert "a? early\n" in prompt.until("Out[1]: 'early'")


def test_stopped_cells_cost_the_cell(terminal):
    prompt = terminal("--timeout", "1")
    prompt.enter("x = 1")
    shown = prompt.enter("x = 2", "In [3]: ")
    shown = prompt.enter("while True: x = 3")
    assert "stopped after 1s of" in shown
    assert "the cell was undone: the session is as it was before" in shown
    assert "Out[4]: 2" in prompt.enter("x")


def test_refused_cells(terminal):
    prompt = terminal()
    shown = prompt.enter("import subprocess")
    assert "<cell 1>:1:1: BJ201" in shown
    assert "hint:" in shown


def test_time(terminal):
    prompt = terminal()
    assert re.search(r"Out\[1\]: 42\ntime: .* ms, of the CPU .* ms", prompt.enter("%time 6 * 7"))
    prompt.enter("%time for i in range(3):", "...: ")
    prompt.enter("print(i)", "...: ")
    assert re.search(r"0\n1\n2\ntime: ", prompt.enter(""))
    assert "%time needs an argument" in prompt.enter("%time")
    prompt.enter("%%time", "...: ")
    prompt.enter("x = 6", "...: ")
    prompt.enter("x * 7", "...: ")
    assert re.search(r"Out\[3\]: 42\ntime: ", prompt.enter(""))
    shown = prompt.enter("%timeit x * 7")
    assert re.search(
        r"\n[\d.e+]+ [mµn]?s ± [\d.e+]+ [mµn]?s per loop \(mean ± std\. dev\. of 7 runs", shown
    )
    assert "Out[5]: 42" in prompt.enter("_")


def test_time_of_a_pipe(belljar):
    done = belljar("repl", stdin=b"%%time\nx = 6\nx * 7\n\n%timeit x\n\nx")
    assert done.code == 0
    assert re.fullmatch(r"42\n.* per loop .*\n6\n", done.stdout)
    assert re.search(r"^time: ", done.stderr)


def test_a_cell_that_is_repeated(belljar):
    done = belljar(
        "repl", stdin=b"import math\n\n%%timeit\ny = 1\nfor i in range(3):\n    math.sqrt(i)\n\n5"
    )
    assert (done.code, done.stderr) == (0, "")
    assert re.fullmatch(r".* per loop .*\n5\n", done.stdout)


def test_a_traceback_shows_the_cells_it_goes_through(belljar):
    done = belljar("repl", stdin=b"def half(x):\n    return x / 0\n\nhalf(1)\n")
    assert '  File "<cell 2>", line 1, in <module>\n    half(1)\n' in done.stderr
    assert '  File "<cell 1>", line 2, in half\n    return x / 0\n' in done.stderr


# --- paste and indentation ----------------------------------------------------------------------

FUNCTION = "def double(a):\r    b = 2\r\r    return a * b\r"


def test_what_is_pasted_is_one_cell(terminal):
    prompt = terminal()
    prompt.type(f"\x1b[200~{FUNCTION}\rdouble(21)\r\r\x1b[201~")
    prompt.until("double(21)")
    assert "Out[1]: 42\nIn [2]: " in prompt.enter("")
    # Without its end, until Enter: it can be edited.
    prompt.type("\x1b[200~double(3)\x1b[201~\x7f4")
    assert "Out[2]: 68\n" in prompt.enter(")")
    prompt.type("\x1b[200~for i in range(2):\r\tprint(i)\x1b[201~")
    assert "0\n1\nIn [4]: " in prompt.enter("")


def test_a_pasted_head_waits_for_its_body(terminal):
    prompt = terminal()
    prompt.type("\x1b[200~x = 1\rif x:\x1b[201~")
    prompt.enter("", "...: ")
    prompt.type("\x1b[200~    print('one')\r\r    print('two')\x1b[201~")
    prompt.enter("", "...: ")
    assert "one\ntwo\nIn [2]: " in prompt.enter("")


def test_pasted_commands_are_carried_out(terminal):
    prompt = terminal()
    prompt.enter("x = 1")
    prompt.type("\x1b[200~%undo\r%checkpoint here\rx = 5\rx\x1b[201~")
    shown = prompt.enter("")
    assert re.search(r"before the first cell .*\ncheckpoint c\d+; .*\nOut\[2\]: 5\n", shown)


def test_what_is_pasted_is_no_key(terminal):
    """Escape sequences and other controls are dropped."""
    prompt = terminal()
    prompt.type("\x1b[200~'a\x1b[Ab\x04\x01\x08c'\x1b[201~")
    assert "Out[1]: 'a[Abc'" in prompt.enter("")


def test_paste_is_bracketed_only_while_a_line_is_read(terminal):
    prompt = terminal()
    assert prompt.raw.index("\x1b[?2004h") < prompt.raw.index("In [1]: ")
    prompt.enter("print('a' + 'b')")
    on, off = prompt.raw.rindex("\x1b[?2004h"), prompt.raw.index("\x1b[?2004l")
    assert off < prompt.raw.index("ab\r\n") < on
    prompt.type("\x1a")
    prompt.until("In [2]: ")
    assert prompt.raw.index("\x1b[?2004l") < prompt.raw.rindex("\x1b[?2004h")
    os.write(prompt.fd, b"\x04")
    prompt.until("\n")
    assert prompt.raw.endswith("\x1b[?2004l\r\n")
    assert prompt.ended() == 0
    dumb = terminal(env={"TERM": "dumb"})
    dumb.enter("1")
    assert "2004" not in dumb.raw


def test_lines_of_a_block_are_indented(terminal):
    prompt = terminal()
    prompt.enter("def sign(x):", "...:     ")
    prompt.enter("if x < 0:", "...:         ")
    prompt.enter("return 'minus'", "...:     ")
    prompt.enter("s = 'plus'", "...:     ")
    prompt.enter("return s", "...: ")
    prompt.enter("")
    assert "Out[2]: ('minus', 'plus')" in prompt.enter("sign(-1), sign(1)")
    prompt.enter("for i in range(2):", "...:     ")
    prompt.enter("for j in range(2):", "...:         ")
    prompt.enter("pass", "...:     ")
    # One key leaves a block.
    prompt.enter("\x7felse:", "...:     ")
    prompt.enter("print(i, j)", "...:     ")
    assert "1 1\nIn [4]: " in prompt.enter("")
    prompt.type("ab\x7f\x7f")
    assert "Out[4]: 7" in prompt.enter("7")


def test_files(terminal, tmp_path):
    (tmp_path / "in.txt").write_text("from here")
    prompt = terminal("--profile", "filesystem", "--file", "in.txt")
    assert "in.txt  9 bytes" in prompt.enter("%files")
    shown = prompt.enter("open('out.txt', 'w').write('made')")
    assert "in the session's workspace: out.txt; %get FILE saves one here" in shown
    assert not (tmp_path / "out.txt").exists()
    prompt.type("%get ou\t")
    assert "saved out.txt, 4 bytes, in ." in prompt.enter("")
    assert (tmp_path / "out.txt").read_text() == "made"
    assert "put data/in.txt, 9 bytes" in prompt.enter("%put in.txt:data/in.txt")
    assert "data/in.txt  9 bytes" in prompt.enter("%files")
    prompt.enter("%undo 2")
    assert "out.txt" not in prompt.enter("%files").split("%files")[1]
    assert "no such file" in prompt.enter("%get nothing")
    assert "it may not" in prompt.enter("%get ../x") or "no such file" in prompt.raw
    (tmp_path / "mine.txt").write_text("mine")
    prompt.enter("open('mine.txt', 'w').write('theirs')")
    assert "use --force to overwrite it" in prompt.enter("%get mine.txt")
    assert (tmp_path / "mine.txt").read_text() == "mine"


def test_files_need_a_workspace(terminal):
    prompt = terminal()
    assert "no workspace" in prompt.enter("%files")
    assert "needs a profile with a workspace" in prompt.enter("%put /etc/hostname")


# --- the history --------------------------------------------------------------------------------


def test_the_history_is_kept(terminal, tmp_path):
    prompt = terminal()
    prompt.enter("first = 'äöü'")
    prompt.enter("first")
    prompt.enter("first")
    prompt.type("%quit\r")
    assert prompt.ended() == 0
    path = tmp_path / ".local/state/belljar/history"
    assert path.read_text() == "first = 'äöü'\nfirst\n%quit\n"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    prompt = terminal()
    prompt.type("\x1b[A\x1b[A\x1b[A")
    assert "In [2]: " in prompt.enter("")
    assert "Out[2]: 'äöü'" in prompt.enter("first")


def test_cells_are_recalled_as_a_whole(terminal, tmp_path):
    prompt = terminal()
    prompt.enter("def f():", "...: ")
    prompt.enter("return 'f'", "...: ")
    prompt.enter("")
    prompt.enter("f()")
    prompt.type("\x1b[A\x1b[A")
    assert "In [4]: " in prompt.enter("")
    prompt.enter("%time [1,", "...: ")
    assert "time: " in prompt.enter("2]")
    prompt.enter("%undo")
    prompt.enter("if f:", "...: ")
    prompt.type("\x03")
    prompt.until("In [5]: ")
    prompt.type("\x1b[200~g = 1\r\r...: h\x1b[201~")
    prompt.enter("")
    prompt.type("%quit\r")
    assert prompt.ended() == 0
    path = tmp_path / ".local/state/belljar/history"
    f = "def f():\n...:     return 'f'\n"
    assert path.read_text() == (
        f"{f}f()\n{f}%time [1,\n...: 2]\n%undo\nif f:\ng = 1\n...: \n...: ...: h\n%quit\n"
    )
    # In the next session too, and beside single lines.
    path.write_text(f"6 * 7\n{f}f()\n")
    prompt = terminal()
    prompt.type("\x1b[A\x1b[A")
    prompt.enter("")
    assert "Out[2]: 'f'" in prompt.enter("f()")
    prompt.type("\x1b[A" * 5)
    assert "Out[3]: 42" in prompt.enter("")


def test_a_history_that_begins_within_a_cell(terminal, tmp_path):
    own = tmp_path / "own"
    own.write_text("...:     lost\n6 * 7\n\x1b[31mhostile\n...: \x1b[32m\n")
    prompt = terminal("--history", "own")
    prompt.type("\x1b[A\x1b[A\x1b[A")
    assert "Out[1]: 42" in prompt.enter("")


def test_history_options(terminal, belljar, tmp_path):
    own = tmp_path / "own"
    own.write_text("6 * 7\n\x1b[31mhostile\n")
    own.chmod(0o644)
    prompt = terminal("--history", "own")
    prompt.type("\x1b[A")
    assert "Out[1]: 42" in prompt.enter("")
    assert stat.S_IMODE(own.stat().st_mode) == 0o600
    prompt = terminal("--no-history")
    prompt.enter("1")
    assert not (tmp_path / ".local").exists()
    done = belljar("repl", "--history", tmp_path)
    assert (done.code, "open the history" in done.stderr) == (2, True)
    done = belljar("repl", "--history", own, "--no-history")
    assert (done.code, "are mutually exclusive" in done.stderr) == (2, True)


def test_a_history_that_cannot_be_written_is_no_failure(terminal, tmp_path):
    (tmp_path / ".local").write_text("a file")
    prompt = terminal()
    assert "Out[1]: 1" in prompt.enter("1")


# --- over a pipe --------------------------------------------------------------------------------


def test_cells_of_a_pipe(belljar):
    cells = b"x = 40\nprint('hi')\n\nx + 2\n\ndef f():\n    a = 1\n\n    return a\n\nf()\n"
    done = belljar("repl", stdin=cells)
    assert (done.code, done.stdout, done.stderr) == (0, "hi\n42\n1\n", "")


def test_else_after_an_empty_line(belljar):
    done = belljar(
        "repl", stdin=b"if 0:\n    1\n\nelse:\n    print('b')\n\nelsewhere = 3\nelsewhere\n"
    )
    assert (done.code, done.stdout, done.stderr) == (0, "b\n3\n", "")


@pytest.mark.parametrize(
    "source",
    [
        "x = (\n\n1)\n",
        "x = '''\n\n%vars\n'''\n1\n",
        "x = 1 + \\\n0\n1\n",
        "x = ')' # ( [ {\n\n1\n",
        "x = 'it\\'s' + \"(\"\n\n1\n",
        "@staticmethod\ndef f():\n    return {\n\n  1}\n\n1\n",
        "1\r\n",
    ],
)
def test_where_a_cell_ends(belljar, source):
    done = belljar("repl", stdin=source.encode())
    assert (done.code, done.stderr) == (0, "")
    assert done.stdout in ("1\n", "")


def test_commands_of_a_pipe(belljar):
    done = belljar("repl", stdin=b"x = 1\n\nx = 2\n%undo\nx\n%branch b\nx = 3\n%switch main\nx\n")
    assert done.code == 0
    assert done.stdout == (
        "the session is as it was after cell 1 (checkpoint c1)\n1\n"
        "branch b of main; %switch main goes back\non branch main\n1\n"
    )


@pytest.mark.parametrize(
    ("source", "code", "message"),
    [
        (b"1/0\n\n1\n", 1, "ZeroDivisionError"),
        (b"1/0\n\nimport subprocess\n\n1\n", 3, "BJ201"),
        (b"import sys; sys.exit(0)\n", 0, "exited with 0"),
        (b"%nothing\n\n1\n", 2, "unknown command %nothing"),
        (b"%switch\n", 2, "%switch needs an argument"),
        (b"%undo\n", 2, "undo cells"),
        (b"%vars now\n", 2, "takes no argument"),
        (b"import sys; sys.exit(7)\n", 1, "exited with 7"),
        (b"%quit\n\n1/0\n", 0, ""),
        (b"x = '" + b"a" * (2 << 20) + b"'\n\n1\n", 3, "BJ003"),
        (b"\xff\n", 1, "SyntaxError"),
        (b"", 0, ""),
    ],
)
def test_the_last_failure_is_the_exit_code(belljar, source, code, message):
    done = belljar("repl", stdin=source)
    assert done.code == code, done
    assert message in done.stderr


def test_a_stopped_cell_of_a_pipe(belljar):
    done = belljar("repl", "--timeout", "1", stdin=b"x = 1\n\nwhile True: x = 2\n\nx\n")
    assert (done.code, done.stdout) == (4, "1\n")
    assert "the cell was undone" in done.stderr


def test_output_to_a_pipe_is_unchanged(belljar):
    done = belljar("repl", stdin=b"print('\\x1b[31m', end='')\n")
    assert done.out == b"\x1b[31m"


def test_a_reader_that_goes_away(program):
    process = subprocess.Popen(
        [program, "repl", "--no-history"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert process.stdin and process.stdout
    process.stdin.write(b"while True: print('y' * 1000)\n\n")
    process.stdin.flush()
    process.stdout.read(10)
    process.stdout.close()
    assert process.wait(30) == 141
    process.stdin.close()


def test_control_c_ends_a_pipe(program):
    process = subprocess.Popen(
        [program, "repl"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    assert process.stdin and process.stdout
    process.stdin.write(b"print('began', flush=True)\nwhile True: pass\n\n")
    process.stdin.flush()
    assert process.stdout.readline() == b"began\n"
    process.send_signal(signal.SIGINT)
    assert process.wait(30) == 130
    process.stdin.close()
    process.stdout.close()


def test_output_directory(belljar, tmp_path):
    cells = b"open('a.txt', 'w').write('1')\n\nopen('a.txt', 'w').write('22')\n"
    done = belljar(
        "repl", "--profile", "filesystem", "--output", "out", "--force", stdin=cells, cwd=tmp_path
    )
    assert (done.code, (tmp_path / "out/a.txt").read_text()) == (0, "22")
    assert "belljar: 1 artifact in out\n  a.txt  2 bytes  text/plain\n" in done.stderr
    done = belljar("repl", "--profile", "filesystem", "--output", "out", stdin=cells, cwd=tmp_path)
    assert done.code == 5
    assert "use --force to overwrite it" in done.stderr


def test_figures_are_saved_and_named(belljar, tmp_path):
    need_packages("data-science")
    cells = b"import matplotlib.pyplot as plt\nplt.plot([1, 2])\nplt.show()\n"
    done = belljar("repl", "--profile", "data-science", stdin=cells, cwd=tmp_path)
    assert done.code == 0
    assert "  cell-1-figure-1.png  " in done.stderr
    assert (tmp_path / "cell-1-figure-1.png").read_bytes().startswith(b"\x89PNG")
    # Of an earlier session: it stays.
    belljar("repl", "--profile", "data-science", stdin=cells, cwd=tmp_path)
    assert sorted(os.listdir(tmp_path)) == ["cell-1-figure-1-2.png", "cell-1-figure-1.png"]


# --- options ------------------------------------------------------------------------------------


def test_options_reach_the_session(belljar):
    done = belljar(
        "repl",
        "--env",
        "A=b",
        "--allow-import",
        "os",
        stdin=b"import os\nos.environ['A']\n\nimport math\n",
    )
    assert (done.code, done.stdout) == (3, "'b'\n")
    assert "BJ205" in done.stderr
    done = belljar("repl", "--policy", "off", stdin=b"import os; os.getpid() > 0\n")
    assert (done.code, done.stdout) == (0, "True\n")
    done = belljar("repl", "--memory", "64m", stdin=b"x = 'a' * (1 << 30)\n\n1\n")
    assert (done.code, done.stdout) == (4, "1\n")
    done = belljar("repl", "--checkpoints", "2", stdin=b"1;\n\n2;\n\n3;\n\n4;\n\n%undo 3\n")
    assert done.code == 2
    assert "no longer held" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--profile", "nothing"], "nothing"),
        (["--timeout", "x"], "--timeout"),
        (["--memory", "900g"], "maximum"),
        (["--checkpoints", "0"], "--checkpoints"),
        (["--color", "sometimes"], "is none of auto|always|never"),
        (["--file", "/etc/hostname"], "workspace"),
        (["--allow-domain", "a.org"], "--profile network"),
        (["--allow-import", "math", "--policy", "off"], "no effect"),
        (["--allow-import", "nothing"], "nothing"),
        (["--env", "nothing"], "nothing"),
        (["--output", "/dev/null/x"], "--output"),
        (["program.py"], "program.py"),
        (["--runtime", "runc"], "--runtime requires --container"),
        (["--container", "--isolation", "strict"], "--isolation strict cannot be combined"),
    ],
)
def test_bad_options(belljar, arguments, message):
    done = belljar("repl", *arguments)
    assert (done.code, done.stdout) == (2, "")
    assert done.stderr.startswith("belljar repl: ")
    assert message in done.stderr


def test_help(belljar):
    done = belljar("repl", "--help")
    assert (done.code, done.stderr) == (0, "")
    assert "belljar repl --profile basic" in done.stdout
    commands = belljar("repl", stdin=b"%help\n").stdout
    for name in ("undo", "branch", "checkpoints", "files", "get", "put", "vars", "time", "quit"):
        assert f"%{name}" in commands


# --- other languages ----------------------------------------------------------------------------


@pytest.fixture
def language(terminal):
    """A prompt in a language whose program is there."""

    def start(name: str, *arguments: str) -> Terminal:
        need_layers("kernel", "namespaces", "landlock", "seccomp", "strict")
        need_language(name)
        return terminal("--language", name, *arguments)

    return start


def test_bash_keeps_its_state_and_goes_on_where_it_must(language, tmp_path):
    prompt = language("bash")
    prompt.enter("cd /tmp; x=4")
    assert "/tmp 4\n" in prompt.enter('echo "$PWD $x"')
    prompt.enter("for i in 1 2; do", "...: ")
    prompt.enter("if [[ $i == 2 ]]; then", "...: ")
    prompt.enter("echo 'two", "...: ")
    prompt.enter("fi", "...: ")
    prompt.enter("lines'", "...: ")
    prompt.enter("fi", "...: ")
    assert "two\nfi\nlines\nIn [4]: " in prompt.enter("done")
    prompt.enter("cat <<END | tr a-z A-Z", "...: ")
    prompt.enter("in a (document", "...: ")
    assert "IN A (DOCUMENT\n" in prompt.enter("END")
    prompt.enter("double() {", "...: ")
    prompt.enter("  echo $((2 * $1))", "...: ")
    prompt.enter("}")
    assert "42\n" in prompt.enter("double 21")
    assert "belljar: ExitStatus: exited with status 1" in prompt.enter("false")
    prompt.type("exit\r")
    assert prompt.ended() == 0
    assert (tmp_path / ".local/state/belljar/history-bash").read_text().endswith("false\nexit\n")


def test_javascript_has_results_and_is_interrupted(language):
    prompt = language("javascript")
    prompt.enter("const sum = (a, b) => {", "...: ")
    prompt.enter("  // an open bracket: (", "...: ")
    prompt.enter("  return /[/(]/.test('(') ? `${a + b", "...: ")
    prompt.enter("}` : '' }")
    assert "Out[2]: '42'" in prompt.enter("sum(40, 2)")
    assert re.search(r"Out\[3\]: \{ a: 1 \}\ntime: .* ms", prompt.enter("%time ({a: 1})"))
    assert "TypeError: boom" in prompt.enter("throw new TypeError('boom')")
    prompt.enter("console.log('begun'); while (true) {}", "\nbegun\n")
    prompt.type("\x03")
    assert "belljar: Interrupted: interrupted" in prompt.until("In [6]: ")
    assert "Out[6]: '3'" in prompt.enter("sum(1, 2)")


def test_r_has_results(language):
    prompt = language("r")
    prompt.enter("f <- function(x)", "...: ")
    prompt.enter("x +", "...: ")
    prompt.enter("1 # (")
    assert "Out[2]: [1] 42" in prompt.enter("f(41)")


def test_commands_of_other_languages(language, tmp_path):
    (tmp_path / "in.txt").write_text("from here")
    prompt = language("bash", "--file", "in.txt")
    assert "from here" in prompt.enter("cat in.txt")
    assert "in.txt  9 bytes" in prompt.enter("%files")
    prompt.enter("echo made > out.txt")
    assert "saved out.txt, 5 bytes" in prompt.enter("%get out.txt")
    for command in (
        "%undo",
        "%checkpoints",
        "%branch",
        "%vars",
        "%timeit true",
        "%%timeit",
        "?PATH",
    ):
        assert f"{command.split()[0]} is for Python only, not for Bash" in prompt.enter(command)
    shown = prompt.enter("%help")
    assert "%reset" in shown and "%undo" not in shown and "NAME?" not in shown
    assert "a new session\nIn [1]: " in prompt.enter("%reset")
    assert "No such file" in prompt.enter("cat out.txt")


def test_a_limit_ends_the_interpreter_and_not_the_session(language):
    prompt = language("bash", "--timeout", "1")
    prompt.enter("x=1; echo kept > a")
    shown = prompt.enter("while :; do :; done")
    assert "stopped after 1s of" in shown and "variables are gone" in shown
    assert "kept \n" in prompt.enter('echo "$(cat a) $x"')


def test_other_languages_without_a_terminal(belljar):
    need_layers("kernel", "namespaces", "landlock", "seccomp", "strict")
    cells = b"x=1\nif true; then\n\necho $x\nfi\n\n%time echo 2\n\nf() { return $1; }\nf 3\n"
    done = belljar("repl", "--language", "sh", stdin=cells)
    assert (done.code, done.stdout) == (1, "1\n2\n")
    assert re.search(r"^time: .*\n.*exited with status 3\n", done.stderr)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("perl",), "Perl programs run one at a time; sessions are in python, bash, javascript, r"),
        (("bsh",), 'unknown language "bsh"'),
        (("bash", "--checkpoints", "3"), "--checkpoints is for sessions in Python, not in Bash"),
        (("bash", "--container"), "--container is for sessions in Python, not in Bash"),
        (("bash", "--profile", "basic"), "--profile basic is for Python; Bash programs have files"),
    ],
)
def test_languages_that_cannot_be(belljar, arguments, message):
    done = belljar("repl", "--language", *arguments, stdin=b"")
    assert done.code == 2
    assert message in done.stderr
