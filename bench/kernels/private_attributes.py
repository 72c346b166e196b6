"""Instances that keep their state in names with an underscore."""


class Account:
    def __init__(self):
        self._balance = 0
        self.__log = []

    @property
    def balance(self):
        return self._balance

    def deposit(self, amount):
        self._balance += amount
        if amount % 100 == 0:
            self.__log.append(amount)
        return len(self.__log)


def kernel():
    account = Account()
    for i in range(60_000):
        account.deposit(i)
    return account.balance
