#include "frames.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { VERSION = 1, LONGEST = 1 << 24 };
enum { HELLO = 1, START, PACKET, TIME, DATA, END, READY = 0x81, ANSWER, FAILED };
/* Of an answer: length, type, sequence, deadline, delivered, flags, number of datagrams; and of its state. */
enum { HEAD = 4 + 1 + 4 + 8 + 8 + 1 + 2, STATE = 8 * 8 + 1 + 255 };

/* A frame that is read: numbers one after another. The simulator leaves none out; what is missing is 0. */
struct fields {
  const uint8_t *next;
  size_t left;
};

static uint64_t take(struct fields *fields, size_t size) {
  size = size < fields->left ? size : fields->left;
  uint64_t number = 0;
  for (size_t i = size; i-- > 0;) {
    number = number << 8 | fields->next[i];
  }
  fields->next += size;
  fields->left -= size;
  return number;
}

static uint8_t *put(uint8_t *place, uint64_t number, size_t size) {
  for (size_t i = 0; i < size; i++) {
    *place++ = (uint8_t)(number >> 8 * i);
  }
  return place;
}

static uint8_t *put_text(uint8_t *place, const char *text) {
  size_t length = text == NULL ? 0 : strnlen(text, 255);
  *place++ = (uint8_t)length;
  if (length > 0) {
    memcpy(place, text, length);
  }
  return place + length;
}

/* In one piece: each write may wake the simulator. */
static bool write_frame(const uint8_t *frame, size_t length) {
  return fwrite(frame, 1, length, stdout) == length && fflush(stdout) == 0;
}

static bool fail(const char *sentence) {
  uint8_t frame[4 + 1 + 1024];
  size_t length = strnlen(sentence, 1024);
  put(put(frame, length + 1, 4), FAILED, 1);
  memcpy(frame + 5, sentence, length);
  write_frame(frame, length + 5);
  return false;
}

static void grow(struct guest_answer *answer, size_t length) {
  if (answer->room < length) {
    answer->room = 2 * length;
    answer->content = realloc(answer->content, answer->room);
    if (answer->content == NULL) {
      fputs("out of memory\n", stderr);
      exit(EXIT_FAILURE);
    }
  }
}

uint64_t guest_seed_of_end(const struct guest_start *start) {
  return start->seed ^ (uint64_t)start->flow << 33 ^ (uint64_t)!start->is_client << 32;
}

void guest_send(struct guest_answer *answer, uint8_t mark, const uint8_t *datagram, size_t length) {
  grow(answer, answer->length + length + 3);
  uint8_t *place = put(put(answer->content + answer->length, mark, 1), length, 2);
  memcpy(place, datagram, length);
  answer->length += length + 3;
  answer->datagrams++;
}

static bool write_answer(struct guest_answer *answer, uint32_t sequence) {
  grow(answer, answer->length + STATE);
  uint8_t *end = answer->content + answer->length;
  if (answer->has_state) {
    const struct guest_state *state = &answer->state;
    const uint64_t numbers[] = {state->cwnd,    state->ssthresh,   state->in_flight, state->srtt,
                                state->min_rtt, state->pacing_bps, state->lost,      state->reductions};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
      end = put(end, numbers[i], 8);
    }
    end = put_text(end, state->phase);
  }
  size_t length = (size_t)(end - answer->content);
  uint8_t *place = put(put(put(answer->content, length - 4, 4), ANSWER, 1), sequence, 4);
  place = put(put(place, answer->deadline, 8), answer->delivered, 8);
  put(put(place, answer->has_state | answer->is_complete << 1, 1), answer->datagrams, 2);
  return write_frame(answer->content, length);
}

static bool greet(const struct guest_stack *stack, struct fields body) {
  uint64_t least = take(&body, 2), most = take(&body, 2);
  if (least > VERSION || most < VERSION) {
    return fail("uses version 1 alone");
  }
  uint8_t frame[4 + 1 + 2 + 4 + 1 + 255];
  uint8_t *end = put_text(put(put(put(frame + 4, READY, 1), VERSION, 2), stack->takes_data, 4), stack->name);
  put(frame, (uint64_t)(end - frame) - 4, 4);
  return write_frame(frame, (size_t)(end - frame));
}

static const char *call(const struct guest_stack *stack, int kind, struct fields body, struct guest_answer *answer) {
  uint64_t now = take(&body, 8);
  switch (kind) {
  case START: {
    uint64_t role = take(&body, 1), flags = take(&body, 1);
    struct guest_start start = {.is_client = role == 0, .ecn = flags & 1, .more_data = flags >> 1 & 1};
    start.flow = (uint32_t)take(&body, 4);
    start.seed = take(&body, 8);
    start.max_datagram = (uint32_t)take(&body, 4);
    start.initial_window = (uint32_t)take(&body, 4);
    start.bytes = take(&body, 8);
    return stack->start(now, &start, answer);
  }
  case PACKET: {
    uint8_t mark = (uint8_t)take(&body, 1);
    return stack->packet(now, mark, body.next, body.left, answer);
  }
  case TIME:
    return stack->time(now, answer);
  case DATA: {
    uint64_t bytes = take(&body, 8);
    return stack->data(now, bytes, take(&body, 1) > 0, answer);
  }
  default:
    return "got a frame of an unknown type";
  }
}

/* Whether the run goes on. */
static bool take_turn(const struct guest_stack *stack, struct guest_answer *answer, struct fields frame) {
  int kind = (int)take(&frame, 1);
  if (kind == END) {
    return false;
  }
  if (kind == HELLO) {
    return greet(stack, frame);
  }
  uint32_t sequence = (uint32_t)take(&frame, 4);
  uint8_t *content = answer->content;
  size_t room = answer->room;
  *answer = (struct guest_answer){.deadline = GUEST_NONE, .content = content, .length = HEAD, .room = room};
  const char *sentence = call(stack, kind, frame, answer);
  return sentence == NULL ? write_answer(answer, sequence) : fail(sentence);
}

int guest_serve(const struct guest_stack *stack) {
  struct guest_answer answer = {0};
  uint8_t *frame = malloc(LONGEST), head[4];
  if (frame == NULL) {
    return EXIT_FAILURE;
  }
  while (fread(head, 1, 4, stdin) == 4) {
    struct fields length = {head, 4};
    size_t count = (size_t)take(&length, 4);
    if (count > LONGEST || fread(frame, 1, count, stdin) < count) {
      return EXIT_FAILURE;
    }
    if (!take_turn(stack, &answer, (struct fields){frame, count})) {
      break;
    }
  }
  free(frame);
  free(answer.content);
  return EXIT_SUCCESS;
}
