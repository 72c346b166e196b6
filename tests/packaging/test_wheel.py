"""What an environment has from a wheel: the command, whole. A guest has nothing of it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import zipfile
from pathlib import Path

import check_wheel
import pytest

from tests.machine import lacks, need_root

from .conftest import (
    EPOCH,
    MINOR,
    PROJECT,
    PYTHON,
    ROOT,
    VERSION,
    Environment,
    ask,
    files_of,
    pip,
)

# The first of them waits for all of Belljar to be compiled.
pytestmark = pytest.mark.timeout(1800)

INSTALLATION = "belljar/_installation"
# Whose machine a wheel must not name.
ME = Path("/home/me/belljar")

# A package of the environment's, for a profile; and what its owner has beside it.
TOY = {
    "toy/__init__.py": "from . import part\n"
    "try:\n    import secret\nexcept ImportError:\n    secret = 0\n"
    "answer = 42 if secret == 0 else secret\n",
    "toy/part.py": "",
    "toy-1.0.dist-info/METADATA": "Name: toy\nVersion: 1.0\n",
    "toy-1.0.dist-info/RECORD": "toy/__init__.py,,\ntoy/part.py,,\ntoy-1.0.dist-info/METADATA,,\n"
    "toy-1.0.dist-info/RECORD,,\n",
    "secret.py": "answer = 'proprietary'\n",
}
PROFILE = """\
schema = 1
name = "own"
extends = "basic"
summary = "A package of this environment."
[packages.toy]
why = "a test's"
modules = ["toy"]
[modules.toy]
why = "a test's"
exports = ["answer"]
"""
# What there is to read of the environment: by paths, in a guest that the policy does not hold.
LOOK = """
import os
result = {{}}
for path in {paths!r}:
    try:
        with open(path) as file:
            result[path] = file.read(1) == '' or 'read'
    except OSError:
        result[path] = 'nothing'
result['environment'] = dict(os.environ)
result
"""


@pytest.fixture
def with_toy(spare_environment: Environment) -> Environment:
    for name, text in TOY.items():
        path = spare_environment.packages / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    share = spare_environment.installation / "share/belljar"
    (share / "requirements/toy.pins").write_text("toy 1.0\n")
    (share / "profiles/own.toml").write_text(PROFILE)
    return spare_environment


def result_of(done: subprocess.CompletedProcess[str]) -> object:
    answer = json.loads(done.stdout)
    assert answer["success"], answer
    return answer["result"]


# --- the archives ---------------------------------------------------------------------------------


def test_the_wheel_is_tagged_for_one_python(wheel):
    tag = f"cp{MINOR.replace('.', '')}"
    assert wheel.name.startswith(f"belljar_sandbox-{VERSION}-{tag}-{tag}-linux_")


def test_the_wheel_is_what_runs_and_nothing_else(wheel):
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
        assert check_wheel.foreign_files(archive) == []
        assert check_wheel.programs(archive) == [], "symbols for debuggers, or paths to libraries"
        assert check_wheel.exports(archive) == []
        assert check_wheel.command(archive) == []
    assert f"belljar_sandbox-{VERSION}.data/scripts/belljar" in names
    for name in ("belljar-zygote.so", "belljar-preload.so", "belljar-guest"):
        assert f"{INSTALLATION}/libexec/belljar/{name}" in names
    licences = [name for name in names if "restrictedpython-" in name.lower() and "LICENSE" in name]
    assert licences, "the wheel brings RestrictedPython without its licence"


def test_the_wheel_says_nothing_of_where_it_was_built(wheel, scratch):
    with zipfile.ZipFile(wheel) as archive:
        assert check_wheel.paths(archive, [scratch, ROOT]) == []


def test_byte_code_is_valid_at_any_time(wheel):
    with zipfile.ZipFile(wheel) as archive:
        assert check_wheel.byte_code(archive) == []


def test_the_record_is_of_the_files(wheel):
    with zipfile.ZipFile(wheel) as archive:
        assert check_wheel.record(archive) == []


def test_the_same_commit_makes_the_same_bytes(wheel, build_wheel, scratch):
    """Of the same objects, since compiling takes minutes: the archive, the byte code, the order."""
    with zipfile.ZipFile(wheel) as archive:
        assert check_wheel.times(archive, EPOCH) == []
    again = build_wheel(scratch / "again")
    assert again.name == wheel.name
    assert again.read_bytes() == wheel.read_bytes()


def test_it_is_for_no_python_that_does_not_exist_yet(wheel):
    with zipfile.ZipFile(wheel) as archive:
        assert check_wheel.requires(archive) == []


@pytest.mark.parametrize(
    ("name", "content", "check"),
    [
        ("belljar/tests/test_it.py", b"", check_wheel.foreign_files),
        ("belljar/host.cc", b"", check_wheel.foreign_files),
        ("belljar/notes.txt", b"/home/me/belljar/engine", lambda a: check_wheel.paths(a, [ME])),
        (f"{check_wheel.SHARE}runner/more.py", b"", check_wheel.byte_code),
        (f"{check_wheel.SHARE}__pycache__/x.cpython-311.pyc", bytes(16), check_wheel.byte_code),
        ("belljar/more.py", b"", check_wheel.record),
        ("belljar/more.py", b"", lambda a: check_wheel.times(a, EPOCH)),
        ("belljar/unstripped", None, check_wheel.programs),
        ("belljar/library.so", None, check_wheel.exports),
        ("belljar.libs/libelf.so.1", b"", check_wheel.libraries),
    ],
)
def test_what_does_not_belong_is_found(wheel, tmp_path, name, content, check):
    """The controls of the tests above and of `./dev wheels`."""
    if content is None:
        kind = ["-shared"] if name.endswith(".so") else []
        command = ["cc", "-g", *kind, "-xc", "-", "-o", tmp_path / "program"]
        subprocess.run(command, input=b"int main(){}", check=True)
        content = (tmp_path / "program").read_bytes()
    worse = tmp_path / wheel.name
    shutil.copy(wheel, worse)
    with zipfile.ZipFile(worse, "a") as archive:
        archive.writestr(name, content)
        assert [each for each in check(archive) if name in each or "x.cpython" in each]


def test_a_module_for_another_processor_is_found(tmp_path):
    name = "belljar/_host.cpython-311-x86_64-linux-gnu.so"
    with zipfile.ZipFile(tmp_path / "wheel.zip", "w") as archive:
        archive.writestr(name, b"")
        assert check_wheel.modules(archive, "belljar-1-cp311-cp311-manylinux_2_28_x86_64.whl") == []
        other = "belljar-1-cp311-cp311-manylinux_2_28_aarch64.whl"
        assert check_wheel.modules(archive, other) == [f"{name}: is for x86_64"]


def test_what_makes_a_wheel_too_large_is_named(tmp_path):
    command, guest = "belljar-1.data/scripts/belljar", "belljar/_installation/libexec/belljar/"
    path = tmp_path / "wheel.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(command, bytes(check_wheel.GREATEST_SIZE))
        assert check_wheel.size(archive, check_wheel.GREATEST_SIZE) == []
        archive.writestr(f"{guest}belljar-guest", bytes(1_000_000))
        archive.writestr(f"{check_wheel.SHARE}policy/small.py", b"pass")
    (wrong,) = check_wheel.size(archive, path.stat().st_size)
    limit, before = check_wheel.GREATEST_SIZE, check_wheel.PARTS
    assert f"more than {limit / check_wheel.MB:g};" in wrong
    command_by = (limit - before["the command"][1]) // 1000
    guest_by = (1_000_000 - before["the guest of containers"][1]) // 1000
    assert wrong.endswith(
        f": the command by {command_by} kB to {limit // 1000}, "
        f"the guest of containers by {guest_by} kB to 1000"
    )


# --- versions -------------------------------------------------------------------------------------


def test_an_older_python_is_told_what_is_needed(frontend, tmp_path):
    """By pip, before anything is compiled; it first gets what the build requires, as `frontend`."""
    others = sorted(Path.home().glob(".pyenv/versions/3.10.*/bin/python3.10"))
    lacks(others, "Python 3.10")
    done = pip(others[0], "install", "--target", tmp_path, ROOT)
    assert done.returncode != 0
    wanted = PROJECT["project"]["requires-python"]
    assert "requires a different Python: 3.10." in done.stderr
    for each in wanted.split(","):
        assert each in done.stderr


def test_the_published_wheel_is_installed_instead_of_a_clone(spare_environment, wheel, scratch):
    """As pre-commit installs its clone (.pre-commit-hooks.yaml): nothing is compiled."""
    python = spare_environment.folder / "bin/python"
    assert pip(python, "uninstall", "-y", "belljar-sandbox").returncode == 0
    setting = "--config-settings=published=true"
    done = pip(python, "install", "--no-deps", setting, ROOT, PIP_FIND_LINKS=wheel.parent.as_uri())
    assert done.returncode == 0, done.stderr
    assert spare_environment.run("run", "-c", "print(6 * 7)").stdout == "42\n"


def test_a_clone_whose_version_is_not_published_says_so(frontend, tmp_path):
    """By the backend alone, without an index."""
    code = "import wheel_backend; wheel_backend.build_wheel('.', {'published': 'true'})"
    done = subprocess.run(
        [frontend, "-c", code],
        capture_output=True,
        check=False,
        text=True,
        cwd=tmp_path,
        env=os.environ
        | {"PYTHONPATH": str(ROOT / "tools"), "PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(tmp_path)},
    )
    assert done.returncode == 1
    assert f"pip finds no wheel of belljar-sandbox=={VERSION} for this Python" in done.stderr


# --- the command ----------------------------------------------------------------------------------


@pytest.mark.parametrize("nobody", [False, True], ids=["this user", "an ordinary user"])
@pytest.mark.parametrize("isolation", ["strict", "standard"])
def test_run(environment, isolation, nobody):
    done = environment.run("run", "--isolation", isolation, "-c", "print(6 * 7)", nobody=nobody)
    assert (done.returncode, done.stdout, done.stderr) == (0, "42\n", "")


def test_all_layers_hold(environment):
    done = environment.run("run", "--json", "-c", "1")
    layers = {each["name"]: each["held"] for each in json.loads(done.stdout)["isolation"]["layers"]}
    held = {"namespaces", "privileges", "rlimits", "landlock", "seccomp"}
    assert held <= {name for name, is_held in layers.items() if is_held}


def test_the_interpreter_is_the_environments(environment):
    done = environment.run(
        "run",
        "--policy",
        "off",
        "--json",
        "-c",
        "import sys; [sys.version, sys.path, sys.flags.isolated]",
    )
    version, path, isolated = result_of(done)
    code = "import sys, sysconfig; print(sys.version); print(sysconfig.get_path('stdlib'))"
    own = subprocess.run(
        [environment.folder / "bin/python", "-I", "-c", code],
        capture_output=True,
        check=True,
        text=True,
    ).stdout.rstrip("\n")
    assert own == f"{version}\n{path[0]}"
    assert isolated == 1
    assert not [each for each in path if str(environment.folder) in each]


def test_the_other_words(environment, tmp_path):
    version = f"belljar {VERSION} (CPython {MINOR})\n"
    assert environment.run("--version").stdout == version
    # Under the name of the package, through a link as pipx makes it.
    link = environment.folder / "linked"
    link.symlink_to(environment.folder / "bin/belljar-sandbox")
    done = subprocess.run([link, "--version"], capture_output=True, text=True, check=True)
    link.unlink()
    assert done.stdout == version
    assert environment.run("info", "--json").returncode == 0
    assert "BJ201" in environment.run("rules", "BJ201").stdout
    assert environment.run("serve").returncode == 0, "at the end of its input"
    program = tmp_path / "main.py"
    program.write_text("import ctypes\n")
    found = environment.run("validate", program)
    assert found.returncode == 1 and "BJ201" in found.stdout
    doctor = environment.run("doctor", "--json")
    checks = {each["name"]: each for each in json.loads(doctor.stdout)["checks"]}
    program = Path(environment.python).resolve()
    assert checks["installation"]["detail"].endswith(f"belljar-zygote.so, in {program}")
    assert doctor.returncode == 0


def test_nothing_of_the_environment_is_a_guests(environment):
    paths = [
        str(environment.folder / "pyvenv.cfg"),
        str(environment.packages / "belljar/__init__.py"),
        str(environment.packages / "pip/__init__.py"),
        str(environment.belljar),
    ]
    for option in ((), ("--without", "namespaces")):
        done = environment.run(
            "run", *option, "--policy", "off", "--json", "-c", LOOK.format(paths=paths)
        )
        seen = result_of(done)
        variables = seen.pop("environment")
        assert set(seen.values()) == {"nothing"}
        assert set(variables) == {"LC_ALL", "TZ"}, "LD_PRELOAD is for the zygote alone"


def test_what_is_installed_into_the_interpreter_itself_is_no_guests(environment):
    """Such as an interpreter has that was not made by a distributor: in its library's folder."""
    packages = Path(environment.python).resolve().parents[1] / f"lib/python{MINOR}/site-packages"
    listed = "import os\ntry: result = os.listdir({!r})\nexcept OSError: result = 'nothing'\nresult"
    code = listed.format(str(packages))
    done = environment.run("run", "--policy", "off", "--json", "-c", code)
    assert result_of(done) in ([], "nothing")
    done = environment.run(
        "run", "--without", "namespaces", "--policy", "off", "--json", "-c", code
    )
    assert result_of(done) == "nothing"


def test_the_preloaded_library_is_no_program(environment):
    preload = environment.installation / "libexec/belljar/belljar-preload.so"
    done = subprocess.run(
        [environment.folder / "bin/python", "-c", "print('Python')"],
        capture_output=True,
        check=False,
        text=True,
        env={"LD_PRELOAD": f"/proc/self/fd/{(fd := os.open(preload, os.O_RDONLY))}"},
        pass_fds=[fd],
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert "is not meant to be run directly" in done.stderr


def test_the_package_runs_programs_as_the_command_does(environment):
    code = (
        "import belljar, sys\n"
        "with belljar.Sandbox() as sandbox:\n"
        "    print(sandbox.run('6 * 7').value, sandbox.info().version, 'numpy' in sys.modules)\n"
    )
    done = subprocess.run(
        [environment.folder / "bin/python", "-I", "-c", code],
        capture_output=True,
        check=False,
        text=True,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, f"42 {VERSION} False\n", "")


# --- packages of profiles -------------------------------------------------------------------------


def test_a_profile_takes_its_packages_from_the_environment(with_toy):
    run = ("run", "--profile", "own", "--json")
    # 42: the package's own import of what is not the profile's has failed, before the seal too.
    assert result_of(with_toy.run(*run, "-c", "import toy\ntoy.answer")) == 42
    paths = [
        str(with_toy.packages / name) for name in ("toy/part.py", "secret.py", "pip/__init__.py")
    ]
    for option in ((), ("--without", "namespaces")):
        done = with_toy.run(*run, *option, "--policy", "off", "-c", LOOK.format(paths=paths))
        seen = result_of(done)
        assert [seen[path] for path in paths] == [True, "nothing", "nothing"]
        found = with_toy.run(*run, *option, "--policy", "off", "-c", "import secret")
        assert "No module named 'secret'" in json.loads(found.stdout)["error"]["message"]


def test_packages_of_other_versions_are_missing(with_toy):
    share = with_toy.installation / "share/belljar"
    (share / "requirements/toy.pins").write_text("toy 2.0\n")
    done = with_toy.run("run", "--profile", "own", "-c", "import toy")
    assert done.returncode != 0
    assert 'pip install "belljar-sandbox[toy]"' in done.stderr
    told = " ".join(with_toy.run("info").stdout.split())
    assert "There is toy 1.0, where 2.0 is needed." in told


# --- what may be amiss ----------------------------------------------------------------------------


def replace_interpreter(environment: Environment, program: str) -> subprocess.CompletedProcess[str]:
    link = environment.folder / f"bin/python{MINOR}"
    link.unlink()
    link.symlink_to(program)
    return environment.run("run", "-c", "1")


def test_a_program_that_is_no_python_is_refused(spare_environment):
    done = replace_interpreter(spare_environment, "/bin/true")
    assert done.returncode == 5
    assert "is not a CPython program" in done.stderr


def test_another_python_is_refused(spare_environment):
    others = [
        path
        for path in Path.home().glob(".pyenv/versions/3.1[1-9].*/bin/python3.1?")
        if path.name != f"python{MINOR}"
    ]
    lacks(others, "Python of another minor version")
    done = replace_interpreter(spare_environment, str(others[0]))
    assert done.returncode == 5
    assert f"is for CPython {MINOR}, and its interpreter is" in done.stderr


@pytest.mark.parametrize(
    ("absent", "told"),
    [
        ("json", 'this Python lacks "json" of its standard library; use a complete one'),
        ("encodings", "its standard library may be incomplete: `"),
    ],
)
def test_an_incomplete_standard_library_is_one_line(spare_environment, tmp_path, absent, told):
    """As of a Python that was compiled where a library was missing."""
    real = Path(ask(PYTHON, "__import__('os').__file__")).parent
    library = tmp_path / f"lib/python{MINOR}"
    library.mkdir(parents=True)
    for path in real.iterdir():
        if path.name != absent:
            (library / path.name).symlink_to(path)
    program = tmp_path / f"bin/python{MINOR}"
    program.parent.mkdir()
    shutil.copy(Path(PYTHON).resolve(), program)
    done = replace_interpreter(spare_environment, str(program))
    assert done.returncode == 5
    assert done.stderr.startswith("belljar: error: start zygote: ") and told in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_an_environment_whose_interpreter_is_gone_says_so(spare_environment):
    (spare_environment.folder / f"bin/python{MINOR}").unlink()
    done = spare_environment.run("run", "-c", "1", path="/nonexistent")
    assert done.returncode == 5
    assert f"there is no python{MINOR} in {spare_environment.folder}/bin and none on" in done.stderr
    assert "recreate the environment" in done.stderr


def test_it_runs_without_a_home_and_shared_memory(environment):
    """As in small containers. Memory that it shares belongs to no file system."""
    need_root("can mount")
    mounts = 'for each in /dev/shm /mnt; do mount -t tmpfs -o ro none $each; done; exec "$@"'
    command = ["unshare", "--mount", "sh", "-ec", mounts, "-"]
    done = subprocess.run(
        [*command, environment.belljar, "run", "-c", "print(6 * 7)"],
        capture_output=True,
        check=False,
        text=True,
        env={"PATH": "/usr/bin:/bin", "HOME": "/mnt"},
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "42\n", "")


def test_uninstalling_leaves_nothing(spare_environment):
    spare_environment.run("run", "-c", "1")
    done = pip(spare_environment.folder / "bin/python", "uninstall", "-y", "belljar-sandbox")
    assert done.returncode == 0, done.stderr
    left = {path for path in files_of(spare_environment.folder) if "pip" not in path.parts}
    assert left == {path for path in spare_environment.before if "pip" not in path.parts}
    assert not (spare_environment.packages / "belljar").exists()
