// A form for a scenario, made from the JSON Schema of scenarios and the catalogue of algorithms.
import { element } from './dom.js';

// Which keys a person changes first; the TOML has all of them.
const TOP = ['duration', 'warmup', 'seed', 'era'];
const FLOW = ['id', 'pair', 'count', 'start', 'stop', 'size', 'stagger', 'cc', 'recovery', 'slow_start', 'source', 'rate', 'ecn'];
const ALGORITHMS = { cc: 'cc', recovery: 'recovery', slow_start: 'slow_start', qdisc: 'qdisc', source: 'source' };

/** The form at the left of the page. */
export class Form {
  /**
   * @param {HTMLElement} place
   * @param {(path: Array<string|number>, value: unknown) => void} change
   */
  constructor(place, change) {
    this.place = place;
    this.change = change;
    this.emptied = new Set();
  }

  /** Another scenario comes: no field of it was emptied. */
  forget() {
    this.emptied.clear();
  }

  /** Schema and catalogue of the core. */
  describe({ schema, catalogue }) {
    this.schema = schema;
    this.catalogue = catalogue;
  }

  /** Shows a scenario; problems, and what another has in its place, stand beside what they name. */
  show(data, problems = [], differs = []) {
    const focused = document.activeElement?.dataset?.path;
    this.problems = problems;
    this.differs = differs;
    const net = data.net ?? {};
    const form = element('div', { className: 'form' },
      this.#group('Run', TOP.map((key) => this.#field(this.schema.properties[key], [key], data[key]))),
      this.#group('Network', this.#network(net)),
      ...(data.flows ?? []).map((flow, at) => this.#flow(flow, at)),
      element('button', { type: 'button', on: { click: () => this.#addFlow(data) } }, 'Add a flow'));
    this.place.replaceChildren(form);
    if (focused) this.place.querySelector(`[data-path="${CSS.escape(focused)}"]`)?.focus();
  }

  #addFlow(data) {
    const flows = data.flows ?? [];
    this.change(['flows', flows.length], { id: `flow${flows.length + 1}`, pair: 0, cc: 'aimd' });
  }

  #group(title, fields, ...more) {
    return element('fieldset', {}, element('legend', {}, title), ...fields.filter(Boolean), ...more);
  }

  #network(net) {
    const variants = this.#resolve(this.schema.properties.net).oneOf ?? [];
    const kindOf = (variant) => variant.properties?.kind?.const;
    const kinds = variants.map(kindOf).filter(Boolean);
    const variant = variants.find((one) => kindOf(one) === net.kind);
    const select = this.#choice(['net', 'kind'], kinds, net.kind, 'The form of the network.');
    const keys = Object.entries(variant?.properties ?? {}).filter(([key]) => key !== 'kind');
    const order = ([key]) => (key in net ? 0 : 1);
    const simple = keys.filter(([key, schema]) => key in ALGORITHMS || this.#isSimple(schema));
    const sorted = simple.sort((a, b) => order(a) - order(b));
    // What the reader has emptied stays where it was.
    const isGiven = ([key]) => key in net || this.emptied.has(JSON.stringify(['net', key]));
    const [given, left] = [sorted.filter(isGiven), sorted.filter((entry) => !isGiven(entry))];
    const field = ([key, schema]) => this.#field(schema, ['net', key], net[key]);
    return [select, ...given.map(field), this.#more(left.map(field))];
  }

  #flow(flow, at) {
    const schema = this.#resolve(this.schema.properties.flows.items);
    const field = (key) => {
      const known = schema.properties[key];
      return known ? this.#field(known, ['flows', at, key], flow[key]) : null;
    };
    const remove = element('button', {
      type: 'button', className: 'quiet', on: { click: () => this.change(['flows', at], null) },
    }, 'Take out');
    const given = FLOW.filter((key) => key in flow || key === 'cc' || this.emptied.has(JSON.stringify(['flows', at, key])));
    const left = FLOW.filter((key) => !given.includes(key));
    return this.#group(`Flow ${flow.id ?? at}`, [...given.map(field), this.#more(left.map(field))], remove);
  }

  #more(fields) {
    const kept = fields.filter(Boolean);
    return kept.length ? element('details', {}, element('summary', {}, 'More'), ...kept) : null;
  }

  #field(schema, path, value) {
    const key = path.at(-1);
    const described = this.#resolve(schema);
    const says = schema.description ?? described.description ?? '';
    if (key in ALGORITHMS) return this.#algorithm(path, ALGORITHMS[key], value, says);
    const words = this.#words(described);
    if (words) return this.#choice(path, words, value, says, described.default ?? schema.default);
    if (!this.#isSimple(described) || (value !== null && typeof value === 'object')) return null;
    return this.#input(path, value, says, described.default ?? schema.default);
  }

  /** A name from the catalogue, and its parameters. */
  #algorithm(path, room, value, says) {
    const names = this.catalogue[room].map((entry) => entry.name);
    const name = typeof value === 'string' ? value : value?.kind;
    const entry = this.catalogue[room].find((each) => each.name === name || each.also.includes(name));
    if (entry && entry.name !== name) names.push(name);
    const choice = this.#choice(path, names, name, entry?.title ?? says);
    const parameters = Object.entries(entry?.params?.properties ?? {});
    const fields = parameters.map(([key, schema]) => {
      const given = typeof value === 'object' && value !== null ? value[key] : undefined;
      return this.#input([...path, key], given, withUnit(schema), schema.default);
    });
    const box = fields.length ? element('details', {}, element('summary', {}, `Parameters of ${name}`), ...fields) : null;
    return element('div', { className: 'algorithm' }, choice, box);
  }

  #choice(path, words, value, says, fallback) {
    const options = words.map((word) => element('option', { value: word, selected: word === value }, word));
    if (value === undefined) {
      options.unshift(element('option', { value: '', selected: true }, fallback ? `${fallback} (default)` : 'default'));
    }
    const select = element('select', {
      data: { path: JSON.stringify(path) },
      on: { change: (event) => this.change(path, event.target.value || null) },
    }, ...options);
    return this.#labelled(path, select, says);
  }

  #input(path, value, says, fallback) {
    const input = element('input', {
      value: value === undefined || value === null ? '' : String(value),
      placeholder: fallback === undefined || fallback === null ? 'default' : String(fallback),
      spellcheck: false,
      data: { path: JSON.stringify(path) },
      on: {
        change: (event) => {
          const read = readValue(event.target.value);
          this.emptied[read === null ? 'add' : 'delete'](JSON.stringify(path));
          this.change(path, read);
        },
      },
    });
    return this.#labelled(path, input, says);
  }

  #labelled(path, control, says) {
    const name = path.reduce((all, part) => (typeof part === 'number' ? `${all}[${part}]` : all ? `${all}.${part}` : part), '');
    const wrong = this.problems.filter((p) => p.path === name);
    if (wrong.length) control.setAttribute('aria-invalid', 'true');
    const other = this.differs.filter((one) => one.path === name);
    return element('label', { title: says },
      element('span', {}, String(path.at(-1)).replaceAll('_', ' ')), control,
      ...other.map(({ a }) => element('em', { className: 'differs' }, `A: ${a === undefined ? 'left out' : wordOf(a)}`)),
      ...wrong.map((p) => element('em', { className: 'problem' }, p.message)));
  }

  #resolve(schema) {
    let at = schema;
    while (at?.$ref || at?.allOf?.length === 1 || at?.anyOf?.some((one) => one.type === 'null')) {
      if (at.$ref) at = this.schema.$defs[at.$ref.split('/').at(-1)];
      else if (at.allOf) at = at.allOf[0];
      else at = at.anyOf.find((one) => one.type !== 'null');
    }
    return at ?? {};
  }

  #words(schema) {
    if (schema.enum) return schema.enum;
    const all = schema.oneOf?.flatMap((one) => one.enum ?? (one.const === undefined ? [null] : [one.const]));
    return all?.every((word) => typeof word === 'string') ? all : null;
  }

  #isSimple(schema) {
    const at = this.#resolve(schema);
    const types = [at.type ?? []].flat();
    return types.some((type) => ['string', 'number', 'integer', 'boolean'].includes(type));
  }
}

const wordOf = (value) => (typeof value === 'object' ? JSON.stringify(value) : String(value));

const withUnit = (schema) => `${schema.description ?? ''}${schema['x-unit'] ? ` [${schema['x-unit']}]` : ''}`;

/** What was typed as a value of TOML: number, truth or text; nothing takes the key out. */
export function readValue(text) {
  const trimmed = text.trim();
  if (trimmed === '') return null;
  if (trimmed === 'true' || trimmed === 'false') return trimmed === 'true';
  const number = Number(trimmed);
  return Number.isFinite(number) ? number : trimmed;
}
