import json

_END = "_end_"


def make_trie(*words):
    root = dict()
    for word in words:
        current = root
        for letter in word:
            current = current.setdefault(letter, {})
        current[_END] = _END
    return root


class Trie:
    class _Node:
        __slots__ = ("children", "is_word", "count")

        def __init__(self):
            self.children = {}
            self.is_word = False
            self.count = 0

    def __init__(self, words=None):
        self._root = Trie._Node()
        for w in words or []:
            self.insert(w)

    def insert(self, word):
        node = self._root
        for ch in word:
            node = node.children.setdefault(ch, self._Node())
            node.count += 1
        node.is_word = True

    def _find(self, prefix):
        node = self._root
        for ch in prefix:
            if (node := node.children.get(ch)) is None:
                return None
        return node

    def __contains__(self, word):
        node = self._find(word)
        return node is not None and node.is_word

    def starting_with(self, prefix):
        def collect(node, path):
            if node.is_word:
                yield path
            for ch, child in sorted(node.children.items()):
                yield from collect(child, path + ch)
        start = self._find(prefix)
        return list(collect(start, prefix)) if start else []

    def longest_common_prefix(self):
        node, out = self._root, ""
        while len(node.children) == 1 and not node.is_word:
            (ch, node), = node.children.items()
            out += ch
        return out

    def matches(self, pattern):
        """'.' stands for any letter."""
        def go(node, i):
            if i == len(pattern):
                if node.is_word:
                    yield ""
                return
            for ch, child in sorted(node.children.items()):
                if pattern[i] in (".", ch):
                    for rest in go(child, i + 1):
                        yield ch + rest
        return [*go(self._root, 0)]


print(json.dumps(make_trie("to", "tea", "ted"), sort_keys=True))
words = "car card care careful cat dog do door doll".split()
t = Trie(words)
print([w in t for w in ("car", "ca", "dog", "dogs", "")])
print(t.starting_with("car"), t.starting_with("do"), t.starting_with("x"))
print(t.matches("c.r"), t.matches("do.."), t._find("ca").count)
print(repr(Trie(["flower", "flow", "flight"]).longest_common_prefix()))
try:
    t._root.extra = 1
except AttributeError as e:
    print("AttributeError:", e)
print(Trie._Node.__slots__, Trie._Node.__qualname__)
