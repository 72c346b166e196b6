"""A text adventure that plays itself: a graph, a queue, commands, and a seeded die."""

import random
import textwrap
from collections import deque
from dataclasses import dataclass, field

MAP = """
hall: north=library east=kitchen
library: south=hall up=attic
kitchen: west=hall down=cellar
attic: down=library
cellar: up=kitchen east=vault
vault: west=cellar
"""
THINGS = {"lamp": "attic", "key": "kitchen", "crown": "vault"}


@dataclass
class Game:
    rooms: dict[str, dict[str, str]]
    place: str = "hall"
    carried: set[str] = field(default_factory=set)
    lying: dict[str, str] = field(default_factory=lambda: dict(THINGS))
    turns: int = 0

    def way(self, target: str) -> list[str]:
        """The shortest walk, as directions."""
        queue = deque([(self.place, [])])
        seen = {self.place}
        while queue:
            room, path = queue.popleft()
            if room == target:
                return path
            for direction, other in self.rooms[room].items():
                if other not in seen:
                    seen.add(other)
                    queue.append((other, [*path, direction]))
        raise LookupError(target)

    def do(self, command: str) -> str:
        self.turns += 1
        match command.split():
            case ["go", direction] if direction in self.rooms[self.place]:
                if self.rooms[self.place][direction] == "vault" and "key" not in self.carried:
                    return "The door is locked."
                self.place = self.rooms[self.place][direction]
                return f"You are in the {self.place}."
            case ["go", direction]:
                return f"No way leads {direction}."
            case ["take", thing] if self.lying.get(thing) == self.place:
                del self.lying[thing]
                self.carried |= {thing}
                return f"You have the {thing}."
            case ["roll", ("high" | "low") as side]:
                die = random.randint(1, 6)
                won = (die > 3) == (side == "high")
                return f"The die shows {die}: {'won' if won else 'lost'}."
            case [*words]:
                return f"You cannot {' '.join(words)} here."
        raise AssertionError(command)


def read_map(text: str) -> dict[str, dict[str, str]]:
    rooms = {}
    for line in text.split("\n"):
        if line:
            name, _, exits = line.partition(":")
            rooms[name] = dict(exit.split("=") for exit in exits.split())
    return rooms


random.seed(7)
game = Game(read_map(MAP))
script = ["go east", "take lamp", "go west", "sing"]
for thing in ("key", "lamp", "crown"):
    script.append(f"find {thing}")
script += ["roll high", "roll low"]

for entry in script:
    match entry.split():
        case ["find", thing]:
            commands = [f"go {step}" for step in game.way(THINGS[thing])] + [f"take {thing}"]
        case _:
            commands = [entry]
    for command in commands:
        print(f"> {command:<10} {game.do(command)}")

print(
    textwrap.fill(
        f"After {game.turns} turns you carry {', '.join(sorted(game.carried))} and stand in "
        f"the {game.place}, {len(game.way('hall'))} steps from where you began.",
        width=60,
        initial_indent="  ",
        subsequent_indent="  ",
    )
)
