"""IPython, for guests: there is no shell of it, only IPython.display."""

from __future__ import annotations


def get_ipython() -> None:
    """The shell: none."""
