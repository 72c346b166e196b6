"""Each language that is installed does what everybody expects of it."""

import subprocess

import pytest

from tests.cli.conftest import PROGRAM
from tests.languages.conftest import Run, need_language
from tests.languages.table import LANGUAGES

ALL = sorted(LANGUAGES)


@pytest.mark.parametrize("name", ALL)
def test_arguments_input_files_and_an_uncaught_error(name: str, run: Run) -> None:
    language = need_language(name)
    arguments = ("one", "two") if language.has_arguments else ()
    ran = run(name, language.hello, *arguments, stdin=b"in\n")
    assert ran.stdout.split() == ["hello", "one", "two", "in"], ran.outcome
    assert list(ran.files) == ["out.txt"], ran.outcome
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
