import os
import sqlite3

with sqlite3.connect("shop.db") as db:
    db.executescript("""
        create table item (id integer primary key, name text unique, price real);
        create index by_price on item (price);
        """)
    db.executemany("insert into item (name, price) values (?, ?)", [("nut", 0.5), ("bolt", 1.25)])
    db.row_factory = sqlite3.Row
    for row in db.execute("select * from item order by price desc"):
        print(dict(row), row["name"], row.keys())
try:
    with db:
        db.execute("insert into item (name) values ('washer')")
        db.execute("insert into item (name) values ('nut')")
except sqlite3.IntegrityError as error:
    print("rolled back:", error)
print(db.execute("select count(*) from item").fetchone()[0])
db.create_function("double", 1, lambda x: x * 2)
print(
    db.execute("select double(price) from item where name = :name", {"name": "nut"}).fetchone()[0]
)
db.close()

again = sqlite3.connect("shop.db")
again.execute("pragma journal_mode=wal").fetchone()
print(again.execute("select sum(price), max(name) from item").fetchone(), os.path.exists("shop.db"))
again.execute("attach database 'other.db' as other")
again.execute("create table other.copy as select * from item")
again.commit()
memory = sqlite3.connect(":memory:")
again.backup(memory)
again.close()
print(list(memory.iterdump())[:2])
print(
    memory.execute(
        "with recursive n(i) as (select 1 union all select i + 1 from n where i < 10) "
        "select group_concat(i, '-') from n"
    ).fetchone()
)
for name in sorted(os.listdir()):
    if name.endswith(("db", "db-wal", "db-shm")):
        os.remove(name)
