import sys
from enum import Enum, auto

HELLO = "++++++++[>++++[>++>+++>+++>+<<<<-]>+>+>->>+[<]<-]>>.>---.+++++++..+++.>>.<-.<.+++.------.--------.>>+.>++."


def brainf(program, data=""):
    jumps, stack = {}, []
    for i, c in enumerate(program):
        if c == "[":
            stack.append(i)
        elif c == "]":
            if not stack:
                raise SyntaxError(f"unmatched ] at {i}")
            j = stack.pop()
            jumps[i], jumps[j] = j, i
    if stack:
        raise SyntaxError(f"unmatched [ at {stack[-1]}")
    tape, at, pc, out = [0], 0, 0, []
    feed = iter(data)
    while pc < len(program):
        match program[pc]:
            case ">":
                at += 1
                if at == len(tape): tape.append(0)
            case "<": at -= 1
            case "+": tape[at] = (tape[at] + 1) % 256
            case "-": tape[at] = (tape[at] - 1) % 256
            case ".": out.append(chr(tape[at]))
            case ",": tape[at] = ord(next(feed, "\0"))
            case "[" if not tape[at]: pc = jumps[pc]
            case "]" if tape[at]: pc = jumps[pc]
        pc += 1
    return "".join(out)


class Op(Enum):
    PUSH = auto(); ADD = auto(); MUL = auto(); SUB = auto(); DUP = auto(); SWAP = auto()
    JMP = auto(); JZ = auto(); LOAD = auto(); STORE = auto(); PRINT = auto(); CALL = auto(); RET = auto(); HALT = auto()


class Machine:
    def __init__(self, code, trace=False):
        self.code, self.stack, self.memory, self.calls, self.pc = code, [], {}, [], 0
        self.trace, self.steps = trace, 0

    def run(self, limit=10_000):
        while self.steps < limit:
            self.steps += 1
            op, *args = self.code[self.pc]
            self.pc += 1
            if self.trace: print(f"{self.pc - 1:3} {op.name:<6}{args!s:<8}{self.stack}")
            if getattr(self, f"op_{op.name.lower()}")(*args) is StopIteration:
                return self
        raise TimeoutError(f"no end after {limit} steps")

    def op_push(self, x): self.stack.append(x)
    def op_dup(self): self.stack.append(self.stack[-1])
    def op_swap(self): self.stack[-2:] = self.stack[:-3:-1]
    def op_jmp(self, to): self.pc = to
    def op_jz(self, to): self.pc = self.pc if self.stack.pop() else to
    def op_load(self, name): self.stack.append(self.memory[name])
    def op_store(self, name): self.memory[name] = self.stack.pop()
    def op_print(self): print("out:", self.stack.pop(), file=sys.stdout)
    def op_call(self, to): self.calls.append(self.pc); self.pc = to
    def op_ret(self): self.pc = self.calls.pop()
    def op_halt(self): return StopIteration


for name, f in {"add": lambda a, b: a + b, "sub": lambda a, b: a - b, "mul": lambda a, b: a * b}.items():
    setattr(Machine, f"op_{name}", lambda self, f=f: self.stack.append(f(*[self.stack.pop() for _ in "ab"][::-1])))


def assemble(text):
    lines = [l.split("#")[0].split() for l in text.strip().splitlines()]
    labels, code = {}, []
    for words in filter(None, lines):
        if words[0].endswith(":"): labels[words[0][:-1]] = len(code)
        else: code.append(words)
    value = lambda a: labels[a] if a in labels else int(a) if a.lstrip("-").isdigit() else a
    return [(Op[w.upper()], *map(value, a)) for w, *a in code]


print(brainf(HELLO), brainf(",[.-]", "\5").encode(), brainf(",>,<[->+<]>.", "!\""))
for bad in "[", "+]":
    try: brainf(bad)
    except SyntaxError as e: print(e.msg)
FACTORIAL = """
    push 5
    call fact
    print
    halt
fact:           # n -- n!
    store n
    push 1
loop:
    load n
    jz done
    load n
    mul
    load n
    push 1
    sub
    store n
    jmp loop
done: 
    ret
"""
m = Machine(assemble(FACTORIAL)).run()
print(m.steps, m.stack, m.memory)
Machine(assemble("push 2\npush 3\nswap\nsub\ndup\nprint\nhalt"), trace=True).run()
for code in "a:\njmp a", "add", "load zz", "nosuch":
    try: Machine(assemble(code)).run(limit=50)
    except (TimeoutError, IndexError, KeyError) as e: print(type(e).__name__, e)
