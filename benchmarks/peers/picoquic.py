"""Runs C4 beside CUBIC in picoquic's simulator and here, with feedback of several kinds.

    python benchmarks/peers/picoquic.py PICOQUIC PICOTLS [--repeats 3]

PICOQUIC is a checkout of private-octopus/picoquic (the page's numbers are those of commit
d199d45b), PICOTLS one of h2o/picotls. They are built in a temporary folder by gcc with OpenSSL. Two
connections begin together over 20 Mbit/s, 40 ms and a drop-tail queue of 40 ms; the goodput of C4
while it transfers 150 MB is printed, which differs from run to run. Receivers acknowledge as
picoquic's ACK frequency has it, where senders request fewer the more they send, or by fixed gaps
and delays. The second column has picoquic with a CUBIC by RFC 9438: picoquic's takes an eighth in
place of 0.3 at a loss, answers losses only where more than 15 % of a moving average are lost, and
has Reno grow by a whole packet, from half of the window, in the region that is friendly to it. Ours
sends datagrams of 1440 bytes, as picoquic does, and of 1200, for 80 s.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from statistics import mean
from typing import NamedTuple

from ackclock import Scenario

FOLDERS = ("picoquic", "picohttp", "loglib")
LEFT_OUT = ("picoquic_mbedtls", "picoquic_ptls_fusion", "picoquic_ptls_minicrypto")
PICOTLS = ("picotls", "openssl", "pembase64", "asn1", "hpke")
BYTES = 150_000_000
MAIN = f"""
#include <stdio.h>
#include <string.h>
#include "picoquic_ns.h"
#include "picoquic_internal.h"
void picoquic_ptls_minicrypto_load(int unload) {{ (void)unload; }}
int main(void) {{
    picoquic_ns_spec_t spec;
    memset(&spec, 0, sizeof(spec));
    picoquic_register_all_congestion_control_algorithms();
    spec.main_cc_algo = picoquic_get_congestion_algorithm("c4");
    spec.background_cc_algo = picoquic_get_congestion_algorithm("cubic");
    spec.nb_connections = 2;
    spec.data_rate_in_gbps = 0.02;
    spec.latency = 20000;
    spec.queue_delay_max = 40000;
    spec.main_scenario_text = "=b1:*1:397:{BYTES};";
    spec.background_scenario_text = "=b1:*1:397:500000000;";
    spec.main_target_time = 200000000;
    return picoquic_ns(&spec, stderr);
}}
"""
GAP = "void picoquic_compute_ack_gap_and_delay("
"""Says how often to acknowledge; its results are replaced if GAP or DELAY is set."""
CUBIC = (
    ("(7.0 / 8.0)", "0.7"),
    ("PICOQUIC_SMOOTHED_LOSS_THRESHOLD)", "0.0)"),
    ("W_reno += (", "W_reno += 0.529 * ("),
    ("W_reno = ((double)path_x->cwin) / 2.0;", "W_reno = (double)cubic_state->ssthresh;"),
)
"""picoquic's rules of CUBIC, and RFC 9438's."""


class Feedback(NamedTuple):
    """How often receivers acknowledge."""

    name: str
    packets: int | None
    """So many packets; none: as picoquic's ACK frequency, 28 and 9 of C4 and CUBIC."""
    delay_ms: int


FEEDBACK = (
    Feedback("ACK frequency, 10 ms", None, 10),
    Feedback("each 10 packets, 10 ms", 10, 10),
    Feedback("each 2 packets, 10 ms", 2, 10),
    Feedback("each 2 packets, 25 ms", 2, 25),
    Feedback("ACK frequency, 25 ms", None, 25),
)


def change(text: str, before: str, after: str) -> str:
    """Put one text into the place of another, which must be there."""
    if before not in text:
        sys.exit(f"picoquic: a source has no {before!r}")
    return text.replace(before, after)


def write_frames(text: str) -> str:
    """Write the source of frames, whose feedback the environment may set."""
    begin = text.index(GAP)
    begin = text.rindex("\n", 0, begin) + 1 if text[begin - 1] != "\n" else begin
    head = text[begin : text.index("{", begin)]
    own = head.replace(GAP, "static void compute_own_gap(")
    wrapper = f"""#include <stdlib.h>
{own};
{head}{{
    compute_own_gap(cnx, rtt, remote_min_ack_delay, data_rate, ack_gap, ack_delay_max);
    if (getenv("GAP")) *ack_gap = (uint64_t)atoi(getenv("GAP"));
    if (getenv("DELAY")) *ack_delay_max = (uint64_t)atoi(getenv("DELAY"));
}}
{own}"""
    return text[:begin] + wrapper + text[begin + len(head) :]


def build(picoquic: Path, picotls: Path, folder: Path) -> dict[str, Path]:
    """Build the simulator, with picoquic's CUBIC and with RFC 9438's."""
    for name in (*FOLDERS, "picoquictest", "certs"):
        shutil.copytree(picoquic / name, folder / name)
    frames = folder / "picoquic" / "frames.c"
    frames.write_text(write_frames(frames.read_text("utf-8")), "utf-8")
    cubic = (folder / "picoquic" / "cubic.c").read_text("utf-8")
    for before, after in CUBIC:
        cubic = change(cubic, before, after)
    (folder / "cubic_9438.c").write_text(cubic, "utf-8")
    (folder / "main.c").write_text(MAIN, "utf-8")
    files = [
        file
        for name in FOLDERS
        for file in sorted((folder / name).glob("*.c"))
        if file.stem not in LEFT_OUT
    ]
    files += [picotls / "lib" / f"{name}.c" for name in PICOTLS]
    files += [folder / "cubic_9438.c", folder / "main.c"]
    includes = [f"-I{folder / name}" for name in (*FOLDERS, "picoquictest")]
    includes += [f"-I{picotls / 'include'}"]
    options = ["-O2", "-w", "-D_GNU_SOURCE", "-DDISABLE_DEBUG_PRINTF", "-DPTLS_WITHOUT_FUSION"]

    def compile_file(item: tuple[int, Path]) -> Path:
        number, file = item
        made = folder / f"{number}_{file.stem}.o"
        command = ["gcc", *options, *includes, "-c", str(file), "-o", str(made)]
        subprocess.run(command, check=True)
        return made

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        objects = list(pool.map(compile_file, enumerate(files)))
    programs = {}
    for name, other in (("cubic", "cubic_9438"), ("cubic_9438", "cubic")):
        used = [str(made) for made in objects if made.stem.split("_", 1)[1] != other]
        programs[name] = folder / f"run_{name}"
        libraries = ["-lssl", "-lcrypto", "-lm", "-lpthread"]
        subprocess.run(["gcc", *used, "-o", str(programs[name]), *libraries], check=True)
    return programs


def run_theirs(program: Path, feedback: Feedback) -> float:
    """Run picoquic's simulator; returns the goodput of C4 in Mbit/s."""
    settings = {"DELAY": str(feedback.delay_ms * 1000)}
    if feedback.packets:
        settings["GAP"] = str(feedback.packets)
    done = subprocess.run(
        [str(program)],
        check=True,
        cwd=program.parent,
        env=os.environ | settings,
        capture_output=True,
        text=True,
    )
    line = next(line for line in done.stdout.splitlines() if line.startswith("Success"))
    return BYTES * 8 / int(line.split(",")[2])


def run_ours(feedback: Feedback, datagram: int) -> float:
    """Run C4 beside CUBIC here; returns the goodput of C4 in Mbit/s."""
    flows = []
    for pair, (cc, packets) in enumerate((("c4", 28), ("cubic", 9))):
        quic = {
            "max_datagram": datagram,
            "max_ack_delay": f"{feedback.delay_ms} ms",
            "ack_eliciting_threshold": (feedback.packets or packets + 1) - 1,
        }
        flows.append({"id": cc, "pair": pair, "cc": cc, "transport": "quic", "quic": quic})
    net = {"kind": "dumbbell", "pairs": 2, "rate": "20 Mbps", "rtt": "40 ms", "buffer": "1 bdp"}
    run = Scenario.from_data({"net": net, "flows": flows, "duration": "80 s"}).run()
    return float(run.summary["flows"][0]["goodput_bps"]) / 1e6


def main() -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("picoquic", type=Path)
    parser.add_argument("picotls", type=Path)
    parser.add_argument("--repeats", type=int, default=3)
    arguments = parser.parse_args()
    names = "picoquic | with CUBIC by RFC 9438 | here | with datagrams of 1200 bytes"
    print(f"| acknowledgements | {names} |\n|{' --- |' * 5}")
    with tempfile.TemporaryDirectory() as name:
        programs = build(arguments.picoquic, arguments.picotls, Path(name))
        for feedback in FEEDBACK:
            cells = []
            for program in programs.values():
                rates = [run_theirs(program, feedback) for _ in range(arguments.repeats)]
                cells.append(f"{mean(rates):.1f} ({min(rates):.1f} to {max(rates):.1f})")
            cells += [f"{run_ours(feedback, datagram):.1f}" for datagram in (1440, 1200)]
            print(f"| {feedback.name} | {' | '.join(cells)} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
