import sys
import textwrap

ROOMS = {
    "hall": {"text": "You are in a dusty hall. Exits lead north and east.", "north": "library", "east": "kitchen", "items": ["lamp"]},
    "library": {"text": "Books everywhere. One shelf looks loose.", "south": "hall", "items": ["book"], "dark": True},
    "kitchen": {"text": "It smells of old soup.", "west": "hall", "items": ["key", "knife"]},
}


class GameOver(Exception): pass


class Game:
    shortcuts = dict(n="north", s="south", e="east", w="west", i="inventory", l="look", x="examine", q="quit")

    def __init__(self, rooms, start):
        self.rooms, self.here, self.bag, self.turns = rooms, start, [], 0
        self._seen = set()

    @property
    def room(self): return self.rooms[self.here]

    def say(self, text): print(textwrap.fill(text, 50, initial_indent="  ", subsequent_indent="  "))

    def do_look(self, *_):
        if self.room.get("dark") and "lamp" not in self.bag:
            return self.say("It is too dark to see.")
        self.say(self.room["text"])
        if items := self.room["items"]:
            self.say("You see: " + ", ".join(sorted(items)) + ".")

    def do_go(self, way="", *_):
        if way not in self.room or way in ("text", "items", "dark"):
            return self.say(f"You cannot go {way or 'nowhere'}.")
        self.here = self.room[way]
        self.do_look()

    for _way in "north", "south", "east", "west":
        locals_free = lambda self, *_, way=_way: self.do_go(way)
        if _way == "north": do_north = locals_free
        elif _way == "south": do_south = locals_free
        elif _way == "east": do_east = locals_free
        else: do_west = locals_free
    del _way, locals_free

    def do_take(self, *names):
        for name in names or ("",):
            try:
                self.room["items"].remove(name)
            except ValueError:
                self.say(f"There is no {name!r} here.")
            else:
                self.bag.append(name)
                self.say(f"Taken: {name}")

    def do_drop(self, name=None, *_):
        if name in self.bag:
            self.bag.remove(name); self.room["items"] += [name]
            self.say("Dropped.")
        else: self.say("You do not have that.")

    def do_inventory(self, *_): self.say(f"You carry {', '.join(self.bag) or 'nothing'}.")

    def do_use(self, what="", *_):
        match what, self.here:
            case "key", "library" if "key" in self.bag and "lamp" in self.bag:
                self.say("The shelf swings open. You win!")
                raise GameOver(self.turns)
            case "key", _: self.say("There is nothing to unlock.")
            case "", _: self.say("Use what?")
            case thing, _ if thing in self.bag: self.say(f"You wave the {thing} around.")
            case _: self.say("You do not have that.")

    def do_quit(self, *_): raise GameOver(None)

    def play(self):
        self.do_look()
        while True:
            try:
                line = input("> ")
            except EOFError:
                print(); return "end of input"
            print(line)
            verb, *rest = line.lower().split() or [""]
            command = getattr(self, "do_" + self.shortcuts.get(verb, verb), None)
            if command is None:
                self.say(f"I do not know how to {verb!r}.")
                continue
            self.turns += 1
            try:
                command(*rest)
            except GameOver as over:
                return over.args[0]


result = Game(ROOMS, "hall").play()
print("result:", result, file=sys.stderr if result is None else sys.stdout)
