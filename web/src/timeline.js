// What happens at each link, in order, from the table of packets: what a picture at a time needs.
import { lastAt } from './series.js';

// Bits of the column `flags`.
const CE = 8;
const ECE = 16;

/** Events of one link as parallel arrays, and what waits after each arrival or departure. */
class LinkEvents {
  sent = { time: [], flow: [], isAck: [], isMarked: [], size: [], seq: [] };
  waiting = { time: [], packets: [] };
  dropped = { time: [], flow: [] };
}

/** Events of all links of a run. */
export class Timeline {
  /** @param {Array<{rate_bps: number, propagation_s: number}>} links In the order of the tables. */
  constructor(links) {
    this.links = links.map(() => new LinkEvents());
    this.wires = links;
    this.end = 0;
    this.count = new Int32Array(links.length);
  }

  /** Adds rows of the table `packets`, none earlier than those before. */
  add(packets) {
    const { count } = this;
    const { words, index } = packets.event;
    const [arrival, departure] = ['arrival', 'departure'].map((word) => words.indexOf(word));
    for (let row = 0; row < index.length; row++) {
      const link = packets.link[row];
      const events = this.links[link];
      const time = packets.time_s[row];
      const flow = packets.flow[row];
      this.end = Math.max(this.end, time);
      if (index[row] === arrival) {
        count[link] += 1;
      } else if (index[row] === departure) {
        count[link] -= 1;
        events.sent.time.push(time);
        events.sent.flow.push(flow);
        events.sent.isAck.push(packets.is_ack[row] === 1);
        // Congestion experienced, or its echo.
        events.sent.isMarked.push(((packets.flags?.[row] ?? 0) & (packets.is_ack[row] === 1 ? ECE : CE)) !== 0);
        events.sent.size.push(packets.size_bytes[row]);
        events.sent.seq.push(packets.seq[row]);
      } else {
        if (words[index[row]] === 'drop') count[link] -= 1;
        events.dropped.time.push(time);
        events.dropped.flow.push(flow);
      }
      events.waiting.time.push(time);
      events.waiting.packets.push(Math.max(0, count[link]));
    }
  }

  /** Packets on the wire of a link: `{flow, isAck, isMarked, seq, at}` with `at` from 0 to 1 along it. */
  onWire(link, time, atMost = 1000) {
    const { sent } = this.links[link];
    const wire = this.wires[link];
    const found = [];
    for (let at = lastAt(sent.time, time); at >= 0 && found.length < atMost; at--) {
      const flight = (8 * sent.size[at]) / wire.rate_bps + wire.propagation_s;
      const age = time - sent.time[at];
      // Packets of equal size overtake nobody; the largest bounds how long a small one can be behind.
      if (age > (8 * 65536) / wire.rate_bps + wire.propagation_s) break;
      if (age > flight) {
        if (age > flight + (8 * 3000) / wire.rate_bps) break;
        continue;
      }
      found.push({ flow: sent.flow[at], isAck: sent.isAck[at], isMarked: sent.isMarked[at], seq: sent.seq[at], at: age / flight });
    }
    return found;
  }

  /** Packets that wait at a link. */
  waiting(link, time) {
    const { waiting } = this.links[link];
    const at = lastAt(waiting.time, time);
    return at < 0 ? 0 : waiting.packets[at];
  }

  /** Flows of the packets that wait at a link, the next to leave first: those that depart after a time. */
  queued(link, time, atMost = 400) {
    const count = Math.min(this.waiting(link, time), atMost);
    const { sent } = this.links[link];
    const next = lastAt(sent.time, time) + 1;
    return sent.flow.slice(next, next + count);
  }

  /** Drops at a link in the `span` seconds before a time: `{flow, age}` with `age` from 0 to 1. */
  drops(link, time, span, atMost = 20) {
    const { dropped } = this.links[link];
    const found = [];
    for (let at = lastAt(dropped.time, time); at >= 0 && found.length < atMost; at--) {
      const age = (time - dropped.time[at]) / span;
      if (age > 1) break;
      found.push({ flow: dropped.flow[at], age });
    }
    return found;
  }
}
