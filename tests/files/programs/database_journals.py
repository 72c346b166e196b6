"""Databases that ask for locks: a write-ahead log with two connections, a journal left behind."""

import shutil
import sqlite3
import tempfile
from pathlib import Path

with tempfile.TemporaryDirectory() as folder:
    path = str(Path(folder) / "log.db")
    writer, reader = sqlite3.connect(path), sqlite3.connect(path)
    print(writer.execute("PRAGMA journal_mode = WAL").fetchone())
    writer.execute("CREATE TABLE t (n INTEGER)")
    writer.commit()
    reader.execute("BEGIN")
    print(reader.execute("SELECT count(*) FROM t").fetchone())
    writer.executemany("INSERT INTO t VALUES (?)", [(n,) for n in range(1000)])
    writer.commit()
    print(reader.execute("SELECT count(*) FROM t").fetchone(), "as it was")
    reader.rollback()
    print(reader.execute("SELECT count(*), sum(n) FROM t").fetchone())
    try:
        writer.execute("BEGIN IMMEDIATE")
        reader.execute("PRAGMA busy_timeout = 0")
        reader.execute("INSERT INTO t VALUES (1)")
    except sqlite3.OperationalError as error:
        print(error)
    writer.rollback()
    writer.close()
    reader.close()
    print(sorted(each.name for each in Path(folder).iterdir()))

    # A crash: the database as it is amid a transaction, and the journal that takes it back.
    path = Path(folder) / "crash.db"
    database = sqlite3.connect(path)
    database.execute("CREATE TABLE t (n INTEGER, text TEXT)")
    database.executemany("INSERT INTO t VALUES (?, ?)", [(n, "x" * 500) for n in range(500)])
    database.commit()
    database.execute("PRAGMA cache_size = 2")
    database.execute("UPDATE t SET text = 'lost'")
    for suffix in ("", "-journal"):
        shutil.copy(f"{path}{suffix}", Path(folder) / f"found.db{suffix}")
    database.close()
    found = sqlite3.connect(Path(folder) / "found.db")
    print(found.execute("SELECT count(*) FROM t WHERE text = 'lost'").fetchone())
    print(found.execute("PRAGMA integrity_check").fetchone())
    found.close()
    print((Path(folder) / "found.db-journal").exists())
