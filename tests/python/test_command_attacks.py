"""The attacks of tests/languages from commands of a session, and those that only commands make
possible. Each has a control that succeeds outside, or where it is allowed."""

import errno
import signal
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import belljar
import pytest

from tests.clocks import until
from tests.languages.conftest import attack_program, need_language, outside  # noqa: F401
from tests.languages.test_attacks import (
    HOSTILE,
    NAMESPACES,
    NATIVE,
    ON_X86,
    READ,
    SOCKETS,
    WRITE,
    number,
)
from tests.machine import need_root

# What a shell needs: interpreters compile while they run. "write" is a test of its own: a session
# has a /var/tmp.
ALLOWED = {"executable memory", "memory executable later", "write"}

# TCP and UDP, on a loopback of its own.
LOOPBACK = {("2", "1", "0"), ("2", "2", "0"), ("10", "1", "0")}

Attack = Callable[..., belljar.CommandResult]


@pytest.fixture(scope="module")
def session() -> Iterator[belljar.Session]:
    need_language("shell")
    with belljar.Sandbox(language="shell") as box, box.session() as session:
        yield session


@pytest.fixture(scope="module")
def attack(session: belljar.Session, attack_program: Path) -> Attack:  # noqa: F811
    session.files["attack"] = attack_program.read_bytes()
    session.files["t.c"] = b"x"
    session.command("chmod +x attack", check=True)

    def run(*words: str) -> belljar.CommandResult:
        return session.command(["./attack", *words])

    return run


def assert_held(ran: belljar.CommandResult) -> None:
    assert "WON" not in ran.stdout, ran
    assert ran.stdout == "held\n" or ran.status.signal == signal.SIGSYS, ran


@pytest.mark.parametrize("name", [each for each in NATIVE if each not in ALLOWED])
def test_native_attacks(name: str, attack: Attack, outside) -> None:  # noqa: F811
    if name == "root":
        need_root("the control is root")
    assert_held(attack(name, *NATIVE[name]))
    if outside(name, *NATIVE[name]) != "WON":
        pytest.skip("it does not succeed outside either")


def test_it_writes_only_to_its_own_folders(attack: Attack) -> None:
    own = Path(f"/var/tmp/belljar-{uuid.uuid4().hex}")
    assert attack("write", str(own)).stdout == "WON\n"
    assert not own.exists()
    for folder in ("/usr", "/etc", "/var", "/var/tmp/..", "/dev", "/"):
        assert_held(attack("write", f"{folder}/{own.name}"))


@pytest.mark.parametrize("flag", NAMESPACES, ids=hex)
def test_namespaces_of_its_own(flag: int, attack: Attack) -> None:
    assert_held(attack("clone3" if flag == 0x80 else "clone", hex(flag | 0x10000000)))


def test_the_controls_of_namespaces_and_sockets(outside) -> None:  # noqa: F811
    assert outside("socket", "2", "1", "0") == "WON"
    assert outside("socket", "1", "1", "0") == "WON"
    if outside("clone", hex(0x10000000)) != "WON":
        pytest.skip("this machine allows nobody user namespaces")


@pytest.mark.parametrize("path", READ)
def test_reading(path: str, attack: Attack) -> None:
    assert_held(attack("read", path))


@pytest.mark.parametrize("path", WRITE)
def test_writing(path: str, attack: Attack) -> None:
    assert_held(attack("write", path))


def test_the_controls_of_reading_and_writing(attack: Attack, outside) -> None:  # noqa: F811
    assert outside("read", "/etc/passwd") == "WON"
    assert attack("write", "new").stdout == "WON\n"
    assert attack("read", "t.c").stdout == "WON\n"


@pytest.mark.parametrize("words", SOCKETS, ids="-".join)
def test_sockets(words: tuple[str, ...], attack: Attack) -> None:
    if words in LOOPBACK:
        assert attack("socket", *words).stdout == "WON\n"  # test_command_network.py
    else:
        assert_held(attack("socket", *words))


@ON_X86
@pytest.mark.parametrize("name", HOSTILE)
def test_each_hostile_call_kills(name: str, attack: Attack) -> None:
    found = number(name)
    if found is None:
        pytest.skip("the headers do not know it")
    assert attack("call", found).status.signal == signal.SIGSYS


@ON_X86
def test_the_control_of_hostile_calls(attack: Attack) -> None:
    found = number("getpid")
    assert found is not None
    ran = attack("call", found)
    assert ran.status.signal is None and ran.status.state == "exited"


# --- what watches over a command ------------------------------------------------------------------


def supervisor_of(session: belljar.Session, command: belljar.Command) -> str:
    """Its parent, by a name that no other command has."""
    word = command.arguments[-1]
    listed = session.command("ps -e -o ppid=,args=").stdout.splitlines()
    return next(line.split()[0] for line in listed if line.rstrip().endswith(word))


def test_killing_the_supervisor_ends_all_commands() -> None:
    """What it has started could not be told from others any more."""
    with belljar.Sandbox(language="shell") as box, box.session() as session:
        one, two = (session.spawn(["sleep", f"10{i}"]) for i in range(2))
        ran = session.command(f"kill -9 {supervisor_of(session, one)}; sleep 1000")
        assert ran.status.state == "lost"
        assert [each.wait().state for each in (one, two)] == ["lost", "lost"]
        assert "watches over" in (one.status.reason or "")
        # The session goes on.
        assert session.command("ps -e | grep -c slee[p]").stdout == "0\n"


def test_a_stopped_supervisor_is_ended_all_the_same() -> None:
    with belljar.Sandbox(language="shell") as box, box.session() as session:
        victim = session.spawn(["sleep", "1000"])
        pid = supervisor_of(session, victim)
        stopper = session.spawn(f"while :; do kill -STOP {pid} || sleep 0.01; done")
        victim.kill()
        assert victim.wait().state in {"killed", "lost"}
        stopper.kill()
        until(lambda: not stopper.status.background and stopper.status.state != "running")
        assert session.command(["true"]).ok


def test_no_signal_ends_the_first_process(session: belljar.Session) -> None:
    session.command("for s in {1..64}; do kill -$s 1 2> /dev/null; done")
    assert session.command(["true"]).ok


def test_the_supervisor_cannot_be_traced_or_read(session: belljar.Session) -> None:
    script = "cat /proc/$PPID/environ /proc/$PPID/maps; ls -l /proc/$PPID/fd; cat /proc/1/maps"
    ran = session.command(script)
    assert ran.stdout.strip() == "" and ran.stderr.count("Permission denied") >= 3
    own = session.command("cat /proc/$$/maps | grep -c bash")
    assert own.ok and int(own.stdout) > 0  # the control


# --- terminals ------------------------------------------------------------------------------------

IOCTL = """
import fcntl, os, sys, termios
try:
    fcntl.ioctl(0, int(sys.argv[1], 16), b"x" * 256)
except OSError as error:
    print(error.errno)
else:
    print("WON")
"""


@pytest.mark.parametrize(
    "call", ["5412", "541c", "541d", "5423", "541e", "4b3a", "5602", "5606", "80045432", "5420"]
)
def test_calls_that_a_terminal_must_not_have(call: str, session: belljar.Session) -> None:
    """TIOCSTI, TIOCLINUX, TIOCCONS, TIOCSETD, TIOCGSERIAL, KDSETMODE, VT_GETMODE, VT_ACTIVATE,
    TIOCGDEV, TIOCPKT."""
    command = session.spawn(["python3", "-c", IOCTL, call], terminal=True)
    command.wait()
    assert command.read().content.strip() == str(errno.EPERM).encode()


def test_the_control_of_terminal_calls(session: belljar.Session) -> None:
    command = session.spawn(["python3", "-c", IOCTL, "5413"], terminal=True)  # TIOCGWINSZ
    command.wait()
    assert command.read().content.strip() == b"WON"


def test_a_terminal_of_another_session_is_not_there(session: belljar.Session) -> None:
    with belljar.Sandbox(language="shell") as box, box.session() as other:
        holder = session.spawn(["sleep", "1000"], terminal=True)
        assert session.command("test -c /dev/pts/0").ok
        assert not other.command("test -e /dev/pts/0").ok
        holder.kill()


def test_no_terminal_is_found_without_one(session: belljar.Session) -> None:
    assert not session.command("exec 3<> /dev/tty").ok
    with_one = session.spawn("exec 3<> /dev/tty && echo won", terminal=True)
    with_one.wait()
    assert b"won" in with_one.read().content


# --- the workspace --------------------------------------------------------------------------------


def test_rights_of_files_mean_nothing(session: belljar.Session) -> None:
    script = "cp /usr/bin/id own-id; chmod 6755 own-id; ./own-id -u; mknod dev c 1 3; mknod b b 8 0"
    ran = session.command(script)
    assert ran.stdout == "65534\n" and "mknod: dev" in ran.stderr and "mknod: b" in ran.stderr


def test_links_out_of_the_workspace_are_not_followed(session: belljar.Session) -> None:
    session.command("ln -sf /etc/shadow link; ln -sfn / root", check=True)
    with pytest.raises(KeyError):
        session.files["link"]
    with pytest.raises((ValueError, belljar.BelljarError)):
        session.files["root/etc/new"] = b""
    assert not Path("/etc/new").exists()
    session.files["link"] = b"mine"  # replaces the link
    assert session.files["link"] == b"mine" and b"mine" not in Path("/etc/passwd").read_bytes()
