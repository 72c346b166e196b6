"""A small bank: classes, data classes, enumerations, exceptions and a context manager."""

from contextlib import contextmanager
from dataclasses import dataclass, field
from decimal import Decimal
from enum import Enum


class Kind(Enum):
    DEPOSIT = "deposit"
    WITHDRAWAL = "withdrawal"
    TRANSFER = "transfer"


class InsufficientFunds(Exception):
    def __init__(self, account: "Account", wanted: Decimal):
        super().__init__(f"{account.owner} has {account.balance}, not {wanted}")
        self.wanted = wanted


@dataclass(frozen=True, order=True)
class Entry:
    kind: Kind = field(compare=False)
    amount: Decimal = field(default=Decimal(0))


@dataclass
class Account:
    owner: str
    balance: Decimal = Decimal("0.00")
    history: list[Entry] = field(default_factory=list)

    def deposit(self, amount: Decimal, kind: Kind = Kind.DEPOSIT) -> None:
        if amount <= 0:
            raise ValueError("an amount is more than zero")
        self.balance += amount
        self.history.append(Entry(kind, amount))

    def withdraw(self, amount: Decimal, kind: Kind = Kind.WITHDRAWAL) -> None:
        if amount > self.balance:
            raise InsufficientFunds(self, amount)
        self.balance -= amount
        self.history.append(Entry(kind, -amount))

    def __str__(self) -> str:
        return f"{self.owner:<6} {self.balance:>8}"


class Savings(Account):
    rate = Decimal("0.02")

    def add_interest(self) -> None:
        self.deposit((self.balance * self.rate).quantize(Decimal("0.01")))

    @property
    def is_empty(self) -> bool:
        return not self.balance


@contextmanager
def all_or_nothing(*accounts: Account):
    before = [(account.balance, list(account.history)) for account in accounts]
    try:
        yield
    except InsufficientFunds as problem:
        for account, (balance, history) in zip(accounts, before, strict=True):
            account.balance, account.history = balance, history
        print("taken back:", problem)


def transfer(source: Account, target: Account, amount: Decimal) -> None:
    target.deposit(amount, Kind.TRANSFER)
    source.withdraw(amount, Kind.TRANSFER)


def main() -> None:
    ada = Account("Ada")
    grace = Savings("Grace")
    ada.deposit(Decimal("120.50"))
    grace.deposit(Decimal("1000"))

    with all_or_nothing(ada, grace):
        transfer(grace, ada, Decimal("80.25"))
    with all_or_nothing(ada, grace):
        transfer(ada, grace, Decimal("999"))
    grace.add_interest()

    try:
        ada.deposit(Decimal("-1"))
    except ValueError as problem:
        print("refused:", problem)

    for account in (ada, grace):
        print(account, [f"{entry.kind.name} {entry.amount}" for entry in account.history])
    print("largest of Grace:", max(grace.history).amount, "empty:", grace.is_empty)


if __name__ == "__main__":
    main()
