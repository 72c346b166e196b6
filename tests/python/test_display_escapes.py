"""Attacks by way of IPython.display. Each succeeds in plain Python with IPython itself."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest

from tests.clocks import HANG
from tests.machine import need
from tests.python.test_kernel import PYTHON

if TYPE_CHECKING:
    from belljar import Sandbox

HEAD = "from IPython.display import HTML, DisplayObject, display, clear_output\n"
ATTACKS = {
    "the globals of a function": "loot = display.__globals__['__builtins__']",
    "by a name made at run time": "loot = getattr(display, '__glo' + 'bals__')['__builtins__']",
    "by a getter": "import operator\n"
    "loot = operator.attrgetter('__globals__')(clear_output)['__builtins__']",
    "the globals of a method": "loot = HTML.__init__.__globals__['__builtins__']",
    "the code of a method": "loot = DisplayObject.__init__.__code__.co_filename",
    "by a format string": "loot = '{0.__init__.__globals__}'.format(HTML)",
    "a file of the machine": "loot = HTML(filename='/etc/passwd').data",
    "a method for all programs": "HTML.__repr__ = lambda self: 'mine'\n"
    "loot = 'mine' in repr(HTML('<b>'))",
    "the frame of a failure": """
try:
    HTML(filename='/nowhere')
except Exception as error:
    entry = error.__traceback__
    while entry.tb_next:
        entry = entry.tb_next
    loot = entry.tb_frame.f_globals
""",
    "the frame of whoever asks for the text": """
import sys
class Asked:
    def __repr__(self):
        global loot
        loot = sys._getframe(1).f_globals
        return ""
display(Asked())
""",
}
TOLD = "\nprint('escaped' if loot else '')"


@pytest.mark.parametrize("name", ATTACKS)
def test_an_attack_succeeds_in_plain_python_only(box: Sandbox, name: str) -> None:
    need(PYTHON.is_file(), "IPython")
    source = HEAD + ATTACKS[name] + TOLD
    plain = subprocess.run([PYTHON, "-c", source], capture_output=True, text=True, timeout=HANG)
    assert "escaped" in plain.stdout, plain.stderr
    result = box.run(source)
    assert "escaped" not in result.stdout
    assert result.status in ("refused", "exception"), result
    # The view is there: it is the attack that fails.
    assert box.run(HEAD + "display(HTML('<b>'))").ok
