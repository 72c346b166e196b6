LIMIT = 3


def checked(n):
    assert n <= LIMIT, f"{n} is more than {LIMIT}"
    return n


class Config:
    small = checked(1)
    print("small is", small)

    class Inner:
        values = [checked(n) for n in range(6)]


print("never")
