from string import Template, capwords
import textwrap

letter = Template("""Dear $name,

your order #${number} of $$$amount ships on ${day}.
$unknown
""")
print(letter.safe_substitute(name="Ann", number=7, amount="9.99", day="Monday"))
try:
    letter.substitute(name="Bob")
except KeyError as e:
    print("missing:", e)
try:
    Template("bad ${} here").substitute()
except ValueError as e:
    print(e)


class Percent(Template):
    delimiter = "%"
    idpattern = "[a-z][a-z.]*"


values = {"user.name": "Zed", "n": 3}
print(Percent("%{user.name} has %n items, 100%%").substitute(values))
if hasattr(Template, "get_identifiers"):
    print(letter.get_identifiers(), letter.is_valid())


def render(template, **context):
    """A very small templating language: {{ name|filter }}."""
    filters = {"upper": str.upper, "title": capwords, "len": lambda s: str(len(s))}
    out = template
    while (start := out.find("{{")) != -1:
        end = out.index("}}", start)
        expr, _, flt = out[start + 2:end].strip().partition("|")
        value = str(context.get(expr.strip(), f"<{expr}?>"))
        if flt:
            value = filters[flt.strip()](value)
        out = out[:start] + value + out[end + 2:]
    return out


print(render("Hi {{ who | title }}, {{n}} new, {{ who|len }} letters, {{ nope }}", who="ada king", n=4))

prose = """
    The quick brown fox jumps over the lazy dog. Pack my box
    with five dozen liquor jugs, and hyphen-ated-words too.

      Indented more.
"""
clean = textwrap.dedent(prose).strip()
print(textwrap.fill(clean, width=30, initial_indent="* ", subsequent_indent="  "))
print(textwrap.shorten(clean, 40, placeholder=" [...]"))
print(textwrap.indent("one\n\ntwo", "> ", lambda line: True))
wrapper = textwrap.TextWrapper(width=20, break_long_words=False)
wrapper.subsequent_indent = ".."
print(wrapper.wrap("a verylongwordthatdoesnotfitanywhere in it"))
print("{0:>{width}}|{1:^{width}.{prec}f}|{name!r}".format("x", 3.14159, width=9, prec=2, name="n"))
print("{0[0]}{0[1]} {1.real} {d[key]}".format([1, 2], 3, d={"key": "v"}))
print("%(a)s-%(b)05.1f-%%-%(c)x" % {"a": None, "b": 2.25, "c": 255}, "%-6s|%+d" % ("ab", 5))
print("{:,} {:_} {:e} {:g} {:#x} {:08b} {:%}".format(1234567, 1234567, 12345.678, 1e10, 255, 5, .25))
