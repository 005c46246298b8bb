// Numbers for people.

const STEPS = [
  [1e9, 'G'],
  [1e6, 'M'],
  [1e3, 'k'],
  [1, ''],
];
const SMALL = [
  [1, ''],
  [1e-3, 'm'],
  [1e-6, 'µ'],
];

const short = (value) => String(Number(value.toPrecision(3)));

function scaled(value, unit, steps) {
  if (!Number.isFinite(value)) return '–';
  if (value === 0) return `0 ${unit}`;
  const [size, prefix] = steps.find(([size]) => Math.abs(value) >= size) ?? steps.at(-1);
  return `${short(value / size)} ${prefix}${unit}`;
}

/** 12.2 Mbit/s. */
export const rate = (bps) => scaled(bps, 'bit/s', STEPS);

/** 45 ms. */
export const time = (seconds) => scaled(seconds, 's', SMALL);

/** 97 %. */
export const share = (fraction) => (Number.isFinite(fraction) ? `${short(100 * fraction)} %` : '–');

/** 1,234 or 12.5. */
export const count = (value) =>
  Number.isFinite(value) ? value.toLocaleString('en', { maximumSignificantDigits: 4 }) : '–';
