import csv
import json
import os
from collections import defaultdict

os.makedirs("out", exist_ok=True)
totals = defaultdict(float)
skipped = []
with (
    open("sales.csv", newline="", encoding="utf-8") as source,
    open(os.path.join("out", "clean.csv"), "w", newline="", encoding="utf-8") as target,
):
    reader = csv.DictReader(source, skipinitialspace=True)
    reader.fieldnames = [name.strip() for name in reader.fieldnames]
    writer = csv.DictWriter(target, ["date", "region", "amount"])
    writer.writeheader()
    for row in reader:
        try:
            amount = float(row["amount"])
        except ValueError:
            skipped.append(reader.line_num)
            continue
        region = row["region"].strip().title() or "?"
        totals[region] += amount
        writer.writerow({"date": row["date"], "region": region, "amount": f"{amount:.2f}"})
with open("out/summary.json", "w") as file:
    json.dump({"totals": totals, "skipped": skipped}, file, indent=2, sort_keys=True)
print(open("out/summary.json").read())
print(
    sum(1 for _ in open("out/clean.csv")), sorted(os.listdir("out")), os.path.getsize("sales.csv")
)
