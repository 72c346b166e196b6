def average(numbers):
    total = 0
    for n in numbers:
        total += n
    return total / len(numbers)


def report(name, grades):
    print(name, round(average(grades), 2))


def main():
    for name, grades in {"ann": [1, 2, 4], "bob": []}.items():
        report(name, grades)
    print("never printed")


if __name__ == "__main__":
    main()
