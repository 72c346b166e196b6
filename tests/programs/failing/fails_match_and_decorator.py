import functools


def logged(f):
    @functools.wraps(f)
    def wrapper(*args):
        print("calling", f.__name__, args)
        return f(*args)
    return wrapper


@logged
def area(shape):
    match shape:
        case ("circle", r):
            return 3 * r * r
        case ("square", a):
            return a * a
        case _:
            raise NotImplementedError(f"what is a {shape[0]}?")


shapes = [("circle", 2), ("square", 3), ("blob", 1)]
print({name: area((name, size)) for name, size in shapes})
