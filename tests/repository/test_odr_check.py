"""The linker's check for types defined twice (`./dev odr`), on two files that it has to refuse."""

import re
import subprocess
from pathlib import Path

from tests.machine import need_program

ROOT = Path(__file__).resolve().parents[2]

RELOCATABLE = ["-r", "-flinker-output=rel"]  # as tools/cmake/BelljarOdr.cmake links

USER = "#include <string>\nnamespace belljar::core {{ struct Content {{ {members} }}; }}\n{use}\n"
SIZE = "unsigned long Size(const belljar::core::Content& content) {{ return content.{member}; }}"


def options(before: str) -> list[str]:
    """What the preset gives the compiler or the linker."""
    text = (ROOT / "tools/cmake/BelljarCompiler.cmake").read_text()
    check = text[text.index("if(BELLJAR_ODR_CHECK)") :]
    found = re.search(rf"{before}([^)]*)\)", check)
    assert found is not None
    return found[1].split()


def link(tmp_path: Path, second: str) -> subprocess.CompletedProcess[str]:
    first = "std::string name; unsigned long size = 0;"
    (tmp_path / "a.cc").write_text(USER.format(members=first, use=SIZE.format(member="size")))
    main = "int main() { belljar::core::Content content; return content.size != 0; }"
    (tmp_path / "b.cc").write_text(USER.format(members=second, use=main))
    command = [
        need_program("g++", "build-essential"),
        "-std=c++20",
        "-O0",
        *options(r"add_compile_options\("),
    ]
    subprocess.run([*command, "-c", "a.cc", "b.cc"], cwd=tmp_path, check=True)
    return subprocess.run(
        [*command, *options("belljar_odr_link_options"), *RELOCATABLE, "a.o", "b.o", "-o", "all.o"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )


def test_one_name_that_is_two_types_is_refused(tmp_path):
    done = link(tmp_path, "unsigned long size = 0; bool flag = false;")
    assert done.returncode != 0
    assert "violates the C++ One Definition Rule" in done.stderr


def test_the_same_type_in_two_files_is_not(tmp_path):
    assert link(tmp_path, "std::string name; unsigned long size = 0;").returncode == 0
