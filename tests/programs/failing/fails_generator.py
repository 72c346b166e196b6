def numbers(limit):
    for n in range(limit):
        if n == 3:
            raise StopIteration("generators may not do this")
        yield n


class Total:
    def __enter__(self):
        self.sum = 0
        return self

    def __exit__(self, *exc):
        print("total so far", self.sum)


with Total() as t:
    for n in numbers(5):
        t.sum += n
