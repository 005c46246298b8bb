// The network as a picture at one time: wires, queues that fill, packets under way, drops that fall.
import { lightOf } from './colours.js';
import * as numbers from './numbers.js';
import { place } from './placement.js';

// The picture is a stage of its own: its light is the same in both themes of the page.
const WIRE = 'rgb(120 150 190 / 0.28)';
const BUSY = 'rgb(120 190 255 / 0.5)';
const INK = '#c9d6e6';
const NODE = '#dfe9f5';
const HOST = '#7f93ad';
const GLASS = 'rgb(160 190 225 / 0.35)';
const LOST = '#ff5468';
const MARK = '#fff3a0';
const FALL_S = 0.7;
const PACKET = 5;
const COLUMN = { width: 18, height: 78 };

/** Draws a run on a canvas. */
export class NetworkView {
  constructor(canvas) {
    this.canvas = canvas;
    this.pen = canvas.getContext('2d');
    this.run = null;
    this.sprites = new Map();
    /** Draws no packets, so that a question is not answered by them. */
    this.isStill = false;
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
    if (this.isStill) return 'The network; packets are shown when the question is answered.';
    const at = `The network at ${numbers.time(time)}`;
    if (!this.timeline) return `${at}; its packets were not recorded.`;
    const [underWay, waiting] = ['onWire', 'waiting'].map((what) => this.links.map((_, link) => this.timeline[what](link, time)));
    const packets = underWay.reduce((sum, { length }) => sum + length, 0);
    const most = waiting.indexOf(Math.max(...waiting));
    const queue = waiting[most] > 0 ? `; ${waiting[most]} wait at ${this.links[most].id}, the longest queue` : '';
    return `${at}: packets under way: ${packets}${queue}.`;
  }

  /** Draws the state at a time; `pace` is simulated seconds per second, for how long drops fall. */
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
    const at = ({ x, y }) => ({ x: 34 + x * (width - 68), y: 30 + y * (height - 60) });
    const drawn = this.links.map((link, index) => this.#placed(link, index, at)).filter(Boolean);
    for (const one of drawn) this.#drawWire(one);
    for (const [name, node] of this.places) this.#drawNode(name, at(node), node.isHost);
    if (!this.timeline || this.isStill) return;
    for (const one of drawn) this.#drawQueue(one, time);
    for (const one of drawn) this.#drawPackets(one, time);
    for (const one of drawn) this.#drawDrops(one, time, pace);
  }

  #placed(link, index, at) {
    if (!link.from || !link.to) return null;
    const [a, b] = [at(link.from), at(link.to)];
    const length = Math.hypot(b.x - a.x, b.y - a.y) || 1;
    // The two directions run side by side.
    const side = { x: (-(b.y - a.y) / length) * 5, y: ((b.x - a.x) / length) * 5 };
    const on = (part) => ({ x: a.x + (b.x - a.x) * part + side.x, y: a.y + (b.y - a.y) * part + side.y });
    return { link, index, on, length, isCore: !link.from.isHost && !link.to.isHost };
  }

  #drawWire({ link, index, on, isCore, length }) {
    const { pen } = this;
    pen.strokeStyle = isCore ? BUSY : WIRE;
    pen.lineWidth = isCore ? 2 : 1;
    pen.beginPath();
    pen.moveTo(on(0).x, on(0).y);
    pen.lineTo(on(1).x, on(1).y);
    pen.stroke();
    const isForward = index % 2 === 0 || this.links[index - 1]?.dst !== link.src;
    if (isCore && isForward && length > 140 && this.links.length <= 30) {
      const { x, y } = on(0.5);
      this.#write(numbers.rate(link.rate_bps), x, y + 24, HOST);
    }
  }

  #drawPackets({ index, on }, time) {
    const { pen } = this;
    for (const packet of this.timeline.onWire(index, time)) {
      const { x, y } = on(packet.at);
      const sprite = this.#sprite(packet.flow, packet.isAck ? PACKET * 0.5 : PACKET, packet.isMarked);
      pen.drawImage(sprite, x - sprite.width / 4, y - sprite.height / 4, sprite.width / 2, sprite.height / 2);
    }
  }

  /** A packet with its glow, drawn once for each flow: hundreds a frame then cost little. */
  #sprite(flow, size, isMarked) {
    const key = `${lightOf(flow)} ${size} ${isMarked}`;
    if (!this.sprites.has(key)) {
      const sprite = document.createElement('canvas');
      sprite.width = sprite.height = size * 8;
      const pen = sprite.getContext('2d');
      const middle = sprite.width / 2;
      const glow = pen.createRadialGradient(middle, middle, 0, middle, middle, middle);
      glow.addColorStop(0, lightOf(flow));
      glow.addColorStop(0.25, `${lightOf(flow)}88`);
      glow.addColorStop(1, `${lightOf(flow)}00`);
      pen.fillStyle = glow;
      pen.fillRect(0, 0, sprite.width, sprite.height);
      pen.fillStyle = '#ffffff';
      pen.beginPath();
      pen.arc(middle, middle, size * 1.05, 0, 2 * Math.PI);
      pen.fill();
      pen.fillStyle = lightOf(flow);
      pen.beginPath();
      pen.arc(middle, middle, size * 0.85, 0, 2 * Math.PI);
      pen.fill();
      if (isMarked) {
        pen.strokeStyle = MARK;
        pen.lineWidth = 3;
        pen.beginPath();
        pen.arc(middle, middle, size * 1.9, 0, 2 * Math.PI);
        pen.stroke();
      }
      this.sprites.set(key, sprite);
    }
    return this.sprites.get(key);
  }

  #drawQueue({ link, index, on }, time) {
    const waiting = this.timeline.waiting(index, time);
    if (waiting === 0) return;
    const { pen } = this;
    const { x, y } = on(0.06);
    const room = roomOf(link);
    const { width, height } = COLUMN;
    const bottom = Math.max(y - 12, height + 18);
    const brick = height / Math.max(room, waiting);
    const glass = [x - width / 2 - 2, bottom - height - 2, width + 4, height + 4];
    pen.fillStyle = 'rgb(8 16 30 / 0.7)';
    pen.fillRect(...glass);
    pen.strokeStyle = waiting >= 0.9 * room ? LOST : GLASS;
    pen.lineWidth = 1;
    pen.strokeRect(...glass);
    // The packet that leaves next is at the bottom.
    const flows = this.timeline.queued(index, time);
    const each = Math.max(1, Math.ceil(1 / brick));
    for (let at = 0; at < flows.length; at += each) {
      pen.fillStyle = lightOf(flows[at]);
      const tall = Math.max(0.8, brick * Math.min(each, flows.length - at) - (brick > 3 ? 1 : 0));
      pen.fillRect(x - width / 2, bottom - brick * at - tall, width, tall);
    }
    this.#write(String(waiting), x, bottom - height - 7, INK);
  }

  /** A packet that is dropped falls off its queue, and is gone. */
  #drawDrops({ index, on }, time, pace) {
    const { pen } = this;
    const start = on(0.06);
    for (const drop of this.timeline.drops(index, time, FALL_S * pace)) {
      const x = start.x + 14 + 26 * drop.age;
      const y = start.y - 20 + 130 * drop.age * drop.age;
      pen.globalAlpha = 1 - drop.age;
      pen.fillStyle = lightOf(drop.flow);
      pen.strokeStyle = LOST;
      pen.lineWidth = 2;
      pen.beginPath();
      pen.arc(x, y, PACKET, 0, 2 * Math.PI);
      pen.fill();
      pen.stroke();
      pen.globalAlpha = 1;
    }
  }

  #drawNode(name, { x, y }, isHost) {
    const { pen } = this;
    pen.fillStyle = isHost ? HOST : NODE;
    pen.beginPath();
    pen.arc(x, y, isHost ? 5 : 9, 0, 2 * Math.PI);
    pen.fill();
    if (this.places.size <= 40) this.#write(name, x, y + (isHost ? 18 : 24), INK);
  }

  #write(text, x, y, colour) {
    const { pen } = this;
    pen.fillStyle = colour;
    pen.font = '12px system-ui, sans-serif';
    pen.textAlign = 'center';
    pen.fillText(text, x, y);
  }
}

/** Packets of 1500 bytes that a buffer holds. */
export function roomOf(link) {
  if (link.buffer_packets) return link.buffer_packets;
  if (link.buffer_bytes) return Math.max(1, link.buffer_bytes / 1500);
  if (link.buffer_s) return Math.max(1, (link.buffer_s * link.rate_bps) / 12000);
  return 100;
}
