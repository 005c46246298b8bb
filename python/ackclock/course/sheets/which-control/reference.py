"""The instructor's classifier: three rules about the queue from 5 s on."""


def classify(run):
    """Name the control that filled the queue of a run."""
    first = next(i for i, time in enumerate(run["time_s"]) if time >= 5)
    buffer = run["buffer_packets"]
    product = run["rate_mbps"] * 1e6 * run["rtt_ms"] / 1e3 / 12000  # packets on the path
    raw = run["queue_packets"][first:]
    # Means over 100 ms: a burst of packets is no signal.
    queue = [sum(raw[i : i + 5]) / 5 for i in range(len(raw) - 5)]
    if max(queue) < 0.3 * buffer:
        return "vegas"  # it keeps a few packets, whatever the buffer
    drained = sum(value < 0.1 * buffer for value in queue) / len(queue)
    losses = run["drops"][-1] - run["drops"][first]
    if drained > 0.18 or (drained > 0.1 and losses == 0):
        return "bbr3"  # it empties the queue again and again
    # What is in flight after a loss over what was before: a half with Reno, 0.7 with CUBIC.
    low = sorted(queue)[len(queue) // 50]
    remaining = (low + product) / (max(queue) + product)
    return "reno" if remaining < 0.5 else "cubic"
