# Which encodings can say what? A table for a lesson on Unicode.
TEXTS = {"English": "plain", "German": "Grüße", "Russian": "привет", "Japanese": "日本語",
         "Chinese": "中文", "Korean": "한국어", "Emoji": "🙂"}
ENCODINGS = ["ascii", "latin-1", "cp1252", "koi8-r", "cp037", "utf-8", "utf-16-le", "utf-7", "gbk",
             "gb18030", "big5", "big5hkscs", "shift_jis", "euc_jp", "iso2022_jp", "euc_kr", "cp949"]


def size(text, encoding):
    try:
        data = text.encode(encoding)
    except UnicodeEncodeError as error:
        return f"no ({error.start})"
    assert data.decode(encoding) == text
    return str(len(data))


width = max(len(name) for name in TEXTS) + 2
print(" " * 11 + "".join(name.rjust(width) for name in TEXTS))
for encoding in ENCODINGS:
    print(f"{encoding:<11}" + "".join(size(text, encoding).rjust(width) for text in TEXTS.values()))

for bad in (b"\xff", b"\x81", b"\xc3("):
    for encoding in ("utf-8", "shift_jis", "gbk"):
        try:
            print(encoding, bad.decode(encoding))
        except UnicodeDecodeError as error:
            print(encoding, error.reason, error.start, error.end)
    print(bad.decode("utf-8", "replace"), bad.decode("latin-1"))
try:
    "x".encode("klingon")
except LookupError as error:
    print(error)
