// Quantities that a person typed: a number without unit is refused, as on the command line.

const EXAMPLES = { duration: '20 ms', rate: '10 Mbps', size: '1500 B' };
const ROOMS = ['cc', 'recovery', 'slow_start', 'qdisc', 'source'];

/**
 * Finds numbers that lack their unit.
 *
 * @param {Object} data The scenario.
 * @param {{schema: Object, catalogue: Object}} known Of the core.
 * @returns {Array<{path: string, message: string}>}
 */
export function bareNumbers(data, { schema, catalogue }) {
  const found = [];
  const resolve = (rules) => {
    let at = rules;
    while (at) {
      if (at.$ref) at = schema.$defs[at.$ref.split('/').at(-1)];
      else if (at.allOf?.length === 1) at = at.allOf[0];
      else if (at.anyOf) at = at.anyOf.find((one) => one.type !== 'null');
      else break;
    }
    return at ?? {};
  };
  const walk = (value, rules, path) => {
    // What a key states about a quantity may be beside a reference, or behind it.
    const at = { ...resolve(rules), ...(rules?.['x-quantity'] ? rules : {}) };
    const message = problem(value, at);
    if (message) found.push({ path, message });
    else if (Array.isArray(value)) value.forEach((one, place) => walk(one, at.items, `${path}[${place}]`));
    else if (value !== null && typeof value === 'object') walkTable(value, at, path);
  };
  const walkTable = (table, rules, path) => {
    const variant = rules.oneOf?.map(resolve).find((one) => one.properties?.kind?.const === table.kind) ?? rules;
    for (const [key, value] of Object.entries(table)) {
      const below = path ? `${path}.${key}` : key;
      const entry = ROOMS.includes(key) ? catalogue[key]?.find(({ name, also }) => name === value?.kind || also.includes(value?.kind)) : null;
      walk(value, entry?.params ?? variant.properties?.[key], below);
    }
  };
  walk(data, schema, '');
  return found;
}

function problem(value, rules) {
  const example = EXAMPLES[rules?.['x-quantity']];
  if (!example || rules['x-bare'] || value === '' || !['number', 'string'].includes(typeof value)) return null;
  const number = Number(value);
  if (!Number.isFinite(number) || number === 0) return null;
  const shown = typeof value === 'string' ? `"${value}"` : value;
  return `${shown} has no unit; expected a ${rules['x-quantity']} with unit, such as "${example}"`;
}
