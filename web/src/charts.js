// Curves with uPlot: one chart a quantity, one cursor for all, a mark at the time shown above.
import uPlot from 'uplot';
import { colourOf, DROP, onPage, themeColour, timeColour } from './colours.js';
import { element } from './dom.js';
import * as numbers from './numbers.js';
import { busiest, mostUsed, rateOf, sampled, smoothed, wordsOf } from './series.js';

const MOST_FLOWS = 12;
const HEIGHT = 150;
const KEY_HEIGHT = 210;
const MOST_KEY_HEIGHT = 340;
// Its title and its legend.
const KEY_FRAME = 62;
const KEYS = ['window', 'rate', 'queue', 'rtt'];

/** What charts show: `{title, times, curves, format}` each. */
export function curvesOf(result, tag = '') {
  const { flows, links } = result.tables;
  const names = wordsOf(flows.id);
  const shown = names.slice(0, MOST_FLOWS);
  const samples = result.tables.flow_samples;
  const take = (column) => sampled(samples, 'flow', column, names.length);
  const bytes = take('received_bytes');
  const span = Math.max(1, Math.round(bytes.times.length / 120));
  const perFlow = (title, { times, values }, change = (v) => v) => ({
    title,
    times,
    curves: shown.map((name, flow) => ({
      name: tag + name,
      colour: colourOf(flow),
      values: change(values.get(flow) ?? new Float64Array(times.length)),
    })),
  });
  const linkNames = wordsOf(links.id);
  const queues = sampled(result.tables.link_samples, 'link', 'queue_packets', linkNames.length);
  return [
    { ...perFlow('Congestion window', take('cwnd_segments')), format: numbers.count },
    withCapacity(result, {
      ...perFlow('Rate of delivery', bytes, (values) => rateOf(bytes.times, values, span)),
      format: numbers.rate,
    }),
    {
      title: 'Queue',
      format: numbers.count,
      times: queues.times,
      curves: busiest(links, 3).filter((link, at, all) => at === 0 || links.queue_mean_packets[link] > 0.02 * links.queue_mean_packets[all[0]]).map((link, at) => ({
        name: tag + linkNames[link],
        colour: colourOf(at + 4),
        values: smoothed(queues.values.get(link) ?? new Float64Array(queues.times.length), span),
      })),
    },
    { ...perFlow('Smoothed RTT', take('srtt_s')), format: numbers.time },
  ];
}

/** The chart with the rate of the link that is used most, unless that rate changes. */
function withCapacity(result, chart) {
  const link = mostUsed(result.tables.links);
  if (link === undefined || result.explained.explained.links[link]?.varies) return chart;
  const rate = result.tables.links.rate_bps[link];
  const values = new Float64Array(chart.times.length).fill(rate);
  return { ...chart, capacity: { name: 'capacity', colour: themeColour('--edge'), values } };
}

/** The charts of the page. */
export class Charts {
  /**
   * @param {HTMLElement} place Where they stand.
   * @param {HTMLElement} keyPlace Where the one stands that shows the answer to a question.
   * @param {(time: number) => void} seek Called with the time that a click chose.
   * @param {(time: number|null) => void} point Called with the time below the pointer.
   */
  constructor(place, keyPlace, seek, point) {
    this.place = place;
    this.keyPlace = keyPlace;
    this.chosen = null;
    this.flow = null;
    this.seek = seek;
    this.point = point;
    this.time = 0;
    this.plots = [];
    const observer = new ResizeObserver(() => this.#fit());
    observer.observe(place);
    observer.observe(keyPlace);
  }

  /**
   * Says which chart shows the answer: window, rate, queue, rtt, transfers, phase, sequence, or null for none; and of
   * which flow alone, null for all.
   */
  choose(key, flow = null) {
    this.chosen = key;
    this.flow = flow;
    this.renew();
  }

  /** Draws all charts anew the next time. */
  renew() {
    this.keys = null;
  }

  /**
   * Draws the curves of a run, and those of a reference dashed behind them. Charts that are there already get new data.
   *
   * @param {Object} result
   * @param {Object} [reference]
   * @param {number} [end] Of a run that goes on: the time at which it will end, which the axes reach from the start.
   */
  show(result, reference, end) {
    const behind = reference ? curvesOf(reference, 'A: ').map((chart, at) => this.#ofFlow(chart, KEYS[at])) : [];
    const charts = curvesOf(result, reference ? 'B: ' : '').map((chart, at) => this.#ofFlow(chart, KEYS[at])).flatMap((chart, at) =>
      // A source without a control has neither window nor round trip.
      (chart.curves.some(({ values }) => values.some((value) => value > 0)) ? [{ ...this.#overTime(chart, behind[at]), key: KEYS[at] }] : []));
    charts.push(...[this.#transfers(result), this.#phase(result), this.#sequence(result)].filter(Boolean));
    const keys = charts.map(({ key, title, series }) => JSON.stringify([key === this.chosen, title, series.map(({ label, stroke }) => [label, stroke])]));
    if (keys.join() !== this.keys) {
      for (const plot of this.plots) plot.destroy();
      this.place.replaceChildren();
      this.keyPlace.replaceChildren();
      this.plots = charts.map((chart) => this.#plot(chart));
      this.keys = keys.join();
      this.#fit();
    } else {
      charts.forEach(({ data }, at) => this.#renew(this.plots[at], data));
    }
    this.plots.forEach((plot) => this.#stretch(plot, end));
  }

  /** The chart that shows the answer has the curve of its flow alone. */
  #ofFlow(chart, key) {
    if (this.flow === null || key !== this.chosen) return chart;
    const curves = chart.curves.filter(({ name }) => name.replace(/^[AB]: /, '') === this.flow);
    return curves.length ? { ...chart, curves } : chart;
  }

  /** Gives a plot new data; a stretch that the reader enlarged stays while the run goes on. */
  #renew(plot, data) {
    const { min, max } = plot.scales.x;
    const isEnlarged = plot.end !== undefined && !(min === 0 && max === plot.end);
    plot.setData(data, !isEnlarged);
    if (isEnlarged) plot.setScale('x', { min, max });
    else plot.end = undefined;
  }

  /** Lets the axis of a run that goes on reach its end. */
  #stretch(plot, end) {
    if (!plot.marksTime) return;
    if (end === undefined) plot.end = undefined;
    else if (plot.end === undefined) plot.setScale('x', { min: 0, max: end });
    plot.end = end;
  }

  /** What is drawn: `{title, canvas, names: [{name, colour}]}` of each chart. */
  get pictures() {
    return this.plots.map((plot) => ({
      title: plot.title,
      canvas: plot.ctx.canvas,
      names: plot.series.slice(1).map((series, at) => ({ name: series.label, colour: series.stroke(plot, at + 1) })),
    }));
  }

  /** Moves the mark to a time. */
  mark(time) {
    this.time = time;
    for (const plot of this.plots) this.#placeMark(plot);
  }

  #overTime(chart, behind) {
    const curves = [...chart.curves, ...(chart.capacity ? [chart.capacity] : [])];
    const joined = behind
      ? uPlot.join([
          [chart.times, ...curves.map((c) => c.values)],
          [behind.times, ...behind.curves.map((c) => c.values)],
        ])
      : [chart.times, ...curves.map((c) => c.values)];
    const line = ({ name, colour }, dashed) => ({
      label: name,
      stroke: onPage(colour),
      width: dashed ? 1 : 1.5,
      dash: dashed ? [4, 3] : undefined,
      spanGaps: true,
      points: { show: false },
      value: (_, value) => (value === null || value === undefined ? '–' : chart.format(value)),
    });
    const series = [
      ...curves.map((curve) => line(curve, curve === chart.capacity)),
      ...(behind?.curves ?? []).map((curve) => line(curve, true)),
    ];
    return { title: chart.title, data: joined, series, marksTime: true, x: numbers.time, y: chart.format };
  }

  /** How long transfers took, over when they began; of a run with one of them, nothing. */
  #transfers(result) {
    const { start_s: start, completed_after_s: took } = result.tables.flows;
    const ended = [...(took ?? [])].flatMap((seconds, flow) => (seconds !== null && Number.isFinite(seconds) ? [flow] : []));
    if (ended.length < 2) return null;
    ended.sort((a, b) => start[a] - start[b]);
    return {
      key: 'transfers',
      title: 'Transfers: how long each took, over when it began',
      data: [null, [ended.map((flow) => start[flow]), ended.map((flow) => took[flow])]],
      series: [{ label: 'transfers', stroke: onPage(colourOf(0)), paths: dots(5), points: { show: false } }],
      mode: 2,
      x: numbers.time,
      y: numbers.time,
    };
  }

  #phase(result) {
    const { flows } = result.tables;
    const names = wordsOf(flows.id);
    if (names.length < 2) return null;
    const samples = sampled(result.tables.flow_samples, 'flow', 'cwnd_segments', names.length);
    const [x, y] = [samples.values.get(0), samples.values.get(1)];
    if (!x?.some((value) => value > 0) || !y?.some((value) => value > 0)) return null;
    return {
      key: 'phase',
      title: `Phase: window of ${names[1]} over that of ${names[0]}, from dark (start) to light (end)`,
      data: [null, [Array.from(x), Array.from(y)]],
      series: [{ label: `${names[0]}, ${names[1]}`, stroke: onPage(colourOf(0)), paths: trail, points: { show: false } }],
      mode: 2,
      x: numbers.count,
      y: numbers.count,
    };
  }

  #sequence(result) {
    const found = result.sequence;
    if (!found) return null;
    const name = wordsOf(result.tables.flows.id)[0];
    return {
      key: 'sequence',
      title: `Time-sequence of ${name}, losses in red`,
      data: [null, found.sent, found.lost],
      series: [
        { label: 'sent', stroke: onPage(colourOf(0)), paths: dots(1), points: { show: false } },
        { label: 'lost', stroke: DROP, paths: dots(2.5), points: { show: false } },
      ],
      mode: 2,
      x: numbers.time,
      y: numbers.count,
    };
  }

  #plot({ key, title, data, series, mode = 1, marksTime = false, x, y }) {
    const holder = element('figure', { className: 'chart' }, element('figcaption', {}, title));
    const isKey = key !== undefined && key === this.chosen;
    const place = isKey ? this.keyPlace : this.place;
    place.append(holder);
    const text = themeColour('--text');
    const grid = { stroke: themeColour('--grid'), width: 1 };
    const axis = (format, size) => ({
      stroke: text,
      grid,
      ticks: grid,
      size,
      values: (_, ticks) => ticks.map((tick) => (tick === null ? '' : format(tick))),
    });
    const options = {
      mode,
      width: Math.max(200, place.clientWidth - 8),
      height: isKey ? this.#keyHeight() : HEIGHT,
      scales: { x: { time: false }, y: { range: (_, low, high) => [Math.min(0, low ?? 0), (high || 1) * 1.05] } },
      axes: [axis(x, 30), axis(y, 82)],
      series: [mode === 1 ? { label: 'time', value: (_, v) => (v === null ? '–' : numbers.time(v)) } : {}, ...series],
      legend: { show: series.length <= 14, live: mode === 1 },
      cursor: mode === 1 ? { sync: { key: 'time' }, focus: { prox: 12 } } : { show: false },
      focus: { alpha: 0.3 },
      hooks: marksTime
        ? { draw: [(plot) => this.#placeMark(plot)], setCursor: [(plot) => this.#pointAt(plot)] }
        : {},
    };
    if (mode === 2) options.scales.x = { time: false, range: (_, low, high) => [key === 'phase' ? 0 : (low ?? 0), high ?? 1] };
    const plot = new uPlot(options, data, holder);
    plot.holder = holder;
    plot.marksTime = marksTime;
    plot.title = title;
    if (marksTime) {
      // An element over the chart: to move it draws no curve again.
      plot.mark = element('div', { className: 'mark' });
      plot.over.append(plot.mark);
      this.#placeMark(plot);
      plot.over.addEventListener('click', () => {
        if (plot.cursor.left >= 0) this.seek(plot.posToVal(plot.cursor.left, 'x'));
      });
    }
    return plot;
  }

  #pointAt(plot) {
    const { left } = plot.cursor;
    this.point(left >= 0 ? plot.posToVal(left, 'x') : null);
  }

  #placeMark(plot) {
    if (!plot.mark) return;
    const at = plot.valToPos(this.time, 'x');
    plot.mark.hidden = !(at >= 0 && at <= plot.over.clientWidth);
    plot.mark.style.transform = `translateX(${at}px)`;
  }

  /** As tall as what stands beside it, within bounds. */
  #keyHeight() {
    const box = this.keyPlace.parentElement;
    const beside = [...box.children].filter((child) => child !== this.keyPlace && child.clientHeight);
    const isBeside = beside.length && beside[0].offsetLeft !== this.keyPlace.offsetLeft;
    const tall = beside.reduce((sum, { clientHeight }) => sum + clientHeight, 0) - KEY_FRAME;
    return isBeside ? Math.min(Math.max(tall, KEY_HEIGHT), MOST_KEY_HEIGHT) : KEY_HEIGHT;
  }

  #fit() {
    for (const plot of this.plots) {
      const width = plot.holder.clientWidth;
      if (width) plot.setSize({ width, height: plot.holder.parentElement === this.keyPlace ? this.#keyHeight() : HEIGHT });
    }
  }
}

/** Draws points of a phase plot as one line whose colour is time, with the line of equal values. */
function trail(plot, index) {
  uPlot.orient(plot, index, (series, xs, ys, scaleX, scaleY, toX, toY, left, top, width, height) => {
    const [x, y] = plot.data[index];
    const { ctx } = plot;
    const on = (a, b) => [toX(a, scaleX, width, left), toY(b, scaleY, height, top)];
    ctx.save();
    ctx.beginPath();
    ctx.rect(left, top, width, height);
    ctx.clip();
    ctx.setLineDash([6 * uPlot.pxRatio, 5 * uPlot.pxRatio]);
    ctx.strokeStyle = themeColour('--edge');
    ctx.lineWidth = uPlot.pxRatio;
    const most = Math.max(scaleX.max, scaleY.max);
    ctx.beginPath();
    ctx.moveTo(...on(0, 0));
    ctx.lineTo(...on(most, most));
    ctx.stroke();
    ctx.setLineDash([]);
    ctx.lineWidth = 1.6 * uPlot.pxRatio;
    ctx.lineJoin = 'round';
    const pieces = Math.min(120, x.length - 1);
    for (let piece = 0; piece < pieces; piece++) {
      const [from, to] = [piece, piece + 1].map((end) => Math.round((end * (x.length - 1)) / pieces));
      ctx.strokeStyle = timeColour(piece / Math.max(1, pieces - 1));
      ctx.beginPath();
      ctx.moveTo(...on(x[from], y[from]));
      for (let at = from + 1; at <= to; at++) ctx.lineTo(...on(x[at], y[at]));
      ctx.stroke();
    }
    ctx.fillStyle = themeColour('--text');
    ctx.beginPath();
    ctx.arc(...on(x.at(-1), y.at(-1)), 3.5 * uPlot.pxRatio, 0, 2 * Math.PI);
    ctx.fill();
    ctx.restore();
  });
  return null;
}

/** Draws points of a scatter chart as small squares. */
function dots(size) {
  return (plot, index) => {
    const side = size * uPlot.pxRatio;
    uPlot.orient(plot, index, (series, xs, ys, scaleX, scaleY, toX, toY, left, top, width, height) => {
      const [x, y] = plot.data[index];
      plot.ctx.save();
      plot.ctx.fillStyle = series.stroke(plot, index);
      for (let at = 0; at < x.length; at++) {
        const cx = toX(x[at], scaleX, width, left);
        const cy = toY(y[at], scaleY, height, top);
        plot.ctx.fillRect(cx - side / 2, cy - side / 2, side, side);
      }
      plot.ctx.restore();
    });
    return null;
  };
}
