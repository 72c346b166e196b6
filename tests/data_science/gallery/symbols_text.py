"""Expressions from text, and functions from expressions."""

import numpy as np
import sympy as sp
from sympy.parsing.sympy_parser import (
    implicit_multiplication_application,
    parse_expr,
    standard_transformations,
)

print(sp.sympify("x**2 + 2*x + 1").factor(), sp.S("1/3") + 1)
print(
    parse_expr(
        "2 x y", transformations=(*standard_transformations, implicit_multiplication_application)
    )
)
x = sp.symbols("x")
print(sp.lambdify(x, sp.sin(x) ** 2 + sp.Max(x, 1), "numpy")(np.array([0.0, 2.0])).round(6))
print(sp.latex(sp.Integral(sp.sqrt(x), x)))
