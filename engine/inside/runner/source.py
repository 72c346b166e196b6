"""From the source's bytes to text, and (with the policy off) to code.

The text is what CPython's own reader would have made of a file with the same bytes: UTF-8 without
its mark, newlines as "\\n". Everything that is wrong with it is a SyntaxError with a place.
"""

import ast
import re
import warnings
from types import CodeType

# A name that no source text can spell; belljar_policy uses the same.
RESULT_NAME = "@result"

# `await` at the top level makes code that returns a coroutine; other code stays as it is.
AWAITS = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT

_UTF8_MARK = b"\xef\xbb\xbf"

# PEP 263: in the first line, or in the second after a blank or comment line.
_ENCODING_COOKIE = re.compile(
    rb"(?:[ \t\f]*(?:#[^\r\n]*)?(?:\r\n|\r|\n))??[ \t\f]*#[^\r\n]*?coding[:=][ \t]*([-\w.]+)"
)
# After an expression, whose place is without the parentheses around it.
_SEMICOLON = re.compile(r"(?:[\s)\\]|#[^\n]*(?:\n|\Z))*;")
# Compared as text: asking `codecs` would import an encoding on the request path.
_SUPPORTED_ENCODINGS = frozenset({"utf-8", "utf8", "u8", "utf-8-sig", "ascii", "us-ascii"})


def decode(source: bytes, filename: str) -> str:
    """The text of `source`; raises SyntaxError."""
    if source.startswith(_UTF8_MARK):
        source = source[len(_UTF8_MARK) :]
    # Before the decoding: a Latin-1 file that says so should hear about that, not about a byte.
    if cookie := _ENCODING_COOKIE.match(source):
        _check_encoding(cookie, source, filename)
    try:
        text = source.decode()
    except UnicodeDecodeError as error:
        raise _invalid_utf8(error, source, filename) from None
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    if "\0" in text:
        raise _nul_character(text, filename)
    return text


def compile_full(text: str, filename: str) -> CodeType:
    """Code for the policy off, with a last expression bound to RESULT_NAME."""
    module = compile(text, filename, "exec", ast.PyCF_ONLY_AST | AWAITS, True)
    if module.body and type(last := module.body[-1]) is ast.Expr:
        target = ast.copy_location(ast.Name(RESULT_NAME, ast.Store()), last.value)
        module.body[-1] = ast.copy_location(ast.Assign([target], last.value), last)
    return compile(module, filename, "exec", AWAITS, True)


def hides_its_value(text: str) -> bool:
    """Whether a semicolon follows the last expression: a notebook's sign for "do not show it"."""
    if ";" not in text:
        return False
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # they were shown when it was compiled
            last = compile(text, "", "exec", ast.PyCF_ONLY_AST | AWAITS, True).body[-1]
    except Exception:  # compiled all the same: little of the stack is left
        return False
    if type(last) is not ast.Expr or last.end_lineno is None or last.end_col_offset is None:
        return False
    rest = text.split("\n")[last.end_lineno - 1 :]
    rest[0] = rest[0].encode()[last.end_col_offset :].decode()
    return _SEMICOLON.match("\n".join(rest)) is not None


def nested_too_deeply(filename: str) -> SyntaxError:
    """For the RecursionError and MemoryError with which CPython's parser and compiler end.

    That MemoryError comes from the parser's own depth limit and not from an allocation: one that
    fails ends the worker before Python sees it (memory.h). CPython does not say where it was.
    """
    return SyntaxError("the source is nested too deeply", (filename, None, None, None))


def complete_location(error: SyntaxError, text: str, filename: str) -> None:
    """Adds the source line to an error of the compiler, which looks for it in a file."""
    if error.text is None and error.filename == filename and error.lineno:
        lines = text.split("\n")
        if 0 < error.lineno <= len(lines):
            error.text = lines[error.lineno - 1] + "\n"


def _check_encoding(cookie: re.Match[bytes], source: bytes, filename: str) -> None:
    encoding = cookie[1].decode("ascii", "replace")
    if encoding.lower().replace("_", "-") in _SUPPORTED_ENCODINGS:
        return
    message = f"encoding {encoding!r} is not supported; save the source as UTF-8"
    raise _located(message, source, cookie.start(1), cookie.end(1), filename)


def _invalid_utf8(error: UnicodeDecodeError, source: bytes, filename: str) -> SyntaxError:
    line, column, _ = _place(source, error.start)
    message = (
        f"invalid UTF-8 at line {line}, column {column}: byte 0x{source[error.start]:02x} "
        f"({error.reason}); save the source as UTF-8"
    )
    return _located(message, source, error.start, error.start + 1, filename)


def _nul_character(text: str, filename: str) -> SyntaxError:
    source = text.encode()
    offset = source.index(b"\0")
    line, _, _ = _place(source, offset)
    message = f"source code cannot contain NUL characters; there is one in line {line}"
    return _located(message, source, offset, offset + 1, filename)


def _located(message: str, source: bytes, start: int, end: int, filename: str) -> SyntaxError:
    line, column, line_text = _place(source, start)
    # Columns are wanted in characters; what is marked is ASCII or a single bad byte.
    end_column = column + (end - start)
    return SyntaxError(message, (filename, line, column, line_text, line, end_column))


def _place(source: bytes, offset: int) -> tuple[int, int, str]:
    """Line, column (both from 1) and the text of the line, of a byte whose line is valid so far."""
    before = source[:offset].replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    start_of_line = before[before.rfind(b"\n") + 1 :]
    rest = re.match(rb"[^\r\n]{0,400}", source[offset:])
    line_text = start_of_line + (rest[0] if rest else b"")
    return (
        before.count(b"\n") + 1,
        len(start_of_line.decode("utf-8", "replace")) + 1,
        line_text.decode("utf-8", "replace").replace("\0", "\N{SYMBOL FOR NULL}") + "\n",
    )
