# One of each kind of thing that the calls of the filesystem profile give. tools/walk_surface.py
# runs it and walks from its variables; everything is made in a directory that it removes.
import bz2
import glob
import gzip
import io
import logging
import lzma
import os
import pathlib
import shelve
import shutil
import sqlite3
import tarfile
import tempfile
import zipfile
import zlib

folder = tempfile.TemporaryDirectory()
path = pathlib.Path(folder.name)
text = open(path / "text", "w+")
text.write("line\n")
text.flush()
binary = open(path / "text", "rb")
both = open(path / "text", "r+b")
raw = open(path / "text", "rb", buffering=0)
appended = open(path / "appended", "ab")
parents = path.parents
pure = pathlib.PureWindowsPath("a/b")
stat = path.stat()
entries = os.scandir(path)
entry = next(entries)
walked = os.walk(path)
globbed = path.glob("*")
listed = path.iterdir()
found = glob.iglob(str(path / "*"))
usage = shutil.disk_usage(path)
ignored = shutil.ignore_patterns("*.pyc")
named = tempfile.NamedTemporaryFile("w", dir=folder.name)
unnamed = tempfile.TemporaryFile(dir=folder.name)

archive = zipfile.ZipFile(path / "a.zip", "w")
archive.writestr("member", "text")
member_to_write = archive.open("other", "w")
member_to_write.close()
information = archive.infolist()[0]
archive.close()
unzipped = zipfile.ZipFile(path / "a.zip")
member = unzipped.open("member")

tar = tarfile.open(path / "a.tar.gz", "w:gz")
tar.add(path / "text", "text")
tar.close()
untarred = tarfile.open(path / "a.tar.gz")
tar_member = untarred.next()
extracted = untarred.extractfile("text")
streamed = tarfile.open(path / "a.tar.gz", "r|gz")
if hasattr(tarfile, "data_filter"):  # from 3.11.4 on
    filtered = tarfile.data_filter(tar_member, folder.name)

shelf = shelve.open(str(path / "shelf"))
shelf["key"] = 1
keys_of_shelf, items_of_shelf, values_of_shelf = shelf.keys(), shelf.items(), shelf.values()
closed_shelf = shelve.Shelf({})
closed_shelf.close()
closed_dictionary = closed_shelf.dict

zipped = gzip.open(path / "a.gz", "wt")
zipped_bytes = gzip.open(path / "b.gz", "wb")
bzipped = bz2.open(path / "a.bz2", "wb")
xzipped = lzma.open(path / "a.xz", "wb")
bz_state = bz2.BZ2Compressor()
bz_back = bz2.BZ2Decompressor()
xz_state = lzma.LZMACompressor()
xz_back = lzma.LZMADecompressor()
z_state = zlib.compressobj()
z_back = zlib.decompressobj()

handler = logging.FileHandler(path / "log")

database = sqlite3.connect(":memory:")
cursor = database.execute("create table t (a, b blob)")
database.execute("insert into t values (1, zeroblob(10))")
database.row_factory = sqlite3.Row
row = database.execute("select * from t").fetchone()
dumped = database.iterdump()
blob = database.blobopen("t", "b", 1)
wrapped = io.TextIOWrapper(io.BytesIO(b"text"))
buffered = io.BufferedRandom(io.BytesIO(b"bytes"))
