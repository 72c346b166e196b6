"""Checks a wheel as an archive, without installing it.

    check_wheel.py [--for-others] [--not-of FOLDER]... WHEEL

It must contain nothing of the machine that built it: no path, test, source or debug symbol; and
what it contains must be in order. --for-others: also checks the requirements of a published wheel,
which one for this machine alone need not meet. --not-of: a folder whose path no file may contain.

`./dev wheels` runs it, and tests/packaging calls its functions. Each returns what is wrong.
"""

from __future__ import annotations

import argparse
import base64
import csv
import hashlib
import io
import os
import re
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Iterable
from email.parser import BytesParser
from pathlib import Path

MB = 1_000_000
GREATEST_SIZE = 7 * MB
SHARE = "belljar/_installation/share/belljar/"
# What a wheel consists of: the first pattern that matches a file's name, and the compressed bytes
# of its files when docs/releasing.md, "Size", was last written.
PARTS = {
    "the command": (r"\.data/scripts/belljar$", 3_055_000),
    "the Python extension": (r"^belljar/_host\.", 1_244_000),
    "the guest of containers": (r"/libexec/belljar/belljar-guest$", 672_000),
    "the launcher": (r"/libexec/belljar/belljar-launcher$", 106_000),
    "the zygote": (r"/libexec/belljar/", 277_000),
    "the policy": (rf"^{SHARE}policy/", 751_000),
    "the runner": (rf"^{SHARE}runner/", 196_000),
    "hot blocks": (rf"^{SHARE}hot_blocks/", 29_000),
    "profiles": (rf"^{SHARE}profiles/", 77_000),
    "RestrictedPython": (rf"^{SHARE}site-packages/", 56_000),
    "metadata and licences": (r"^[^/]+\.dist-info/", 129_000),
    "the rest": (r"", 143_000),
}
# What programs of a published wheel may need of a system. Every CPython needs the first ones too.
SYSTEM_LIBRARIES = {
    *("libc.so.6", "libm.so.6", "libpthread.so.0", "libdl.so.2", "librt.so.1", "libgcc_s.so.1"),
    *("ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"),
}
# Statically linked: the licence of each is in the wheel, under the name of Debian's package.
LICENSED = {
    *("libboost1.74-dev", "libbsd-dev", "libcli11-dev", "libedit-dev", "libelf-dev", "libfmt-dev"),
    *("libncurses-dev", "libpugixml-dev", "libseccomp-dev", "libsodium-dev", "libspdlog-dev"),
    *("libsqlite3-dev", "libssl-dev", "libstdc++-12-dev", "libtomlplusplus-dev"),
    *("nlohmann-json3-dev", "prometheus-cpp-dev", "pybind11-dev", "zlib1g-dev", "libc6-dev"),
}
# What libraries export, besides the entries of extension modules; and the linker's own names.
ENTRIES = {"belljar_zygote_main", "__libc_start_main", "__bss_start", "_edata", "_end"}
# The lowest bits of a .pyc file's flags: it has a hash, and the source is not compared with it.
UNCHECKED_HASH = 0b01


def dist_info(archive: zipfile.ZipFile) -> str:
    (record,) = [n for n in archive.namelist() if re.fullmatch(r"[^/]+\.dist-info/RECORD", n)]
    return record.rpartition("/")[0]


def is_elf(content: bytes) -> bool:
    return content.startswith(b"\x7fELF")


def foreign_files(archive: zipfile.ZipFile) -> list[str]:
    """Tests, documents and sources of C++."""
    pattern = re.compile(r"(^|/)(tests?|docs)/|\.(cc|h|o|a)$|(^|/)CMakeLists\.txt$")
    return [f"{name}: does not belong in it" for name in archive.namelist() if pattern.search(name)]


def paths(archive: zipfile.ZipFile, folders: Iterable[Path]) -> list[str]:
    return [
        f"{name}: contains the path {folder}"
        for name in archive.namelist()
        for folder in folders
        if bytes(folder) in archive.read(name)
    ]


def byte_code(archive: zipfile.ZipFile) -> list[str]:
    """Byte code of each source below share/, valid without a time stamp.

    That changes with each unpacking.
    """
    names = set(archive.namelist())
    compiled = {}
    for name in names:
        if match := re.fullmatch(r"(.*/)__pycache__/([^/]+)\.cpython-\d+\.pyc", name):
            compiled[f"{match[1]}{match[2]}.py"] = name
    sources = {name for name in names if name.startswith(SHARE) and name.endswith(".py")}
    wrong = [f"{name}: without byte code" for name in sorted(sources - compiled.keys())]
    wrong += [f"{compiled[name]}: without source" for name in sorted(compiled.keys() - sources)]
    for name in compiled.values():
        flags = int.from_bytes(archive.read(name)[4:8], "little")
        if flags != UNCHECKED_HASH:
            wrong.append(f"{name}: is compared with its source, flags {flags:#x}")
    return wrong


def record(archive: zipfile.ZipFile) -> list[str]:
    """RECORD has each file, with its hash."""
    own = f"{dist_info(archive)}/RECORD"
    rows = {row[0]: row[1] for row in csv.reader(io.StringIO(archive.read(own).decode()))}
    files = {name for name in archive.namelist() if not name.endswith("/")}
    wrong = [f"{name}: only in the archive or in RECORD" for name in sorted(files ^ rows.keys())]
    for name in sorted(files & rows.keys() - {own}):
        value = base64.urlsafe_b64encode(hashlib.sha256(archive.read(name)).digest())
        if rows[name] != "sha256=" + value.rstrip(b"=").decode():
            wrong.append(f"{name}: RECORD has another hash")
    return wrong


def times(archive: zipfile.ZipFile, epoch: int) -> list[str]:
    """Everything has one time, that of the commit: otherwise each build would differ."""
    # An archive has no odd seconds.
    wanted = time.gmtime(epoch - epoch % 2)[:6]
    return [
        f"{each.filename}: is of {each.date_time}, not {wanted}"
        for each in archive.infolist()
        if each.date_time != wanted
    ]


def programs(archive: zipfile.ZipFile) -> list[str]:
    """Programs and libraries have no symbols for debuggers, and no path to search for libraries."""
    wrong = []
    for name in archive.namelist():
        if is_elf(content := archive.read(name)):
            sections = set(re.findall(r"\[ *\d+\] (\.\S+)", read_elf(content, "--section-headers")))
            found = {each for each in sections if each == ".symtab" or each.startswith(".debug")}
            wrong += [f"{name}: has {each}" for each in sorted(found)]
            dynamic = read_elf(content, "--dynamic")
            wrong += [
                f"{name}: has a {each}" for each in re.findall(r"\((R(?:UN)?PATH)\)", dynamic)
            ]
    return wrong


def exports(archive: zipfile.ZipFile) -> list[str]:
    """Libraries export only their entry: others in the process may have the same names, and what is
    exported cannot be left out."""
    wrong = []
    for name in archive.namelist():
        if name.endswith(".so") and is_elf(content := archive.read(name)):
            symbols = read_elf(content, "--dyn-syms")
            found = re.findall(r" (?:GLOBAL|WEAK|UNIQUE) +DEFAULT +(?!UND)\w+ ([^\s@]+)", symbols)
            other = {each for each in found if not each.startswith("PyInit_")} - ENTRIES
            wrong += [f"{name}: exports {each}" for each in sorted(other)]
    return wrong


def read_elf(content: bytes, option: str) -> str:
    with tempfile.NamedTemporaryFile() as file:
        file.write(content)
        file.flush()
        return subprocess.run(
            ["readelf", "--wide", option, file.name], capture_output=True, check=True, text=True
        ).stdout


def requires(archive: zipfile.ZipFile) -> list[str]:
    """A future Python must not consider this version usable."""
    metadata = BytesParser().parsebytes(archive.read(f"{dist_info(archive)}/METADATA"))
    wanted = metadata["Requires-Python"] or ""
    return [] if "<" in wanted else [f"Requires-Python has no upper bound: {wanted!r}"]


# --- of those for others --------------------------------------------------------------------------


def libraries(archive: zipfile.ZipFile) -> list[str]:
    """It contains no shared library, and needs only those of the C library."""
    wrong = [
        f"{name}: is a library that the wheel brings"
        for name in archive.namelist()
        if re.match(r"[^/]+\.libs/", name)
    ]
    for name in archive.namelist():
        if is_elf(content := archive.read(name)):
            needed = set(re.findall(r"\(NEEDED\).*\[(.*)\]", read_elf(content, "--dynamic")))
            wrong += [f"{name}: needs {each}" for each in sorted(needed - SYSTEM_LIBRARIES)]
    return wrong


def command(archive: zipfile.ZipFile) -> list[str]:
    """The command is the program, not a script that starts it."""
    (name,) = [each for each in archive.namelist() if each.endswith(".data/scripts/belljar")]
    return [] if is_elf(archive.read(name)) else [f"{name}: is no program"]


def modules(archive: zipfile.ZipFile, wheel: str) -> list[str]:
    """Extension modules are named for the wheel's processor: an interpreter finds no others."""
    found = [
        (name, match[1])
        for name in archive.namelist()
        if (match := re.search(r"\.cpython-\d+-(\w+?)-linux-gnu\.so$", name))
    ]
    return [f"{name}: is for {of}" for name, of in found if not wheel.endswith(f"_{of}.whl")]


def licences(archive: zipfile.ZipFile) -> list[str]:
    folder = f"{dist_info(archive)}/licenses/libraries/"
    found = {name.removeprefix(folder) for name in archive.namelist() if name.startswith(folder)}
    wrong = [f"the licence of {name} is missing" for name in sorted(LICENSED - found)]
    # Debian's files refer to the texts of those that many have.
    referred = {
        match.decode()
        for name in found & LICENSED
        for match in re.findall(
            rb"/usr/share/common-licenses/([\w.+-]*\w)", archive.read(folder + name)
        )
    }
    # That of documents, of which there are none.
    referred = {name for name in referred if not name.startswith("GFDL")}
    wrong += [f"the licence {name} is missing" for name in sorted(referred - found)]
    return wrong


def size(archive: zipfile.ZipFile, got: int) -> list[str]:
    """At most GREATEST_SIZE; beyond it, which of PARTS have grown, the largest growth first."""
    if got <= GREATEST_SIZE:
        return []
    sizes = dict.fromkeys(PARTS, 0)
    for each in archive.infolist():
        part = next(name for name, (of, _) in PARTS.items() if re.search(of, each.filename))
        sizes[part] += each.compress_size
    grown = sorted(((sizes[part] - was, part) for part, (_, was) in PARTS.items()), reverse=True)
    shown = [
        f"{part} by {more / 1000:.0f} kB to {sizes[part] / 1000:.0f}"
        for more, part in grown
        if more > 0
    ]
    return [
        f"it has {got / MB:.2f} MB, more than {GREATEST_SIZE / MB:g}; since its size was last "
        f"written down these have grown: {', '.join(shown) or 'none'}"
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--for-others", action="store_true")
    parser.add_argument("--not-of", type=Path, action="append", default=[], metavar="FOLDER")
    parser.add_argument("wheel", type=Path)
    options = parser.parse_args()
    with zipfile.ZipFile(options.wheel) as archive:
        wrong = foreign_files(archive) + paths(archive, options.not_of) + byte_code(archive)
        wrong += record(archive) + programs(archive) + exports(archive) + requires(archive)
        if epoch := os.environ.get("SOURCE_DATE_EPOCH"):
            wrong += times(archive, int(epoch))
        if options.for_others:
            wrong += libraries(archive) + command(archive) + licences(archive)
            wrong += size(archive, options.wheel.stat().st_size)
            wrong += modules(archive, options.wheel.name)
    for each in wrong:
        print(f"check_wheel: {each}", file=sys.stderr)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
