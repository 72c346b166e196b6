import configparser
import html
import io
import textwrap
import xml.etree.ElementTree as ET
from html.parser import HTMLParser
from pprint import pprint, pformat

INI = """
[DEFAULT]
home = /srv
debug = no

[server]
port = 8080
root = %(home)s/www
hosts = a, b,
    c
[client]
debug = yes
timeout = 2.5
; comment
"""
config = configparser.ConfigParser()
config.read_string(INI)
server = config["server"]
print(config.sections(), server.getint("port"), server["root"], server["hosts"].split(), server.getboolean("debug"), config.getfloat("client", "timeout"))
print(config.has_option("client", "port"), server.get("nope", "fallback"), "home" in server, dict(config.items("client")), config.getboolean("client", "debug"))
config["new"] = {"x": "1"}
config.set("new", "y", "2"); config.remove_option("server", "hosts")
out = io.StringIO(); config.write(out)
print(out.getvalue().count("\n"), out.getvalue().splitlines()[0])
for bad in (lambda: config["nope"], lambda: config.get("new", "zzz"), lambda: configparser.ConfigParser().read_string("x=1"), lambda: config.getint("client", "debug")):
    try: bad()
    except (KeyError, ValueError, configparser.Error if hasattr(configparser, "Error") else Exception) as e: print(type(e).__name__, str(e).splitlines()[0])
raw = configparser.RawConfigParser(allow_no_value=True); raw.optionxform = str
raw.read_string("[S]\nKey: v%\nflag")
print(dict(raw["S"]))

XML = """<?xml version="1.0"?>
<shop xmlns:x="urn:x"><!-- c -->
  <book id="1" x:lang="en"><title>A &amp; B</title><price currency="EUR">9.5</price></book>
  <book id="2"><title>C</title><price currency="USD">12</price>tail</book>
</shop>"""
root = ET.fromstring(XML)
for book in root.iter("book"):
    print(book.get("id"), book.findtext("title"), book.find("price").attrib, float(book.find("price").text) * 2, sorted(book.attrib))
print([b.tag for b in root], root.find("./book[@id='2']/title").text, len(root.findall(".//price")), root[1][1].tail)
root[0].set("sold", "yes"); root.remove(root[1])
new = ET.SubElement(root, "book", id="3"); new.text = "<new>"; new.append(ET.Comment("hm"))
ET.indent(root)
print(ET.tostring(root, encoding="unicode"))
try: ET.fromstring("<a><b></a>")
except ET.ParseError as e: print(e, e.position)
buf = io.BytesIO(); ET.ElementTree(ET.Element("r", {"k": "é"})).write(buf, encoding="utf-8", xml_declaration=True); print(buf.getvalue())


class Links(HTMLParser):
    def __init__(self):
        super().__init__()
        self.links, self._open, self.text = [], [], []
    def handle_starttag(self, tag, attrs):
        self._open.append(tag)
        if tag == "a": self.links.append(dict(attrs).get("href"))
    def handle_endtag(self, tag):
        while self._open and self._open.pop() != tag: pass
    def handle_data(self, data):
        if "script" not in self._open and data.strip(): self.text.append((" > ".join(self._open), data.strip()))
    def handle_comment(self, data): self.text.append(("comment", data))


p = Links()
p.feed('<html><body><h1>Hi &lt;you&gt;</h1><p>See <a href="/x?a=1&amp;b">this <b>link</b></a> &copy; <br>more<!-- note --><script>var x;</script></p><a>none</a>')
p.close()
print(p.links, *p.text, sep="\n"); print(html.escape("<a href='x'>"), html.unescape("&eacute;&#9731;&nosuch;"))


def table(rows):
    return "<table>" + "".join("<tr>" + "".join(f"<td>{html.escape(str(c))}</td>" for c in r) + "</tr>" for r in rows) + "</table>"


print(table([(1, "<b>"), ("x & y", None)]), textwrap.fill(table([range(5)]), 40))
pprint({"name": "x" * 30, "list": list(range(25)), "nested": {"a": {"b": {"c": ("tuple",)}}, "set": {3, 1, 2}}}, width=60, depth=3)
print(pformat([["deep", ["er"]]], indent=2, width=10), ET.iselement(root), ET.Element("a") == ET.Element("a"))
