import os
import os.path
from os import path
from os.path import join, splitext

print(join("a", "b"), splitext("x.tar.gz"), path.basename("/a/b"), os.path.dirname("/a/b/c"))
print(os.sep, repr(os.linesep), os.name, os.curdir, os.pardir, os.path.normpath("a/./b/../c"))
print(os.path.commonpath(["a/b/c", "a/b/d"]), os.path.relpath("a/b", "a"), os.path.isabs("/x"))
print(os.environ.get("NOT_THERE", "default"), os.getenv("NOT_THERE"), "NOT_THERE" in os.environ)
os.environ["MINE"] = "1"
print(os.environ["MINE"], isinstance(os.cpu_count(), int), len(os.urandom(4)))


class Named(os.PathLike):
    def __init__(self, name):
        self.name = name

    def __fspath__(self):
        return self.name


with open(Named("named"), "w") as file:
    file.write("x")
print(os.path.exists(Named("named")), os.fspath(Named("named")), os.stat(Named("named")).st_size)
print(os.listdir(b".") == [os.fsencode(name) for name in os.listdir(".")])
here = os.getcwd()
os.mkdir("down")
os.chdir("down")
print(os.path.basename(os.getcwd()), os.listdir(os.pardir) == os.listdir(here))
os.chdir(here)
for call in (
    lambda: os.remove("nothing"),
    lambda: os.mkdir("down"),
    lambda: os.rmdir("named"),
    lambda: os.listdir("named"),
    lambda: os.stat("nothing"),
):
    try:
        call()
    except OSError as error:
        print(type(error).__name__, error.errno, error.filename)
print(
    os.strerror(2),
    os.path.expandvars("$NOT_THERE/x"),
    os.path.realpath("down/../named") == os.path.abspath("named"),
)
