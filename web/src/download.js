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
