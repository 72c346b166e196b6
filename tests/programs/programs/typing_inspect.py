import inspect
from inspect import Parameter, signature


def sample(a, b: int = 2, /, c="x", *args: str, d, e: float = 1.5, **kw) -> list:
    """Does nothing.

        Indented here.
    """


class Service:
    """A service."""
    retries: int = 3

    def __init__(self, name: str, *, debug=False): self.name, self.debug = name, debug
    def run(self, times=1): return [self.name] * times
    @classmethod
    def make(cls): return cls("made")
    @staticmethod
    def helper(x): return x
    @property
    def size(self): return len(self.name)
    async def later(self): pass
    def __call__(self, value): return value


class Container:
    """Dependency injection by annotations."""
    def __init__(self): self._factories = {}

    def register(self, cls):
        self._factories[cls] = cls
        return cls

    def get(self, cls):
        wanted = {n: p.annotation for n, p in signature(cls).parameters.items() if p.annotation is not Parameter.empty}
        return self._factories[cls](**{n: self.get(t) for n, t in wanted.items()})


container = Container()


@container.register
class Database:
    rows = 5


@container.register
class Repository:
    def __init__(self, db: Database): self.db = db


@container.register
class Application:
    def __init__(self, repo: Repository, db: Database): self.repo, self.db = repo, db


sig = signature(sample)
print(sig, sig.return_annotation)
for p in sig.parameters.values():
    default = "required" if p.default is p.empty else repr(p.default)
    print(f"  {p.name:<5}{p.kind.description:<25}{default:<10}{getattr(p.annotation, '__name__', p.annotation)}")
bound = sig.bind(1, 2, 3, 4, d=5, z=6)
bound.apply_defaults()
print(bound.arguments, bound.args, bound.kwargs)
for bad in ((), (1,), (1, 2, 3)):
    try: sig.bind(*bad)
    except TypeError as e: print(e)
print(signature(Service), signature(Service.run), signature(Service("x").run), signature(Service("x")), signature(lambda x, *y: x), signature(len))
print(inspect.getdoc(sample), "|", inspect.cleandoc("  a\n    b"), Service.__doc__)
app = container.get(Application)
print(type(app).__name__, type(app.repo.db).__name__, app.db.rows)
checks = [inspect.isfunction, inspect.ismethod, inspect.isclass, inspect.iscoroutinefunction, inspect.isgeneratorfunction, inspect.isbuiltin]
def gen(): yield 1
for thing in (sample, Service.make, Service, Service.later, gen, len, 5):
    print(f"{getattr(thing, '__name__', thing)!s:<10}", [c.__name__ for c in checks if c(thing)])
print([n for n, v in inspect.getmembers(Service) if not n.startswith("_")], [n for n, v in inspect.getmembers(Service, inspect.isfunction) if n[0] != "_"])
new = sig.replace(parameters=[Parameter("only", Parameter.POSITIONAL_OR_KEYWORD, default=1)], return_annotation=int)
print(new, signature(Service) == signature(Service), list(signature(Service).parameters), inspect.isabstract(Service), inspect.isgenerator(gen()))
print(Service.run.__qualname__, Service.run.__module__, Service.__annotations__, sample.__annotations__, sample.__defaults__, sample.__kwdefaults__)
print({n: type(v).__name__ for n, v in Service.__dict__.items() if not n.startswith("__")}, vars(Service)["retries"])
help_text = (sample.__doc__ or "").strip().splitlines()
print(help_text, callable(Service("x")), hasattr(Service, "__call__"), dir(Service("q"))[-4:])
