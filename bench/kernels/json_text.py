"""JSON there and back."""

import json


def kernel():
    rows = [{"id": i, "name": f"row {i}", "tags": ["a", "b", i % 3]} for i in range(400)]
    for _ in range(8):
        rows = json.loads(json.dumps(rows, indent=1, sort_keys=True))
    return len(rows)
