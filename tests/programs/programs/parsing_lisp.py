"""A Scheme subset after lis.py's idea, written from scratch: closures, tail loops, quoting."""
from __future__ import annotations

import math
import operator as op
from collections import ChainMap
from functools import reduce


class Symbol(str):
    __slots__ = ()
    def __repr__(self): return str(self)


class LispError(Exception): pass


class Lambda:
    def __init__(self, params, body, env): self.params, self.body, self.env = params, body, env

    def bind(self, args):
        if len(args) != len(self.params):
            raise LispError(f"wanted {len(self.params)} arguments, got {len(args)}")
        return self.env.new_child(dict(zip(self.params, args)))

    def __call__(self, *args): return evaluate(self.body, self.bind(args))
    def __repr__(self): return f"<lambda ({' '.join(self.params)})>"


def read(text):
    tokens = text.replace("(", " ( ").replace(")", " ) ").replace("'", " ' ").split()[::-1]

    def form():
        if not tokens: raise LispError("unexpected end")
        match tokens.pop():
            case "(":
                out = []
                while tokens and tokens[-1] != ")": out.append(form())
                if not tokens: raise LispError("missing )")
                tokens.pop()
                return out
            case ")": raise LispError("unexpected )")
            case "'": return [Symbol("quote"), form()]
            case "#t": return True
            case "#f": return False
            case word:
                for kind in int, float, Symbol:
                    try: return kind(word)
                    except ValueError: pass
    while tokens:
        yield form()


def show(x):
    if x is True: return "#t"
    if x is False: return "#f"
    return "(" + " ".join(map(show, x)) + ")" if isinstance(x, list) else str(x)


def evaluate(x, env):
    while True:
        match x:
            case Symbol():
                try: return env[x]
                except KeyError: raise LispError(f"unbound: {x}") from None
            case int() | float(): return x
            case []: return []
            case ["quote", value]: return value
            case ["if", test, then, *rest]:
                x = then if evaluate(test, env) is not False else (rest[0] if rest else False)
            case ["define", [name, *params], body]: env[name] = Lambda(params, body, env); return None
            case ["define", name, value]: env[name] = evaluate(value, env); return None
            case ["set!", name, value]:
                next(m for m in env.maps if name in m)[name] = evaluate(value, env)
                return None
            case ["lambda", params, body]: return Lambda(params, body, env)
            case ["let", pairs, body]:
                env = env.new_child({n: evaluate(v, env) for n, v in pairs}); x = body
            case ["begin", *forms, last]:
                for f in forms: evaluate(f, env)
                x = last
            case [head, *rest]:
                f, args = evaluate(head, env), [evaluate(a, env) for a in rest]
                if isinstance(f, Lambda): x, env = f.body, f.bind(args); continue
                if not callable(f): raise LispError(f"not a procedure: {show(f)}")
                return f(*args)


BASE = {"+": lambda *a: sum(a), "*": lambda *a: reduce(op.mul, a, 1), "-": lambda a, *b: a - sum(b) if b else -a, "/": op.truediv,
        "<": op.lt, ">": op.gt, "=": op.eq, "<=": op.le, "car": lambda l: l[0], "cdr": lambda l: l[1:], "cons": lambda a, b: [a] + b,
        "list": lambda *a: list(a), "null?": lambda l: l == [], "length": len, "map": lambda f, l: [f(x) for x in l], "pi": math.pi,
        "not": lambda x: x is False, "append": lambda *l: sum(l, []), "abs": abs, "sqrt": math.sqrt, "display": lambda x: print("  >", show(x))}
env = ChainMap({}, BASE)
PROGRAM = """
(define (fact n) (if (<= n 1) 1 (* n (fact (- n 1)))))  (fact 20)
(define (loop n acc) (if (= n 0) acc (loop (- n 1) (+ acc n))))  (loop 5000 0)
(define (make) (let ((n 0)) (lambda () (begin (set! n (+ n 1)) n))))  (define c (make))  (begin (c) (c) (c))
(map (lambda (x) (* x x)) '(1 2 3))  (define (filter p l) (if (null? l) '() (if (p (car l)) (cons (car l) (filter p (cdr l))) (filter p (cdr l)))))
(filter (lambda (x) (> x 2)) (list 1 2 3 4))  '(a (b c) #t)  (display (append '(1) '(2 3)))  (let ((x 2) (y 3)) (/ x y))  car-x (1 2) fact
"""
forms = read(PROGRAM)
for form in forms:
    try:
        result = evaluate(form, env)
        if result is not None: print(show(form)[:40], "=>", show(result))
    except LispError as e: print(show(form)[:40], "!!", e)
for bad in "(+ 1", ")", "((lambda (x) x))", "(car '())", "(sqrt 'x)":
    try: print([evaluate(f, env) for f in read(bad)])
    except (LispError, IndexError, TypeError) as e: print(bad, "!!", type(e).__name__, e)
