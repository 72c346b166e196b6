import re

LOG = """
2024-05-01 12:00:01 INFO  [auth] user=alice ip=10.0.0.1 login ok
2024-05-01 12:00:07 WARN  [auth] user=bob ip=10.0.0.2 bad password (attempt 1)
2024-05-01 12:00:09 WARN  [auth] user=bob ip=10.0.0.2 bad password (attempt 2)
2024-05-01 12:01:00 ERROR [db] timeout after 30s
garbage line
"""
LINE = re.compile(r"""
    ^(?P<day>\d{4}-\d\d-\d\d)\s
    (?P<time>[\d:]{8})\s
    (?P<level>[A-Z]+)\s+
    \[(?P<source>\w+)\]\s      # the component
    (?P<rest>.*)$
""", re.VERBOSE | re.MULTILINE)

for m in LINE.finditer(LOG):
    pairs = dict(re.findall(r"(\w+)=(\S+)", m["rest"]))
    print(m.group("time", "level"), m["source"], pairs, m.span("rest")[0] - m.start())

print(LINE.groups, sorted(LINE.groupindex), bool(LINE.flags & re.X))
print([l for l in LOG.splitlines() if l and not LINE.match(l)])

checks = {
    "email": r"[\w.+-]+@[\w-]+(\.[\w-]+)+",
    "date": r"(?:19|20)\d\d-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])",
    "hex colour": r"#(?:[0-9a-f]{3}){1,2}",
    "float": r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?",
}
samples = ["a.b+c@mail.example.org", "2024-02-31", "#ffF", "-1.5e10", ".5", "1999-13-01", "@x"]
for name, pattern in checks.items():
    print(f"{name:>10}:", [s for s in samples if re.fullmatch(pattern, s, re.I)])


def camel_to_snake(s):
    return re.sub(r"(?<=[a-z0-9])([A-Z])", lambda m: "_" + m.group(1).lower(), s).lower()


print(camel_to_snake("camelCaseToSnakeCase2Go"), re.sub(r"_(\w)", lambda m: m[1].upper(), "snake_case_now"))
print(re.sub(r"(\w+) (\w+)", r"\2 \1", "hello world, good bye"), re.subn("a", "b", "banana", 2))
print(re.split(r"\s*[,;]\s*", "a , b;c ,;d"), re.split(r"(-)", "1-2-3"))
print(re.findall(r"(?i)the (\w+)", "The cat and the Dog"), re.escape("a+b(c)"))
print(re.match(r"(a+)(b)?", "aaa").groups("none"), re.search(r"\bfoo\b", "a foo b"))
print(re.sub(r"(?P<y>\d{4})-(?P<m>\d\d)", r"\g<m>/\g<y>", "from 2020-01 to 2021-12"))
print(re.findall(r"^\w", "one\ntwo\nthree", re.M), re.findall(r"(.)\1", "bookkeeper"))
try:
    re.compile(r"(unclosed")
except re.error as e:
    print("re.error:", e, e.pos, e.pattern)
tokens = re.compile(r"\s*(?:(\d+)|(.))").findall("12+ 3*(4)")
print([int(n) if n else op for n, op in tokens])
print(bool(re.match("ÄÖ", "äö", re.IGNORECASE)), re.match(r"\w+", "naïve").end())
m = re.match(r"(\d+)\.(\d+)", "24.1632 rest")
print(m.string, m.lastindex, m.regs, m.expand(r"\2|\1"), m)
