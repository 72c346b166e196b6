import pandas as pd

df = pd.DataFrame(
    {
        "date": pd.date_range("2024-01-01", periods=6, freq="D").repeat(2),
        "city": ["x", "y"] * 6,
        "t": range(12),
    }
)
p = df.pivot(index="date", columns="city", values="t")
print(p)
print(
    pd.pivot_table(
        df, index="date", columns="city", values="t", aggfunc=["sum", "mean"], margins=True
    )
)
print(p.reset_index().melt(id_vars="date").head())
print(pd.crosstab(df.city, (df.t % 3).rename("r"), normalize="index"))
print(df.set_index(["date", "city"]).unstack().stack(future_stack=True).head(3))
