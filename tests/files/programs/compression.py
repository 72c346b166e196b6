import bz2
import gzip
import io
import lzma
import zlib

data = b"squeeze " * 1000
for module, suffix in ((gzip, "gz"), (bz2, "bz2"), (lzma, "xz")):
    with module.open(f"data.{suffix}", "wb") as file:
        file.write(data)
    with module.open(f"data.{suffix}") as file:
        print(suffix, file.read() == data, len(module.compress(data)) < 200)
    with module.open(f"text.{suffix}", "wt", encoding="utf-8") as file:
        print("größe\nzwei", file=file)
    with module.open(f"text.{suffix}", "rt", encoding="utf-8") as file:
        print([line.strip() for line in file])
    print(module.decompress(module.compress(b"x")))
print(zlib.crc32(b"abc"), zlib.adler32(b"abc"), zlib.decompress(zlib.compress(data, 9)) == data)
packer = zlib.compressobj(wbits=-15)
packed = packer.compress(data) + packer.flush()
print(zlib.decompressobj(-15).decompress(packed, 8))
with gzip.GzipFile(fileobj=io.BytesIO(gzip.compress(b"in memory"))) as file:
    print(file.read(2), file.read())
for bad in (
    lambda: gzip.decompress(b"no"),
    lambda: zlib.decompress(b"no"),
    lambda: lzma.decompress(b"no"),
):
    try:
        bad()
    except Exception as error:
        print(type(error).__name__, error)
with gzip.GzipFile("data.gz", "wb", mtime=0) as file:
    file.write(b"always the same")
with gzip.GzipFile("text.gz", "wb", mtime=0) as file:
    file.write(b"this too")
