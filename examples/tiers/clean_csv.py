"""Clean a CSV file: trim, unify spellings, drop invalid rows, count the problems.

Run it with --profile filesystem and a file to clean; what it writes is among the artifacts:
`belljar run --profile filesystem --file people.csv --save-artifacts out
examples/tiers/clean_csv.py`.
"""

import csv
from collections import Counter
from pathlib import Path

SOURCE = Path("people.csv")
CITIES = {"muc": "Munich", "münchen": "Munich", "munich": "Munich", "bln": "Berlin"}


def clean(row, wrong):
    """The cleaned row, or None; `wrong` counts the reasons."""
    name = " ".join(row["name"].split()).title()
    if not name:
        wrong["no name"] += 1
        return None
    try:
        age = int(row["age"])
    except ValueError:
        wrong["age is no number"] += 1
        return None
    city = row["city"].strip()
    return {"name": name, "age": age, "city": CITIES.get(city.casefold(), city)}


wrong = Counter()
with SOURCE.open(encoding="utf-8", newline="") as source:
    rows = [clean(row, wrong) for row in csv.DictReader(source)]
kept = sorted((row for row in rows if row), key=lambda row: (row["name"], row["age"]))
unique = [row for number, row in enumerate(kept) if number == 0 or row != kept[number - 1]]
wrong["doubled"] = len(kept) - len(unique)

out = Path("clean")
out.mkdir()
with (out / "people.csv").open("w", encoding="utf-8", newline="") as target:
    writer = csv.DictWriter(target, fieldnames=["name", "age", "city"], lineterminator="\n")
    writer.writeheader()
    writer.writerows(unique)
report = [f"{count} x {why}" for why, count in sorted(wrong.items()) if count]
(out / "report.txt").write_text("\n".join(report) + "\n", encoding="utf-8")

print(f"{len(rows)} rows in, {len(unique)} out")
result = {"kept": len(unique), "wrong": dict(wrong)}
