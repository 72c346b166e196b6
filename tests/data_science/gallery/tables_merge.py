import pandas as pd

a = pd.DataFrame({"k": [1, 2, 3], "x": [1.5, 2.5, 3.5]})
b = pd.DataFrame({"k": [2, 3, 4], "y": list("bcd")})
print(a.merge(b, on="k", how="outer", indicator=True))
print(pd.concat([a, b], axis=1), pd.concat([a, b], ignore_index=True))
t = pd.DataFrame({"t": pd.to_datetime(["2024-01-01 10:00", "2024-01-01 10:05"]), "v": [1, 2]})
q = pd.DataFrame({"t": pd.to_datetime(["2024-01-01 09:59", "2024-01-01 10:04"]), "w": [3, 4]})
print(pd.merge_asof(t, q, on="t"))
try:
    a.merge(b, on="missing")
except KeyError as e:
    print("KeyError", e)
print(a.join(b.set_index("k"), on="k", how="left"))
