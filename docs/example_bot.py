"""Plays one seat of Blackbox, badly: python3 example_bot.py http://127.0.0.1:8025 TOKEN"""

import json
import random
import sys
import time
from urllib.error import HTTPError
from urllib.request import Request, urlopen

if len(sys.argv) != 3:
    sys.exit(__doc__)
_, server, token = sys.argv
headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}


def ask(path, body=None):
    try:
        with urlopen(Request(f"{server}/api/{path}", body, headers)) as answer:
            return json.load(answer)
    except HTTPError as refusal:
        if refusal.code not in {429, 503}:
            sys.exit(f"{refusal.code}: {json.load(refusal)['detail']}")
        time.sleep(int(refusal.headers.get("Retry-After", 60)))
        return ask(path, body)


while (seat := ask("seat"))["status"] in {"proposed", "running"}:
    if not seat["your_turn"]:
        time.sleep(1)
        continue
    facts, box = seat["facts"], seat["facts"]["boxes"][0]
    unused = [port for port, result in box["ports"].items() if not result]
    count = int(facts["atoms"].partition("-")[0])  # "4", or "10-12"
    cells = random.sample([cell for row in box["cells"] for cell in row], count)
    move = random.choice(unused) if len(unused) > 8 else "guess " + " ".join(cells)
    if facts["must_hide"]:
        move = ",".join(cells)
    ask("seat/moves", json.dumps({"turn": seat["turn"], "move": move}).encode())
print(*seat["events"], *seat["scores"], seat["text"], sep="\n")
