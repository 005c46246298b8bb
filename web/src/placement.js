// Where nodes are drawn: routers on a line or a circle, hosts in a fan around their router.

/**
 * Places nodes in a square from 0 to 1.
 *
 * @param {{nodes: string[], hosts: string[]|null, links: Array<[string, string]>}} layout
 * @returns {Map<string, {x: number, y: number, isHost: boolean}>}
 */
export function place(layout) {
  const neighbours = new Map(layout.nodes.map((node) => [node, []]));
  for (const [a, b] of layout.links) {
    neighbours.get(a).push(b);
    neighbours.get(b).push(a);
  }
  const isHost = (node) => neighbours.get(node).length === 1 && layout.nodes.length > 2;
  const routers = layout.nodes.filter((node) => !isHost(node));
  const among = (node) => neighbours.get(node).filter((other) => !isHost(other));
  const line = asLine(routers, among);
  const places = line ? onLine(line) : onCircle(routers);
  for (const router of routers) {
    fan(router, neighbours.get(router).filter(isHost), places, among(router), line);
  }
  return places;
}

/** The routers in order, if they form one line. */
function asLine(routers, among) {
  if (routers.some((router) => among(router).length > 2)) return null;
  const start = routers.find((router) => among(router).length <= 1);
  if (start === undefined) return null;
  const line = [start];
  for (let next = start; next !== undefined; ) {
    next = among(next).find((other) => !line.includes(other));
    if (next !== undefined) line.push(next);
  }
  return line.length === routers.length ? line : null;
}

function onLine(line) {
  const [from, to] = [0.3, 0.7];
  const step = line.length > 1 ? (to - from) / (line.length - 1) : 0;
  const begin = line.length > 1 ? from : 0.5;
  return new Map(line.map((node, at) => [node, { x: begin + at * step, y: 0.5, isHost: false }]));
}

function onCircle(routers) {
  const angle = (at) => (2 * Math.PI * at) / routers.length - Math.PI / 2;
  const of = (at) => ({
    x: 0.5 + 0.33 * Math.cos(angle(at)),
    y: 0.5 + 0.33 * Math.sin(angle(at)),
    isHost: false,
  });
  return new Map(routers.map((node, at) => [node, of(at)]));
}

/** Hosts of a router, turned away from the routers beside it. */
function fan(router, hosts, places, beside, line) {
  const { x, y } = places.get(router);
  const ends = line && line.length > 1 && (router === line[0] || router === line.at(-1));
  const others = beside.map((node) => places.get(node));
  const mean = (key) => others.reduce((sum, p) => sum + p[key], 0) / (others.length || 1);
  let away = others.length ? Math.atan2(y - mean('y'), x - mean('x')) : 0;
  let spread = Math.min(Math.PI * 0.9, 0.35 * hosts.length);
  let reach = line ? 0.24 : 0.14;
  if (line && !ends) [away, spread, reach] = [Math.PI / 2, Math.PI * 1.9, 0.3];
  hosts.forEach((host, at) => {
    const part = hosts.length > 1 ? at / (hosts.length - 1) - 0.5 : 0;
    if (ends) {
      const height = Math.min(0.9, 0.14 * hosts.length);
      places.set(host, { x: x + Math.sign(Math.cos(away)) * reach, y: y + part * height, isHost: true });
      return;
    }
    const angle = away + part * spread;
    places.set(host, { x: x + reach * Math.cos(angle), y: y + reach * Math.sin(angle), isHost: true });
  });
}
