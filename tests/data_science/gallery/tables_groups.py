import pandas as pd

df = pd.DataFrame(
    {
        "dept": ["a", "b", "a", "c", "b", "a"],
        "salary": [10, 20, 30, 40, 50, 60],
        "years": [1, 2, 3, 4, 5, 6],
    }
)
print(
    df.groupby("dept").agg(
        mean=("salary", "mean"),
        n=("salary", "size"),
        spread=("salary", lambda s: s.max() - s.min()),
    )
)
print(
    df.groupby("dept")["salary"]
    .transform(lambda s: (s - s.mean()) / (s.std() or 1))
    .round(3)
    .tolist()
)
print(df.groupby("dept").apply(lambda g: g.nlargest(1, "salary"), include_groups=False))
for name, group in df.groupby("dept"):
    print(name, len(group), group.salary.sum())
print(df.groupby("dept").filter(lambda g: len(g) > 1).shape)
print(df.groupby(pd.cut(df.years, bins=[0, 2, 4, 6]), observed=False).salary.sum())
print(df.describe().to_string())
