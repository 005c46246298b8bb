// A congestion control in BPF (struct_ops): AIMD that keeps four fifths of its window after a loss.
//
//   bpftool btf dump file /sys/kernel/btf/vmlinux format c > vmlinux.h
//   clang -O2 -g -target bpf -I . -c gentle.bpf.c -o gentle.bpf.o
//   bpftool struct_ops register gentle.bpf.o
//   ackclock emulate FILE.toml --control aimd=bpf_gentle
//
// SPDX-License-Identifier: MIT OR GPL-2.0
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

// The kernel takes such programs under no other licence.
char _license[] SEC("license") = "Dual MIT/GPL";

// The window to continue with after a loss.
SEC("struct_ops/gentle_ssthresh")
__u32 BPF_PROG(gentle_ssthresh, struct sock *sk)
{
	struct tcp_sock *tp = (struct tcp_sock *)sk;
	__u32 kept = tp->snd_cwnd * 4 / 5;

	return kept > 2 ? kept : 2;
}

// The window before a loss that was none.
SEC("struct_ops/gentle_undo")
__u32 BPF_PROG(gentle_undo, struct sock *sk)
{
	struct tcp_sock *tp = (struct tcp_sock *)sk;

	return tp->snd_cwnd > tp->prior_cwnd ? tp->snd_cwnd : tp->prior_cwnd;
}

// One segment for each acknowledged below ssthresh, above it one for each window.
SEC("struct_ops/gentle_grow")
void BPF_PROG(gentle_grow, struct sock *sk, __u32 ack, __u32 acked)
{
	struct tcp_sock *tp = (struct tcp_sock *)sk;
	__u32 cwnd = tp->snd_cwnd;

	// A window that is not used does not grow.
	if (cwnd >= 2 * tp->max_packets_out)
		return;
	if (cwnd < tp->snd_ssthresh) {
		cwnd += acked;
		tp->snd_cwnd = cwnd < tp->snd_ssthresh ? cwnd : tp->snd_ssthresh;
		return;
	}
	tp->snd_cwnd_cnt += acked;
	if (tp->snd_cwnd_cnt >= cwnd) {
		tp->snd_cwnd_cnt -= cwnd;
		tp->snd_cwnd = cwnd + 1;
	}
}

SEC(".struct_ops")
struct tcp_congestion_ops gentle = {
	.ssthresh = (void *)gentle_ssthresh,
	.undo_cwnd = (void *)gentle_undo,
	.cong_avoid = (void *)gentle_grow,
	.name = "bpf_gentle",
};
