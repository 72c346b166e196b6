import os
import shutil
import tempfile

with tempfile.TemporaryDirectory() as folder:
    inner = os.path.join(folder, "x")
    with open(inner, "w") as file:
        file.write("x")
    print(os.path.isdir(folder), os.listdir(folder))
print(os.path.exists(folder))
with tempfile.NamedTemporaryFile("w+", suffix=".txt", delete=False) as file:
    file.write("one\ntwo\n")
    file.seek(0)
    print(file.readline(), list(file), file.name.endswith(".txt"), file.mode, file.closed)
print(open(file.name).read(), file.closed)
os.unlink(file.name)
with tempfile.NamedTemporaryFile(prefix="pre-") as file:
    file.write(b"bytes")
    file.flush()
    print(os.path.basename(file.name).startswith("pre-"), os.path.getsize(file.name))
print(os.path.exists(file.name))
with tempfile.TemporaryFile("w+") as file:
    print(file.write("text"), file.tell())
made = tempfile.mkdtemp(prefix="d")
print(os.path.isdir(made), os.path.dirname(made) == tempfile.gettempdir())
os.makedirs(os.path.join(made, "a", "b"))
shutil.rmtree(made)
print(os.path.exists(made))
