import io
import os
import shutil
import tarfile
import zipfile

os.makedirs("src/sub")
for name, text in {"a.txt": "a" * 1000, "sub/b.txt": "b\n", "sub/ü.txt": "ü"}.items():
    with open(os.path.join("src", name), "w", encoding="utf-8") as file:
        file.write(text)

with zipfile.ZipFile("a.zip", "w", zipfile.ZIP_DEFLATED) as archive:
    for top, _, names in sorted(os.walk("src")):
        for name in sorted(names):
            archive.write(os.path.join(top, name))
    info = zipfile.ZipInfo("made.txt", (2020, 1, 1, 0, 0, 0))
    info.external_attr = 0o600 << 16
    archive.writestr(info, "made here")
with zipfile.ZipFile("a.zip") as archive:
    print(sorted(archive.namelist()), archive.testzip(), archive.getinfo("src/a.txt").file_size)
    print(archive.read("made.txt"), archive.open("src/sub/b.txt").readline())
    archive.extractall("unzipped")
print(zipfile.is_zipfile("a.zip"), zipfile.is_zipfile("src/a.txt"))

for mode in ("gz", "bz2", "xz"):
    with tarfile.open(f"a.tar.{mode}", f"w:{mode}") as archive:
        archive.add("src", "packed")
        member = tarfile.TarInfo("made")
        member.size = 4
        archive.addfile(member, io.BytesIO(b"data"))
    with tarfile.open(f"a.tar.{mode}") as archive:
        print(sorted(archive.getnames()), archive.extractfile("made").read())
        archive.extractall(f"from-{mode}")
    print(open(f"from-{mode}/packed/sub/ü.txt", encoding="utf-8").read())
print(tarfile.is_tarfile("a.tar.gz"), tarfile.is_tarfile("a.zip"))
print(os.path.basename(shutil.make_archive("whole", "zip", "src")))
shutil.unpack_archive("whole.zip", "whole")
print(sorted(os.listdir("whole")), open("whole/sub/b.txt").read())
try:
    zipfile.ZipFile("src/a.txt")
except zipfile.BadZipFile as error:
    print(error)
for name in ("a.zip", "whole.zip", "a.tar.gz", "a.tar.bz2", "a.tar.xz"):
    os.remove(name)  # they hold the time
