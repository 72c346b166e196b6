from pathlib import Path

import check_includes


def findings(root: Path, files: dict[str, str]) -> list[str]:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return [str(finding) for finding in check_includes.check(root)]


def test_lower_including_higher_is_found(tmp_path):
    found = findings(
        tmp_path,
        {
            "engine/core/fd.h": '#pragma once\n#include "engine/seal/seal.h"\n',
            "engine/seal/seal.h": '#include "engine/core/fd.h"\n',
        },
    )
    assert found == ["engine/core/fd.h:2: engine/core may not include engine/seal"]


def test_the_two_sides_never_meet(tmp_path):
    found = findings(
        tmp_path,
        {
            "engine/inside/worker.h": "",
            "engine/outside/backend.h": "",
            "engine/inside/worker.cc": '#include "engine/outside/backend.h"\n',
            "engine/outside/backend.cc": '  #  include "engine/inside/worker.h"\n',
        },
    )
    assert [line.split(": ", 1)[1] for line in found] == [
        "engine/inside and engine/outside are on two sides of the trust line",
        "engine/outside and engine/inside are on two sides of the trust line",
    ]


def test_a_relative_include_is_judged_like_any_other(tmp_path):
    found = findings(
        tmp_path,
        {"engine/inside/worker.h": "", "engine/outside/a.cc": '#include "../inside/worker.h"\n'},
    )
    assert len(found) == 1


def test_python_stays_inside(tmp_path):
    found = findings(
        tmp_path,
        {
            "engine/inside/a.cc": "#include <Python.h>\n",
            "engine/inside/guards/b.c": "#include <structmember.h>\n",
            "python/c.cc": "#include <pybind11/pybind11.h>\n",
            "engine/outside/d.cc": "#include <Python.h>\n",
            "cli/e.cc": "#include <pybind11/embed.h>\n",
        },
    )
    assert [line.split(":")[0] for line in found] == ["cli/e.cc", "engine/outside/d.cc"]


def test_program_code_does_not_include_test_code(tmp_path):
    found = findings(
        tmp_path, {"tests/fake.h": "", "cli/main.cc": '#include "tests/fake.h"\n', "tests/a.cc": ""}
    )
    assert found == ["cli/main.cc:1: tests/fake.h is test code"]


def test_a_header_that_is_not_there_is_found(tmp_path):
    found = findings(tmp_path, {"cli/main.cc": '#include <vector>\n#include "cli/gone.h"\n'})
    assert found == ['cli/main.cc:2: "cli/gone.h" is not found from the root']


def test_every_room_names_rooms_that_exist():
    for others in check_includes.ROOMS.values():
        assert others <= check_includes.ROOMS.keys()


def test_the_order_has_no_cycle():
    def reach(room: str) -> set[str]:
        lower = check_includes.ROOMS[room]
        return lower.union(*(reach(other) for other in lower)) if lower else set()

    for room in check_includes.ROOMS:
        assert room not in reach(room)
