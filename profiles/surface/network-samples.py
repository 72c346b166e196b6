# What calls of the network profile give, without a network: one of each kind, for the walk of
# tools/surface.py. An ordinary program of the sandbox.
# ruff: noqa: F841
import email
import email.message
import email.mime.multipart
import email.mime.text
import email.policy
import http.cookies
import smtplib
import socket
import ssl
import urllib.error
import urllib.request

request = urllib.request.Request("http://example.org/", data=b"x", headers={"A": "b"})
opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
url_error = urllib.error.URLError("why")
status_error = urllib.error.HTTPError("http://example.org/", 404, "Not Found", {}, None)

message = email.message.EmailMessage()
message["Subject"] = "x"
message["To"] = "Ada <ada@example.org>"
message["Date"] = "Mon, 01 Jan 2024 00:00:00 +0000"
message.set_content("text")
subject, to, date = message["Subject"], message["To"], message["Date"]
parts = email.mime.multipart.MIMEMultipart()
parts.attach(email.mime.text.MIMEText("x"))
parsed = email.message_from_string("A: b\n\ntext", policy=email.policy.default)

cookie = http.cookies.SimpleCookie("a=b")
morsel = cookie["a"]
context = ssl.create_default_context()
connection = socket.socket()
mail = smtplib.SMTP()
