"""Each attack fails inside, works outside, and leaves the host as it was."""

import os
import platform
import tomllib
from pathlib import Path

import pytest

from tests.jail.attacks import ALL_LAYERS, ATTACKS, EVERY_OTHER_CALL
from tests.jail.conftest import (
    BELLJAR,
    NUMBERS,
    JailRunner,
    belljar,
    denials,
    program,
    run_outside,
)
from tests.machine import need_root


@pytest.fixture
def facts(request, host):
    """HOST as the attack sees it; a victim where it needs one."""
    attack = request.getfixturevalue("attack")
    if not attack.victim:
        return host.facts
    return host.facts | request.getfixturevalue("victim")[1]


def said(ran):
    """The words after "held", a line each."""
    lines = [line.split(maxsplit=1) for line in ran.stdout.splitlines()]
    return tuple(line[1] for line in lines if len(line) == 2 and line[0] == "held")


def held_layers(ran):
    # A cgroup is reported where there is one, and no promise.
    return {name for name, held in ran.layers.items() if held} - {"cgroup"}


def still_alive(request, attack):
    return not attack.victim or request.getfixturevalue("victim")[0].poll() is None


def skip_if_no_such_module(ran):
    """Debian's Python has its library's C parts built in; of others they are files, and no worker
    maps one."""
    if "failed to map segment" in str(ran.error):
        pytest.skip("the attack needs a part of the library that this Python has in a file")


@pytest.mark.parametrize("attack", ATTACKS, ids=str)
def test_fails_inside(attack, facts, host, jail, request):
    before = host.state()
    ran = belljar(program(attack.body, facts))
    assert "WON" not in ran.stdout, ran.outcome
    skip_if_no_such_module(ran)
    if attack.fills_memory and ran.status == "memory_limit":
        return
    assert ran.status == attack.status, ran.outcome
    assert ran.exit_code == {"ok": 0, "killed": 4}[attack.status]
    assert ran.reason == attack.reason
    expected = denials(attack.denied)
    if attack.status == "killed":
        expected.add(("killed", "a system call on the hostile list"))
    assert ran.events == expected
    if attack.held != "*":
        held = (attack.held,) if isinstance(attack.held, str) else attack.held or ()
        assert said(ran) == held
    assert held_layers(ran) == set(ALL_LAYERS)
    assert ran.isolation["mode"] == "strict"
    assert host.state() == before
    assert still_alive(request, attack)


@pytest.mark.parametrize("attack", [a for a in ATTACKS if a.control], ids=str)
def test_succeeds_outside(attack, facts, host, tmp_path):
    """The control: the same text, in a process that nothing holds."""
    scratch = tmp_path / "outside"
    scratch.mkdir()
    spoil = scratch / "spoil"
    spoil.write_text("spoil me")
    copy = scratch / "library.py"
    copy.write_text("")
    changed = facts | {
        "spoil": str(spoil),
        "scratch": str(scratch),
        "folders": [str(scratch)],
        "library_file": str(copy),
        # The kernel collects the keys of the dead when it likes: state() counts none of this name.
        "key": "belljar-outside",
    }
    ran = run_outside(attack, changed, scratch)
    if ran.stdout.startswith("held "):
        need_root(f"may do this outside ({ran.stdout.strip()})")
    assert "WON" in ran.stdout, f"this test proves nothing here: {ran.stdout}{ran.stderr}"


@pytest.fixture(scope="session")
def runner():
    runner = JailRunner()
    yield runner
    runner.close()


# Every attack that a second layer claims to stop, with each layer gone in turn.
LESS = [
    pytest.param(attack, layer, id=f"{attack}-without-{layer}")
    for layer in ALL_LAYERS
    for attack in ATTACKS
    if layer not in attack.alone
]


@pytest.mark.parametrize(("attack", "layer"), LESS)
def test_fails_with_a_layer_less(attack, layer, facts, host, jail, runner, request):
    before = host.state()
    ran = runner.run(program(attack.body, facts), without=layer)
    assert "WON" not in ran.stdout, ran.outcome
    skip_if_no_such_module(ran)
    assert ran.status in ("ok", "killed"), ran.outcome
    assert held_layers(ran) == set(ALL_LAYERS) - {layer}
    assert host.state() == before
    assert still_alive(request, attack)


def test_the_host_runs_as_root_or_not_but_the_guest_never(jail):
    ran = belljar("import os; print(os.getresuid(), os.getresgid(), os.getpid(), os.getppid())")
    assert ran.stdout.split("\n")[0] == "(65534, 65534, 65534) (65534, 65534, 65534) 1 0"


def test_no_descriptor_but_its_own(jail):
    """0 to 2 are /dev/null, and there is one socket."""
    ran = belljar("""
import os, stat
for number in range(65536):
    try:
        found = os.fstat(number)
    except OSError:
        continue
    print(number, oct(stat.S_IFMT(found.st_mode)), found.st_rdev)
""")
    null = os.makedev(1, 3)
    lines = [line.split() for line in ran.stdout.splitlines()]
    assert [line[1:] for line in lines[:3]] == [["0o20000", str(null)]] * 3
    assert [line[1] for line in lines[3:]] == ["0o140000"]


def test_environment_and_arguments_are_not_the_hosts(jail):
    ran = belljar("import os, sys; print(dict(os.environ)); print(sys.argv)")
    assert ran.stdout.splitlines()[0] == "{'LC_ALL': 'C.UTF-8', 'TZ': 'UTC'}"
    assert "belljar-zygote" not in ran.stdout and "--profile" not in ran.stdout


def test_no_core_is_dumped(jail, tmp_path):
    """Nor anywhere else: there is no place in the jail to write one."""
    import resource
    import subprocess

    from tests.jail.conftest import PYTHON

    crash = "import ctypes; ctypes.string_at(0)"
    unlimited = (resource.RLIM_INFINITY, resource.RLIM_INFINITY)
    pattern = Path("/proc/sys/kernel/core_pattern").read_text()
    ran = belljar(crash, cwd=tmp_path)
    assert (ran.status, ran.reason) == ("killed", "killed by SIGSEGV")
    assert list(tmp_path.iterdir()) == []
    if os.geteuid() == 0 and not pattern.startswith(("|", "/", "@")):
        subprocess.run(
            [PYTHON, "-c", crash],
            cwd=tmp_path,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CORE, unlimited),
            check=False,
        )
        assert list(tmp_path.iterdir()), "the control dumped none either"


@pytest.mark.skipif(platform.machine() != "x86_64", reason="the instruction is x86's")
def test_another_abi_kills(jail):
    """int 0x80, found in code that is there: nothing can be made executable."""
    code = """
import ctypes
libc = ctypes.CDLL(None)
start = ctypes.cast(libc.qsort, ctypes.c_void_p).value & ~0xfff
for page in range(start, start + (256 << 12), 4096):
    at = ctypes.string_at(page, 4096).find(b"\\xcd\\x80")
    if at >= 0:
        print("found", flush=True)
        ctypes.CFUNCTYPE(None)(page + at)()
"""
    ran = belljar(code)
    if "found" not in ran.stdout:
        pytest.skip("this libc has no such bytes")
    assert (ran.status, ran.reason) == ("killed", "killed for a hostile system call")


# --- the whole list -----------------------------------------------------------------------------

PROFILES = BELLJAR.parent / "share/belljar/profiles"
SYSCALLS = tomllib.loads((PROFILES / "seccomp.toml").read_text())
HOSTILE = [name for entry in SYSCALLS["hostile"] for name in entry["calls"] if NUMBERS.has(name)]
ALLOWED = {
    name for group in ("runtime", "threads") for entry in SYSCALLS["group"][group]
    for name in entry["calls"] if NUMBERS.has(name)
}  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
def test_each_hostile_call_kills(name, jail):
    """Whatever its arguments: these are nonsense."""
    ran = belljar(program(f"call(NR['{name}'], -1, -1, -1, -1, -1, -1); won()", {}))
    assert (ran.status, ran.reason) == ("killed", "killed for a hostile system call")
    assert ran.events == {("killed", "a system call on the hostile list")}


def test_no_other_call_reaches_the_kernel(jail):
    # Linux 6.14 asks no filter about uretprobe (335; 6.18: nor uprobe, 336): called from anywhere
    # but the kernel's own trampoline they raise SIGILL and do nothing else.
    # clone3 does not exist, so that libc uses clone (test_kernel_threads.py).
    known = sorted({NUMBERS[name] for name in {*HOSTILE, *ALLOWED, "clone3"}} | {335, 336})
    body = EVERY_OTHER_CALL.format(known=known)
    ran = belljar(program(body, {}))
    assert (ran.status, ran.stdout) == ("ok", "done\n"), ran.outcome
    assert len(ran.security_events) == 32  # as many as there is room for
