"""Messages: made, written, read."""

import email
import email.policy
from email.header import Header, decode_header
from email.message import EmailMessage
from email.mime.application import MIMEApplication
from email.mime.multipart import MIMEMultipart
from email.mime.text import MIMEText
from email.parser import Parser
from email.utils import formataddr, make_msgid, parseaddr, parsedate_to_datetime

m = EmailMessage()
m["Subject"] = "Hé"
m["From"] = "Ann <a@x.org>"
m["To"] = "b@y.org, c@z.org"
m["Date"] = "Mon, 01 Jan 2024 00:00:00 +0000"
m["X-Mine"] = "1"
m.set_content("Hello\n")
m.add_alternative("<p>hi</p>", subtype="html")
m.add_attachment(b"data", maintype="application", subtype="octet-stream", filename="a.bin")
print(
    m["subject"],
    m["to"].addresses[0].addr_spec,
    [p.get_content_type() for p in m.walk()],
    m.get_body(("plain",)).get_content(),
)
t = m.as_string()
print(len(t) > 100)
n = email.message_from_string(t, policy=email.policy.default)
print(
    n["subject"],
    n["from"],
    [a.get_filename() for a in n.iter_attachments()],
    n["date"].datetime.year,
)
x = MIMEMultipart()
x.attach(MIMEText("t"))
x.attach(MIMEApplication(b"1"))
print(x.is_multipart(), x.get_payload()[0].get_payload())
print(
    parseaddr("A <a@b>"),
    formataddr(("A", "a@b")),
    decode_header("=?utf-8?q?H=C3=A9?="),
    str(Header("é", "utf-8")),
)
print(
    Parser().parsestr("A: b\n\nbody").get_payload(),
    parsedate_to_datetime("Mon, 01 Jan 2024 00:00:00 +0000"),
    "@" in make_msgid(),
)
