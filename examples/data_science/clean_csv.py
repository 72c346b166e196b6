"""Clean a table with gaps, duplicates and words instead of numbers.

belljar run examples/data_science/clean_csv.py --profile data-science --stdin orders.csv
"""

import io
import sys

import pandas as pd

SAMPLE = """\
order,date,city,amount
1,2024-01-03,rome ,12.50
2,2024-01-03,Oslo,n/a
2,2024-01-03,Oslo,n/a
3,03.01.2024,ROME,7
4,,Paris,"1,200.00"
"""

text = sys.stdin.read() or SAMPLE
orders = pd.read_csv(io.StringIO(text), dtype=str).drop_duplicates()
orders["city"] = orders["city"].str.strip().str.title()
orders["amount"] = pd.to_numeric(orders["amount"].str.replace(",", ""), errors="coerce")
iso = pd.to_datetime(orders["date"], format="%Y-%m-%d", errors="coerce")
german = pd.to_datetime(orders["date"], format="%d.%m.%Y", errors="coerce")
orders["date"] = iso.fillna(german)

gaps = orders[["amount", "date"]].isna().sum()
print(f"{gaps.amount} without an amount, {gaps.date} without a date")
print(orders.groupby("city")["amount"].agg(["count", "sum"]).to_csv(), end="")
result = orders
