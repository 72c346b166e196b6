"""Reading text, cleaning it, writing it."""

import io

import pandas as pd

text = "date,city,temp\n2024-01-01,Rome,12\n2024-01-02,Rome,\n2024-01-01,Oslo,-3\n"
frame = pd.read_csv(io.StringIO(text), parse_dates=["date"])
frame["temp"] = frame["temp"].fillna(frame["temp"].mean())
print(frame.to_csv(index=False))
print(frame.to_json(orient="records", date_format="iso"))
print(frame.query("temp > 0 and city == 'Rome'").shape, frame.eval("temp * 2").tolist())
frame
