"""belljar.pytest_plugin, in runs of pytest with tests as a grader writes them."""

import subprocess
import sys

import pytest

STUDENT = """
print("hello")

def add(a, b):
    return a + b

def broken(a):
    return [][a]

def machine():
    return lambda: 1
"""


@pytest.fixture
def grade(pytester):
    """Runs a test file beside student.py, in a pytest of its own."""

    def grade(tests: str, *options: str):
        pytester.path.joinpath("student.py").write_text(STUDENT)
        pytester.makepyfile(test_it="import pytest\nfrom pathlib import Path\n\n" + tests)
        return pytester.runpytest_subprocess("-p", "belljar.pytest_plugin", *options)

    return grade


def test_files_code_and_functions_run(grade):
    done = grade("""
def test_file(run_untrusted):
    result = run_untrusted(Path("student.py"))
    assert result.ok and result.stdout == "hello\\n"

def test_code(run_untrusted):
    assert run_untrusted("n + 1", inputs={"n": 1}).value == 2
    assert run_untrusted("input()", stdin="Ada\\n").value == "Ada"
    assert [each.ok for each in run_untrusted.results] == [True, True]

def test_function(run_untrusted):
    assert run_untrusted.call(Path("student.py"), "add", 2, b=3) == 5
    assert run_untrusted.call("def f(): pass", "f") is None
    code = "class C:\\n    @staticmethod\\n    def f(): return (1,)"
    assert run_untrusted.call(code, "C.f") == (1,)

def test_sandbox(belljar_sandbox):
    assert belljar_sandbox.run("1").value == 1
    assert belljar_sandbox.validate("import glob").findings
""")
    done.assert_outcomes(passed=4)


def test_a_failing_test_shows_what_the_program_had_to_say(grade):
    done = grade("""
def test_it(run_untrusted):
    assert run_untrusted(Path("student.py"), filename="homework.py").stdout == "Hello\\n"

def test_crash(run_untrusted):
    assert run_untrusted("print('\\\\x1b[2Jso far')\\n1 / 0").ok
""")
    done.assert_outcomes(failed=2)
    done.stdout.fnmatch_lines([
        "*untrusted program 1: ok*", "stdout:", "hello",
        "*untrusted program 1: exception*", "*x1b?2Jso far", "ZeroDivisionError: *",
    ])  # fmt: skip
    assert "\x1b[2J" not in done.stdout.str()


def test_terminals_are_not_obeyed(grade):
    done = grade(r"""
def test_call(run_untrusted):
    try:
        run_untrusted.call("def f(): raise ValueError('\\x1b[2J')", "f")
    finally:
        assert "\x1b[2J" in run_untrusted.results[0].error.message  # so the attack is one

def test_value(run_untrusted):
    code = '''
class C:
    def __repr__(self): return '\\x1b[2J'
def f(): return C()
'''
    try:
        run_untrusted.call(code, "f")
    finally:
        assert "\x1b[2J" in run_untrusted.results[0].value_repr

def test_raised(run_untrusted):
    run_untrusted("raise ValueError('\\x1b[2J')", raise_on_error=True)

def test_compared(run_untrusted):
    assert run_untrusted("raise type('\\x1b[2J', (Exception,), {})") == 1

def test_printed(run_untrusted):
    result = run_untrusted("print('\\x1b[2Ja')")
    assert "\x1b[2J" not in result.stdout

def test_printed_otherwise(run_untrusted):
    assert run_untrusted("print('\\x1b[2Ja')").stdout == "a\n"
""")
    done.assert_outcomes(failed=6)
    done.stdout.fnmatch_lines([
        "*f() could not be called: *", "*ValueError: ?x1b?2J",
        "*f() returned a value that is not plain data: *?x1b?2J*",
        "*GuestFailed: exception: ValueError: ?x1b?2J*", "*error=?x1b?2J>*",
        "*'?x1b?2J' not in '?x1b?2Ja?n'*", "*'?x1b?2Ja?n' == 'a?n'*",
    ])  # fmt: skip
    assert "\x1b[2J" not in done.stdout.str()


def test_a_passing_test_shows_nothing(grade):
    done = grade("def test_it(run_untrusted): assert run_untrusted('1').ok", "-rA")
    assert "untrusted program" not in done.stdout.str()


def test_calls_that_fail_say_why(grade):
    done = grade("""
def test_broken(run_untrusted):
    run_untrusted.call(Path("student.py"), "broken", 3)

def test_missing(run_untrusted):
    run_untrusted.call(Path("student.py"), "subtract", 3)

def test_not_plain(run_untrusted):
    run_untrusted.call(Path("student.py"), "machine")

def test_too_much(run_untrusted):
    run_untrusted.call("def f(): return 'a' * 2_000_000", "f")

def test_exit(run_untrusted):
    run_untrusted.call("def f(): return 1\\nresult = (1,)\\nexit()", "f")

def test_no_name(run_untrusted):
    with pytest.raises(ValueError, match="is not a function name"):
        run_untrusted.call(Path("student.py"), "add(1, 2) or add")

def test_no_program(run_untrusted):
    with pytest.raises(TypeError, match="give a Path, or code as a str"):
        run_untrusted(1)
    with pytest.raises(TypeError, match="function is a int"):
        run_untrusted.call("x = 1", 5)
""")
    done.assert_outcomes(failed=5, passed=2)
    done.stdout.fnmatch_lines([
        "*broken() could not be called: *", "*line 8, in broken", "*IndexError*",
        "*NameError: name 'subtract' is not defined*",
        "*machine() returned a value that is not plain data: *",
        "*f() returned a value that is too large: *",
        "*f() did not return: the program called exit()*",
    ])  # fmt: skip


def test_a_result_compared_with_a_value_says_what_to_compare(grade):
    done = grade("def test_it(run_untrusted): assert run_untrusted('6 * 7') == 42")
    done.assert_outcomes(failed=1)
    done.stdout.fnmatch_lines(["*<belljar.Result ok value=42> == 42*", "*compare its value*"])


def test_options_marks_and_the_ini_file(grade, pytester):
    pytester.makeini("[pytest]\nbelljar_timeout = 7\nbelljar_memory = 48m\n")
    done = grade(
        """
def test_usual(run_untrusted, belljar_sandbox):
    for sandbox in (run_untrusted, belljar_sandbox.run):
        limits = sandbox("1").limits
        assert (limits.timeout, limits.memory_bytes) == (3, 48 << 20)

@pytest.mark.belljar(timeout=2, allowed_imports=["math"])
class TestMarked:
    def test_class(self, run_untrusted):
        assert run_untrusted("1").limits.timeout == 2
        assert run_untrusted("import json").status == "refused"
        assert run_untrusted("1", timeout=1).limits.timeout == 1

    @pytest.mark.belljar(timeout=4, profile="filesystem")
    def test_nearer(self, run_untrusted):
        assert run_untrusted("open('a', 'w')").limits.timeout == 4
        assert run_untrusted("import json").status == "refused"

def test_other_profile_is_gone(run_untrusted):
    assert run_untrusted("open('a', 'w')").status == "refused"
""",
        "--belljar-timeout",
        "3",
        "--strict-markers",
    )
    done.assert_outcomes(passed=4)


def test_wrong_options_are_named(grade):
    for option, said in (("--belljar-timeout=soon", "timeout"), ("--belljar-profile=x", "x")):
        done = grade("def test_it(run_untrusted): pass", option)
        done.assert_outcomes(errors=1)
        done.stdout.fnmatch_lines([f"*belljar: *{said}*"])


def test_options_of_a_mark_go_by_name(grade):
    done = grade("""
@pytest.mark.belljar("filesystem")
def test_it(run_untrusted): pass
""")
    done.assert_outcomes(errors=1)
    done.stdout.fnmatch_lines(
        ["*TypeError: @pytest.mark.belljar('filesystem'): pass options by name*"]
    )


def test_it_costs_nothing_until_it_is_used(grade):
    done = grade("""
import sys

def test_nothing_is_loaded(pytestconfig):
    assert pytestconfig.pluginmanager.has_plugin("belljar.pytest_plugin")
    loaded = [name for name in sys.modules if name.startswith("belljar.")]
    assert loaded == ["belljar.pytest_plugin"]
""")
    done.assert_outcomes(passed=1)


def test_its_help_names_the_options(grade):
    done = grade("", "--help")
    done.stdout.fnmatch_lines(["*--belljar-profile=PROFILE*", "*belljar_memory (string)*"])


def test_a_students_file_cannot_read_the_hosts(grade, secret):
    attack = f"found = open({str(secret)!r}).read()\nprint(found)\n"
    plain = subprocess.run([sys.executable, "-c", attack], capture_output=True, text=True)
    assert plain.stdout.strip() == secret.read_text()  # so the attack is one
    done = grade(f"""
ATTACK = {attack!r}

def test_imported_as_graders_do():
    found = {{}}
    exec(ATTACK, found)
    assert found["found"] == {secret.read_text()!r}

def test_sealed(run_untrusted):
    assert run_untrusted(ATTACK).status == "refused"
    Path("attack.py").write_text(ATTACK + "def f(): return found")
    run_untrusted.call(Path("attack.py"), "f")
""")
    done.assert_outcomes(passed=1, failed=1)
    done.stdout.fnmatch_lines(["*f() could not be called: *"])
