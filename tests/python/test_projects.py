"""Sessions over a folder of this machine: nothing in it changes until somebody applies it."""

import contextlib
import os
import shutil
import socket
import stat
import subprocess
from collections.abc import Iterator
from pathlib import Path

import belljar
import pytest

from tests.clocks import until
from tests.languages.conftest import need_language
from tests.machine import need_root
from tests.python.projects import need_projects, tree_of


@pytest.fixture(scope="module")
def box() -> Iterator[belljar.Sandbox]:
    need_language("shell")
    need_projects()
    with belljar.Sandbox(language="shell") as box:
        yield box


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    (folder / "src").mkdir(parents=True)
    program = '#include <stdio.h>\nint main(void) { puts("hello"); }\n'
    (folder / "src" / "main.c").write_text(program)
    (folder / "Makefile").write_text("main: src/main.c\n\tcc -o $@ $<\n")
    (folder / "old.txt").write_text("old\n")
    (folder / "script").write_text("#!/bin/sh\necho ran\n")
    (folder / "script").chmod(0o755)
    (folder / "link").symlink_to("old.txt")
    return folder


def test_a_command_works_on_it_and_it_stays(box: belljar.Sandbox, project: Path) -> None:
    before = tree_of(project)
    with box.session(project=project) as session:
        result = session.command("pwd; ls; cat link; ./script; make && ./main", check=True)
        assert result.stdout.startswith(
            "/workspace\nMakefile\nlink\nold.txt\nscript\nsrc\nold\nran\n"
        )
        assert result.stdout.endswith("hello\n")
        session.command("echo new > src/new.h; rm old.txt; echo '# more' >> Makefile", check=True)
        changes = session.changes()
    assert tree_of(project) == before
    assert [(each.kind, each.path, each.type) for each in changes] == [
        ("changed", "Makefile", "file"),
        ("added", "main", "file"),
        ("removed", "old.txt", "file"),
        ("added", "src/new.h", "file"),
    ]
    assert changes.folder == str(project)
    assert changes.paths("added") == ("main", "src/new.h")
    assert changes.content("src/new.h") == b"new\n"
    with pytest.raises(KeyError):
        changes.content("old.txt")


def test_changes_are_applied_whole_or_in_part(box: belljar.Sandbox, project: Path) -> None:
    with box.session(project=project) as session:
        session.command("echo new > src/new.h; rm old.txt", check=True)
        session.command("mv script tool; chmod 600 tool", check=True)
        changes = session.changes()
    changes.apply(["src"])
    assert (project / "src" / "new.h").read_text() == "new\n"
    assert (project / "old.txt").exists()
    changes.apply(["old.txt", "script", "tool"])
    assert not (project / "old.txt").exists() and not (project / "script").exists()
    assert stat.S_IMODE((project / "tool").stat().st_mode) == 0o600
    assert sorted(os.listdir(project)) == ["Makefile", "link", "src", "tool"]
    with pytest.raises(ValueError, match="nothing changed at 'Makefile'"):
        changes.apply(["Makefile"])
    # A second time: it is no longer what it was.
    with pytest.raises(belljar.ChangesNotApplied, match="has changed in the project since"):
        changes.apply(["src"])


def test_the_diff_is_one_that_git_applies(
    box: belljar.Sandbox, project: Path, tmp_path: Path
) -> None:
    original = tmp_path / "original"
    shutil.copytree(project, original, symlinks=True)
    with box.session(project=project) as session:
        session.command(
            "sed -i s/hello/welcome/ src/main.c; printf 'no end' > 'a b'; rm old.txt script; "
            "mkdir -p deep/er; seq 100 > deep/er/numbers; ln -sf src/main.c link; "
            "chmod +x Makefile",
            check=True,
        )
        changes = session.changes()
    diff = changes.diff()
    assert '-int main(void) { puts("hello"); }' in diff and "new mode 100755" in diff
    subprocess.run(["git", "init", "-q"], cwd=original, check=True)
    subprocess.run(["git", "apply", "-"], cwd=original, input=diff.encode(), check=True)
    shutil.rmtree(original / ".git")
    changes.apply()
    assert tree_of(original) == tree_of(project)
    assert changes.diff(["a b"]).startswith("diff --git ")


def test_what_is_changed_outside_meanwhile_is_a_conflict(
    box: belljar.Sandbox, project: Path
) -> None:
    with box.session(project=project) as session:
        session.command("echo inside > old.txt; echo inside > script; echo x > new", check=True)
        os.utime(project / "old.txt")
        (project / "script").write_text("outside\n")
        changes = session.changes()
    assert [each.path for each in changes if each.has_conflict] == ["old.txt", "script"]
    with pytest.raises(belljar.ChangesNotApplied, match=r"old\.txt"):
        changes.apply()
    assert not (project / "new").exists()
    changes.apply(["new"])
    assert (project / "script").read_text() == "outside\n"


def test_branches_of_a_working_tree(box: belljar.Sandbox, project: Path) -> None:
    with box.session(project=project) as session:
        session.command("echo common > common; rm -r src; mkdir src; echo s > src/s", check=True)
        branches = session.branch(3)
        for number, branch in enumerate(branches):
            assert branch.command("cat common src/*", check=True).stdout == "common\ns\n"
            branch.command(f"echo {number} > own; echo {number} >> common", check=True)
        assert session.command("cat common; ls").stdout.startswith("common\nMakefile\ncommon\nlink")
        difference = branches[0].compare(branches[1])
        assert (difference.files.changed, difference.files.added) == (("common", "own"), ())
        assert session.compare(branches[2]).files.added == ("own",)
        kept = branches[2].changes()
        for branch in branches:
            branch.close()
    kept.apply()
    assert (project / "common").read_text() == "common\n2\n"
    assert os.listdir(project / "src") == ["s"]


def test_branches_without_a_project_begin_with_its_files(box: belljar.Sandbox) -> None:
    with box.session() as session:
        session.command("mkdir d; echo x > d/f; ln -s d/f l; chmod 700 d/f", check=True)
        (branch,) = session.branch(1)
        assert branch.command("cat l; stat -c %a d/f").stdout == "x\n700\n"
        branch.command("rm l", check=True)
        assert session.command("cat l").stdout == "x\n"
        assert session.compare(branch).files.removed == ("l",)
        with pytest.raises(ValueError, match="opened without a project"):
            session.changes()
        with pytest.raises(belljar.BelljarError, match="no checkpoints"):
            session.checkpoint()


def test_files_of_a_project(box: belljar.Sandbox, project: Path) -> None:
    with box.session(project=project) as session:
        assert "src/main.c" in session.files and session.files["old.txt"] == b"old\n"
        session.files["put/by/host"] = "h"
        del session.files["script"]
        assert session.command("cat put/by/host; ls script").stdout == "h"
        assert session.changes().paths("removed") == ("script",)


def test_a_branch_is_not_stopped_by_what_runs(box: belljar.Sandbox, project: Path) -> None:
    with box.session(project=project) as session:
        # sleeps: until killed
        running = session.spawn("echo begun > log; echo begun; exec sleep 1000")
        assert running.read().content == b"begun\n"
        (branch,) = session.branch(1)
        assert branch.command("cat log").stdout == "begun\n"
        assert branch.commands[0].arguments[-1] == "cat log"
        running.kill()


def test_changes_outlive_the_session(box: belljar.Sandbox, project: Path) -> None:
    session = box.session(project=project)
    session.command("echo late > late", check=True)
    session.close()
    assert session.changes().paths("added") == ("late",)


def test_inode_numbers_and_times_are_those_of_the_project(
    box: belljar.Sandbox, project: Path
) -> None:
    """git's index has them: a difference would make it read all files again."""
    with box.session(project=project) as session:
        shown = session.command("stat -c '%i %Y %Z %s' old.txt src/main.c", check=True).stdout
    for line, path in zip(shown.splitlines(), ("old.txt", "src/main.c"), strict=True):
        status = (project / path).stat()
        times = f"{int(status.st_mtime)} {int(status.st_ctime)}"
        assert line == f"{status.st_ino} {times} {status.st_size}"


# --- bad input ------------------------------------------------------------------------------------


def test_what_is_no_project_is_refused(box: belljar.Sandbox, project: Path) -> None:
    with pytest.raises(ValueError, match="which is no folder"):
        box.session(project=project / "none")
    with pytest.raises(ValueError, match="which is no folder"):
        box.session(project=project / "old.txt")
    with pytest.raises(TypeError, match="project"):
        box.session(project=3)  # type: ignore[arg-type]
    with belljar.Sandbox("basic") as python, pytest.raises(belljar.BelljarError, match="commands"):
        python.session(project=project)


# --- attacks --------------------------------------------------------------------------------------


def set_attribute(name: str) -> str:
    return f"python3 -c \"import os; os.setxattr('src', '{name}', b'y')\""


# Lines for Bash. PROJECT is where the project is mounted.
AROUND = [
    "cat out",
    "cat up",
    "cat ../secret",
    "cat SECRET",
    "cat /proc/self/root/SECRET",
    "mknod w c 0 0",
    "mknod d b 8 0",
    set_attribute("user.overlay.opaque"),
    set_attribute("user.overlay.redirect"),
    set_attribute("trusted.overlay.opaque"),
    "mount -t tmpfs x src",
    "mount -o remount,rw,suid,dev PROJECT",
    "umount PROJECT",
    "unshare -rm true",
    "chown 0:0 old.txt",
]


@pytest.fixture
def tempting(project: Path, tmp_path: Path) -> Path:
    (tmp_path / "secret").write_text("outside")
    (project / "out").symlink_to(tmp_path / "secret")
    (project / "up").symlink_to("../secret")
    return project


@pytest.mark.parametrize("line", AROUND)
def test_the_project_cannot_be_reached_around_the_overlay(
    line: str, box: belljar.Sandbox, tempting: Path, tmp_path: Path
) -> None:
    before = tree_of(tmp_path)
    line = line.replace("SECRET", str(tmp_path / "secret")).replace("PROJECT", "/workspace")
    with box.session(project=tempting) as session:
        result = session.command(line)
        # 126 and 127: there is no such program, and nothing has been tried.
        assert not result.ok and result.exit_code not in (126, 127), result
        assert "outside" not in result.stdout
    assert tree_of(tmp_path) == before


@pytest.mark.parametrize("line", AROUND)
def test_the_controls_around_the_overlay(line: str, tempting: Path, tmp_path: Path) -> None:
    """Outside, for root, over a project that is mounted, each of them wins."""
    need_root("can mount, and make devices")
    line = line.replace("SECRET", str(tmp_path / "secret")).replace("PROJECT", str(tempting))
    mounted = f"mount --bind {tempting} {tempting} && cd {tempting} && "
    # The folder in which one stands cannot be unmounted.
    mounted += "cd / && " if line.startswith("umount") else ""
    done = subprocess.run(["unshare", "-m", "bash", "-c", mounted + line], check=False)
    assert done.returncode == 0, line


def test_the_layers_are_nowhere_to_be_seen(box: belljar.Sandbox, project: Path) -> None:
    with box.session(project=project) as session:
        assert session.command("echo x > old.txt; ls -a /tmp").ok
        for name in ("upper", "lower", "work", "merged"):
            assert not session.command(f"ls -d /tmp/{name}").ok
        shown = session.command("cat /proc/self/mountinfo", check=True).stdout
    assert "/workspace" in shown and str(project) not in shown


def test_what_a_session_has_open_leads_to_no_original(box: belljar.Sandbox, project: Path) -> None:
    before = tree_of(project)
    with box.session(project=project) as session:
        # A hard link leads to a copy.
        linked = session.command("ln old.txt hard && echo changed >> hard && cat old.txt")
        assert linked.stdout == "old\nchanged\n"
        kept = session.command("exec 3< script; rm script; cat <&3")
        assert kept.stdout == "#!/bin/sh\necho ran\n"
    assert tree_of(project) == before


def test_sockets_and_pipes_of_the_project_lead_nowhere(box: belljar.Sandbox, project: Path) -> None:
    # A pair is all that a command has of such sockets, and it can be connected anew.
    connect = (
        'python3 -c "import socket; pair = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM); '
        "pair[0].connect('socket'); pair[0].send(b'!')\""
    )
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as receiving:
        with contextlib.chdir(project):  # its whole path may be too long
            receiving.bind("socket")
        receiving.setblocking(False)
        os.mkfifo(project / "pipe")
        reader = os.open(project / "pipe", os.O_RDONLY | os.O_NONBLOCK)
        subprocess.run(connect, shell=True, cwd=project, check=True)  # outside it does
        assert receiving.recv(1) == b"!"
        write = "dd if=/dev/zero of=pipe bs=1 count=1 oflag=nonblock"
        subprocess.run(write, shell=True, cwd=project, check=True, stderr=subprocess.DEVNULL)
        assert os.read(reader, 1) == b"\0"
        with box.session(project=project) as session:
            assert not session.command(connect).ok
            # Nobody reads there: a writer that does not wait is refused.
            assert not session.command(write).ok
        with pytest.raises(BlockingIOError):
            receiving.recv(1)
        assert os.read(reader, 1) == b""
        os.close(reader)


def test_rights_in_the_project_mean_nothing(box: belljar.Sandbox, project: Path) -> None:
    shutil.copy("/usr/bin/id", project / "id")
    (project / "id").chmod(0o6755)
    if os.geteuid() == 0:  # the control: outside they mean something
        user = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "./id", "-u"]
        assert subprocess.check_output(user, cwd=project, text=True) == "0\n"
    with box.session(project=project) as session:
        plain = session.command("/usr/bin/id -u", check=True).stdout
        assert session.command("./id -u", check=True).stdout == plain
        session.command("cp id own && chmod 6755 own; ./own -u > who", check=True)
        changes = session.changes()
    changes.apply(["own", "who"])
    assert stat.S_IMODE((project / "own").stat().st_mode) & 0o6000 == 0
    assert (project / "own").stat().st_uid == project.stat().st_uid


def test_another_users_files_can_be_read_at_most(box: belljar.Sandbox, project: Path) -> None:
    need_root("can make files of other users")
    for name, mode in (("theirs", 0o644), ("hidden", 0o600)):
        (project / name).write_text("somebody's\n")
        (project / name).chmod(mode)
        os.chown(project / name, 1234, 1234)
    with box.session(project=project) as session:
        assert session.command("cat theirs").stdout == "somebody's\n"
        assert not session.command("cat hidden").ok
        assert not session.command("echo x >> theirs").ok
        assert not session.command("rm -f hidden").ok
        assert session.command("echo own > own").ok
        assert session.changes().paths("added") == ("own",)
    assert (project / "theirs").stat().st_uid == 1234


def test_the_size_of_changes_is_bounded(box: belljar.Sandbox, project: Path) -> None:
    with box.session(project=project) as session:
        script = "for i in 1 2 3; do head -c 400M /dev/zero > large$i || exit 1; done"
        result = session.command(script)
        assert not result.ok and "No space left" in result.stderr
        session.command("rm large*; echo works > small", check=True)
        assert session.changes().paths("added") == ("small",)


def test_a_layer_does_not_outlive_its_session(box: belljar.Sandbox, project: Path) -> None:
    def descriptors() -> int:
        return len(os.listdir("/proc/self/fd"))

    with box.session(project=project) as session:
        session.command("true", check=True)
    before, mounts = descriptors(), Path("/proc/self/mountinfo").read_text()
    for _ in range(10):
        with box.session(project=project) as session:
            session.command("echo x > x", check=True)
            session.spawn("exec sleep 1000")  # sleeps: ends with its session
            for branch in session.branch(2):
                branch.close()
        del session, branch
    assert Path("/proc/self/mountinfo").read_text() == mounts
    # Each leaves at least three if it leaks; workers that wait or end have some meanwhile.
    until(lambda: descriptors() < before + 30, "the end of all workers")
