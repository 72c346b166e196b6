class Node:
    def __init__(self, value, next=None):
        self.value = value
        self.next = next


class LinkedList:
    def __init__(self, items=()):
        self.head = None
        self._size = 0
        for x in reversed(list(items)):
            self.push(x)

    def push(self, value):
        self.head = Node(value, self.head)
        self._size += 1

    def pop(self):
        if self.head is None:
            raise IndexError("pop from empty list")
        node, self.head = self.head, self.head.next
        self._size -= 1
        return node.value

    def reverse(self):
        prev, cur = None, self.head
        while cur:
            cur.next, prev, cur = prev, cur, cur.next
        self.head = prev
        return self

    def __iter__(self):
        node = self.head
        while node is not None:
            yield node.value
            node = node.next

    def __len__(self): return self._size

    def __getitem__(self, i):
        if isinstance(i, slice):
            return LinkedList(list(self)[i])
        if i < 0:
            i += self._size
        for k, v in enumerate(self):
            if k == i:
                return v
        raise IndexError(i)

    def __contains__(self, x): return any(x == y for y in self)

    def __delitem__(self, i):
        dummy = Node(None, self.head)
        prev = dummy
        for _ in range(i):
            prev = prev.next
        prev.next = prev.next.next
        self.head = dummy.next
        self._size -= 1

    def __eq__(self, other):
        return isinstance(other, LinkedList) and list(self) == list(other)

    def __add__(self, other): return LinkedList([*self, *other])
    __radd__ = lambda self, other: LinkedList([*other, *self])

    def __iadd__(self, other):
        for x in other:
            self.push(x)
        return self

    def __repr__(self): return "LinkedList(" + " -> ".join(map(repr, self)) + ")"
    def __bool__(self): return self.head is not None


l = LinkedList("abc")
print(l, len(l), l[0], l[-1], l[1:], "b" in l, "z" in l, list(reversed(list(l))))
print(l.reverse(), l == LinkedList("cba"), l != LinkedList("abc"))
del l[1]
print(l, l.pop(), l.pop(), bool(l), not l)
try:
    l.pop()
except IndexError as e:
    print(repr(e))
l += [1, 2]
print(l + LinkedList([9]), [0] + l, sum(l), sorted(l), max(l))
first, *rest = LinkedList(range(5))
print(first, rest, dict(zip("xyz", LinkedList([1, 2, 3]))))
try:
    hash(l)
except TypeError as e:
    print(e)
