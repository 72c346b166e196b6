registry = {}


class Meta(type):
    def __new__(mcls, name, bases, ns, **kw):
        cls = super().__new__(mcls, name, bases, ns)
        if bases:
            registry[name.lower()] = cls
            cls._columns = {k: v for k, v in ns.items() if isinstance(v, Column)}
            cls.table = kw.get("table", name.lower() + "s")
        return cls

    def __init__(cls, name, bases, ns, **kw):
        super().__init__(name, bases, ns)
        cls.created = len(registry)

    def __call__(cls, *args, **kwargs):
        obj = super().__call__(*args, **kwargs)
        cls._made = getattr(cls, "_made", 0) + 1
        return obj

    def __iter__(cls): return iter(cls._columns)
    def __len__(cls): return len(cls._columns)
    def __contains__(cls, name): return name in cls._columns
    def __repr__(cls): return f"<model {cls.__name__}>"
    def __getitem__(cls, name): return cls._columns[name]


class Column:
    def __init__(self, type_, null=False):
        self.type, self.null = type_, null

    def __set_name__(self, owner, name): self.name = name

    def __repr__(self): return f"{self.name} {self.type.__name__}{'' if self.null else ' NOT NULL'}"


class Model(metaclass=Meta):
    def __init__(self, **kw):
        for name in type(self)._columns:
            setattr(self, name, kw.pop(name, None))
        if kw:
            raise TypeError(f"unexpected {sorted(kw)}")

    @classmethod
    def ddl(cls): return f"CREATE TABLE {cls.table} ({', '.join(map(repr, cls._columns.values()))})"

    def insert(self):
        names = list(self._columns)
        return f"INSERT INTO {self.table} ({', '.join(names)}) VALUES {tuple(getattr(self, n) for n in names)!r}"


class User(Model):
    name = Column(str)
    age = Column(int, null=True)


class City(Model, table="places"):
    title = Column(str)


class Singleton(type):
    _instances = {}

    def __call__(cls, *a, **k):
        if cls not in cls._instances:
            cls._instances[cls] = super().__call__(*a, **k)
        return cls._instances[cls]


class Settings(metaclass=Singleton):
    def __init__(self): self.values = {"debug": False}


class Logger:
    __instance = None

    def __new__(cls):
        if cls.__instance is None:
            cls.__instance = super().__new__(cls)
            cls.__instance.lines = []
        return cls.__instance


class Borg:
    _shared = {}
    def __init__(self): self.__dict__ = self._shared


print(User.ddl(), City.ddl(), User(name="Ann", age=3).insert(), sep="\n")
User(name="Bob"); print(User, list(User), len(City), "age" in User, User["age"], User._made, User.created, City.created, registry)
try:
    User(nme="x")
except TypeError as e:
    print(e)
print(Settings() is Settings(), Logger() is Logger(), type(User).__name__, isinstance(User, Meta))
a, b = Borg(), Borg()
a.x = 1
print(b.x, a is b)
Dynamic = type("Dynamic", (User,), {"size": 3, "hello": lambda self: f"hello from {self.size}"})
print(Dynamic().hello(), Dynamic.__name__, Dynamic.__mro__[1] is User)


class Plugin:
    plugins: dict = {}

    def __init_subclass__(cls, /, name=None, **kw):
        super().__init_subclass__(**kw)
        cls.plugins[name or cls.__name__] = cls


class Upper(Plugin, name="up"):
    def run(self, s): return s.upper()


class Reverse(Plugin):
    def run(self, s): return s[::-1]


print({k: v().run("abc") for k, v in Plugin.plugins.items()})
