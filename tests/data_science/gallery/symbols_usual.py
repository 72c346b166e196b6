import sympy as sp
from sympy import (
    Eq,
    Function,
    Matrix,
    diff,
    dsolve,
    integrate,
    lambdify,
    latex,
    limit,
    oo,
    plot,
    pprint,
    series,
    solve,
    symbols,
)
from sympy.abc import a
from sympy.parsing.sympy_parser import (
    implicit_multiplication_application,
    parse_expr,
    standard_transformations,
)
from sympy.physics.units import convert_to, kilometer, meter
from sympy.stats import Die, E, Normal, P
from sympy.vector import CoordSys3D

x, y = symbols("x y", real=True)
print(
    solve(x**2 - 5 * x + 6),
    diff(sp.sin(x) * x, x),
    integrate(sp.exp(-(x**2)), (x, -oo, oo)),
    limit(sp.sin(x) / x, x, 0),
    series(sp.cos(x), x, 0, 6),
)
pprint(Matrix([[1, 2], [3, 4]]).eigenvals())
pprint(sp.Integral(sp.sqrt(x), x))
f = Function("f")
print(dsolve(Eq(f(x).diff(x, 2) + f(x), 0)))
print(
    lambdify((x, y), x**2 + y, "numpy")(2, 3),
    sp.sympify("x^2 + 1"),
    sp.nsimplify(0.333333, rational=True),
    sp.factor(x**3 - 1),
    sp.apart(1 / (x**2 - 1)),
)
print(
    sp.Matrix([[1, 2], [3, 4]]).inv(),
    sp.linsolve([x + y - 2, x - y], x, y),
    sp.N(sp.pi, 30),
    sp.isprime(97),
    sp.factorint(360),
)
print(
    latex(sp.Sum(1 / x**2, (x, 1, oo))),
    sp.Sum(1 / a**2, (a, 1, oo)).doit(),
    sp.Piecewise((x, x > 0), (0, True)).subs(x, -1),
)
sp.init_printing()
p = plot(x**2, show=False)

print(
    parse_expr(
        "2x", transformations=standard_transformations + (implicit_multiplication_application,)
    )
)

print(P(Die("D", 6) > 3), E(Normal("N", 0, 1)))

print(convert_to(3 * kilometer, meter))

C = CoordSys3D("C")
print(C.i.dot(C.i))
