"""Read a table, group it, describe it, draw it: everyday analysis with the standard library."""

import csv
import io
import json
import statistics
from collections import defaultdict
from datetime import date, timedelta

TABLE = """\
day,station,temperature,rain
2026-03-01,harbour,4.2,0.0
2026-03-01,hill,1.1,0.4
2026-03-02,harbour,5.0,2.1
2026-03-02,hill,1.9,3.8
2026-03-03,harbour,6.4,
2026-03-03,hill,3.3,0.0
2026-03-04,harbour,5.8,11.2
2026-03-04,hill,2.0,14.9
2026-03-05,harbour,7.1,0.3
2026-03-05,hill,4.6,0.0
"""


def read(text: str):
    for row in csv.DictReader(io.StringIO(text)):
        yield {
            "day": date.fromisoformat(row["day"]),
            "station": row["station"],
            "temperature": float(row["temperature"]),
            "rain": float(row["rain"]) if row["rain"] else None,
        }


def describe(values: list[float]) -> dict[str, float]:
    return {
        "n": len(values),
        "mean": round(statistics.mean(values), 2),
        "median": round(statistics.median(values), 2),
        "spread": round(statistics.stdev(values), 2),
    }


by_station: dict[str, list] = defaultdict(list)
for row in read(TABLE):
    by_station[row["station"]].append(row)

report = {}
for station, rows in sorted(by_station.items()):
    report[station] = {
        "temperature": describe([row["temperature"] for row in rows]),
        "rain": describe([row["rain"] for row in rows if row["rain"] is not None]),
        "wettest": max(rows, key=lambda row: row["rain"] or 0)["day"].isoformat(),
    }
print(json.dumps(report, indent=2))

warmth = {row["day"]: row["temperature"] for row in by_station["harbour"]}
line = statistics.linear_regression(range(len(warmth)), list(warmth.values()))
print(f"harbour warms by {line.slope:.2f} degrees a day")
for day, temperature in warmth.items():
    print(f"{day:%a %d %b} {'#' * round(temperature * 4)} {temperature}")
tomorrow = max(warmth) + timedelta(days=1)
print(f"{tomorrow:%a %d %b} {line.intercept + line.slope * len(warmth):.1f} expected")

result = {station: entry["temperature"]["mean"] for station, entry in report.items()}
