/* The frames of ackclock's guest protocol, version 1, for stacks in C11. Needs the C library alone.
 *
 * A stack fills a struct guest_stack with its functions, which say what the guest does now by filling an answer, and
 * guest_serve() is the rest of the program. Times are whole nanoseconds of the simulation. The page
 * docs/reference/guest-protocol.md says what each field means. */

#ifndef ACKCLOCK_FRAMES_H
#define ACKCLOCK_FRAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* No deadline, no end of the data, no threshold. */
#define GUEST_NONE UINT64_MAX

/* What a guest learns of its flow. */
struct guest_start {
  bool is_client;          /* It connects and sends the data. */
  bool ecn;                /* Datagrams may be marked as capable of ECN. */
  bool more_data;          /* Calls of data() may follow. */
  uint32_t flow;           /* Number of the flow. */
  uint64_t seed;           /* Seed of the run. */
  uint32_t max_datagram;   /* Most bytes of a datagram. */
  uint32_t initial_window; /* In datagrams. */
  uint64_t bytes;          /* To transfer. */
};

/* State of a sender, for tables and figures. */
struct guest_state {
  uint64_t cwnd;       /* Congestion window in bytes. */
  uint64_t ssthresh;   /* Slow start threshold in bytes, or GUEST_NONE. */
  uint64_t in_flight;  /* Bytes. */
  uint64_t srtt;       /* Smoothed round trip [ns]. */
  uint64_t min_rtt;    /* Shortest round trip [ns]. */
  uint64_t pacing_bps; /* Pacing rate [bit/s]; 0 without. */
  uint64_t lost;       /* Packets declared lost so far. */
  uint64_t reductions; /* Reductions of the window so far. */
  const char *phase;   /* State of the control in a word; NULL for none. */
};

/* What a guest does now. It is empty when a function gets it, with no deadline. */
struct guest_answer {
  uint64_t deadline;  /* When it must be called at the latest [ns]. */
  uint64_t delivered; /* A server: bytes delivered in order so far. A client: bytes acknowledged so far. */
  bool is_complete;   /* A client: all is acknowledged. */
  bool has_state;
  struct guest_state state;
  uint16_t datagrams; /* What guest_send() counts and keeps. */
  uint8_t *content;
  size_t length, room;
};

/* What a guest has to have. A function returns NULL, or a sentence that ends the run. */
struct guest_stack {
  const char *name; /* With its version, at most 255 bytes. */
  bool takes_data;  /* data() is called. */
  const char *(*start)(uint64_t now, const struct guest_start *start, struct guest_answer *answer);
  /* A datagram arrives; mark 3 is congestion experienced. */
  const char *(*packet)(uint64_t now, uint8_t mark, const uint8_t *datagram, size_t length, struct guest_answer *answer);
  const char *(*time)(uint64_t now, struct guest_answer *answer);
  /* The application hands over so many bytes more, or no more. */
  const char *(*data)(uint64_t now, uint64_t bytes, bool is_last, struct guest_answer *answer);
};

/* A seed for the random numbers of this end alone. */
uint64_t guest_seed_of_end(const struct guest_start *start);

/* Adds a datagram with its mark: 0 not capable of ECN, 1 ECT(1), 2 ECT(0). */
void guest_send(struct guest_answer *answer, uint8_t mark, const uint8_t *datagram, size_t length);

/* Uses the protocol over standard input and output until the run is over, and returns the exit status. */
int guest_serve(const struct guest_stack *stack);

#endif
