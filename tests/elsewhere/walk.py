from belljar import Sandbox, BelljarError
import belljar, time, threading
print(belljar.__version__)
with Sandbox(timeout="5s", memory="64m") as box:
    r = box.run("sum(prices)", inputs={"prices": [1.5, 2.5]})
    print(r.value, r.isolation.mode, [l.name for l in r.isolation.layers if l.held])
    print(box.run("print('hi'); 1/0").error.type)
    out=[]
    box.run("for i in range(3): print(i)", stream=lambda n,t: out.append((n,t)))
    print(out)
    print(box.run("f(2)+f(3)", functions={"f": lambda x: x*10}).value)
    def bad(x): raise ValueError("no "+str(x))
    print(box.run("f(2)", functions={"f": bad}).error.message)
    print(box.run("while True: pass", timeout=0.3).status)
    print(box.validate("import ctypes").findings[0].rule)
    print(box.run("2**20000 > 1").value, len(str(box.run("(1,{2},b'x', 10**40)").value)))
    try: box.run("1", timeout="nonsense")
    except Exception as e: print(type(e), e)
    with box.session() as s:
        s.run("x = 1"); c = s.checkpoint("a"); s.run("x = 2"); s.rollback(c); print(s.run("x").value)
        b = s.branch(2); print([i.run("x").value for i in b]); print(s.complete("impo")[:1])
        print(s.compare(b[0]))
    t=time.time(); n=200
    for _ in range(n): box.run("1")
    print("ms a run", (time.time()-t)/n*1000)
    print(box.info().profile if hasattr(box.info(),'profile') else box.info())
try:
    s.run("1")
except BelljarError as e: print(repr(e))
