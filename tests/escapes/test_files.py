"""Ways to open a file through the library."""

# ruff: noqa: E501 (attacks are kept as an attacker writes them)
from __future__ import annotations

import pytest

from tests.escapes.suite import check_attack

ATTACKS = {
    "file behind stdout": "import sys\nloot = 'escaped' if sys.__stdout__.buffer.write else 0",
    "ElementTree.parse opens a file": """
        import xml.etree.ElementTree as ET
        try: ET.parse('/etc/hostname')
        except ET.ParseError: loot = 'escaped'
        """,
    "ElementTree.write opens a file": """
        import xml.etree.ElementTree as ET
        ET.ElementTree(ET.Element('a')).write('/dev/null')
        loot = 'escaped'
        """,
    "ElementTree(file=)": """
        import xml.etree.ElementTree as ET
        try: ET.ElementTree(file='/etc/hostname')
        except ET.ParseError: loot = 'escaped'
        """,
    "canonicalize(from_file=)": """
        import xml.etree.ElementTree as ET
        try: ET.canonicalize(from_file='/etc/hostname')
        except ET.ParseError: loot = 'escaped'
        """,
    "ConfigParser.read": """
        import configparser
        p = configparser.ConfigParser()
        if p.read('/dev/null'): loot = 'escaped'
        """,
    "ConfigParser.read by super": """
        import configparser
        p = configparser.ConfigParser()
        if super(configparser.ConfigParser, p).read('/dev/null'): loot = 'escaped'
        """,
}


@pytest.mark.parametrize("name", ATTACKS)
def test_attack(name: str) -> None:
    check_attack(ATTACKS[name])
