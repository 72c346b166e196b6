def compute(items):
    result = [transform(x) for x in items]
    return reslt


def transform(x):
    return x * 2


print(transform(4))
print(compute([1, 2]))
