"""The dataclasses of results are those of the tables that their objects are made from."""

import copy

import result_fields
from belljar import _host

PAGE = result_fields.PAGE.read_text()
TABLES = _host.result_fields()


def test_every_field_is_that_of_its_table():
    assert result_fields.differences(PAGE, TABLES) == []


def test_a_difference_is_told():
    without = PAGE.replace("    max_rss_bytes: int\n", "")
    assert result_fields.differences(without, TABLES) == [
        "Usage.max_rss_bytes: missing; the table has int"
    ]
    more = PAGE.replace("    max_rss_bytes: int\n", "    max_rss_bytes: int\n    extra: str\n")
    assert result_fields.differences(more, TABLES) == ["Usage.extra: str; the table has none"]
    other = PAGE.replace("max_rss_bytes: int", "max_rss_bytes: float")
    assert result_fields.differences(other, TABLES) == [
        "Usage.max_rss_bytes: float; the table has int"
    ]


def test_a_new_row_is_added_last():
    tables = copy.deepcopy(TABLES)
    tables["Usage"]["faults"] = ("int", "Page faults")
    tables["Result"]["cause"] = ("str | None", "")
    page = result_fields.with_fields(PAGE, tables)
    assert result_fields.differences(page, tables) == []
    assert '    max_rss_bytes: int\n    faults: int\n    """Page faults."""\n\n' in page
    assert '    """The same for `stderr`."""\n    cause: str | None\n\n' in page
    assert result_fields.with_fields(PAGE, TABLES) == PAGE
