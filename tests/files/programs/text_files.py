import configparser
import io
import json
import logging
import xml.etree.ElementTree as ET

with open("lines.txt", "w", encoding="utf-8", newline="\n") as file:
    print(
        file.write("ä\nb\nc\n"),
        file.name,
        file.mode,
        file.encoding,
        file.writable(),
        file.readable(),
    )
with open("lines.txt", encoding="utf-8") as file:
    print([line.rstrip() for line in file], file.closed)
print(file.closed, open("lines.txt", "rb").read(3))
with open("lines.txt", "r+", encoding="utf-8") as file:
    file.seek(0, io.SEEK_END)
    print(file.tell())
    file.writelines(["d\n", "e\n"])
    file.seek(0)
    print(file.readlines(), file.read())
with open("lines.txt", "a") as file:
    print("printed", 1, sep="-", file=file)
try:
    open("lines.txt", "x")
except FileExistsError as error:
    print(error)
try:
    open("latin", "wb").write("ü".encode("latin-1"))
    open("latin", encoding="utf-8").read()
except UnicodeDecodeError as error:
    print(error.reason)
print(
    open("latin", encoding="utf-8", errors="replace").read(),
    open("latin", encoding="latin-1").read(),
)
with open("numbers.bin", "wb") as file:
    file.write(bytes(range(10)))
with open("numbers.bin", "r+b") as file:
    file.seek(5)
    file.write(b"X")
    file.truncate(8)
    file.seek(-2, 2)
    print(file.read(), file.tell(), isinstance(file, io.BufferedIOBase))
try:
    file.read()
except ValueError as error:
    print(error)
print(isinstance(open("lines.txt"), io.TextIOBase), type(open("latin", "rb", buffering=0)).__name__)

settings = configparser.ConfigParser()
print(
    settings.read(["settings.ini", "missing.ini"]),
    settings["paths"]["name"],
    settings.getint("limits", "most"),
)
with open("new.ini", "w") as file:
    settings.write(file)

tree = ET.parse("books.xml")
for book in tree.getroot():
    book.set("old", str(int(book.get("year")) < 2000))
tree.write("books-out.xml", encoding="utf-8", xml_declaration=True)
print(
    [book.findtext("title") for book in tree.iter("book")], ET.parse("books-out.xml").getroot().tag
)

with open(settings["paths"]["name"], "w") as file:
    json.dump([1, {"ü": None}], file, ensure_ascii=False)
print(json.load(open("results.json")))
with open("log.txt", "w") as file:
    logging.basicConfig(stream=file, level=logging.INFO, format="%(levelname)s %(message)s")
    logging.info("to a file")
print(open("log.txt").read())

logging.basicConfig(
    filename="log.txt", level=logging.DEBUG, format="%(name)s: %(message)s", force=True
)
logging.getLogger("part").debug("more %s", 1)
handler = logging.FileHandler("own.log", "w", encoding="utf-8")
handler.setFormatter(logging.Formatter("%(levelname)s %(message)s"))
logger = logging.getLogger("own")
logger.addHandler(handler)
logger.propagate = False
logger.warning("größer")
handler.close()
print(open("log.txt").read(), open("own.log", encoding="utf-8").read(), type(handler).__name__)
