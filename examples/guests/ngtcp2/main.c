/* ngtcp2 as a guest of ackclock: ngtcp2-guest [cubic|reno|bbr]. A client sends one stream, a server reads it.
 *
 * ngtcp2 takes time, packets and random numbers as arguments, so that its release is what it is. What GnuTLS draws for
 * keys changes neither size nor time of a packet: the certificate's signatures are of Ed25519, whose length is always
 * the same. Packets are written as its own programs do: at most a send quantum, after which its pacer says when to go on.
 *
 * Left out: another initial window than its ten packets, and the pacing rate, which it does not report. A smaller window
 * than at the last event counts as a reduction. */

#include "frames.h"

#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <gnutls/gnutls.h>
#include <ngtcp2/ngtcp2.h>
#include <ngtcp2/ngtcp2_crypto.h>
#include <ngtcp2/ngtcp2_crypto_gnutls.h>

#define PRIORITY "NORMAL:-VERS-ALL:+VERS-TLS1.3:-GROUP-ALL:+GROUP-X25519:%DISABLE_TLS13_COMPAT_MODE"
#define PROTOCOL "guest"
#define UNBOUND (UINT64_C(1) << 50) /* Windows of flow control that never limit [bytes]. */

enum { NAME = 8, LONGEST = 1 << 16 };

/* Either end. */
static struct {
  ngtcp2_cc_algo control;
  struct guest_start start;
  ngtcp2_conn *connection;
  gnutls_session_t session;
  gnutls_certificate_credentials_t credentials;
  ngtcp2_crypto_conn_ref reference;
  struct sockaddr_in addresses[2];
  int64_t stream; /* -1 while it is not open. */
  /* Of a client: bytes that it may still send, whether no more will come, and whether ngtcp2 has the end. */
  uint64_t left;
  bool is_last, has_ended;
  uint64_t delivered; /* Of a server, what it has read; of a client, what is acknowledged. */
  bool is_complete;
  uint64_t window, reductions;
  uint64_t random;
} end = {.stream = -1};

static const char *say(const char *call, int error) {
  static char sentence[256];
  snprintf(sentence, sizeof sentence, "ngtcp2: %s: %s", call, ngtcp2_strerror(error));
  return sentence;
}

static const char *say_tls(int error) {
  static char sentence[256];
  snprintf(sentence, sizeof sentence, "GnuTLS: %s", gnutls_strerror(error));
  return sentence;
}

/* SplitMix64 (Steele, Lea and Flood 2014, doi:10.1145/2660193.2660195). */
static uint64_t draw(void) {
  uint64_t z = end.random += UINT64_C(0x9E3779B97F4A7C15);
  z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
  z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
  return z ^ z >> 31;
}

static void fill(uint8_t *bytes, size_t count) {
  for (size_t i = 0; i < count; i++) {
    bytes[i] = (uint8_t)draw();
  }
}

static void on_random(uint8_t *bytes, size_t count, const ngtcp2_rand_ctx *context) {
  (void)context;
  fill(bytes, count);
}

static int on_name(ngtcp2_conn *connection, ngtcp2_cid *name, ngtcp2_stateless_reset_token *token, size_t length,
                   void *user) {
  (void)connection, (void)user;
  name->datalen = length;
  fill(name->data, length);
  fill(token->data, sizeof token->data);
  return 0;
}

static int on_read(ngtcp2_conn *connection, uint32_t flags, int64_t stream, uint64_t offset, const uint8_t *bytes,
                   size_t count, void *user, void *stream_user) {
  (void)connection, (void)flags, (void)stream, (void)offset, (void)bytes, (void)user, (void)stream_user;
  end.delivered += count;
  return 0;
}

static int on_acknowledged(ngtcp2_conn *connection, int64_t stream, uint64_t offset, uint64_t count, void *user,
                           void *stream_user) {
  (void)connection, (void)stream, (void)user, (void)stream_user;
  end.delivered = offset + count;
  return 0;
}

/* A stream of one direction is closed for its sender when all of it, and its end, is acknowledged. */
static int on_closed(ngtcp2_conn *connection, uint32_t flags, int64_t stream, uint64_t received, uint64_t sent,
                     void *user, void *stream_user) {
  (void)connection, (void)flags, (void)stream, (void)received, (void)sent, (void)user, (void)stream_user;
  end.is_complete = end.start.is_client;
  return 0;
}

static ngtcp2_conn *connection_of(ngtcp2_crypto_conn_ref *reference) {
  (void)reference;
  return end.connection;
}

static const char *prepare_tls(void) {
  unsigned role = end.start.is_client ? GNUTLS_CLIENT : GNUTLS_SERVER | GNUTLS_NO_AUTO_SEND_TICKET;
  int error = gnutls_certificate_allocate_credentials(&end.credentials);
  if (error == 0 && !end.start.is_client) {
    error = gnutls_certificate_set_x509_key_file(end.credentials, CERTIFICATES "/cert.der", CERTIFICATES "/key.der",
                                                 GNUTLS_X509_FMT_DER);
  }
  if (error >= 0) {
    error = gnutls_init(&end.session, role);
  }
  if (error >= 0) {
    error = gnutls_priority_set_direct(end.session, PRIORITY, NULL);
  }
  if (error >= 0) {
    error = gnutls_credentials_set(end.session, GNUTLS_CRD_CERTIFICATE, end.credentials);
  }
  if (error >= 0) {
    gnutls_datum_t protocol = {(unsigned char *)PROTOCOL, sizeof PROTOCOL - 1};
    error = gnutls_alpn_set_protocols(end.session, &protocol, 1, GNUTLS_ALPN_MANDATORY);
  }
  if (error < 0) {
    return say_tls(error);
  }
  end.reference.get_conn = connection_of;
  gnutls_session_set_ptr(end.session, &end.reference);
  error = end.start.is_client ? ngtcp2_crypto_gnutls_configure_client_session(end.session)
                              : ngtcp2_crypto_gnutls_configure_server_session(end.session);
  return error == 0 ? NULL : "ngtcp2: the session of TLS cannot be configured";
}

static ngtcp2_path path(void) {
  struct sockaddr *here = (struct sockaddr *)&end.addresses[end.start.is_client];
  struct sockaddr *there = (struct sockaddr *)&end.addresses[!end.start.is_client];
  return (ngtcp2_path){{here, sizeof(struct sockaddr_in)}, {there, sizeof(struct sockaddr_in)}, NULL};
}

/* `first`: of a server, the header of its first datagram. */
static const char *make_connection(uint64_t now, const ngtcp2_pkt_hd *first) {
  ngtcp2_callbacks callbacks = {
      .client_initial = ngtcp2_crypto_client_initial_cb,
      .recv_client_initial = ngtcp2_crypto_recv_client_initial_cb,
      .recv_crypto_data = ngtcp2_crypto_recv_crypto_data_cb,
      .encrypt = ngtcp2_crypto_encrypt_cb,
      .decrypt = ngtcp2_crypto_decrypt_cb,
      .hp_mask = ngtcp2_crypto_hp_mask_cb,
      .recv_stream_data = on_read,
      .acked_stream_data_offset = on_acknowledged,
      .recv_retry = ngtcp2_crypto_recv_retry_cb,
      .rand = on_random,
      .update_key = ngtcp2_crypto_update_key_cb,
      .delete_crypto_aead_ctx = ngtcp2_crypto_delete_crypto_aead_ctx_cb,
      .delete_crypto_cipher_ctx = ngtcp2_crypto_delete_crypto_cipher_ctx_cb,
      .version_negotiation = ngtcp2_crypto_version_negotiation_cb,
      .get_new_connection_id2 = on_name,
      .get_path_challenge_data2 = ngtcp2_crypto_get_path_challenge_data2_cb,
      .stream_close2 = on_closed,
  };
  ngtcp2_settings settings;
  ngtcp2_settings_default(&settings);
  settings.cc_algo = end.control;
  settings.initial_ts = now;
  settings.max_tx_udp_payload_size = end.start.max_datagram;
  settings.no_tx_udp_payload_size_shaping = 1;
  settings.no_pmtud = 1;
  settings.handshake_timeout = UINT64_MAX;
  ngtcp2_transport_params limits;
  ngtcp2_transport_params_default(&limits);
  limits.initial_max_data = UNBOUND;
  limits.initial_max_stream_data_uni = UNBOUND;
  limits.initial_max_streams_uni = 1;
  ngtcp2_cid here = {.datalen = NAME}, there = {.datalen = NAME};
  fill(here.data, NAME);
  ngtcp2_path between = path();
  int error;
  if (first == NULL) {
    fill(there.data, NAME);
    error = ngtcp2_conn_client_new(&end.connection, &there, &here, &between, NGTCP2_PROTO_VER_V1, &callbacks, &settings,
                                   &limits, NULL, NULL);
  } else {
    limits.original_dcid = first->dcid;
    limits.original_dcid_present = 1;
    error = ngtcp2_conn_server_new(&end.connection, &first->scid, &here, &between, first->version, &callbacks, &settings,
                                   &limits, NULL, NULL);
  }
  if (error != 0) {
    return say("no connection", error);
  }
  ngtcp2_conn_set_tls_native_handle(end.connection, end.session);
  return NULL;
}

/* A packet with as much of the stream as it holds. `length` is 0 if nothing may be sent now. */
static const char *write_packet(uint64_t now, uint8_t *packet, ngtcp2_ssize *length, ngtcp2_pkt_info *info) {
  static uint8_t zeros[LONGEST];
  size_t count = end.left < LONGEST ? (size_t)end.left : LONGEST;
  bool ends = end.is_last && count == end.left;
  bool has_data = end.stream >= 0 && !end.has_ended && (count > 0 || ends);
  ngtcp2_vec data = {zeros, count};
  ngtcp2_ssize taken = -1;
  uint32_t flags = has_data && ends ? NGTCP2_WRITE_STREAM_FLAG_FIN : NGTCP2_WRITE_STREAM_FLAG_NONE;
  *length = ngtcp2_conn_writev_stream(end.connection, NULL, info, packet, end.start.max_datagram, &taken, flags,
                                      has_data ? end.stream : -1, has_data ? &data : NULL, has_data, now);
  if (*length < 0) {
    return say("a packet cannot be written", (int)*length);
  }
  if (has_data && taken >= 0) {
    if (end.left != GUEST_NONE) {
      end.left -= (uint64_t)taken;
    }
    end.has_ended = ends && (size_t)taken == count;
  }
  return NULL;
}

static void report(struct guest_answer *answer) {
  ngtcp2_conn_info info;
  ngtcp2_conn_get_conn_info2(end.connection, &info);
  end.reductions += info.cwnd < end.window;
  end.window = info.cwnd;
  bool is_known = info.min_rtt != UINT64_MAX;
  answer->has_state = true;
  answer->state = (struct guest_state){
      .cwnd = info.cwnd,
      .ssthresh = info.ssthresh,
      .in_flight = info.bytes_in_flight,
      .srtt = is_known ? info.smoothed_rtt : 0,
      .min_rtt = is_known ? info.min_rtt : 0,
      .lost = info.pkt_lost,
      .reductions = end.reductions,
  };
}

static const char *drive(uint64_t now, struct guest_answer *answer) {
  if (end.connection == NULL) {
    return NULL;
  }
  if (end.start.is_client && end.stream < 0 && ngtcp2_conn_get_streams_uni_left2(end.connection) > 0) {
    int error = ngtcp2_conn_open_uni_stream(end.connection, &end.stream, NULL);
    if (error != 0) {
      return say("no stream", error);
    }
  }
  uint8_t packet[LONGEST];
  size_t quantum = ngtcp2_conn_get_send_quantum2(end.connection);
  for (size_t sent = 0; sent + end.start.max_datagram <= quantum;) {
    ngtcp2_ssize length;
    ngtcp2_pkt_info info;
    const char *sentence = write_packet(now, packet, &length, &info);
    if (sentence != NULL) {
      return sentence;
    }
    if (length == 0) {
      break;
    }
    guest_send(answer, end.start.ecn ? info.ecn : 0, packet, (size_t)length);
    sent += (size_t)length;
  }
  ngtcp2_conn_update_pkt_tx_time(end.connection, now);
  uint64_t deadline = ngtcp2_conn_get_expiry2(end.connection);
  answer->deadline = deadline < now ? now : deadline;
  answer->delivered = end.delivered;
  answer->is_complete = end.is_complete;
  if (end.start.is_client) {
    report(answer);
  }
  return NULL;
}

static const char *start(uint64_t now, const struct guest_start *start, struct guest_answer *answer) {
  if (start->max_datagram < 1200) {
    return "ngtcp2 sends datagrams of 1200 bytes or more";
  }
  end.start = *start;
  end.random = guest_seed_of_end(start);
  for (unsigned i = 0; i < 2; i++) {
    end.addresses[i] = (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons(4433)};
    end.addresses[i].sin_addr.s_addr = htonl(0xC0000201 + i);
  }
  const char *sentence = prepare_tls();
  if (sentence == NULL && start->is_client) {
    end.left = start->bytes;
    end.is_last = !start->more_data;
    sentence = make_connection(now, NULL);
  }
  return sentence == NULL ? drive(now, answer) : sentence;
}

static const char *packet(uint64_t now, uint8_t mark, const uint8_t *datagram, size_t length,
                          struct guest_answer *answer) {
  if (end.connection == NULL) {
    ngtcp2_pkt_hd first;
    if (ngtcp2_accept(&first, datagram, length) != 0) {
      return NULL;
    }
    const char *sentence = make_connection(now, &first);
    if (sentence != NULL) {
      return sentence;
    }
  }
  ngtcp2_path between = path();
  ngtcp2_pkt_info info = {.ecn = mark};
  int error = ngtcp2_conn_read_pkt(end.connection, &between, &info, datagram, length, now);
  return error == 0 ? drive(now, answer) : say("a packet cannot be read", error);
}

static const char *pass(uint64_t now, struct guest_answer *answer) {
  if (end.connection != NULL && ngtcp2_conn_get_expiry2(end.connection) <= now) {
    int error = ngtcp2_conn_handle_expiry(end.connection, now);
    if (error != 0) {
      return say("a timer", error);
    }
  }
  return drive(now, answer);
}

static const char *data(uint64_t now, uint64_t bytes, bool is_last, struct guest_answer *answer) {
  if (is_last) {
    end.left = 0;
    end.is_last = true;
  } else if (end.left != GUEST_NONE) {
    end.left += bytes;
  }
  return drive(now, answer);
}

int main(int count, char **arguments) {
  static const char *const names[] = {[NGTCP2_CC_ALGO_RENO] = "reno", [NGTCP2_CC_ALGO_CUBIC] = "cubic",
                                      [NGTCP2_CC_ALGO_BBR] = "bbr"};
  const char *control = count > 1 ? arguments[1] : "cubic";
  unsigned number = 0;
  while (number < 3 && strcmp(control, names[number]) != 0) {
    number++;
  }
  if (number == 3) {
    fprintf(stderr, "ngtcp2 has no control %s, expected cubic, reno or bbr\n", control);
    return EXIT_FAILURE;
  }
  end.control = (ngtcp2_cc_algo)number;
  char title[64];
  snprintf(title, sizeof title, "ngtcp2 " NGTCP2_VERSION " %s", control);
  struct guest_stack stack = {title, true, start, packet, pass, data};
  return guest_serve(&stack);
}
