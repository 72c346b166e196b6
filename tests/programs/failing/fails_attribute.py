class Player:
    def __init__(self, name):
        self.name = name
        self.score = 0

    def win(self):
        self.score += 1


p = Player("ann")
p.win()
print(p.name, p.score)
q = None
for player in (p, q):
    player.win()
    print(player.scores)
