"""Files by number, by encoding, and compared."""

import codecs
import filecmp
import os
import tempfile

number, path = tempfile.mkstemp(suffix=".txt", text=True)
print(type(number) is int, os.path.isabs(path), path.endswith(".txt"))
print(os.write(number, b"first "))
with os.fdopen(number, "w") as file:
    print(file.write("second"))
print(open(path).read())
os.unlink(path)

number, path = tempfile.mkstemp()
os.close(number)
for close in (os.close, os.fdopen):
    try:
        close(number)
    except OSError as error:
        print(error.errno)
os.remove(path)

with codecs.open("greek.txt", "w", "utf-8") as file:
    file.write("αβγ\n")
with codecs.open("greek.txt", encoding="utf-8") as file:
    print(file.read().strip())
with codecs.open("greek.txt", "rb") as file:
    print(file.read())

os.mkdir("one")
os.mkdir("two")
for folder, name, text in [("one", "a", "1"), ("two", "a", "1"), ("two", "b", "2")]:
    with open(os.path.join(folder, name), "w") as file:
        file.write(text)
print(filecmp.cmp("one/a", "two/a"), filecmp.cmpfiles("one", "two", ["a", "b"]))
