class InsufficientFunds(Exception):
    def __init__(self, balance, amount):
        super().__init__(f"balance {balance} is less than {amount}")
        self.balance = balance
        self.amount = amount

    @property
    def short(self): return self.amount - self.balance


class Account:
    interest = 0.01
    __next = 1000

    def __init__(self, owner: str, balance: float = 0):
        self.owner = owner
        self.__balance = balance
        self._log = []
        self.number = Account.__next
        Account.__next += 1

    @property
    def balance(self):
        return self.__balance

    def deposit(self, amount):
        if amount <= 0:
            raise ValueError("deposit must be positive")
        self.__balance += amount
        self._log.append(("+", amount))
        return self

    def withdraw(self, amount):
        if amount > self.__balance:
            raise InsufficientFunds(self.__balance, amount)
        self.__balance -= amount
        self._log.append(("-", amount))
        return self

    def __str__(self):
        return f"{self.number} {self.owner:<6} {self.__balance:>10,.2f}"

    def __repr__(self): return f"{type(self).__name__}({self.owner!r}, {self.__balance!r})"

    def __enter__(self):
        self.__saved = self.__balance
        return self

    def __exit__(self, kind, value, tb):
        if kind is not None:
            print(f"rollback because of {kind.__name__}: {value}")
            self.__balance = self.__saved
        return kind is not None and issubclass(kind, InsufficientFunds)


class Savings(Account):
    interest = 0.05

    def add_interest(self):
        return self.deposit(round(self.balance * self.interest, 2))

    def __getattr__(self, name):
        if name.startswith("deposit_"):
            amount = int(name.split("_")[1])
            return lambda: self.deposit(amount)
        raise AttributeError(f"{type(self).__name__} has no {name}")


def transfer(a, b, amount):
    with a:
        a.withdraw(amount)
        b.deposit(amount)
        print("transferred", amount)


ann, bob = Account("Ann", 100), Savings("Bob")
ann.deposit(50).withdraw(30).deposit(0.5)
transfer(ann, bob, 20)
transfer(ann, bob, 2000)
bob.add_interest().deposit_50()
print(ann, bob, repr(ann), [ann, bob], sep="\n")
for bad in ("ann.deposit(-1)", "ann.balance = 5", "bob.fly()", "ann.__balance", "ann.withdraw(1e6)"):
    try:
        match bad.split("."):
            case ["ann", "deposit(-1)"]: ann.deposit(-1)
            case [_, "balance = 5"]: ann.balance = 5
            case ["bob", _]: bob.fly()
            case [*_, "__balance"]: print(ann.__balance)
            case _: ann.withdraw(1e6)
    except InsufficientFunds as e:
        print("short", e.short, e.args)
    except (ValueError, AttributeError) as e:
        print(f"{bad}: {type(e).__name__}: {e}")
print(ann._log, bob._Account__balance, sorted(ann.__dict__), Account.interest, bob.interest)
Account.interest = 0.02
print(ann.interest, bob.interest, ann.__class__ is Account, ann.__dict__.get("_Account__balance"))
