"""For test_escapes.py: attacks through the packages that are loaded on import.

Objects that pass attributes on to what they wrap do it with the library's rights, and so do
functions that import, open or call what a program names. lxml opens files in C, which no audit hook
sees.
"""

from __future__ import annotations

from tests.policy.harness import OWN_FILE

NOTHING = "nothing"
"""It runs, and what it gets is worth nothing."""

SHARED = """
import io
import operator
import pandas as pd
import plotly.graph_objects as go
import pytz
import regex
from bs4 import BeautifulSoup
from faker import Faker, Generator
from lxml import etree, html
from openpyxl import Workbook, load_workbook
from openpyxl.drawing.image import Image
from sortedcontainers import SortedSet
from tqdm import tqdm
held = go.Layout.re
bar = tqdm([1], file=io.StringIO())
file = type(bar.fp)
external = '<!DOCTYPE a [<!ENTITY e SYSTEM "file:///etc/passwd">]><a>&e;</a>'
class Provider(str):
    def startswith(self, start):
        return start != "."
class Part(str):
    def __contains__(self, _):
        return False
class Zone(str):
    def upper(self):
        return "no zone"
    lower = upper
    def replace(self, *_):
        return self
    def lstrip(self, _):
        return self
    def split(self, _):
        return [Part("/etc/passwd")]
    def __eq__(self, _):
        return True
    def __hash__(self):
        return hash("Europe/Berlin")
"""

# what is tried: (body of the function, what stops it)
ATTACKS: dict[str, tuple[str, str]] = {
    "a file of tqdm passes a module's names on": ("return file(held, bar).enum", "BJ301"),
    "and writes to a module": (
        "file(held, bar).planted = 1\nreturn True",
        "BJ305",
    ),
    "and to a class": ("file(pd.DataFrame, bar).planted = 1\nreturn True", "BJ305"),
    "a constructor fills a module": (
        "SortedSet.__init__(held)\nreturn True",
        "takes a SortedSet",
    ),
    "and a class": ("SortedSet.__init__(Faker)\nreturn Faker.bisect", "takes a SortedSet"),
    "a style of openpyxl passes a module's names on": (
        'return type(Workbook().active["A1"].font)(held).enum',
        "BJ301",
    ),
    "names of faker's that are unique": (
        'return type(Faker().unique)(held).compile("a")',
        "BJ301",
    ),
    "a module's functions as formatters": (
        'it = Generator()\nit.add_provider(held)\nreturn it.compile("a")',
        "BJ502",
    ),
    "a formatter by a private name": (
        'return Generator().format("__reduce_ex__", 2)',
        "Unknown formatter",
    ),
    "a provider by any module's name": (
        """
        try:
            Faker(includes=["colorsys"])
        except AttributeError as error:  # it was imported, and has no provider
            return "Provider" in str(error)
        """,
        "BJ502",
    ),
    "a provider by a name that says what it likes": (
        """
        try:
            Faker(includes=[Provider("colorsys")])
        except AttributeError as error:
            return "Provider" in str(error)
        """,
        "BJ502",
    ),
    "the module behind CSS selectors": (
        'return BeautifulSoup("<p>", "html.parser").css.api.util',
        "BJ301",
    ),
    "a pattern that formats": (
        'return regex.subf("(?P<x>.)", "{x.__class__.__subclasses__}", "a")',
        "BJ",
    ),
    "the globals of a function in C": (
        'return operator.attrgetter("__globals__")(etree.fromstring)',
        "BJ301",
    ),
    "a time zone of any file": (
        """
        try:
            pytz.timezone(Zone())
        except AssertionError:  # it was read, and is no time zone
            return True
        """,
        "BJ502",
    ),
    "a workbook from a path": (
        """
        try:
            load_workbook("/etc/passwd.xlsx")
        except FileNotFoundError:  # it was asked for
            return True
        """,
        "BJ502",
    ),
    "a workbook to a path": (
        'Workbook().save("' + OWN_FILE + '.xlsx")\nreturn True',
        "BJ502",
    ),
    "a picture from a path": (
        """
        try:
            Image("/etc/passwd")
        except Exception as error:
            return type(error).__name__ == "UnidentifiedImageError"
        """,
        NOTHING,
    ),
    "C code reads a file": (
        """
        try:
            etree.parse("/etc/passwd")
        except etree.XMLSyntaxError:
            return True
        """,
        "Permission denied",
    ),
    "C code reads an entity": (
        "it = etree.fromstring(external, etree.XMLParser(resolve_entities=True))\nreturn it.text",
        "Permission denied",
    ),
    "C code includes a file": (
        """
        it = etree.fromstring(
            '<a xmlns:i="http://www.w3.org/2001/XInclude"><i:include href="/etc/passwd" '
            'parse="text"/></a>'
        )
        it.getroottree().xinclude()
        return it.text
        """,
        "Permission denied",
    ),
    "C code writes a file": (
        'etree.fromstring("<a/>").getroottree().write("' + OWN_FILE + '.xml")\nreturn True',
        "Permission denied",
    ),
    "C code reads a schema": (
        """
        try:
            etree.XMLSchema(file="/etc/passwd")
        except etree.XMLSchemaParseError as error:
            return "Start tag expected" in str(error)
        """,
        NOTHING,
    ),
    "a parser reads piece by piece": (
        """
        try:
            list(etree.iterparse("/etc/passwd"))
        except etree.XMLSyntaxError:
            return True
        """,
        "BJ502",
    ),
}
