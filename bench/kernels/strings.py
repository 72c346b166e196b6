"""Text: f-strings, str.format, methods, joins."""


def kernel():
    words = []
    for i in range(25_000):
        word = f"item-{i:05d}".upper().replace("0", "o")
        words.append("{}:{:>4}".format(word, i % 97))  # noqa: UP032
        if word.endswith("9"):
            words.append(word.strip("-ITEM"))
    return len(" ".join(words).split("o"))
