"""A dictionary in files, and log files that are rotated."""

import glob
import logging
import logging.handlers
import os
import shelve


class Point:
    def __init__(self, x):
        self.x = x

    def __eq__(self, other):
        return self.x == other.x


with shelve.open("data") as shelf:
    shelf["a"] = [1, 2, {"b": 3}]
    shelf["point"] = Point(4)
    print(sorted(shelf), len(shelf), "a" in shelf, shelf.get("none", 0), shelf["a"])
    print(shelf["point"] == Point(4), shelf["point"] is shelf["point"])
    shelf["a"].append(9)
    print(shelf["a"])
    del shelf["point"]
    shelf.update(k="v")
with shelve.open("data", writeback=True) as shelf:
    print(dict(shelf))
    shelf["a"].append(5)
    shelf.sync()
shelf = shelve.open("data", "r")
print(shelf["a"], list(shelf.items()))
shelf.close()
try:
    shelf["a"]
except ValueError as error:
    print(error)
with shelve.open("data", "n") as shelf:
    print(len(shelf))
for name in glob.glob("data*"):
    os.remove(name)  # which files there are depends on the machine
in_memory = {}
shelf = shelve.Shelf(in_memory)
shelf["x"] = (1,)
print(shelf["x"], list(in_memory))
shelf.close()

log = logging.getLogger("app")
log.setLevel(logging.INFO)
handler = logging.handlers.RotatingFileHandler("app.log", maxBytes=200, backupCount=3)
handler.setFormatter(logging.Formatter("%(levelname)s %(message)s"))
log.addHandler(handler)
for number in range(40):
    log.info("message number %d", number)
handler.close()
print(sorted(name for name in os.listdir() if name.startswith("app")))
print(open("app.log").read(), open("app.log.1").read())
