"""What programs expect around them: a shell to call, an address of localhost, shared memory."""
# ruff: noqa: E501 programs of other languages

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest

from tests.languages.conftest import Run, need_language
from tests.machine import lacks

LANGUAGE_FILES = Path(__file__).parents[2] / "languages"

CALLS_THE_SHELL = {
    "bash": "sh -c 'echo $((6 * 7))'",
    "c": '#include <stdlib.h>\nint main(void) { return system("echo $((6 * 7))"); }',
    "cpython": 'import subprocess\nsubprocess.run("echo $((6 * 7))", shell=True, check=True)',
    "go": 'package main\nimport ("os"; "os/exec")\nfunc main() { c := exec.Command("sh", "-c", "echo $((6 * 7))"); c.Stdout = os.Stdout; if c.Run() != nil { os.Exit(1) } }',
    "java": 'class Main { public static void main(String[] a) throws Exception { new ProcessBuilder("sh", "-c", "echo $((6 * 7))").inheritIO().start().waitFor(); } }',
    "javascript": "process.stdout.write(require('child_process').execSync('echo $((6 * 7))'))",
    "lua": 'io.write(io.popen("echo $((6 * 7))"):read("a"))',
    "octave": '[s, o] = system("echo $((6 * 7))"); puts(o);',
    "perl": "print `echo \\$((6 * 7))`",
    "php": "<?php echo shell_exec('echo $((6 * 7))');",
    "r": "cat(system('echo $((6 * 7))', intern = TRUE), '\\n')",
    "ruby": "print `echo $((6 * 7))`",
    "typescript": "import {execSync} from 'child_process';\nprocess.stdout.write(execSync('echo $((6 * 7))'))",
}

HOST = {
    "bash": "getent ahosts localhost && getent ahosts $(hostname)",
    "java": 'class Main { public static void main(String[] a) throws Exception { System.out.println(java.net.InetAddress.getLocalHost() + " " + java.net.InetAddress.getByName("localhost")); } }',
    "cpython": "import socket\nprint(socket.gethostbyname('localhost'), socket.gethostbyname(socket.gethostname()))",
}

SHARED_MEMORY = {
    "c": '#include <fcntl.h>\n#include <semaphore.h>\n#include <stdio.h>\n#include <sys/mman.h>\nint main(void) { if (sem_open("/one", O_CREAT, 0600, 1) == SEM_FAILED || shm_open("/two", O_CREAT | O_RDWR, 0600) < 0) return 1; puts("shared"); }',
    "cpython": "import multiprocessing\nwith multiprocessing.Pool(2) as pool:\n    assert pool.map(abs, [-1, -2]) == [1, 2]\nfrom multiprocessing import shared_memory\nshared_memory.SharedMemory(create=True, size=100).unlink()\nprint('shared')",
}

CALLS = {
    "cpython": "import os\nos.system('{}')",
    "lua": "os.execute('{}')",
    "perl": "system '{}'",
    "ruby": "system '{}'",
}
# Where each looks for modules, a folder a line.
SEARCHED = {
    "cpython": "import sys\nprint(*sys.path, sep='\\n')",
    "lua": 'for path in (package.path .. ";" .. package.cpath):gmatch("(/[^;?]*)/") do print(path) end',
    "perl": 'print "$_\\n" for @INC',
    "ruby": "puts $LOAD_PATH + Gem.path",
}
# What an administrator has installed there besides modules.
NOT_SEARCHED = ["/usr/local/bin", "/usr/local/etc", "/usr/local/share/man", "/etc/perl"]


@pytest.mark.parametrize("name", sorted(CALLS_THE_SHELL))
def test_programs_call_the_shell(name: str, run: Run) -> None:
    need_language(name)
    ran = run(name, CALLS_THE_SHELL[name])
    assert ran.stdout.split() == ["42"], ran.outcome
    assert ran.exit_code == 0, ran.outcome


def test_the_home_in_java_is_the_workspace(run: Run) -> None:
    need_language("java")
    source = """class Main {
      public static void main(String[] a) {
        System.out.println(System.getProperty("user.name") + " " + System.getProperty("user.home"));
      }
    }"""
    assert run("java", source).stdout == "sandbox /workspace\n"


@pytest.mark.parametrize("name", sorted(HOST))
def test_the_host_has_an_address(name: str, run: Run) -> None:
    need_language(name)
    ran = run(name, HOST[name])
    assert "127.0.0.1" in ran.stdout, ran.outcome
    assert ran.exit_code == 0, ran.outcome


@pytest.mark.parametrize("name", sorted(SHARED_MEMORY))
def test_processes_share_memory(name: str, run: Run) -> None:
    need_language(name)
    assert run(name, SHARED_MEMORY[name]).stdout == "shared\n"


def test_nothing_of_the_machines_names_is_there(run: Run) -> None:
    ran = run("bash", "cat /etc/hosts; ls /etc/hostname /etc/passwd /etc/resolv.conf || echo held")
    assert ran.stdout == "127.0.0.1 localhost belljar\n::1 localhost\nheld\n", ran.outcome
    control = subprocess.run(["ls", "/etc/passwd"], capture_output=True, check=False)
    assert control.returncode == 0


def test_the_names_cannot_be_changed(run: Run) -> None:
    change = "echo x >> {0}/hosts || rm {0}/hosts || : > {0}/own || echo held"
    ran = run("bash", change.format("/etc"))
    assert ran.stdout == "held\n", ran.outcome
    control = run("bash", change.format(".") + "; cat hosts")
    assert control.stdout == "x\n", control.outcome


def test_bash_has_python_with_its_standard_library(run: Run) -> None:
    need_language("cpython")
    ran = run("bash", "python3 -c 'import json, sqlite3; print(json.dumps([42]))'")
    assert ran.stdout == "[42]\n", ran.outcome


@pytest.mark.parametrize("name", sorted(SEARCHED))
def test_modules_of_the_machine_are_found(name: str, run: Run, tmp_path: Path) -> None:
    """Also those that pip, cpan, gem or luarocks put below /usr/local."""
    language = need_language(name)
    file = tmp_path / "search"
    file.write_text(SEARCHED[name])
    program = [f"/usr/bin/{language.needs[0]}", *(["-s"] if name == "cpython" else []), file]
    outside = subprocess.run(program, capture_output=True, text=True, check=True, cwd=tmp_path)
    searched = {Path(each) for each in outside.stdout.split() if each.startswith("/usr/")}
    there = {str(each.resolve()) for each in searched if each.is_dir()}
    lacks(there, f"folder of modules for {name}")
    tests = "".join(f"test -e {each} && echo {each}; " for each in sorted(there) + NOT_SEARCHED)
    ran = run(name, CALLS[name].format(tests + "true"))
    assert set(ran.stdout.split()) == there, ran.outcome


def test_java_compiles_hot_code_with_both_compilers(run: Run) -> None:
    """The second one halves the time of a program that computes for seconds."""
    need_language("java")
    source = """import com.sun.management.HotSpotDiagnosticMXBean;
    class Main {
      public static void main(String[] a) {
        var options = java.lang.management.ManagementFactory.getPlatformMXBean(HotSpotDiagnosticMXBean.class);
        System.out.println(options.getVMOption("TieredStopAtLevel").getValue());
      }
    }"""
    ran = run("java", source)
    assert ran.stdout == "4\n", ran.outcome


@pytest.mark.parametrize(("memory", "megabytes"), [("128m", 50), ("1g", 400)])
def test_java_has_half_of_the_memory_for_its_heap(memory: str, megabytes: int, run: Run) -> None:
    need_language("java")
    source = """class Main {
      public static void main(String[] a) {
        byte[][] all = new byte[MEGABYTES][];
        for (int i = 0; i < all.length; ++i) all[i] = new byte[1 << 20];
        System.out.println("held " + all.length);
      }
    }"""
    source = source.replace("MEGABYTES", str(megabytes))
    ran = run("java", source, options=("--memory", memory))
    assert ran.stdout == f"held {megabytes}\n", ran.outcome


GO = {
    "CGO_ENABLED": "0",
    "GO111MODULE": "off",
    "GOFLAGS": "-buildvcs=false",
    "PATH": "/usr/bin:/bin",
}


def test_go_takes_the_standard_library_from_the_operators_cache(run: Run, tmp_path: Path) -> None:
    need_language("go")
    source = (
        'package main\nimport "os/user"\nfunc main() { _, e := user.Current(); println(e == nil) }'
    )
    cache = Path(tempfile.mkdtemp(prefix="belljar-go-", dir="/var/tmp"))
    try:
        own = tmp_path / "own.toml"
        text = (LANGUAGE_FILES / "go.toml").read_text()
        own.write_text(
            text.replace("/var/cache/belljar/go", str(cache)).replace('"go"', '"own"', 1)
        )
        cache.chmod(0o755)
        options = ("--language", own)
        empty = run("go", source, options=options)
        assert (empty.status, empty.files) == ("ok", []), empty.outcome
        # It is used if it looks like one: this one is none, and cannot be made one.
        (cache / "README").touch()
        broken = run("go", source, options=options)
        assert "build cache" in broken.outcome["stderr"], broken.outcome
        environment = {**GO, "GOCACHE": str(cache), "HOME": str(tmp_path)}
        subprocess.run(["/usr/bin/go", "build", "os/user"], env=environment, check=True)
        filled = run("go", source, options=options)
        assert (filled.status, filled.files) == ("ok", []), filled.outcome
    finally:
        shutil.rmtree(cache)


def test_make_runs_its_commands(run: Run, tmp_path) -> None:
    lacks(os.access("/usr/bin/make", os.X_OK), "make")
    (tmp_path / "Makefile").write_text("all: part\n\techo made\npart:\n\techo part > part\n")
    ran = run("bash", "make -s", options=("--file", tmp_path / "Makefile"))
    assert (ran.stdout, ran.files) == ("made\n", ["part"]), ran.outcome


def test_a_lower_priority_and_no_higher_one(run: Run) -> None:
    ran = run("bash", "nice; nice -n 3 nice; nice -n -3 nice 2> /dev/null")
    own, lower, higher = map(int, ran.stdout.split())
    assert (lower, higher) == (min(own + 3, 19), own), ran.outcome


def test_no_id_of_another_user(run: Run) -> None:
    """setresuid(-1, id, -1) is allowed, and reaches no other id."""
    need_language("perl")
    perl = "$> = 0; $) = '0 0'; print $> == 0 || $) == 0 ? 'WON' : 'held'"
    assert run("perl", perl).stdout == "held"
    if os.geteuid() == 0:
        control = subprocess.run(["/usr/bin/perl", "-e", perl], capture_output=True, check=False)
        assert control.stdout == b"WON"


def test_packages_beside_a_typescript_program(run: Run, tmp_path) -> None:
    need_language("typescript")
    package = tmp_path / "node_modules/increment"
    package.mkdir(parents=True)
    (package / "index.js").write_text("module.exports = (n) => n + 1;\n")
    source = "import increment from 'increment';\nconsole.log(increment(41) as number);\n"
    ran = run("typescript", source, options=("--file", tmp_path / "node_modules"))
    assert ran.stdout == "42\n", ran.outcome


def test_cpp_copies_files(run: Run) -> None:
    need_language("cpp")
    source = '#include <filesystem>\nint main() { std::filesystem::copy_file("t.cpp", "copy"); }'
    ran = run("cpp", source)
    assert (ran.exit_code, ran.files) == (0, ["copy"]), ran.outcome


def test_octave_copies_files(run: Run) -> None:
    need_language("octave")
    ran = run("octave", 'fclose(fopen("a", "w")); copyfile("a", "b"); movefile("b", "c");')
    assert sorted(ran.files) == ["a", "c"], ran.outcome
