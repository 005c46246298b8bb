// One colour a flow; Okabe and Ito's palette, which colour-blind readers can tell apart.

const PALETTE = ['#0072b2', '#d55e00', '#009e73', '#cc79a7', '#56b4e9', '#e69f00', '#7f7f7f', '#8c6d00'];

/** The colour of a flow by its index. */
export const colourOf = (flow) => PALETTE[flow % PALETTE.length];

/** Drops, wherever they are drawn. */
export const DROP = '#c1121f';

/** Light of packets on the dark ground of the network. */
const LIGHTS = ['#4cc3ff', '#ff9350', '#3ee6b0', '#ff9fd6', '#a9b8ff', '#ffd166', '#d0d7de', '#d9e36b'];

/** The colour of a flow in the network by its index. */
export const lightOf = (flow) => LIGHTS[flow % LIGHTS.length];

const system = typeof matchMedia === 'function' ? matchMedia('(prefers-color-scheme: dark)') : { matches: false };

/** Whether the page is dark: as the reader turned it, else as the system is. */
export function isDark() {
  const turned = document.documentElement.style.colorScheme;
  return turned ? turned === 'dark' : system.matches;
}

/** A colour of a flow as it is drawn on the page: on a dark one its light. */
export function onPage(colour) {
  const at = PALETTE.indexOf(colour);
  return at >= 0 && isDark() ? LIGHTS[at] : colour;
}

/** From dark violet over green to yellow, as viridis: even steps of lightness, for the colour-blind too. */
const STOPS = [[68, 1, 84], [59, 82, 139], [33, 145, 140], [94, 201, 98], [234, 208, 40]];

/** The colour at a part of the time, from 0 to 1. */
export function timeColour(part) {
  const at = Math.min(Math.max(part, 0), 1) * (STOPS.length - 1);
  const [low, share] = [Math.floor(at), at % 1];
  const [a, b] = [STOPS[low], STOPS[Math.min(low + 1, STOPS.length - 1)]];
  return `rgb(${a.map((value, channel) => Math.round(value + (b[channel] - value) * share)).join(' ')})`;
}

const probe = { element: null, known: new Map() };

/** A colour of the style sheet, `--text` say, as a canvas understands it. */
export function themeColour(name) {
  if (!probe.element) {
    probe.element = document.createElement('span');
    probe.element.hidden = true;
    document.body.append(probe.element);
    system.addEventListener('change', forgetColours);
  }
  if (!probe.known.has(name)) {
    probe.element.style.color = `var(${name})`;
    probe.known.set(name, getComputedStyle(probe.element).color);
  }
  return probe.known.get(name);
}

/** Reads the style sheet's colours anew, for another theme. */
export function forgetColours() {
  probe.known.clear();
}
