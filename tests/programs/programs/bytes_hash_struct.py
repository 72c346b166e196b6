import array
import base64
import binascii
import hashlib
import hmac
import io
import secrets
import struct
from urllib.parse import urlparse, parse_qs, urlencode, quote, unquote, urljoin, urlunparse
import uuid

text = "The quick brown fox"
for name in "md5", "sha1", "sha256", "blake2s":
    print(f"{name:<8}{hashlib.new(name, text.encode()).hexdigest()[:32]}")
h = hashlib.sha256()
for chunk in (text[i:i + 5] for i in range(0, len(text), 5)):
    h.update(chunk.encode())
print(h.hexdigest() == hashlib.sha256(text.encode()).hexdigest(), h.digest_size, h.name, h.copy().digest()[:4])
print(hashlib.pbkdf2_hmac("sha256", b"password", b"salt", 1000).hex()[:16], hashlib.sha3_256(b"").hexdigest()[:8])


class Signer:
    def __init__(self, key: bytes): self.__key = key

    def _mac(self, data): return hmac.new(self.__key, data, "sha256").digest()

    def sign(self, value: str) -> str:
        data = base64.urlsafe_b64encode(value.encode()).rstrip(b"=")
        return f"{data.decode()}.{self._mac(data).hex()[:16]}"

    def check(self, token: str) -> str:
        data, _, mac = token.rpartition(".")
        if not hmac.compare_digest(self._mac(data.encode()).hex()[:16], mac):
            raise PermissionError("bad signature")
        return base64.urlsafe_b64decode(data + "=" * (-len(data) % 4)).decode()


s = Signer(b"secret key")
token = s.sign("user=ann")
print(token, s.check(token))
try: s.check(token.replace("dX", "dY"))
except PermissionError as e: print(e, e.errno)
print(base64.b64encode(b"\x00\xff hi"), base64.b32encode(b"hi"), base64.b85decode(base64.b85encode(b"data")), binascii.crc32(b"123456789"), binascii.hexlify(b"az"))
try: base64.b64decode("abc")
except binascii.Error as e: print(type(e).__name__, e)

HEADER = struct.Struct(">4sHBI")
packed = HEADER.pack(b"BELL", 1, 0b101, 1 << 20)
print(packed.hex(" "), HEADER.size, HEADER.unpack(packed), struct.calcsize("<idq"), struct.unpack("<f", struct.pack("<f", 1.5))[0])


def write_records(out, records):
    for name, value in records:
        raw = name.encode()
        out.write(struct.pack(f"<B{len(raw)}sd", len(raw), raw, value))


def read_records(f):
    while (n := f.read(1)):
        yield struct.unpack(f"<{n[0]}sd", f.read(n[0] + 8))


f = io.BytesIO()
write_records(f, [("pi", 3.14), ("größe", -1.0)])
f.seek(0)
print([(n.decode(), v) for n, v in read_records(f)], len(f.getvalue()), f.tell(), f.getbuffer().nbytes)
try: struct.unpack("<I", b"abc")
except struct.error as e: print(e)
a = array.array("h", [1, -2, 300])
a.append(4)
m = memoryview(bytearray(b"abcdef"))
m[1:3] = b"ZZ"
print(a, a.itemsize, a.tobytes().hex(), bytes(m), m[-1], m.tolist()[:2], bytearray(b"x") * 3, b"a-b".split(b"-"), bytes.fromhex("00ff"), bytes(3))
b = bytearray(b"hello"); b[0] = 72; b += b"!"; del b[-2]
print(b, b.decode(), b"%s=%d" % (b"k", 5), "naïve ☃".encode(), "naïve".encode("latin-1"), "☃".encode("ascii", "xmlcharrefreplace"), b"\xe2\x98".decode(errors="replace"))
u = urlparse("https://user@host.test:8080/a/b;p?q=1&q=2&e=#frag")
print(u.scheme, u.hostname, u.port, u.path, parse_qs(u.query), u.fragment, urlunparse(u._replace(query="z=1", fragment="")))
print(urlencode({"a b": "c&d", "n": 1}), quote("/ü x"), unquote("%C3%BC+x"), urljoin("http://x/a/b", "../c"))
print(uuid.uuid5(uuid.NAMESPACE_DNS, "example.org"), uuid.UUID(int=1).hex[-4:], uuid.uuid4().version)
print(len(secrets.token_hex(8)), secrets.randbelow(1), len(secrets.token_bytes(5)), secrets.choice([7]), len(uuid.uuid4().bytes), secrets.compare_digest("a", "b"))
