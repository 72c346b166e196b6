import argparse
import ast
import bz2
import cmd
import codecs
import colorsys
import errno
import gc
import gettext
import gzip
import importlib
import importlib.util
import io
import ipaddress
import keyword
import locale
import lzma
import platform
import shlex
import stat
import tomllib
import weakref
import zlib

p = argparse.ArgumentParser(prog="x", description="d")
p.add_argument("name")
p.add_argument("-n", type=int, default=3, help="count (default: %(default)s)")
p.add_argument("--flag", action="store_true")
p.add_argument("--items", nargs="*", action="append")
sub = p.add_mutually_exclusive_group()
sub.add_argument("--a", action="store_const", const=1)
a = p.parse_args(["bob", "-n", "5", "--flag", "--items", "a", "b"])
print(a, vars(a), a.n, "name" in a)
p.print_help()
pp = argparse.ArgumentParser()
s = pp.add_subparsers(dest="cmd")
q = s.add_parser("run")
q.add_argument("x")
q.set_defaults(func=lambda a: a.x)
b = pp.parse_args(["run", "7"])
print(b.func(b), b.cmd, argparse.Namespace(a=1) == argparse.Namespace(a=1))
try:
    p.parse_args([])
except SystemExit as e:
    print("exit", e.code)
print(shlex.split("a 'b c' d"), shlex.quote("a b"), shlex.join(["a", "b c"]))
print(tomllib.loads("a = 1\n[b]\nc = [1,2]\nd = 1979-05-27"), tomllib.load(io.BytesIO(b"x=1")))
print(
    ipaddress.ip_network("10.0.0.0/30").num_addresses,
    [str(h) for h in ipaddress.ip_network("10.0.0.0/30").hosts()],
    ipaddress.ip_address("::1").is_loopback,
)
print(
    ast.literal_eval("{'a': [1, 2, (3,)]}"),
    ast.dump(ast.parse("x+1", mode="eval")),
    ast.unparse(ast.parse("def f(a): return a*2")),
)


class V(ast.NodeVisitor):
    def visit_Name(self, n):
        print("name", n.id, n.lineno)


V().visit(ast.parse("a + b"))


class T(ast.NodeTransformer):
    def visit_Constant(self, n):
        return ast.copy_location(ast.Constant(n.value + 1), n)


t = T().visit(ast.parse("1 + 2"))
ast.fix_missing_locations(t)
print(ast.unparse(t))
print([type(n).__name__ for n in ast.walk(ast.parse("f(x)"))])


class C:
    pass


c = C()
r = weakref.ref(c)
print(r() is c)
d = weakref.WeakValueDictionary()
d["k"] = c
print(len(d))
f = weakref.finalize(c, print, "gone")
ws = weakref.WeakSet([c])
print(len(ws))
pr = weakref.proxy(c)
pr2 = weakref.WeakKeyDictionary()
pr2[c] = 1
del c
print(r(), len(d), len(ws), len(pr2))
print(
    keyword.iskeyword("for"),
    len(keyword.kwlist),
    errno.ENOENT,
    errno.errorcode[2],
    stat.filemode(0o100644),
    stat.S_ISDIR(0o040000),
)
print(
    colorsys.rgb_to_hsv(1, 0, 0),
    platform.system(),
    platform.python_version(),
    platform.python_implementation(),
    platform.uname().system,
)
print(
    codecs.encode("hello", "rot13"),
    codecs.decode(b"abc", "utf-8"),
    codecs.lookup("utf8").name,
    codecs.BOM_UTF8,
    codecs.encode(b"ab", "hex"),
)
print(gc.collect() >= 0, gc.isenabled(), gc.get_threshold())
print(locale.format_string("%d", 1234567, grouping=True), gettext.gettext("hi"))
data = b"hello" * 100
for m in (zlib, gzip, bz2, lzma):
    assert m.decompress(m.compress(data)) == data
    print(m.__name__)
buf = io.BytesIO()
with gzip.GzipFile(fileobj=buf, mode="wb") as g:
    g.write(data)
print(
    gzip.open(io.BytesIO(buf.getvalue()), "rt").read()[:5], gzip.decompress(buf.getvalue()) == data
)
m = importlib.import_module("math")
print(m.pi, importlib.util.find_spec("no_such_module"), importlib.util.find_spec("json").name)
print(
    importlib.import_module("string").digits,
    importlib.import_module("collections.abc").Sized is not None,
)


class Shell(cmd.Cmd):
    prompt = "> "

    def do_hi(self, arg):
        "say hi"
        print("hi", arg)

    def do_quit(self, arg):
        return True


Shell(stdin=io.StringIO("hi bob\nquit\n")).onecmd("hi bob")
Shell().onecmd("help")
