from __future__ import annotations
from dataclasses import dataclass
from collections import deque
from typing import Any, Generic, Iterator, Optional, TypeVar

T = TypeVar("T")


@dataclass
class Node(Generic[T]):
    key: T
    left: Optional[Node[T]] = None
    right: Optional[Node[T]] = None


class BST(Generic[T]):
    """Binary search tree with deletion."""

    def __init__(self) -> None:
        self._root: Optional[Node[T]] = None
        self.__count = 0

    def insert(self, key: T) -> bool:
        def go(node):
            if node is None:
                nonlocal added
                added = True
                return Node(key)
            if key < node.key:
                node.left = go(node.left)
            elif key > node.key:
                node.right = go(node.right)
            return node

        added = False
        self._root = go(self._root)
        self.__count += added
        return added

    def delete(self, key: T) -> None:
        def smallest(n):
            while n.left:
                n = n.left
            return n.key

        def go(n, k):
            if n is None:
                raise KeyError(k)
            if k < n.key:
                n.left = go(n.left, k)
            elif k > n.key:
                n.right = go(n.right, k)
            elif n.left is None or n.right is None:
                return n.left or n.right
            else:
                n.key = smallest(n.right)
                n.right = go(n.right, n.key)
            return n

        self._root = go(self._root, key)
        self.__count -= 1

    def __iter__(self) -> Iterator[T]:
        def walk(n):
            if n:
                yield from walk(n.left)
                yield n.key
                yield from walk(n.right)
        return walk(self._root)

    def __len__(self): return self.__count

    def height(self) -> int:
        h = lambda n: 0 if n is None else 1 + max(h(n.left), h(n.right))
        return h(self._root)

    def levels(self):
        queue = deque([(self._root, 0)] if self._root else [])
        out: list[list[Any]] = []
        while queue:
            n, depth = queue.popleft()
            if depth == len(out):
                out.append([])
            out[depth].append(n.key)
            queue.extend((c, depth + 1) for c in (n.left, n.right) if c)
        return out

    def draw(self, n=..., indent=0):
        n = self._root if n is ... else n
        if n is not None:
            self.draw(n.right, indent + 4)
            print(" " * indent + str(n.key))
            self.draw(n.left, indent + 4)


tree: BST[int] = BST()
for k in [50, 30, 70, 20, 40, 60, 80, 65, 30]:
    tree.insert(k)
print(list(tree), len(tree), tree.height(), tree.levels())
tree.draw()
tree.delete(50)
tree.delete(20)
print([*tree], tree.levels(), 60 in tree, 50 in tree)
try:
    tree.delete(999)
except KeyError as e:
    print("KeyError", e)
words = BST[str]()
print([words.insert(w) for w in "the cat sat on the mat".split()], " ".join(words))
print(Node(1, Node(0)), Node(1) == Node(1), BST.__orig_bases__, BST[int])
