from pathlib import Path

import check_imports
import pytest


def findings(root: Path, files: dict[str, str]) -> list[str]:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return check_imports.check(root)


def modules_of(found: list[str]) -> set[str]:
    return {line.partition(":")[0] for line in found}


@pytest.mark.parametrize(
    "first",
    [
        "from belljar import _b",
        "from belljar._b import name",
        "import belljar._b",
        "def late():\n    from belljar._b import name",
        "class Late:\n    def late(self):\n        with x:\n            import belljar._b as b",
        "if TYPE_CHECKING:\n    pass\nelse:\n    import belljar._b",
    ],
)
def test_a_circle_is_found(tmp_path, first):
    found = findings(
        tmp_path,
        {"python/belljar/_a.py": first, "python/belljar/_b.py": "from belljar._a import other"},
    )
    assert modules_of(found) == {"python/belljar/_a.py", "python/belljar/_b.py"}
    assert "belljar._a and belljar._b import each other" in found[0]


def test_a_circle_of_three_and_relative_imports(tmp_path):
    folder = "policy/belljar_policy"
    found = findings(
        tmp_path,
        {
            f"{folder}/__init__.py": "",
            f"{folder}/a.py": "from .library import b",
            f"{folder}/library/__init__.py": "",
            f"{folder}/library/b.py": "from . import c",
            f"{folder}/library/c.py": "from .. import a",
        },
    )
    assert modules_of(found) == {f"{folder}/{name}.py" for name in ("a", "library/b", "library/c")}


def test_imports_for_type_checkers_are_none(tmp_path):
    assert not findings(
        tmp_path,
        {
            "python/belljar/_a.py": "if TYPE_CHECKING:\n    from belljar import _b",
            "python/belljar/_b.py": "import json\nfrom belljar import _a",
        },
    )


def test_a_module_that_stands_for_an_extension_counts(tmp_path):
    found = findings(
        tmp_path,
        {
            "python/belljar/_frames.py": "from belljar import _host",
            "python/elsewhere/_host.py": "from belljar import _frames",
        },
    )
    assert modules_of(found) == {"python/belljar/_frames.py", "python/elsewhere/_host.py"}


def test_the_two_sides_never_meet(tmp_path):
    found = findings(
        tmp_path,
        {
            "python/belljar/_a.py": "def late():\n    from belljar_policy import rules",
            "policy/belljar_policy/b.py": "import belljar",
            "engine/inside/runner/c.py": "from belljar_policy import rules\nimport json",
        },
    )
    assert found == [
        "python/belljar/_a.py:2: belljar_policy.rules is on the other side of the trust boundary",
        "policy/belljar_policy/b.py:1: belljar is on the other side of the trust boundary",
    ]


def test_the_guards_are_on_the_guests_side(tmp_path):
    found = findings(
        tmp_path,
        {
            "python/belljar/_a.py": "import _belljar_guards",
            "policy/belljar_policy/b.py": "import _belljar_guards as guards",
        },
    )
    assert found == [
        "python/belljar/_a.py:1: _belljar_guards is on the other side of the trust boundary"
    ]


def test_the_policy_does_not_import_what_runs_it(tmp_path):
    found = findings(
        tmp_path,
        {
            "policy/belljar_policy/b.py": "def late():\n    from belljar_runner import report",
            "engine/inside/runner/report.py": "from belljar_policy import rules",
        },
    )
    assert found == ["policy/belljar_policy/b.py:2: belljar_policy may not import belljar_runner"]


def test_each_file_is_known_to_run_on_one_side(tmp_path):
    found = findings(
        tmp_path,
        {
            "server/tools/a.py": "import json",
            "policy/b.py": "import belljar_policy",
            "container/packages/install.py": "import json\nimport belljar",
        },
    )
    assert found == [
        "container/packages/install.py:2: belljar is not there where this program runs",
        "policy/b.py:1: in no package: nobody knows on which side it runs",
        "server/tools/a.py:1: in no package: nobody knows on which side it runs",
    ]


def test_this_repository_has_no_circle():
    assert check_imports.check(Path(__file__).parents[2]) == []
