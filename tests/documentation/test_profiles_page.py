"""docs/profiles.md says what the profiles are: it is made from them."""

import re
import subprocess
import sys

import profiles_page

from tests.documentation.conftest import ROOT, page

PAGE = page("docs/profiles.md")


def test_the_page_is_current():
    done = subprocess.run(
        [sys.executable, ROOT / "tools/profiles_page.py"], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr


def test_every_profile_is_there_with_what_it_adds_for_an_attacker():
    names = profiles_page.names_of_profiles()
    assert names == re.findall(r"^## (?!Without)(.+)$", PAGE, re.MULTILINE)
    assert {"basic", "data-science", "filesystem", "network"} <= set(names)
    for name in names:
        part = PAGE.split(f"\n## {name}\n")[1].split("\n## ")[0]
        assert ("What it adds for an attacker:\n\n- " in part) == (name != "basic")
        assert f"| [`{name}`](#{name}) |" in PAGE


def test_a_page_that_is_behind_is_noticed(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(profiles_page, "PAGE", tmp_path / "profiles.md")
    monkeypatch.setattr(sys, "argv", ["profiles_page.py"])
    assert profiles_page.main() == 1
    assert "--write" in capsys.readouterr().err
    monkeypatch.setattr(sys, "argv", ["profiles_page.py", "--write"])
    assert profiles_page.main() == 0
    monkeypatch.setattr(sys, "argv", ["profiles_page.py"])
    assert profiles_page.main() == 0


def test_the_readme_names_every_profile():
    (named,) = re.findall(r"profiles \(([^)]*)\)", page("README.md"))
    assert set(profiles_page.names_of_profiles()) == set(re.findall(r"`([a-z-]+)`", named))
