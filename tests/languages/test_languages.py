"""Each language that is installed does what everybody expects of it."""

import json
import subprocess
import uuid
from pathlib import Path

import pytest

from tests.cli.conftest import PROGRAM
from tests.languages.conftest import Run, need_language, processes_with
from tests.languages.table import LANGUAGES

ALL = sorted(LANGUAGES)


@pytest.mark.parametrize("name", ALL)
def test_arguments_input_files_and_an_uncaught_error(name: str, run: Run) -> None:
    language = need_language(name)
    arguments = ("one", "two") if language.has_arguments else ()
    ran = run(name, language.hello, *arguments, stdin=b"in\n")
    assert ran.stdout.split() == ["hello", "one", "two", "in"], ran.outcome
    assert ran.files == ["out.txt"], ran.outcome
    assert (ran.status, ran.code) == ("exception", 1), ran.outcome
    assert ran.error["type"] == language.type, ran.outcome
    if language.line:
        assert "boom" in ran.error["message"], ran.outcome
        assert ran.error["line"] == language.line, ran.outcome


@pytest.mark.parametrize("name", ALL)
def test_a_program_that_cannot_be_compiled(name: str, run: Run) -> None:
    language = need_language(name)
    ran = run(name, language.wrong)
    assert (ran.status, ran.error["type"]) == ("exception", language.wrong_type), ran.outcome
    assert ran.error["line"] == 2, ran.outcome
    assert not ran.error["message"].startswith("exited"), ran.outcome
    assert language.file in ran.outcome["stderr"] or name in ("sqlite",), ran.outcome


@pytest.mark.parametrize("name", ALL)
def test_the_exit_code_is_the_programs(name: str, run: Run) -> None:
    ran = run(name, need_language(name).leave)
    assert ran.exit_code == 7, ran.outcome
    assert ran.isolation["language"] == "full"
    assert all(each["held"] for each in ran.isolation["layers"] if each["name"] != "cgroup")


@pytest.mark.parametrize("name", ["bash", "javascript", "perl"])
def test_the_first_line_names_a_language(name: str, tmp_path) -> None:
    need_language(name)
    interpreter = {"javascript": "node"}.get(name, name)
    hello = {"bash": "echo hello", "javascript": "console.log('hello')", "perl": "print 'hello'"}
    file = tmp_path / "program"
    file.write_text(f"#!/usr/bin/env {interpreter}\n{hello[name]}\n")
    done = subprocess.run([PROGRAM, "run", file], capture_output=True, check=False)
    assert done.stdout.strip() == b"hello", done


JAVA = {
    "the public class is named otherwise and is not the first": (
        "class First { static int twice(int x) { return 2 * x; } }\n"
        "public class Second { public static void main(String[] a) {\n"
        "System.out.println(First.twice(3));\nthrow new RuntimeException();\n} }",
        "6\n",
        4,
    ),
    "of several with a main method, the one that the file is named for": (
        "class A { public static void main(String[] a) { System.out.print(1); } }\n"
        "class Main { public static void main(String[] a) { System.out.print(a[0]); } }",
        "@2",
        None,
    ),
    "a package": (
        "package a.b;\r\n  public\r\n class Main { public static void main(String[] a) {\r\n"
        "System.out.print(Main.class.getName()); } }",
        "a.b.Main",
        None,
    ),
    "the compiler sees what lines do not show": (
        "/*\npublic class Wrong {\n*/ public class Right<T> {\n"
        "public static void main(String[] a) { System.out.print(new Right<Integer>() {}); } }",
        "Right$1@",
        None,
    ),
}


@pytest.mark.parametrize("case", JAVA)
def test_the_main_class_of_java(case: str, run: Run) -> None:
    source, printed, line = JAVA[case]
    ran = run("java", source, "@2")
    assert ran.stdout.startswith(printed), ran.outcome
    assert (ran.error["line"] if ran.error else None) == line, ran.outcome


def test_java_names_the_file_that_was_given(run: Run) -> None:
    ran = run("java", "public class Other {\n  int x = true;\n}\n")
    assert ran.outcome["stderr"].startswith("Main.java:2: error: "), ran.outcome
    assert (ran.error["type"], ran.error["line"]) == ("CompileError", 2), ran.outcome


EXPORTED = {
    "module.exports = {a: [1, null, 'x']}": {"a": [1, None, "x"]},
    "exports.late = 0; setTimeout(() => { exports.late = 5 }, 20)": {"late": 5},
    "module.exports = 'left'; process.exit()": "left",
    "module.exports = require('./other.cjs')": {"six": 6},
}


@pytest.mark.parametrize("source", EXPORTED)
def test_the_value_of_a_javascript_program_is_what_it_exports(source: str, run: Run) -> None:
    other = "require('fs').writeFileSync('other.cjs', 'exports.six = 6');"
    ran = run("javascript", other + source)
    assert (ran.status, ran.outcome["result"]) == ("ok", EXPORTED[source]), ran.outcome


NOTHING_EXPORTED = {
    "1 + 1": 0,
    "module.exports = 1; process.exitCode = 3": 3,
    "module.exports = 1; Promise.reject(new Error('no'))": 1,
    "exports.self = exports": 0,  # a cycle has only a text
    "exports.big = 1n": 0,
}


@pytest.mark.parametrize("source", NOTHING_EXPORTED)
def test_no_value_of_a_javascript_program(source: str, run: Run) -> None:
    ran = run("javascript", source)
    assert (ran.exit_code or 0, ran.outcome["result"]) == (NOTHING_EXPORTED[source], None)


# What a program cannot see of its interpreter having waited, and what it does at its end.
ENDS = {
    "console.log(require.main === module, module.id, Object.keys(require.cache).length,"
    " process.argv.length, process.exitCode, process.execArgv.length)": (
        "true . 1 2 undefined 0\n",
        0,
    ),
    "console.log(1); return; console.log(2)": ("1\n", 0),
    "process.on('exit', (code) => console.log('at exit', code)); process.exit(0)": (
        "at exit 0\n",
        0,
    ),
    "process.on('beforeExit', () => process.exit(4))": ("", 4),
    "process.removeAllListeners('exit'); console.log(1)": ("1\n", 0),
    "new Promise(() => {}); setTimeout(console.log, 20, 'late')": ("late\n", 0),
    "process.stdout.write('x'.repeat(300000))": ("x" * 300000, 0),
}


@pytest.mark.parametrize("source", ENDS)
def test_javascript_ends_as_by_itself(source: str, run: Run) -> None:
    ran = run("javascript", source)
    assert (ran.stdout, ran.exit_code or 0) == ENDS[source], ran.outcome


def test_a_file_that_javascript_still_writes_as_it_leaves(run: Run) -> None:
    source = "const fs = require('fs'); fs.write(fs.openSync('out.txt', 'w'), 'x', () => {});"
    ran = run("javascript", source + "process.exit(0)")
    assert [(each["name"], each["size"]) for each in ran.outcome["artifacts"]] == [("out.txt", 1)]


def test_a_javascript_module_that_never_settles(run: Run, tmp_path: Path) -> None:
    need_language("javascript")
    file = tmp_path / "program.mjs"
    file.write_text("console.log(typeof process.mainModule); await new Promise(() => {});")
    done = subprocess.run([PROGRAM, "run", "--json", file], capture_output=True, check=False)
    outcome = json.loads(done.stdout)
    assert (outcome["stdout"], outcome["exit_code"]) == ("undefined\n", 13), outcome


def test_a_program_that_claims_to_be_done_is_ended(run: Run) -> None:
    """With what it has started, whose mark is in its arguments."""
    mark = uuid.uuid4().hex
    source = f"""
const {{spawn}} = require('child_process'), fs = require('fs');
const loop = "setInterval(() => require('fs').appendFileSync('out.txt', 'x'), 1)";
spawn(process.execPath, ['-e', loop, '{mark}'], {{detached: true}}).on('spawn', () => {{
  while (!fs.existsSync('out.txt')) {{}}
  console.log('started');
  fs.writeSync(4, '{{}}\\n\\n');
  for (;;) {{}}
}});
"""
    ran = run("javascript", source)
    assert (ran.stdout, ran.status, ran.files) == ("started\n", "ok", ["out.txt"])
    assert not processes_with(mark)
