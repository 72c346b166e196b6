"""Reshape a nested JSON document, as an agent asked to 'clean this data' would."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from datetime import date
from typing import Any

DOCUMENT = r"""
{"users": [
   {"id": 1, "name": "Zoë", "tags": ["admin", "dev"], "joined": "2020-02-29",
    "address": {"city": "Oslo", "geo": {"lat": 59.91, "lon": 10.75}}},
   {"id": 2, "name": "Max \u0022M\u0022", "tags": [], "joined": null, "address": null},
   {"id": 3, "name": "Eve", "tags": ["dev"], "joined": "2021-13-01"}
 ], "meta": {"count": 3, "big": 12345678901234567890, "ratio": 1e-3}}
"""


@dataclass
class User:
    id: int
    name: str
    joined: date | None = None
    tags: set[str] = field(default_factory=set)
    city: str = "unknown"

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> User:
        address = data.get("address") or {}
        joined = data.get("joined")
        return cls(
            id=data["id"],
            name=data["name"],
            joined=date.fromisoformat(joined) if joined else None,
            tags=set(data.get("tags", ())),
            city=address.get("city", "unknown"),
        )


class Encoder(json.JSONEncoder):
    def default(self, o):
        if isinstance(o, (set, frozenset)):
            return sorted(o)
        if isinstance(o, date):
            return o.isoformat()
        return super().default(o)


def flatten(value, prefix=""):
    if isinstance(value, dict):
        for k, v in value.items():
            yield from flatten(v, f"{prefix}.{k}" if prefix else k)
    elif isinstance(value, list):
        for i, v in enumerate(value):
            yield from flatten(v, f"{prefix}[{i}]")
    else:
        yield prefix, value


data = json.loads(DOCUMENT)
users = []
for item in data["users"]:
    try:
        users.append(User.from_json(item))
    except ValueError as e:
        print(f"skip {item['id']}: {e}")
print(json.dumps([asdict(u) for u in users], cls=Encoder, indent=2, ensure_ascii=False))
for path, value in flatten(data):
    print(f"{path} = {value!r}")
print(json.dumps({"b": [1, 2.0, True, None], "a": "é\n"}, sort_keys=True, separators=(",", ":")))
try:
    json.loads('{"a": [1, 2,]}')
except json.JSONDecodeError as e:
    print(e.msg, e.lineno, e.colno, e.pos, "|", e)
try:
    json.dumps({"x": object}, cls=Encoder)
except TypeError as e:
    print(e)
points = json.loads('[{"x": 1, "y": 2}, {"x": 3, "y": 4}]', object_hook=lambda d: (d["x"], d["y"]))
print(points, json.loads("[1.10]", parse_float=str), json.dumps({1: 2, None: 3, True: 4}))
