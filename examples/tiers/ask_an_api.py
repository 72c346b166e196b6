"""Query an HTTP API, follow its pages, and add up the results.

Run it with --profile network, a host that it may reach, and that host's address to read:
`belljar run --profile network --allow-domain api.example.com --stdin address.txt
examples/tiers/ask_an_api.py`.
"""

import json
import urllib.error
import urllib.request


def get(url):
    with urllib.request.urlopen(url, timeout=10) as response:
        return json.load(response)


base = input().rstrip("/")
total, page = 0, "/orders?page=1"
while page:
    answer = get(base + page)
    total += sum(order["cents"] for order in answer["orders"])
    page = answer["next"]
print(f"orders come to {total / 100:.2f}")

# A host that the operator has not allowed cannot be reached.
try:
    get("http://elsewhere.example.com/")
    refused = False
except (urllib.error.URLError, OSError) as error:
    refused = True
    print(f"elsewhere: {type(error).__name__}")

result = {"cents": total, "refused": refused}
