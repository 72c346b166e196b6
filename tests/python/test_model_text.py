"""The list of the standard library, of which a model is told what is not there."""

import sys

from belljar import Sandbox, _host

PARTS = ["http.client", "http.cookies", "http.server", "urllib.request"]
# Removed by PEP 594 or before, of CPython 3.11 and 3.12.
REMOVED = set(
    "aifc asynchat asyncore audioop cgi cgitb chunk crypt distutils imghdr imp lib2to3 mailcap "
    "msilib nis nntplib ossaudiodev pipes smtpd sndhdr spwd sunau telnetlib uu xdrlib".split()
)
INTERNAL = set(
    "antigravity builtins genericpath idlelib nt ntpath nturl2path opcode pydoc_data pyexpat "
    "sre_compile sre_constants sre_parse this turtledemo annotationlib compression "
    "msvcrt winreg winsound".split()  # the last three: of Windows
)


def library() -> list[str]:
    names = {name for name in sys.stdlib_module_names if name[0] != "_"} - REMOVED - INTERNAL
    return sorted(names)


def test_each_module_of_this_python_is_in_the_list():
    every = library()
    assert _host.library_text([*every, *PARTS]) == "the standard library"
    for name in {*every, *PARTS} - {"http", "urllib"}:
        others = [each for each in [*every, *PARTS] if each.partition(".")[0] != name]
        others = [each for each in others if each != name]
        assert _host.library_text(others) == f"the standard library except {name}"


def test_what_is_shorter_is_said():
    assert _host.library_text(["json", "xml.dom", "xml.sax"]) == "json, xml"
    assert _host.library_text([]) == ""


def test_every_module_that_is_offered_can_be_imported():
    """What the text excepts is refused, and `subprocess` is never offered."""
    with Sandbox() as box:
        info, text = box.info(), box._open().offer(None, None)
        absent = text.split(" except ")[1].split(";")[0].split(", ")
        offered = set(library()) - set(absent)
        assert "math" in offered and {"ctypes", "subprocess", "socket"} <= set(absent)
        assert "subprocess" not in info.modules
        for name in sorted(offered):
            assert box.run(f"import {name}").ok, name
        for name in absent:
            assert box.run(f"import {name}").status == "refused", name


def test_the_limits_are_those_of_its_runs():
    with Sandbox(timeout=5, memory="64m") as box:
        text = box._open().offer(None, None)
        assert "Limits: at 5s or 64m of memory the program is stopped" in text
        assert "at 1500ms or 128m of memory" in box._open().offer(1500, 128 << 20)
