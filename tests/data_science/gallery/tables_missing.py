import pandas as pd

df = pd.DataFrame(
    {
        "name": ["Ada Lovelace", "Alan Turing", None, "Grace Hopper"],
        "born": ["1815-12-10", "1912-06-23", "1906-12-09", "bad"],
    }
)
print(df.name.str.split(expand=True))
print(df.name.str.extract(r"(?P<first>\w+)\s+(?P<last>\w+)"))
print(
    df.name.str.upper().fillna("?").tolist(),
    df.name.str.contains("a", case=False, na=False).tolist(),
)
df["born"] = pd.to_datetime(df.born, errors="coerce")
print(df.born.dt.year, df.born.dt.strftime("%d.%m.%Y").tolist())
print(df.dtypes)
df.info()
print(df.isna().sum(), df.dropna().shape, df.drop_duplicates().shape)
print(df.name.str.replace(r"[aeiou]", lambda m: m.group().upper(), regex=True).tolist())
