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
        "engine/inside and engine/outside are on different sides of the trust boundary",
        "engine/outside and engine/inside are on different sides of the trust boundary",
    ]


def test_a_relative_include_is_judged_like_any_other(tmp_path):
    found = findings(
        tmp_path,
        {"engine/inside/worker.h": "", "engine/outside/a.cc": '#include "../inside/worker.h"\n'},
    )
    assert len(found) == 1


def test_a_type_of_one_name_in_two_files_is_found(tmp_path):
    before = "#include <string>\nnamespace belljar::host {\n"
    found = findings(
        tmp_path,
        {
            "engine/host/a.cc": before + "struct Content {\n  int a;\n};\n}  // namespace\n",
            "engine/host/b.h": before + "class Content final : public Base {};\n}\n",
            "engine/host/c.h": "namespace belljar::host {\nenum class Kind : char { kA };\n}\n",
            "engine/host/d.cc": "namespace belljar::host {\nenum Kind {\n  kB\n};\n}\n",
        },
    )
    assert found == [
        "engine/host/b.h:3: belljar::host::Content is also in engine/host/a.cc",
        "engine/host/d.cc:2: belljar::host::Kind is also in engine/host/c.h",
    ]


def test_types_that_no_other_file_sees_may_have_one_name(tmp_path):
    own = "namespace belljar::host {\nnamespace {\n%s}  // namespace\n%s}  // namespace\n"
    found = findings(
        tmp_path,
        {
            "engine/host/a.cc": own % ("struct Content {};\n", "class Open;\n"),
            "engine/host/b.cc": own % ("struct Content {};\n", "struct Open::Content {};\n"),
            "engine/host/c.cc": own % ("", "struct Open {\n  struct Content {};\n};\n"),
            "engine/host/d.cc": own % ("", "template <>\nstruct Open<int> {};\n"),
        },
    )
    assert found == []


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


def test_only_the_command_uses_iostreams(tmp_path):
    found = findings(
        tmp_path,
        {
            "engine/seal/a.cc": "#include <sstream>\n",
            "container/image/b.cc": "#include <fstream>\n",
            "cli/c.cc": "#include <sstream>\n",
            "tests/seal/d.cc": "#include <iostream>\n",
        },
    )
    assert [line.split(":")[0] for line in found] == ["container/image/b.cc", "engine/seal/a.cc"]


def test_program_code_does_not_include_test_code(tmp_path):
    found = findings(
        tmp_path, {"tests/fake.h": "", "cli/main.cc": '#include "tests/fake.h"\n', "tests/a.cc": ""}
    )
    assert found == ["cli/main.cc:1: tests/fake.h is test code"]


def test_a_header_that_is_not_there_is_found(tmp_path):
    found = findings(tmp_path, {"cli/main.cc": '#include <vector>\n#include "cli/gone.h"\n'})
    assert found == ['cli/main.cc:2: "cli/gone.h" not found relative to the root']


def test_every_room_names_rooms_that_exist():
    for others in check_includes.ROOMS.values():
        assert others <= check_includes.ROOMS.keys()


def test_the_order_has_no_cycle():
    def reach(room: str) -> set[str]:
        lower = check_includes.ROOMS[room]
        return lower.union(*(reach(other) for other in lower)) if lower else set()

    for room in check_includes.ROOMS:
        assert room not in reach(room)


def test_each_room_is_a_namespace(tmp_path):
    found = findings(
        tmp_path,
        {
            "engine/outside/a.h": "namespace belljar::egress {\nclass Proxy;\nstruct Rules;\n}\n"
            "namespace belljar::outside {\nclass A {};\n}\n",
            "engine/outside/b.h": "namespace belljar::egress {\nclass Proxy;\nvoid Open();\n}\n",
            "engine/outside/c.cc": "namespace belljar {\n}\n",
            "container/wire/d.h": "\nnamespace belljar::wire {\n}\n",
            "server/core/e.h": "namespace belljar::server {\n}\n",
            "server/http/f.cc": "namespace belljar::server::http {\n}\n",
            "server/g.cc": "void F() {\n  using namespace belljar::core;\n}\n",
            "tests/container/wire/h_test.cc": "namespace belljar::container::wire {\n}\n",
            "tests/container/i.h": "namespace belljar::tests {\n}\n",
            "tests/server/core/j_test.cc": "namespace belljar::tests {\n}\n",
        },
    )
    assert sorted(found) == [
        "container/wire/d.h:2: belljar::wire in place of belljar::container::wire, "
        "the room's namespace",
        "engine/outside/b.h:1: belljar::egress in place of belljar::outside, the room's namespace",
        "engine/outside/c.cc:1: belljar in place of belljar::outside, the room's namespace",
        "server/g.cc:2: belljar::core in place of belljar::server, the room's namespace",
        "tests/server/core/j_test.cc:1: belljar::tests in place of belljar::server,"
        " the room's namespace",
    ]


def test_what_the_host_alone_uses_is_not_in_core(tmp_path):
    found = findings(
        tmp_path,
        {
            "engine/inside/worker.cc": '#include "engine/core/fd.h"\n',
            "engine/core/fd.h": '#include "engine/core/result.h"\n',
            "engine/core/result.h": "",
            "engine/core/fd.cc": '#include "engine/core/text.h"\n',
            "engine/core/text.h": "",
            "engine/core/outcome.h": "",
            "engine/outside/a.cc": '#include "engine/core/outcome.h"\n',
        },
    )
    assert found == ["engine/core/outcome.h:1: used only by the host: it belongs in engine/host"]


def map_of_rooms() -> dict[str, tuple[str, str]]:
    """The process and the trust of each room, as docs/design-rooms.md has them."""
    page = (Path(check_includes.__file__).parents[1] / "docs/design-rooms.md").read_text()
    section = page.split("\n## Rooms\n")[1].split("\n## ")[0]
    rows = [line.strip("| ").split(" | ") for line in section.splitlines() if line[:3] == "| `"]
    return {room.strip("`"): (process, trust) for room, process, trust in rows}


def test_the_map_of_rooms_has_every_room():
    python = {"policy", "engine/inside/runner"}
    assert set(map_of_rooms()) == {*check_includes.ROOMS, *python, "profiles"}


def test_the_map_shows_on_which_side_a_room_runs():
    rooms = map_of_rooms()
    assert all(process and trust for process, trust in rooms.values())
    on_the_host = {room for room, (process, _) in rooms.items() if process.startswith("host")}
    both = {"engine/core", "engine/seal", "container/wire"}
    guest_side = {room for room in rooms if "inside" in room.split("/")} | {"policy"}
    assert guest_side.isdisjoint(on_the_host)
    assert rooms.keys() - guest_side - both - {"profiles"} <= on_the_host


def test_guest_side_code_says_so_first():
    policy = Path(check_includes.__file__).parents[1] / "policy"
    for file in (policy / "README.md", policy / "belljar_policy/__init__.py"):
        assert "guest-side code" in file.read_text().splitlines()[0].lower()
