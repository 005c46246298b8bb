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

/** All charts below one another as one PNG. */
export async function toPng(canvases, background) {
  const width = Math.max(...canvases.map((canvas) => canvas.width));
  const height = canvases.reduce((sum, canvas) => sum + canvas.height, 0);
  const sheet = Object.assign(document.createElement('canvas'), { width, height });
  const pen = sheet.getContext('2d');
  pen.fillStyle = background;
  pen.fillRect(0, 0, width, height);
  let at = 0;
  for (const canvas of canvases) {
    pen.drawImage(canvas, 0, at);
    at += canvas.height;
  }
  return new Promise((resolve) => sheet.toBlob(resolve, 'image/png'));
}

const escaped = (text) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');

/**
 * Charts below one another as one SVG.
 *
 * @param {Array<Object>} charts `{title, times, curves: [{name, colour, values}], format}`.
 */
export function toSvg(charts, formatTime) {
  const [width, height, left, top, bottom] = [900, 220, 90, 30, 40];
  const parts = charts.map((chart, at) => {
    const end = chart.times.at(-1) || 1;
    const highest = chart.curves.reduce(
      (most, { values }) => values.reduce((a, b) => (b > a ? b : a), most), 0) || 1;
    const x = (time) => left + (time / end) * (width - left - 20);
    const y = (value) => height - bottom - (value / highest) * (height - top - bottom);
    const text = (words, tx, ty, anchor, extra = '') =>
      `<text x="${tx}" y="${ty}" text-anchor="${anchor}" ${extra}>${escaped(words)}</text>`;
    const curves = chart.curves.map(({ colour, values }) => {
      const points = Array.from(values, (value, i) => `${x(chart.times[i]).toFixed(1)},${y(value).toFixed(1)}`);
      return `<polyline fill="none" stroke="${colour}" points="${points.join(' ')}"/>`;
    });
    const names = chart.curves.map(({ name, colour }, i) => text(name, left + 10 + 110 * i, height - 6, 'start', `fill="${colour}"`));
    const axes = `<path d="M${left} ${top}V${height - bottom}H${width - 20}" fill="none" stroke="#555"/>`;
    const ticks = [0, 0.5, 1].flatMap((part) => [
      text(chart.format(part * highest), left - 6, y(part * highest) + 4, 'end'),
      text(formatTime(part * end), x(part * end), height - bottom + 16, 'middle'),
    ]);
    return `<g transform="translate(0 ${at * height})">${text(chart.title, left, 18, 'start', 'font-weight="bold"')}${axes}${ticks.join('')}${curves.join('')}${names.join('')}</g>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height * charts.length}" font-family="sans-serif" font-size="12"><rect width="100%" height="100%" fill="white"/>${parts.join('')}</svg>`;
}
