"""Joining, grouping, pivoting."""

import pandas as pd

left = pd.DataFrame({"id": [1, 2, 3], "name": ["a", "b", "c"]})
right = pd.DataFrame({"id": [1, 1, 3], "value": [10, 20, 30]})
both = left.merge(right, on="id", how="left")
print(both)
print(both.groupby("name", dropna=False)["value"].agg(["sum", "count"]))
print(both.pivot_table(values="value", index="name", aggfunc="mean"))
