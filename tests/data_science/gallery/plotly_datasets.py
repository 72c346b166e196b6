import plotly.express as px
import plotly.graph_objects as go
from plotly.subplots import make_subplots

df = px.data.iris()
fig = px.scatter(
    df, x="sepal_width", y="sepal_length", color="species", marginal_x="histogram", trendline="ols"
)
fig.update_layout(title="Iris", template="plotly_white")
fig.add_hline(y=5)
fig.show()
f = make_subplots(rows=1, cols=2)
f.add_trace(go.Bar(x=["a"], y=[1]), row=1, col=1)
f.show()
print(len(fig.data), px.data.gapminder().shape)
print(px.histogram(df, x="petal_width", nbins=5).to_dict()["data"][0]["type"])
px.choropleth
px.sunburst(df, path=["species"], values="petal_width")
px.imshow([[1, 2]])
px.box(df, y="petal_width")
px.line_3d(df, x="sepal_width", y="sepal_length", z="petal_width")
html = fig.to_html(full_html=False)
j = fig.to_json()
print(len(j) > 100)
