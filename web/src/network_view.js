// The network as a picture at one time: wires, queues that fill, packets under way, drops.
import { DROP, colourOf, themeColour } from './colours.js';
import * as numbers from './numbers.js';
import { place } from './placement.js';

const FLASH_S = 0.4;
const PACKET = 4;

/** Draws a run on a canvas. */
export class NetworkView {
  constructor(canvas) {
    this.canvas = canvas;
    this.pen = canvas.getContext('2d');
    this.run = null;
    new ResizeObserver(() => this.draw(this.time ?? 0)).observe(canvas);
  }

  /**
   * Shows another run.
   *
   * @param {Object} layout As the core gives it.
   * @param {Object[]} links Links of the explanation: `{src, dst, rate_bps, delay_s, buffer_packets, ..}`.
   * @param {import('./timeline.js').Timeline|null} timeline
   */
  show(layout, links, timeline) {
    this.places = place(layout);
    this.links = links.map((link) => ({ ...link, from: this.places.get(link.src), to: this.places.get(link.dst) }));
    this.timeline = timeline;
    this.layout = layout;
    this.draw(0);
  }

  /** What is drawn at a time, in a sentence. */
  describe(time) {
    const at = `The network at ${numbers.time(time)}`;
    if (!this.timeline) return `${at}; its packets were not recorded.`;
    const [underWay, waiting] = ['onWire', 'waiting'].map((what) => this.links.map((_, link) => this.timeline[what](link, time)));
    const packets = underWay.reduce((sum, { length }) => sum + length, 0);
    const most = waiting.indexOf(Math.max(...waiting));
    const queue = waiting[most] > 0 ? `; ${waiting[most]} wait at ${this.links[most].id}, the longest queue` : '';
    return `${at}: packets under way: ${packets}${queue}.`;
  }

  /** Draws the state at a time; `pace` is simulated seconds per second, for how long drops flash. */
  draw(time, pace = 1) {
    this.time = time;
    if (!this.layout) return;
    const { canvas, pen } = this;
    const density = window.devicePixelRatio || 1;
    const { clientWidth: width, clientHeight: height } = canvas;
    if (!width) return;
    if (canvas.width !== width * density || canvas.height !== height * density) {
      canvas.width = width * density;
      canvas.height = height * density;
    }
    pen.setTransform(density, 0, 0, density, 0, 0);
    pen.clearRect(0, 0, width, height);
    const at = ({ x, y }) => ({ x: 20 + x * (width - 40), y: 14 + y * (height - 28) });
    this.links.forEach((link, index) => this.#drawLink(link, index, at, time, pace));
    for (const [name, node] of this.places) this.#drawNode(name, at(node), node.isHost);
  }

  #drawLink(link, index, at, time, pace) {
    if (!link.from || !link.to) return;
    const { pen } = this;
    const [a, b] = [at(link.from), at(link.to)];
    const length = Math.hypot(b.x - a.x, b.y - a.y) || 1;
    // The two directions run side by side.
    const side = { x: (-(b.y - a.y) / length) * 4, y: ((b.x - a.x) / length) * 4 };
    const on = (part) => ({ x: a.x + (b.x - a.x) * part + side.x, y: a.y + (b.y - a.y) * part + side.y });
    pen.strokeStyle = themeColour('--wire');
    pen.lineWidth = 1;
    pen.beginPath();
    pen.moveTo(on(0).x, on(0).y);
    pen.lineTo(on(1).x, on(1).y);
    pen.stroke();
    if (!this.timeline) return;
    for (const packet of this.timeline.onWire(index, time)) {
      const { x, y } = on(packet.at);
      pen.fillStyle = colourOf(packet.flow);
      const size = packet.isAck ? PACKET / 2 : PACKET;
      pen.fillRect(x - size / 2, y - size / 2, size, size);
    }
    this.#drawQueue(link, index, on(0.06), time);
    for (const drop of this.timeline.drops(index, time, FLASH_S * pace)) {
      const { x, y } = on(0.06);
      pen.strokeStyle = DROP;
      pen.globalAlpha = 1 - drop.age;
      pen.lineWidth = 2;
      pen.beginPath();
      pen.arc(x, y, 6 + 14 * drop.age, 0, 2 * Math.PI);
      pen.stroke();
      pen.globalAlpha = 1;
    }
  }

  #drawQueue(link, index, { x, y }, time) {
    const waiting = this.timeline.waiting(index, time);
    if (waiting === 0) return;
    const { pen } = this;
    const room = roomOf(link);
    const [width, height] = [10, 44];
    const filled = Math.min(1, waiting / room) * height;
    pen.fillStyle = themeColour('--queue');
    pen.fillRect(x - width / 2, y - filled - 8, width, filled);
    pen.strokeStyle = themeColour('--wire');
    pen.strokeRect(x - width / 2, y - height - 8, width, height);
    pen.fillStyle = themeColour('--text');
    pen.font = '11px system-ui';
    pen.textAlign = 'center';
    pen.fillText(String(waiting), x, y - height - 12);
  }

  #drawNode(name, { x, y }, isHost) {
    const { pen } = this;
    pen.fillStyle = themeColour(isHost ? '--host' : '--router');
    pen.beginPath();
    pen.arc(x, y, isHost ? 5 : 8, 0, 2 * Math.PI);
    pen.fill();
    pen.fillStyle = themeColour('--text');
    pen.font = '11px system-ui';
    pen.textAlign = 'center';
    if (this.places.size <= 40) pen.fillText(name, x, y + (isHost ? 16 : 20));
  }
}

/** Packets of 1500 bytes that a buffer holds. */
export function roomOf(link) {
  if (link.buffer_packets) return link.buffer_packets;
  if (link.buffer_bytes) return Math.max(1, link.buffer_bytes / 1500);
  if (link.buffer_s) return Math.max(1, (link.buffer_s * link.rate_bps) / 12000);
  return 100;
}
