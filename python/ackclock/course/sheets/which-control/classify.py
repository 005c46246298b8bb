"""Which control filled this queue? Change `classify` until it knows.

Try it on the labelled runs:  python classify.py
"""

import json
from pathlib import Path


def classify(run):
    """Name the control of a run: "reno", "cubic", "vegas" or "bbr3".

    run["rate_mbps"], run["rtt_ms"] and run["buffer_packets"] are of the path; run["time_s"],
    run["queue_packets"] and run["drops"] (since the beginning) are lists with a value every 20 ms.
    """
    return "vegas" if max(run["queue_packets"]) < 10 else "reno"


if __name__ == "__main__":
    lines = Path("practice.jsonl").read_text().splitlines()
    right = [classify(entry["run"]) == entry["label"] for entry in map(json.loads, lines)]
    print(f"{sum(right)} of {len(right)} runs named rightly")
