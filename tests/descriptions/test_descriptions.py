"""What the tools say of themselves is what fifty tasks need, and each thing once."""

import pytest

from tests.descriptions.score import (
    ALL,
    Texts,
    internal_words,
    long_lists,
    missing,
    said_twice,
    texts_of,
)
from tests.descriptions.tasks import TASKS, Task


@pytest.fixture(scope="module")
def default() -> Texts:
    return texts_of()


@pytest.fixture(scope="module")
def everything() -> Texts:
    return texts_of(**ALL)


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.asked)
def test_a_model_finds_what_it_needs(task: Task, default: Texts, everything: Texts):
    assert missing(task, everything if task.all_profiles else default) == []


def test_there_are_fifty():
    assert len({task.asked for task in TASKS}) == 50


@pytest.mark.parametrize("judge", [said_twice, long_lists, internal_words])
def test_nothing_is_said_twice_at_length_or_to_engineers(judge, default, everything):
    assert judge(default) == []
    assert judge(everything) == []


def test_what_cannot_be_used_is_not_listed(default: Texts, everything: Texts):
    listed = set(default.tools["execute_code"]["inputSchema"]["properties"])
    assert not listed & {"allowed_domains", "packages", "use_container"}
    listed = set(everything.tools["execute_code"]["inputSchema"]["properties"])
    assert {"files", "allowed_domains"} <= listed


def test_the_score_notices():
    """The controls: texts that are as they should not be."""
    tool = {"description": "one two three four five six seven", "inputSchema": {"properties": {}}}
    twice = Texts("one two three four five six seven", {"a": tool})
    assert said_twice(twice)
    assert long_lists(Texts(", ".join(f"module{n}" for n in range(30)), {}))
    assert internal_words(Texts("the zygote had an ETIMEDOUT", {}))
    assert missing(TASKS[0], Texts("", {}))
