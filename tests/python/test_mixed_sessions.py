"""Sessions of several languages: kernels over the same files, and values that pass between them."""

import asyncio
import json
import math
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import belljar
import pytest

from tests.clocks import until
from tests.languages.conftest import need_language

OTHERS = ("bash", "javascript", "r")


def processes(words: str) -> set[str]:
    """Those whose command has these words."""
    shown = subprocess.run(["ps", "-ewwo", "pid,args"], capture_output=True, text=True, check=True)
    return {line for line in shown.stdout.splitlines() if words in line}


@pytest.fixture
def session() -> Iterator[belljar.Session]:
    for name in OTHERS:
        need_language(name)
    with belljar.Sandbox("filesystem") as box, box.session() as opened:
        yield opened


def said(session: belljar.Session, code: str, language: str | None = None) -> str:
    result = session.run(code, language=language)
    assert result.ok, (result, result.stderr)
    return result.stdout


# Prints what a file has, and appends to it.
APPEND = {
    "python": "with open('log', 'a+') as f: f.seek(0); print(f.read(), end=''); _ = f.write('p')",
    "bash": "cat log; printf b >> log",
    "javascript": "process.stdout.write(require('fs').readFileSync('log', 'utf8')); "
    "require('fs').appendFileSync('log', 'j')",
    "r": "cat(readChar('log', 100)); cat('r', file = 'log', append = TRUE)",
}


def test_all_have_the_same_files(session: belljar.Session) -> None:
    session.files["log"] = b"-"
    expected = "-"
    for language in ("bash", "python", "r", "javascript", "python", "bash", "javascript", "r"):
        assert said(session, APPEND[language], language) == expected
        expected += language[0]
    assert session.files["log"].decode() == expected
    assert session.languages[0] == "python" and set(session.languages[1:]) == set(OTHERS)


def test_folders_modes_links_and_removed_files(session: belljar.Session) -> None:
    said(
        session,
        "mkdir -p a/b; echo 1 > a/b/c; chmod 700 a/b/c; ln -s b/c a/link; rm -f gone",
        "bash",
    )
    said(
        session, "if (require('fs').readFileSync('a/link', 'utf8') != '1\\n') throw 1", "javascript"
    )
    said(session, "unlink('a/b/c')", "r")
    assert said(session, "ls -l a/b; readlink a/link", "bash") == "total 0\nb/c\n"
    assert list(session.files) == []


def test_variables_are_each_languages_own(session: belljar.Session) -> None:
    made = {"python": "x = 1", "bash": "x=2", "javascript": "x = 3", "r": "x <- 4"}
    show = {"python": "print(x)", "bash": "echo $x", "javascript": "console.log(x)", "r": "cat(x)"}
    for language, code in made.items():
        said(session, code, language)
    assert [said(session, show[each], each).strip() for each in made] == ["1", "2", "3", "4"]


TEXTS = [
    "", " ", "two words", "it's", '"', "\\", "\\n", "\n", "\r\n", "\t", "$HOME `id` $(id) !x",
    "{value} {name} {items} {key}", "é ☃ 🐍", "\u2028\u2029", "\x07\x1b[0m\x7f",
    "'; exit 3; '",
    "*/ ?[a]", "a\nb\n\n", "-n", "#", "%s%d", "NaN", "null", "__proto__",
]  # fmt: skip


@pytest.mark.parametrize("language", OTHERS)
def test_texts_arrive_as_they_are(session: belljar.Session, language: str) -> None:
    show = {
        "bash": 'printf "%s" "${t}"',
        "javascript": "process.stdout.write(t)",
        "r": "cat(t)",
    }[language]
    for text in TEXTS:
        session.share("t", text, to=language)
        assert said(session, show, language) == text, repr(text)


VALUES: list[Any] = [
    None, True, False, 0, -1, 2**53 - 1, 1.5, -0.25, 1e300, [], [1, 2, 3], ["a", "b"],
    [True, False],
    [1, "a", None], [[1], [2, [3]]], {"a": 1, "b": [1, 2], "c": {"d": None}}, {"with space": "x"},
    [{"a": 1}, {"a": 2}], {"__proto__": 1}, {"constructor": {"x": 1}}, *TEXTS[1:8],
]  # fmt: skip


def test_values_come_back_from_javascript_as_they_went(session: belljar.Session) -> None:
    for value in VALUES:
        session.share("v", value, to="javascript")
        returned = session.exchange("v", "javascript", to="python")
        assert returned == value and type(returned) is type(value)
        assert session.run("v").value == value


# A vector of one is a scalar, integers beyond 15 digits are rounded, an empty list has no names.
def test_values_come_back_from_r(session: belljar.Session) -> None:
    for value in (
        None, True, 3, 1.5, "text", [1, 2, 3], ["a", "b"], [1, "a"], {"a": 1, "b": [1, 2]},
        {"a": {"b": "c"}}, [[1, 2], [3, 4]], [{"a": 1}, {"a": 2}], [],
    ):  # fmt: skip
        session.share("v", value, to="r")
        assert session.exchange("v", "r", to="python") == value
    session.share("v", [True, False, True], to="r")
    assert said(session, "cat(class(v), sum(v))", "r") == "logical 2"


# All scalars are texts; what is in a list or map is one, too.
def test_values_come_back_from_bash_as_texts(session: belljar.Session) -> None:
    for value, returned in [
        (5, "5"), (True, "true"), (None, ""), ("a b", "a b"), ([1, "b c"], ["1", "b c"]),
        ({"k": "v", "a b": 1}, {"k": "v", "a b": "1"}), ([], []), ({}, {}),
        ([[1, {"a": None}]], ['[1,{"a":null}]']),
    ]:  # fmt: skip
        session.share("v", value, to="bash")
        assert session.exchange("v", "bash", to="python") == returned
    said(session, "declare -i n=42", "bash")
    assert session.exchange("n", "bash") == 42
    session.share("deep", {"list": [1, 2]}, to="bash")
    assert json.loads(said(session, 'printf %s "${deep[list]}"', "bash")) == [1, 2]


def test_special_numbers_and_sets(session: belljar.Session) -> None:
    session.share("v", [2**70, math.inf, -math.inf], to=OTHERS)
    assert said(session, "console.log(v.map(String).join(' '))", "javascript") == (
        "1180591620717411303424 Infinity -Infinity\n"
    )
    assert said(session, "cat(v[[1]] > 1e21, unlist(v[2:3]))", "r") == "TRUE Inf -Inf"
    assert said(session, 'echo "${v[@]}"', "bash") == "1180591620717411303424 inf -inf\n"
    session.share("s", {3}, to=OTHERS)
    assert said(session, "console.log(s)", "javascript") == "[ 3 ]\n"
    with pytest.raises(belljar.BelljarError, match='no form for "bytes"'):
        session.share("b", b"x", to="javascript")


def test_a_variable_of_any_kind_gets_a_new_value(session: belljar.Session) -> None:
    said(session, "let x = 1; globalThis.y = 1", "javascript")
    said(session, "declare -A x=([a]=1); y=(1 2)", "bash")
    for name in "xy":
        session.share(name, "new", to=("javascript", "bash"))
        assert said(session, f"console.log({name})", "javascript") == "new\n"
        assert said(session, f"declare -p {name}", "bash") == f'declare -- {name}="new"\n'
    said(session, "const fixed = 1", "javascript")
    with pytest.raises(belljar.BelljarError, match="onstant"):
        session.share("fixed", 2, to="javascript")


def test_inputs_of_a_cell_keep_its_lines(session: belljar.Session) -> None:
    result = session.run("\n\nnosuchcommand $n", language="bash", inputs={"n": "a b"})
    assert result.error and result.error.line == 3
    result = session.run("\n\nthrow new Error(n)", language="javascript", inputs={"n": "a b"})
    assert result.error and (result.error.line, result.error.message) == (3, "a b")
    result = session.run("\n\nstop(n)", language="r", inputs={"n": "a b"})
    assert result.error and (result.error.line, result.error.message) == (3, "a b")


@pytest.mark.parametrize(
    ("language", "code"),
    [
        ("bash", "#!/bin/bash\nset -u\necho $n ${m[k]}"),
        ("javascript", "const fs = require('fs'); console.log(n, m.k)"),
        ("typescript", "declare const n: number, m: { k: string };\nconsole.log(n, m.k)"),
        ("r", "cat(n, m$k); cat('\\n')"),
    ],
)  # fmt: skip
def test_inputs_of_a_single_run(language: str, code: str) -> None:
    need_language(language)
    with belljar.Sandbox(language=language) as box:
        result = box.run(code, inputs={"n": 7, "m": {"k": "v"}})
        assert result.stdout == "7 v\n", result.stderr


def test_inputs_where_a_language_has_no_form_for_them() -> None:
    need_language("c")
    with (
        belljar.Sandbox(language="c") as box,
        pytest.raises(ValueError, match="inputs are not for"),
    ):
        box.run("int main() {}", inputs={"n": 1})


@pytest.mark.parametrize(
    ("language", "code", "why"),
    [
        ("python", "", "name 'nosuch' is not defined"),
        ("bash", "", "exited with status 1"),
        ("javascript", "", "nosuch is not defined"),
        ("r", "", "object 'nosuch' not found"),
        ("python", "nosuch = object()", "not plain data"),
        ("javascript", "nosuch = []; nosuch.push(nosuch)", "not plain data"),
        ("r", "nosuch <- function(x) x", "not plain data"),
        ("bash", "nosuch=$'\\xff'", "exited with status 1"),
    ],
)  # fmt: skip
def test_what_cannot_be_exchanged(
    session: belljar.Session, language: str, code: str, why: str
) -> None:
    if code:
        said(session, code, language)
    with pytest.raises(belljar.BelljarError, match=why):
        session.exchange("nosuch", language)
    assert session.run("40 + 2").value == 42
    assert session.run("true", language="bash").ok  # nothing was lost


@pytest.mark.parametrize("name", ["", "1a", "a b", "a;id", "_a", "a-b", "é", "class", "x" * 300])
def test_names_that_are_none(session: belljar.Session, name: str) -> None:
    for attempt in (lambda: session.share(name, 1), lambda: session.exchange(name, "python")):
        with pytest.raises(ValueError):
            attempt()


def test_languages_that_are_none(session: belljar.Session) -> None:
    with pytest.raises(ValueError, match='unknown language "bsh".*did you mean "bash"'):
        session.run("1", language="bsh")
    need_language("lua")
    with pytest.raises(belljar.BelljarError, match="Lua.* programs run one at a time"):
        session.run("1", language="lua")
    assert session.languages == ("python",)


def test_an_interpreter_that_ends_costs_its_variables_only(session: belljar.Session) -> None:
    said(session, "kept = 1")
    said(session, "x=1; echo kept > f", "bash")
    result = session.run("echo lost > f; while :; do :; done", language="bash", timeout=0.3)
    assert not result.ok and result.session and result.session.restarted
    assert said(session, "echo ${x:-gone}; cat f", "bash") == "gone\nkept\n"
    assert said(session, "print(kept, open('f').read())") == "1 kept\n\n"


def test_a_roll_back_is_of_python_and_of_all_files(session: belljar.Session) -> None:
    said(session, "x = 1; open('f', 'w').write('one')")
    before = session.checkpoint()
    said(session, "echo two > f; y=2", "bash")
    said(session, "x = 2")
    session.rollback(before)
    assert said(session, "print(x, open('f').read())") == "1 one\n"
    assert said(session, "cat f; echo $y", "bash") == "one2\n"


def test_a_checkpoint_has_the_files_that_another_language_left(session: belljar.Session) -> None:
    said(session, "echo one > f", "bash")
    before = session.checkpoint()
    said(session, "echo two > f", "bash")
    session.rollback(before)
    assert session.files["f"] == b"one\n"


def test_a_branch_has_the_files_and_begins_other_languages_anew(session: belljar.Session) -> None:
    said(session, "x = 1")
    said(session, "echo one > f; y=1", "bash")
    (branch,) = session.branch(1)
    assert branch.languages == ("python",)
    assert said(branch, "print(x, open('f').read(), end='')") == "1 one\n"
    assert said(branch, "echo ${y:-none}; echo two > f", "bash") == "none\n"
    assert session.files["f"] == b"one\n" and branch.files["f"] == b"two\n"
    assert session.compare(branch).files.changed == ("f",)


def test_a_session_of_another_language_takes_python() -> None:
    need_language("bash")
    with belljar.Sandbox(language="bash") as box, box.session() as session:
        said(session, "echo from bash > f; x=5")
        assert said(session, "print(open('f').read(), end='')", "python") == "from bash\n"
        assert session.exchange("x", "bash") == "5"
        assert session.run("x", language="python").value == "5"
        refused = session.run("import socket", language="python")
        assert refused.status == "refused"  # the policy is on


def test_the_policy_holds_in_the_python_of_a_mixed_session(
    session: belljar.Session, tmp_path: Path
) -> None:
    module = "import os\nos.system('echo reached')"
    code = "__import__('os').system('echo reached')"
    (tmp_path / "evil.py").write_text(module)
    for program in ("import evil", code):
        control = subprocess.run(
            [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, check=True
        )
        assert control.stdout == b"reached\n"
    said(session, f"cat > evil.py <<'END'\n{module}\nEND", "bash")
    session.share("code", code)
    assert session.files["evil.py"].decode() == module + "\n"
    assert session.run("code").value == code
    for program in ("import evil", "eval(code)"):
        held = session.run(program)
        assert not held.ok and "reached" not in held.stdout
        assert held.error and ("BJ" in held.error.message or held.findings), held


def test_kernels_do_not_see_each_other(session: belljar.Session) -> None:
    before = processes("require('inspector')")
    said(session, "1", "javascript")
    assert processes("require('inspector')") - before  # it is there
    shown = said(session, "for p in /proc/[0-9]*; do cat $p/comm; done", "bash")
    assert "bash" in shown and "node" not in shown


def test_interrupt_reaches_the_language_that_runs(session: belljar.Session) -> None:
    said(session, "true", "bash")
    results: list[belljar.Result] = []
    thread = threading.Thread(
        target=lambda: results.append(session.run("sleep 1000", language="bash", timeout=50))
    )
    thread.start()
    until(session.interrupt)
    thread.join()
    assert not results[0].ok
    assert said(session, "echo still here", "bash") == "still here\n"


def test_threads_take_turns(session: belljar.Session) -> None:
    session.files["log"] = b"-"
    threads = [
        threading.Thread(target=session.run, args=(APPEND[name],), kwargs={"language": name})
        for name in (*OTHERS, "python") * 4
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(session.files["log"].decode()) == sorted("-" + "bjrp" * 4)


def test_closing_ends_all(session: belljar.Session) -> None:
    before = processes("belljar_answers")
    said(session, "x=1", "bash")
    said(session, "1", "javascript")
    assert session.info().memory_bytes > 0
    assert processes("belljar_answers") - before
    session.close()
    until(lambda: not processes("belljar_answers") - before)
    with pytest.raises(belljar.SessionClosed):
        session.run("true", language="bash")


def test_a_sandbox_that_is_closed_during_a_cell_of_another_language() -> None:
    need_language("bash")
    box = belljar.Sandbox("filesystem")
    session = box.session()
    said(session, "true", "bash")
    ended: list[object] = []

    def run() -> None:
        try:
            ended.append(session.run("echo started > f; sleep 1000", language="bash", timeout=50))
        except belljar.BelljarError as error:
            ended.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    until(lambda: session.info().busy)
    box.close()
    thread.join()
    assert len(ended) == 1 and not getattr(ended[0], "ok", False)


def test_in_asyncio() -> None:
    need_language("bash")

    async def main() -> tuple[str, object]:
        async with belljar.AsyncSandbox("filesystem") as box, box.session() as session:
            await session.share("x", 1)
            await session.run("y=$((x + 1)); echo $y > f", language="bash", inputs={"x": 1})
            value = await session.exchange("y", "bash", to=["python"])
            assert session.languages == ("python", "bash")
            return (await session.run("print(y, open('f').read(), end='')")).stdout, value

    assert asyncio.run(main()) == ("2 2\n", "2")
