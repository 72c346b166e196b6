def recurse(n):
    """Ends in RecursionError, in a program that looks at it first."""
    return recurse(n + 1) + 1


def careful():
    try:
        recurse(0)
    except RecursionError as e:
        print("caught", type(e).__name__)
        raise RuntimeError("too deep") from None
    finally:
        print("finally")


try:
    careful()
finally:
    print("outer finally")
