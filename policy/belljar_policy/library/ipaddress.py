"""ipaddress, for guests: methods check the type of `self`."""

from __future__ import annotations

import ipaddress

from .objects import check_classes_of


def reduce(has_files: bool) -> None:
    """Before the first use."""
    check_classes_of(ipaddress)
