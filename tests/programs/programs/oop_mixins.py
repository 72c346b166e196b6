import json
from functools import cached_property


class JsonMixin:
    def to_json(self): return json.dumps(self.__dict__, default=lambda o: o.__dict__, sort_keys=True)

    @classmethod
    def from_json(cls, text):
        obj = cls.__new__(cls)
        obj.__dict__.update(json.loads(text))
        return obj


class ReprMixin:
    def __repr__(self):
        inner = ", ".join(f"{k}={v!r}" for k, v in vars(self).items() if not k.startswith("_"))
        return f"{self.__class__.__qualname__}({inner})"


class ComparableMixin:
    def _cmpkey(self): raise NotImplementedError

    def __eq__(self, other): return self._cmpkey() == other._cmpkey()
    def __lt__(self, other): return self._cmpkey() < other._cmpkey()
    def __le__(self, other): return self < other or self == other


class Loud:
    def speak(self):
        return super().speak().upper() + "!"


class Animal(ReprMixin, JsonMixin):
    sound = "..."

    def __init__(self, name, **kw):
        super().__init__(**kw)
        self.name = name

    def speak(self): return f"{self.name} says {self.sound}"


class Dog(Animal):
    sound = "woof"

    def __init__(self, name, *, tricks=(), **kw):
        super().__init__(name, **kw)
        self.tricks = list(tricks)


class LoudDog(Loud, Dog, ComparableMixin):
    def _cmpkey(self): return len(self.tricks), self.name

    @cached_property
    def badge(self):
        print("making badge")
        return self.name[:1] * 3


class A:
    def who(self): return ["A"]
class B(A):
    def who(self): return ["B"] + super().who()
class C(A):
    def who(self): return ["C"] + super().who()
class D(B, C):
    def who(self): return ["D", *super().who()]


class Outer:
    limit = 3

    class Inner:
        items = [x * 2 for x in range(3)]
        if len(items) > 2:
            big = True
        else:
            big = False
        for i in items:
            last = i
        del i

    def make(self): return self.Inner()


rex, zoe = Dog("Rex", tricks=["sit"]), LoudDog("Zoe", tricks=["roll", "sit"])
print(rex, zoe, rex.speak(), zoe.speak(), sep="\n")
print(zoe.to_json(), Dog.from_json('{"name": "Bo", "tricks": []}'))
print(zoe < LoudDog("Ann"), zoe >= LoudDog("Zoe", tricks="ab"), zoe.badge, zoe.badge, "badge" in vars(zoe))
print(D().who(), [k.__name__ for k in D.mro()], [k.__name__ for k in LoudDog.__mro__])
print(Outer.Inner.big, Outer.Inner.last, hasattr(Outer.Inner, "i"), Outer().make().items, Outer.Inner)
try:
    class Bad(A, D): pass
except TypeError as e:
    print(str(e).splitlines()[0])
try:
    Dog("x", colour="red")
except TypeError as e:
    print(e)
print(super(LoudDog, zoe).speak is not None, super(Dog, rex).speak(), Animal.speak(rex), Dog.__name__, rex.__module__)
