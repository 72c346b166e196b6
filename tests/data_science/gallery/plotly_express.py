"""Figures of plotly's, as data."""

import json

import pandas as pd
import plotly.express as px
import plotly.graph_objects as go
from plotly.subplots import make_subplots

frame = pd.DataFrame({"x": [1, 2, 3], "y": [4, 1, 3], "g": ["a", "b", "a"]})
for make in (px.scatter, px.line, px.bar, px.box, px.histogram):
    data = json.loads(make(frame, x="x", y="y", color="g").to_json())
    print(make.__name__, len(data["data"]), sorted(data["layout"])[:3])
figure = make_subplots(rows=1, cols=2)
figure.add_trace(go.Pie(values=[1, 2]).to_plotly_json() and go.Bar(y=[1, 2]), row=1, col=1)
print(len(figure.data), "<div>" in figure.to_html(include_plotlyjs="cdn"))
