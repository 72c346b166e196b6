class StorageError(Exception):
    def __init__(self, key):
        super().__init__(f"cannot load {key!r}")
        self.key = key


class Store:
    def __init__(self):
        self._data = {"a": 1}

    def __getitem__(self, key):
        try:
            return self._data[key]
        except KeyError as e:
            raise StorageError(key) from e


store = Store()
print(store["a"])
try:
    store["b"]
except StorageError:
    print("cleaning up")
    raise
