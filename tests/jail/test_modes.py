"""Strict refuses where a layer is missing; standard runs and says what is missing; each result
lists what was seen on that very worker. The machine that lacks something is made up: by a user
namespace that allows no other, or by a filter like that of a container."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.jail.attacks import ALL_LAYERS
from tests.jail.conftest import BELLJAR, PYTHON, belljar, in_session
from tests.machine import need_root, need_wrapper

# Installs a filter, then becomes the command: name=errno, or name&mask=errno on the first argument.
DENY = """
import ctypes, os, sys
library = ctypes.CDLL("libseccomp.so.2")
library.seccomp_init.restype = ctypes.c_void_p
class Compare(ctypes.Structure):
    _fields_ = [("arg", ctypes.c_uint), ("op", ctypes.c_int), ("a", ctypes.c_uint64),
                ("b", ctypes.c_uint64)]
context = ctypes.c_void_p(library.seccomp_init(0x7fff0000))
for rule in sys.argv[1].split(","):
    name, number = rule.split("=")
    name, _, mask = name.partition("&")
    call = library.seccomp_syscall_resolve_name(name.encode())
    action = ctypes.c_uint32(0x00050000 | int(number))
    masks = [int(mask, 0)] if mask else []
    for each in masks or [0]:
        compare = (Compare * 1)(Compare(0, 7, each, each))
        done = library.seccomp_rule_add_array(context, action, call, 1 if masks else 0, compare)
        assert done == 0, (rule, done)
assert library.seccomp_load(context) == 0
os.execv(sys.argv[2], sys.argv[2:])
"""

ENOSYS, EPERM = 38, 1
NEW_NAMESPACES = (
    0x00020000,
    0x02000000,
    0x04000000,
    0x08000000,
    0x10000000,
    0x20000000,
    0x40000000,
)


def denying(*rules):
    return [PYTHON, "-I", "-c", DENY, ",".join(rules)]


# What Docker's own profile does for a container without CAP_SYS_ADMIN: clone3 is ENOSYS, because a
# filter cannot see its flags, so that libc falls back to clone.
LIKE_DOCKER = denying(
    f"clone3={ENOSYS}",
    *(f"clone&{flag}={EPERM}" for flag in NEW_NAMESPACES),
    *(
        f"{name}={EPERM}"
        for name in (
            "unshare",
            "setns",
            "mount",
            "umount2",
            "pivot_root",
            "open_tree",
            "move_mount",
        )
    ),
    f"mount_setattr={EPERM}",
    f"keyctl={EPERM}",
)
NO_LANDLOCK = denying(f"landlock_create_ruleset={ENOSYS}")

# A user namespace that holds no other, as a container has it: root inside, with every uid mapped.
MAKE_NO_NAMESPACES = """
import ctypes, os, sys
ready, mapped = os.pipe(), os.pipe()
child = os.fork()
if child == 0:
    os.close(mapped[1])
    assert ctypes.CDLL(None).unshare(0x10000000) == 0
    os.write(ready[1], b"x")
    if not os.read(mapped[0], 1):
        sys.exit("the parent may not map other users")
    with open("/proc/sys/user/max_user_namespaces", "w") as most:
        most.write("0")
    os.execv(sys.argv[1], sys.argv[1:])
os.read(ready[0], 1)
for name in "uid_map", "gid_map":
    with open(f"/proc/{child}/{name}", "w") as map:
        map.write("0 0 100000")
os.write(mapped[1], b"x")
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
NO_NAMESPACES = [PYTHON, "-I", "-c", MAKE_NO_NAMESPACES]


@pytest.fixture(scope="session")
def anywhere(command, jail):
    """The command where every user can read it."""
    folder = Path("/tmp") / f"belljar-modes-{os.getpid()}"
    folder.mkdir(mode=0o755)
    for name in ("belljar", "belljar-zygote"):
        shutil.copy2(BELLJAR.parent / name, folder)
    # The share may be links into the source tree. Not the packages of profiles, 700 MB that these
    # programs do not import.
    shutil.copytree(
        BELLJAR.parent / "share",
        folder / "share",
        symlinks=False,
        ignore=lambda source, names: names if Path(source).match("belljar/packages") else [],
    )
    subprocess.run(["chmod", "-R", "a+rX", folder], check=True)
    profile = folder / "attack.toml"
    shutil.copy(Path(__file__).with_name("attack.toml"), profile)
    yield folder
    shutil.rmtree(folder)


def held(ran):
    return {name for name, is_held in ran.layers.items() if is_held} - {"cgroup"}


def missing(ran):
    return set(ALL_LAYERS) - held(ran)


def run(*options, **more):
    return belljar("print(6 * 7)", *options, **more)


def test_strict_holds_all(jail):
    ran = run()
    assert (ran.stdout, missing(ran), ran.isolation["mode"]) == ("42\n", set(), "strict")
    assert ran.isolation["policy"] == "off"


def test_standard_uses_all_that_there_is(jail):
    ran = run("--isolation", "standard")
    assert (ran.stdout, missing(ran), ran.isolation["mode"]) == ("42\n", set(), "standard")


@pytest.mark.parametrize("layer", ALL_LAYERS)
def test_a_layer_left_out_is_shown(layer, jail):
    ran = run("--without", layer)
    assert ran.stdout == "42\n"
    assert missing(ran) == {layer}
    detail = {entry["name"]: entry["detail"] for entry in ran.isolation["layers"]}
    assert detail[layer]


def test_an_unknown_layer_is_refused(jail):
    ran = run("--without", "landlok")
    assert ran.exit_code == 2
    assert "landlock" in ran.stderr


# --- a machine that forbids namespaces ------------------------------------------------------------


@pytest.mark.parametrize(
    "wrapper", [NO_NAMESPACES, LIKE_DOCKER], ids=["no user namespaces", "like docker"]
)
def test_strict_refuses_without_namespaces(wrapper, jail):
    need_wrapper(*wrapper)
    ran = run(wrapper=wrapper)
    assert ran.exit_code == 5
    assert "stdout" not in ran.outcome
    said = ran.stderr + ran.raw
    assert "namespaces" in said and "standard" in said


@pytest.mark.parametrize(
    "wrapper", [NO_NAMESPACES, LIKE_DOCKER], ids=["no user namespaces", "like docker"]
)
def test_standard_runs_without_namespaces_and_says_so(wrapper, jail):
    need_wrapper(*wrapper)
    ran = run("--isolation", "standard", wrapper=wrapper)
    assert ran.exit_code == 0, ran.stderr + ran.raw
    assert ran.stdout == "42\n"
    assert missing(ran) == {"namespaces"}
    assert ran.isolation["mode"] == "standard"


def test_as_an_ordinary_user_in_a_container(anywhere, jail):
    need_root("becomes an ordinary user")
    user = ["setpriv", "--reuid", "1000", "--regid", "1000", "--clear-groups"]
    ran = run(
        "--isolation",
        "standard",
        wrapper=[*user, *LIKE_DOCKER],
        binary=anywhere / "belljar",
        profile=anywhere / "attack.toml",
        cwd="/",
    )
    assert ran.exit_code == 0, ran.stderr + ran.raw
    assert missing(ran) == {"namespaces"}


def test_strict_refuses_without_landlock(jail):
    ran = run(wrapper=NO_LANDLOCK)
    assert ran.exit_code == 5
    assert "andlock" in ran.stderr + ran.raw


def test_standard_runs_without_landlock_and_says_so(jail):
    ran = run("--isolation", "standard", wrapper=NO_LANDLOCK)
    assert ran.stdout == "42\n"
    assert missing(ran) == {"landlock"}


# --- an ordinary user -----------------------------------------------------------------------------


@pytest.mark.parametrize("uid", [1000, 65534])
@pytest.mark.parametrize("options", [(), ("--isolation", "standard")], ids=["strict", "standard"])
def test_as_an_ordinary_user(uid, options, anywhere, jail):
    need_root("becomes an ordinary user")
    ran = belljar(
        "import os; print(os.getresuid())\ntry: os.listdir('/etc')\nexcept OSError as e: print(e)",
        *options,
        wrapper=["setpriv", "--reuid", uid, "--regid", uid, "--clear-groups"],
        binary=anywhere / "belljar",
        profile=anywhere / "attack.toml",
        cwd="/",
    )
    assert ran.exit_code == 0, ran.stderr + ran.raw
    assert missing(ran) == set()
    assert ran.stdout.startswith("(65534, 65534, 65534)\n[Errno ")


def test_as_an_ordinary_user_with_a_layer_less(anywhere, jail):
    """Without namespaces such a user stays itself: what it could read, Landlock keeps from it."""
    need_root("becomes an ordinary user")
    for layer in ALL_LAYERS:
        ran = belljar(
            "import os\nfor path in '/etc', '/tmp', '/proc/self', '/home':\n"
            "    try: print('WON', os.listdir(path))\n    except OSError: pass\n"
            "try: os.kill(HOST, 0); print('WON')\nexcept OSError: pass".replace(
                "HOST", str(os.getpid())
            ),
            "--without",
            layer,
            wrapper=["setpriv", "--reuid", "1000", "--regid", "1000", "--clear-groups"],
            binary=anywhere / "belljar",
            profile=anywhere / "attack.toml",
            cwd="/",
        )
        assert ran.exit_code == 0, ran.stderr + ran.raw
        assert "WON" not in ran.stdout
        assert missing(ran) == {layer}


# --- hosts in a state of their own ----------------------------------------------------------------


@pytest.mark.parametrize(
    "wrapper",
    [
        ["setpriv", "--no-new-privs"],
        ["sh", "-c", 'ulimit -n 64; exec "$@"', "sh"],
        ["sh", "-c", 'ulimit -s 1024; exec "$@"', "sh"],
        ["sh", "-c", 'umask 777; exec "$@"', "sh"],
        ["sh", "-c", 'trap "" TERM INT HUP PIPE SYS CHLD; exec "$@"', "sh"],
        ["sh", "-c", 'exec "$@" 3</etc/passwd 4</etc/group 9</etc/passwd', "sh"],
        ["setarch", "-R"],
        ["setarch", "--read-implies-exec"],
        ["env", "-i"],
        ["env", "LD_PRELOAD=/nonexistent.so", "PYTHONPATH=/tmp", "PYTHONSTARTUP=/etc/passwd"],
    ],
    ids=lambda wrapper: " ".join(wrapper)[:40],
)
def test_what_the_host_inherits_does_not_weaken(wrapper, jail):
    """The guest starts from a state of ours, whatever state the command was started in."""
    ran = belljar(
        """
import os, signal, sys
print(sorted(os.environ))
found = []
for number in range(256):
    try: os.fstat(number); found.append(number)
    except OSError: pass
print(len(found))
ignored = signal.getsignal(signal.SIGTERM) == signal.SIG_IGN
print(ignored, signal.pthread_sigmask(signal.SIG_BLOCK, []))
try: os.fork()
except PermissionError: print("refused")
import mmap
try: mmap.mmap(-1, 4096, prot=7)
except PermissionError: print("refused")
print(sys.path)
""",
        wrapper=wrapper,
    )
    lines = ran.stdout.splitlines()
    assert lines[:2] == ["['LC_ALL', 'TZ']", "4"]
    assert lines[2] == "False set()"
    assert lines[3:5] == ["refused", "refused"]
    assert "/tmp" not in lines[5]
    assert missing(ran) == set()


def test_nothing_is_left_after_refusing(jail):
    process = subprocess.Popen(
        [*NO_LANDLOCK, BELLJAR, "run", "-c", "1"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    assert process.wait(30) == 5
    assert in_session(process.pid) == []
