from abc import ABC, abstractmethod
import math


class Shape(ABC):
    _registry = {}
    count = 0

    def __init_subclass__(cls, /, kind=None, **kwargs):
        super().__init_subclass__(**kwargs)
        cls.kind = kind or cls.__name__.lower()
        Shape._registry[cls.kind] = cls

    def __init__(self):
        Shape.count += 1
        self._id = Shape.count

    @abstractmethod
    def area(self): ...

    @property
    @abstractmethod
    def perimeter(self):
        """The length around."""

    @staticmethod
    def is_valid(*sides): return all(s > 0 for s in sides)

    @classmethod
    def make(cls, kind, *args): return cls._registry[kind](*args)

    def __lt__(self, other): return self.area() < other.area()

    def __str__(self):
        return f"{type(self).__name__}#{self._id}: area={self.area():.2f} perimeter={self.perimeter:.2f}"


class Circle(Shape, kind="round"):
    def __init__(self, r):
        super().__init__()
        self.r = r

    def area(self): return math.pi * self.r ** 2

    @property
    def perimeter(self): return 2 * math.pi * self.r


class Rectangle(Shape):
    def __init__(self, w, h):
        Shape.__init__(self)
        self.w, self.h = w, h

    def area(self): return self.w * self.h

    @property
    def perimeter(self): return 2 * (self.w + self.h)


class Square(Rectangle):
    def __init__(self, side): super().__init__(side, side)

    @property
    def side(self): return self.w

    @side.setter
    def side(self, value):
        if not self.is_valid(value):
            raise ValueError("side must be > 0")
        self.w = self.h = value

    @side.deleter
    def side(self): self.w = self.h = 1


shapes = [Circle(1), Rectangle(2, 3), Square(2), Shape.make("round", 0.5)]
for s in sorted(shapes, reverse=True):
    print(s)
sq = shapes[2]
sq.side = 5
print(sq, sq.side)
sq.side += 1
try:
    sq.side = -1
except ValueError as e:
    print(e, sq.side)
del sq.side
print(sq.side, vars(sq), sorted(Shape._registry))
for bad in (lambda: Shape(), lambda: setattr(sq, "perimeter", 3)):
    try:
        bad()
    except (TypeError, AttributeError) as e:
        print(type(e).__name__ + ":", e)
print([c.__name__ for c in Square.__mro__], Square.__bases__, issubclass(Square, Shape))
print(isinstance(sq, (int, Rectangle)), Square.perimeter.fget.__name__, Shape.perimeter.__doc__, Shape.__abstractmethods__ == {"area", "perimeter"})
print(hasattr(sq, "area"), callable(sq.area), getattr(sq, "colour", "none"), sq.area.__func__ is Rectangle.area)
