"""docs/audit.md: its walk works, its tables have what an entry has."""

import json
import re

import pytest

from tests.documentation.conftest import ROOT, names, page, section, shell, table

PAGE = page("docs/audit.md")
BLOCKS = re.findall(r"^```sh\n(.*?)^```", PAGE, re.M | re.S)


@pytest.fixture(scope="module")
def walk(tmp_path_factory):
    """What each block of the page prints, one after another."""
    folder = tmp_path_factory.mktemp("walk")
    printed = []
    for block in BLOCKS:
        done = shell(block, folder)
        assert done.returncode == 0, (block, done.stdout)
        printed.append(done.stdout)
    return folder, printed


def test_the_walk(walk):
    folder, printed = walk
    answers = (folder / "answers.jsonl").read_text().splitlines()
    assert len(answers) == 3
    assert "  ok  " in printed[1] and "refusal" in printed[1]
    verified = printed[2]
    assert verified.count("nothing was modified, removed, added or reordered") == 2
    assert verified.endswith("changed\n")
    (shown,) = re.findall(r"It prints where: `(.*)`\.$", PAGE, re.M)
    assert re.sub(r":\d+:", ":N:", shown) in re.sub(r":\d+:", ":N:", verified)
    assert "the signature is valid" in printed[3]
    last = (folder / "audit/audit-00000001.jsonl").read_text().splitlines()[-1]
    digest, verdict = printed[4].splitlines()
    assert digest.split()[0] == json.loads(last)["hash"]
    assert verdict == "Signature Verified Successfully"


def test_the_tables_have_every_member(walk):
    fields = (ROOT / "server/audit/entry_fields.h").read_text()
    execution = re.search(r"TableOf<AuditedExecution>.*?\n}", fields, re.S)[0]
    entry = re.search(r"TableOf<Entry>.*?\n}", fields, re.S)[0]
    kinds = re.search(r"kKindNames\[\] = {(.*?)}", fields, re.S)[1]
    text = section(PAGE, "What is in an entry")
    shown = {name for row in table(text, "member", "content") for name in names(row[0])}
    rows = re.findall(r'Row<[^>]*>\("(\w+)"', entry)
    assert rows and set(rows) <= shown
    explained = {n for row in table(text, "kind", "written when") for n in names(row[0])}
    assert explained == set(re.findall(r'"(\w+)"', kinds))
    of_execution = re.findall(r'Row<[^>]*>\("(\w+)"', execution)
    assert of_execution
    for name in of_execution:
        assert f"`{name}`" in text, name


def test_the_metrics_are_those_of_the_server():
    source = (ROOT / "server/operations/metrics.cc").read_text()
    shown = {
        n for row in table(section(PAGE, "Metrics"), "metric", "meaning") for n in names(row[0])
    }
    assert shown == set(re.findall(r'"(belljar_audit_\w+)"', source))
