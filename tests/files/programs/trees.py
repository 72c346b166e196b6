import os
import shutil
import time

os.makedirs("src/deep/er", exist_ok=True)
for name in ("a.py", "b.pyc", "deep/c.txt", "deep/er/d.txt"):
    with open(f"src/{name}", "w") as file:
        file.write(name)
os.utime("src/a.py", (1_000_000_000, 1_000_000_000))
print(shutil.copy("src/a.py", "copied.py"), shutil.copy2("src/a.py", "with-times.py"))
print(int(os.stat("with-times.py").st_mtime), os.stat("copied.py").st_mtime > 1_000_000_000)
print(shutil.copytree("src", "tree", ignore=shutil.ignore_patterns("*.pyc")))
print(
    sorted(
        os.path.relpath(os.path.join(top, f), "tree") for top, _, fs in os.walk("tree") for f in fs
    )
)
print(shutil.move("tree/deep", "moved"), sorted(os.listdir("moved")))
try:
    shutil.copytree("src", "tree")
except FileExistsError as error:
    print("exists:", error.filename)
try:
    shutil.copyfile("src/a.py", "src/a.py")
except shutil.SameFileError:
    print("the same")
failed = []
shutil.rmtree(
    "nothing", onerror=lambda function, path, info: failed.append((path, info[0].__name__))
)
print(failed)
shutil.rmtree("nothing", ignore_errors=True)
try:
    shutil.rmtree("nothing")
except FileNotFoundError as error:
    print(error)
shutil.rmtree("tree")
os.chmod("copied.py", 0o640)
print(oct(os.stat("copied.py").st_mode & 0o777))
os.rename("copied.py", "renamed.py")
os.replace("renamed.py", "with-times.py")
os.link("with-times.py", "hard")
print(os.path.samefile("hard", "with-times.py"), os.stat("hard").st_nlink)
os.truncate("hard", 2)
print(open("with-times.py").read(), os.access("hard", os.R_OK), os.access("nothing", os.F_OK))
os.mkdir("empty")
os.rmdir("empty")
os.removedirs("moved/er") if not os.listdir("moved/er") else os.remove("moved/er/d.txt")
print(
    sorted(os.listdir("moved")),
    shutil.disk_usage(".").total > 0,
    time.time() - os.path.getmtime("moved") < 60,
)
