"""What programs expect around them: a shell to call, names of user and host, shared memory. They are the
sandbox's own, not the machine's."""
# ruff: noqa: E501 programs of other languages

import subprocess

import pytest

from tests.languages.conftest import Run, need_language

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

USER = {
    "bash": "whoami; cd ~sandbox && pwd",
    "c": '#include <pwd.h>\n#include <stdio.h>\n#include <unistd.h>\nint main(void) { struct passwd *p = getpwuid(getuid()); printf("%s %s", p->pw_name, p->pw_dir); }',
    "cpython": "import os, pwd\nuser = pwd.getpwuid(os.getuid())\nprint(user.pw_name, user.pw_dir)",
    "java": 'class Main { public static void main(String[] a) { System.out.println(System.getProperty("user.name") + " " + System.getProperty("user.home")); } }',
    "javascript": "const {username, homedir} = require('os').userInfo(); console.log(username, homedir)",
    "perl": 'my @user = getpwuid($<); print "$user[0] $user[7]"',
    "r": "cat(Sys.info()[['user']], path.expand('~'))",
    "ruby": "require 'etc'; user = Etc.getpwuid; puts user.name, user.dir",
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


@pytest.mark.parametrize("name", sorted(CALLS_THE_SHELL))
def test_programs_call_the_shell(name: str, run: Run) -> None:
    need_language(name)
    ran = run(name, CALLS_THE_SHELL[name])
    assert ran.stdout.split() == ["42"], ran.outcome
    assert ran.exit_code == 0, ran.outcome


@pytest.mark.parametrize("name", sorted(USER))
def test_the_user_has_a_name_and_a_home(name: str, run: Run) -> None:
    need_language(name)
    assert run(name, USER[name]).stdout.split() == ["sandbox", "/workspace"]


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
    machine = subprocess.run(["cat", "/etc/passwd"], capture_output=True, text=True, check=True)
    assert "root:" in machine.stdout
    ran = run("bash", "cat /etc/passwd /etc/group; cat /etc/shadow || echo held")
    assert ran.stdout == ("sandbox:x:65534:65534::/workspace:/bin/sh\nsandbox:x:65534:\nheld\n"), (
        ran.outcome
    )


def test_the_names_cannot_be_changed(run: Run) -> None:
    ran = run("bash", "echo x >> /etc/passwd || rm /etc/hosts || : > /etc/own || echo held")
    assert ran.stdout == "held\n", ran.outcome


def test_bash_has_python_with_its_standard_library(run: Run) -> None:
    need_language("cpython")
    ran = run("bash", "python3 -c 'import json, sqlite3; print(json.dumps([42]))'")
    assert ran.stdout == "[42]\n", ran.outcome


def test_octave_copies_files(run: Run) -> None:
    need_language("octave")
    ran = run("octave", 'fclose(fopen("a", "w")); copyfile("a", "b"); movefile("b", "c");')
    assert sorted(ran.files) == ["a", "c"], ran.outcome
