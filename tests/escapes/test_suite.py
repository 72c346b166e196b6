"""The suite itself: its classes, their sizes, and that no attack stands twice."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

FEWEST = 150
CLASSES = (
    "attribute_walks", "callbacks", "class_games", "copied_state", "data_modules", "decorators",
    "descriptors", "exception_groups", "files", "format_strings", "frames_and_tracebacks",
    "generators_and_coroutines", "global_games", "handed_out_functions", "import_forms",
    "later_pythons", "library_methods_take_any_self", "match_args", "metaclasses", "mock",
    "streams", "threads", "module_poisoning", "nested_fstrings", "pattern_binding",
    "policy_state", "proxies_and_caches", "source_encodings", "star_targets",
    "stores_of_the_library", "run_text", "str_subclasses", "teaching_modules",
    "type_parameters", "unicode", "walrus_scopes",
)  # fmt: skip


def attacks() -> dict[str, dict[str, str]]:
    modules = {name: importlib.import_module(f"tests.escapes.test_{name}") for name in CLASSES}
    return {name: module.ATTACKS for name, module in modules.items()}


def test_every_class_has_attacks() -> None:
    assert min(len(of_class) for of_class in attacks().values()) >= 4


def test_there_are_enough_distinct_attacks() -> None:
    distinct = {
        re.sub(r"\s+", " ", source)
        for of_class in attacks().values()
        for source in of_class.values()
    }
    assert len(distinct) >= FEWEST


def test_every_file_with_attacks_is_a_class() -> None:
    here = Path(__file__).parent
    found = {
        path.stem.removeprefix("test_")
        for path in here.glob("test_*.py")
        if "\nATTACKS = {" in path.read_text()
    }
    assert found == set(CLASSES)
