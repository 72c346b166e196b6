class Field:
    """Base of the validating descriptors."""
    _counter = 0

    def __init__(self, default=None):
        self.default = default
        Field._counter += 1
        self.order = Field._counter

    def __set_name__(self, owner, name):
        self.public = name
        self.private = "_" + name
        owner.__dict__.get("_fields_", None)

    def __get__(self, obj, objtype=None):
        if obj is None:
            return self
        return getattr(obj, self.private, self.default)

    def __set__(self, obj, value):
        self.validate(value)
        setattr(obj, self.private, value)

    def __delete__(self, obj):
        delattr(obj, self.private)

    def validate(self, value): pass


class Number(Field):
    def __init__(self, low=None, high=None, **kw):
        super().__init__(**kw)
        self.low, self.high = low, high

    def validate(self, value):
        if not isinstance(value, (int, float)):
            raise TypeError(f"{self.public} must be a number, not {type(value).__name__}")
        if self.low is not None and value < self.low:
            raise ValueError(f"{self.public} must be at least {self.low}")
        if self.high is not None and not value <= self.high:
            raise ValueError(f"{self.public} must be at most {self.high}")


class OneOf(Field):
    def __init__(self, *options):
        super().__init__(options[0])
        self.options = {*options}

    def validate(self, value):
        if value not in self.options:
            raise ValueError(f"{value!r} is none of {sorted(self.options)}")


class Component:
    kind = OneOf("wood", "metal", "plastic")
    amount = Number(low=0, high=100, default=1)
    price = Number(low=0.01)

    def __init__(self, kind, amount, price):
        self.kind, self.amount, self.price = kind, amount, price


class lazy:
    def __init__(self, fn):
        self.fn, self.name = fn, fn.__name__
        self.__doc__ = fn.__doc__

    def __get__(self, obj, cls):
        if obj is None:
            return self
        print("  computing", self.name)
        value = obj.__dict__[self.name] = self.fn(obj)
        return value


class Circle:
    def __init__(self, r): self.r = r

    @lazy
    def area(self):
        """pi r squared"""
        return round(3.14159 * self.r ** 2, 2)


class classproperty:
    def __init__(self, f): self.f = f
    def __get__(self, obj, owner): return self.f(owner)


class Config:
    _env = "test"

    @classproperty
    def env(cls): return cls._env.upper()


c = Component("wood", 5, 2.5)
print(c.kind, c.amount, c.price, vars(c))
for name, value in [("kind", "glass"), ("amount", 101), ("amount", "many"), ("price", 0)]:
    try:
        setattr(c, name, value)
    except (TypeError, ValueError) as e:
        print(type(e).__name__, e)
c.amount += 10
del c.price
print(c.amount, c.price, Component.price.low, type(Component.kind).__name__, Component.kind.order < Component.price.order)
circle = Circle(2)
print(circle.area, circle.area, Circle.area.__doc__, circle.__dict__)
print(Config.env, Config().env)
