// Files that the page gives away.

/** Offers bytes or text as a file. */
export function offer(name, content, type) {
  const address = URL.createObjectURL(new Blob([content], { type }));
  const link = Object.assign(document.createElement('a'), { href: address, download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(address));
}

/** A table as CSV (RFC 4180); names with commas, quotes or line breaks are quoted. */
export function toCsv(table) {
  const titles = Object.keys(table);
  const columns = titles.map((title) => table[title]);
  const rows = columns.length ? (columns[0].index ?? columns[0]).length : 0;
  const cell = (column, row) => {
    if (!column.words) return String(column[row]);
    const word = column.words[column.index[row]];
    return /[",\r\n]/.test(word) ? `"${word.replaceAll('"', '""')}"` : word;
  };
  const lines = [titles.join(',')];
  for (let row = 0; row < rows; row++) lines.push(columns.map((column) => cell(column, row)).join(','));
  return `${lines.join('\r\n')}\r\n`;
}

/**
 * Charts below one another as one PNG.
 *
 * @param {Array<{title: string, canvas: HTMLCanvasElement, names: Array<{name: string, colour: string}>}>} pictures
 * @param {{color: string, backgroundColor: string}} style
 */
export async function toPng(pictures, { color, backgroundColor }) {
  const density = window.devicePixelRatio || 1;
  const line = 20 * density;
  const width = Math.max(...pictures.map(({ canvas }) => canvas.width));
  const height = pictures.reduce((sum, { canvas }) => sum + canvas.height + 2 * line, 0);
  const sheet = Object.assign(document.createElement('canvas'), { width, height });
  const pen = sheet.getContext('2d');
  pen.fillStyle = backgroundColor;
  pen.fillRect(0, 0, width, height);
  pen.textBaseline = 'middle';
  let at = 0;
  for (const { title, canvas, names } of pictures) {
    pen.font = `bold ${13 * density}px sans-serif`;
    pen.fillStyle = color;
    pen.fillText(title, 8 * density, at + line / 2);
    pen.drawImage(canvas, 0, at + line);
    pen.font = `${12 * density}px sans-serif`;
    let left = 80 * density;
    for (const { name, colour } of names) {
      pen.fillStyle = colour;
      pen.fillText(name, left, at + canvas.height + 1.5 * line);
      left += pen.measureText(name).width + 16 * density;
    }
    at += canvas.height + 2 * line;
  }
  return new Promise((resolve) => sheet.toBlob(resolve, 'image/png'));
}

const escaped = (text) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');

/**
 * Charts below one another as one SVG.
 *
 * @param {Array<Object>} charts `{title, times, curves: [{name, colour, values}], capacity, format}`.
 * @param {(seconds: number) => string} formatTime
 * @param {Array<Object>} behind Charts of another run, dashed behind those at the same place.
 */
export function toSvg(charts, formatTime, behind = []) {
  const [width, height, left, top, bottom] = [900, 240, 90, 30, 60];
  const dashed = ' stroke-dasharray="4 3"';
  const parts = charts.map((chart, at) => {
    const lines = [
      ...(behind[at]?.curves ?? []).map((curve) => ({ ...curve, times: behind[at].times, dash: dashed })),
      ...(chart.capacity ? [{ ...chart.capacity, times: chart.times, dash: dashed }] : []),
      ...chart.curves.map((curve) => ({ ...curve, times: chart.times, dash: '' })),
    ];
    const end = lines.reduce((last, { times }) => Math.max(last, times.at(-1) ?? 0), 0) || 1;
    const highest = lines.reduce(
      (most, { values }) => values.reduce((a, b) => (b > a ? b : a), most), 0) || 1;
    const x = (time) => left + (time / end) * (width - left - 20);
    const y = (value) => height - bottom - (value / highest) * (height - top - bottom);
    const text = (words, tx, ty, anchor, extra = '') =>
      `<text x="${tx}" y="${ty}" text-anchor="${anchor}" ${extra}>${escaped(words)}</text>`;
    const curves = lines.map(({ colour, values, times, dash }) => {
      const points = Array.from(values, (value, i) => `${x(times[i]).toFixed(1)},${y(value).toFixed(1)}`);
      return `<polyline fill="none" stroke="${colour}"${dash} points="${points.join(' ')}"/>`;
    });
    // Names follow one another in one line, which the renderer sets.
    const names = lines.map(({ name, colour }) => `<tspan fill="${colour}" dx="12">${escaped(name)}</tspan>`);
    const legend = `<text x="${left}" y="${height - 16}">${names.join('')}</text>`;
    const axes = `<path d="M${left} ${top}V${height - bottom}H${width - 20}" fill="none" stroke="#555"/>`;
    const ticks = [0, 0.5, 1].flatMap((part) => [
      text(chart.format(part * highest), left - 6, y(part * highest) + 4, 'end'),
      text(formatTime(part * end), x(part * end), height - bottom + 16, 'middle'),
    ]);
    return `<g transform="translate(0 ${at * height})">${text(chart.title, left, 18, 'start', 'font-weight="bold"')}${axes}${ticks.join('')}${curves.join('')}${legend}</g>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height * charts.length}" font-family="sans-serif" font-size="12"><rect width="100%" height="100%" fill="white"/>${parts.join('')}</svg>`;
}
