// One colour a flow; Okabe and Ito's palette, which colour-blind readers can tell apart.

const PALETTE = ['#0072b2', '#d55e00', '#009e73', '#cc79a7', '#56b4e9', '#e69f00', '#7f7f7f', '#8c6d00'];

/** The colour of a flow by its index. */
export const colourOf = (flow) => PALETTE[flow % PALETTE.length];

/** Drops, wherever they are drawn. */
export const DROP = '#c1121f';

const probe = { element: null, known: new Map() };

/** A colour of the style sheet, `--wire` say, as a canvas understands it. */
export function themeColour(name) {
  if (!probe.element) {
    probe.element = document.createElement('span');
    probe.element.hidden = true;
    document.body.append(probe.element);
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => probe.known.clear());
  }
  if (!probe.known.has(name)) {
    probe.element.style.color = `var(${name})`;
    probe.known.set(name, getComputedStyle(probe.element).color);
  }
  return probe.known.get(name);
}
