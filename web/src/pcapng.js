// A capture of one link as pcapng: TCP over IPv4, headers only, byte for byte what the package writes
// (python/ackclock/results/formats/pcapng.py says what the numbers mean; a test compares the files).
import { wordsOf } from './series.js';

const [ACK, SYN, ECT, CE, ECE, CWR, FIN, DATAGRAM] = [1, 2, 4, 8, 16, 32, 256, 512];
const HEADERS = 40;
const RAW_IP = 101;
const MOST = 0xffff;

/** Bytes that grow. */
class Writer {
  constructor(room = 256) {
    this.bytes = new Uint8Array(room);
    this.view = new DataView(this.bytes.buffer);
    this.length = 0;
  }

  /** Makes room, which may put other arrays in place; the place of the room. */
  #reserve(count) {
    if (this.length + count > this.bytes.length) {
      const larger = new Uint8Array(2 * (this.length + count));
      larger.set(this.bytes.subarray(0, this.length));
      this.bytes = larger;
      this.view = new DataView(larger.buffer);
    }
    this.length += count;
    return this.length - count;
  }

  u8(...values) {
    for (const value of values) {
      const at = this.#reserve(1);
      this.view.setUint8(at, value);
    }
    return this;
  }

  u16(value, isLittle = false) {
    const at = this.#reserve(2);
    this.view.setUint16(at, value, isLittle);
    return this;
  }

  u32(value, isLittle = false) {
    const at = this.#reserve(4);
    this.view.setUint32(at, value, isLittle);
    return this;
  }

  put(bytes) {
    const at = this.#reserve(bytes.length);
    this.bytes.set(bytes, at);
    return this;
  }

  get written() {
    return this.bytes.subarray(0, this.length);
  }
}

/** The checksum of the Internet (RFC 1071) over parts of even length. */
function checksum(...parts) {
  let total = 0;
  for (const part of parts) for (let at = 0; at < part.length; at += 2) total += part[at] * 256 + part[at + 1];
  while (total > MOST) total = (total & MOST) + Math.floor(total / 65536);
  return MOST - total;
}

function block(kind, body) {
  const padding = (4 - (body.length % 4)) % 4;
  const size = 12 + body.length + padding;
  return new Writer(size).u32(kind, true).u32(size, true).put(body).put(new Uint8Array(padding)).u32(size, true).written;
}

function option(code, value) {
  return new Writer().u16(code, true).u16(value.length, true).put(value)
    .put(new Uint8Array((4 - (value.length % 4)) % 4)).written;
}

const text = (words) => new TextEncoder().encode(words);

function section(program, comment) {
  const head = new Writer().u32(0x1a2b3c4d, true).u16(1, true).u16(0, true).u32(0xffffffff).u32(0xffffffff);
  head.put(option(4, text(program))).put(option(1, text(comment))).put(option(0, text('')));
  return block(0x0a0d0d0a, head.written);
}

function interfaceOf(name) {
  const head = new Writer().u16(RAW_IP, true).u16(0, true).u32(0, true);
  head.put(option(2, text(name))).put(option(9, Uint8Array.of(9))).put(option(0, text('')));
  return block(1, head.written);
}

/** A whole number of nanoseconds, halves to the even one. */
function nanoseconds(seconds) {
  const exact = seconds * 1e9;
  const below = Math.floor(exact);
  if (exact - below !== 0.5) return Math.round(exact);
  return below % 2 === 0 ? below : below + 1;
}

function captured(face, seconds, data, length) {
  const at = nanoseconds(seconds);
  const head = new Writer(data.length + 32).u32(face, true).u32(Math.floor(at / 2 ** 32), true).u32(at % 2 ** 32, true);
  return block(6, head.u32(data.length, true).u32(length, true).put(data).written);
}

/** What decides lengths in era `rfc`, one for each entry of the scenario that makes flows. */
function settingsOf(data, era) {
  if (era !== 'rfc') return [];
  const templates = [...(data.flows ?? []), ...(data.traffic ?? []).map(({ flow }) => flow ?? {})];
  return templates.map(({ tcp = {} }) => ({
    mss: 1460, header: 40, ack_size: 40, timestamps: false, ...data.tcp, ...tcp,
  }));
}

const full = ({ mss, header, timestamps }) => mss + header + 12 * timestamps;

/** What the table shows of each flow's packets. */
function sizesOf(packets, flows) {
  const sizes = Array.from({ length: flows }, () => ({ largest: 0, bare: 0, last: null, hasSyn: false }));
  for (let row = 0; row < packets.time_s.length; row++) {
    const seen = sizes[packets.flow[row]];
    const [flags, size] = [packets.flags[row], packets.size_bytes[row]];
    if (packets.is_ack[row] || flags & SYN) {
      seen.hasSyn ||= Boolean(flags & SYN);
      const blocks = packets.sack_count[row];
      seen.bare = size - (blocks ? 8 * blocks + 4 : 0);
      continue;
    }
    seen.largest = Math.max(seen.largest, size);
    if (flags & FIN) seen.last = [packets.seq[row], size];
  }
  return sizes;
}

function fits(sizes, settings) {
  const short = sizes.last !== null && sizes.largest === sizes.last[1];
  const largest = [0, full(settings)].includes(sizes.largest) || (short && sizes.largest < full(settings));
  return largest && [0, settings.ack_size + 12 * settings.timestamps].includes(sizes.bare);
}

/** Addresses and numbering of one flow. */
class Flow {
  constructor(index, sender, receiver, sizes, settings) {
    [this.sender, this.receiver] = [sender, receiver].map((node) => Uint8Array.of(10, (node >> 16) & 255, (node >> 8) & 255, node & 255));
    this.ports = new Writer().u16(1024 + (index % 60_000)).u16(5001).written;
    this.backPorts = new Writer().u16(5001).u16(1024 + (index % 60_000)).written;
    this.mss = Math.max(1, (settings ? full(settings) : sizes.largest || 1500) - HEADERS);
    this.first = !settings && sizes.hasSyn ? 1 : 0;
    this.last = sizes.last;
    this.identification = 0;
  }

  sequence(segment) {
    let start = 1 + Math.max(0, segment - this.first) * this.mss;
    if (this.last !== null && segment > this.last[0]) {
      start += 1 - (this.mss - Math.max(0, this.last[1] - HEADERS));
    }
    return start % 2 ** 32;
  }

  packet({ flags, size, isAck, seq, blocks }) {
    const [source, target] = isAck ? [this.receiver, this.sender] : [this.sender, this.receiver];
    const segment = new Writer().put(isAck ? this.backPorts : this.ports);
    let [length, protocol, at] = [Math.max(size, 28), 17, 6];
    if (flags & DATAGRAM) {
      segment.u16(length - 20).u16(0);
    } else {
      const options = this.#options(flags, blocks);
      const header = 20 + options.length;
      const hasData = !isAck && !(flags & SYN);
      length = hasData ? Math.max(size, 20 + header) : 20 + header;
      [protocol, at] = [6, 16];
      const [sequence, acknowledged] = this.#numbers(flags, isAck, seq);
      segment.u32(sequence).u32(acknowledged);
      segment.u8((header / 4) << 4, bitsOf(flags, isAck)).u16(MOST).u16(0).u16(0).put(options);
    }
    const pseudo = new Writer().put(source).put(target).u8(0, protocol).u16(length - 20).written;
    let check = checksum(pseudo, segment.written);
    if (protocol === 17 && check === 0) check = MOST;
    segment.view.setUint16(at, check);
    this.identification = (this.identification + 1) & MOST;
    const ip = new Writer().u8(0x45, flags & CE ? 3 : flags & ECT ? 2 : 0).u16(length).u16(this.identification);
    ip.u16(0x4000).u8(64, protocol).u16(0).put(source).put(target);
    ip.view.setUint16(10, checksum(ip.written));
    return { data: new Writer().put(ip.written).put(segment.written).written, length: Math.max(length, size) };
  }

  #options(flags, blocks) {
    const made = new Writer();
    if (flags & SYN) return made.u8(2, 4).u16(Math.min(this.mss, MOST)).u8(4, 2, 1, 1, 1, 3, 3, 14).written;
    const given = blocks.filter(([start, end]) => end > start);
    if (given.length) made.u8(1, 1, 5, 2 + 8 * given.length);
    for (const [start, end] of given) made.u32(this.sequence(start)).u32(this.sequence(end));
    return made.written;
  }

  #numbers(flags, isAck, seq) {
    if (flags & SYN) return isAck ? [0, 1] : [0, 0];
    return isAck ? [1, this.sequence(seq)] : [this.sequence(seq), 1];
  }
}

function bitsOf(flags, isAck) {
  let bits = flags & SYN && !isAck ? 0 : 0x10;
  if (flags & SYN) bits |= 0x02;
  if (flags & FIN && !isAck) bits |= 0x01;
  if (flags & ECE) bits |= 0x40;
  return flags & CWR ? bits | 0x80 : bits;
}

function flowsOf({ summary, tables, data }) {
  const { flows, packets } = tables;
  const [ids, sources, targets] = [flows.id, flows.src, flows.dst].map(wordsOf);
  const nodes = new Map();
  const numberOf = (name) => {
    if (!nodes.has(name)) nodes.set(name, nodes.size);
    return 1 + nodes.get(name);
  };
  const settings = settingsOf(data, summary.era);
  return sizesOf(packets, ids.length).map((sizes, index) => {
    const ends = [numberOf(sources[index]), numberOf(targets[index])];
    const chosen = settings.find((one) => fits(sizes, one)) ?? settings[0];
    if (chosen?.timestamps) {
      throw new Error(`the flow "${ids[index]}" has TCP timestamps; ackclock run --pcapng writes its capture`);
    }
    if (chosen && Number.isFinite(flows.completed_after_s[index]) && sizes.last === null) {
      const count = flows.delivered_packets[index];
      sizes.last = [count - 1, full(chosen) - (count * chosen.mss - flows.delivered_bytes[index])];
    }
    return new Flow(index, ...ends, sizes, chosen);
  });
}

function busiest(packets, departure, names) {
  const counts = new Map();
  for (let row = 0; row < packets.time_s.length; row++) {
    if (packets.event.index[row] === departure) counts.set(packets.link[row], (counts.get(packets.link[row]) ?? 0) + 1);
  }
  const inOrder = [...counts].sort(([a], [b]) => (names[a] < names[b] ? -1 : 1));
  return inOrder.reduce((most, one) => (one[1] > most[1] ? one : most), [-1, 0])[0];
}

function reverse(name) {
  if (name.includes('->')) {
    const at = name.indexOf('->');
    return `${name.slice(at + 2)}->${name.slice(0, at)}`;
  }
  return name.endsWith(':back') ? name.slice(0, -5) : `${name}:back`;
}

/**
 * The packets that left the link that carried most, either way.
 *
 * @param {{summary: Object, tables: Object, data: Object}} result A run with its table `packets`.
 * @returns {Uint8Array}
 * @throws {Error} Nothing left any link, or a flow has TCP timestamps; one sentence.
 */
export function toPcapng(result) {
  const { packets, links } = result.tables;
  if (!result.summary) throw new Error('the run was stopped, and a capture is of a whole run');
  if (!packets) throw new Error('this run has too many packets to be recorded one by one');
  const names = wordsOf(links.id);
  const departure = packets.event.words.indexOf('departure');
  const link = busiest(packets, departure, names);
  if (link < 0) throw new Error('no packet left any link, so there is nothing to write');
  const both = [link, names.indexOf(reverse(names[link]))].filter((index) => index >= 0);
  const flows = flowsOf(result);
  const { summary } = result;
  const comment = `digest ${summary.digest}, seed ${summary.seed}`;
  const made = new Writer(1 << 16).put(section(`ackclock ${summary.version}`, comment));
  for (const index of both) made.put(interfaceOf(names[index]));
  const sack = [1, 2, 3].map((n) => [packets[`sack${n}_start`], packets[`sack${n}_end`]]);
  for (let row = 0; row < packets.time_s.length; row++) {
    const face = both.indexOf(packets.link[row]);
    if (packets.event.index[row] !== departure || face < 0) continue;
    const { data, length } = flows[packets.flow[row]].packet({
      flags: packets.flags[row],
      size: packets.size_bytes[row],
      isAck: packets.is_ack[row] === 1,
      seq: packets.seq[row],
      blocks: sack.map(([start, end]) => [start[row], end[row]]),
    });
    made.put(captured(face, packets.time_s[row], data, length));
  }
  return made.written;
}
