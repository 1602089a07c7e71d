// Where the components of a topology stand: in layers by their depth, ordered so that few streams cross.
// A stream that passes over layers goes through a bend in each of them. The same topology always looks the same.

const NODE = { width: 196, height: 74 };
const GAP = { between: 118, beside: 24, bend: 14 };

export function laidOut(components, streams, vertical) {
  const depth = new Map(components.map((component) => [component.id, component.depth]));
  const last = Math.max(0, ...depth.values());
  const layers = Array.from({ length: last + 1 }, () => []);
  for (const component of components) layers[component.depth].push({ id: component.id, depth: component.depth });
  const links = [], edges = [];
  for (const edge of joined(streams)) {
    if (!depth.has(edge.source) || !depth.has(edge.target)) continue;
    const path = [edge.source];
    if (!edge.feedback) {
      for (let layer = depth.get(edge.source) + 1; layer < depth.get(edge.target); layer += 1) {
        const bend = `${edge.source}>${edge.target}@${layer}`;
        layers[layer].push({ id: bend, depth: layer, bend: true });
        path.push(bend);
      }
    }
    path.push(edge.target);
    if (!edge.feedback) for (let at = 1; at < path.length; at += 1) links.push([path[at - 1], path[at]]);
    edges.push({ ...edge, path });
  }
  order(layers, links);
  const places = placed(layers, vertical);
  return { ...places, edges, node: NODE };
}

// Several streams between the same two components are one line with several captions.
function joined(streams) {
  const found = new Map();
  for (const stream of streams) {
    const key = `${stream.source}\n${stream.target}\n${stream.feedback}`;
    const caption = stream.stream === "default" ? stream.grouping : `${stream.stream}: ${stream.grouping}`;
    if (found.has(key)) found.get(key).captions.push(caption);
    else found.set(key, { source: stream.source, target: stream.target, feedback: stream.feedback, captions: [caption] });
  }
  return found.values();
}

function order(layers, links) {
  const before = new Map(), behind = new Map();
  for (const [from, to] of links) {
    if (!before.has(to)) before.set(to, []);
    if (!behind.has(from)) behind.set(from, []);
    before.get(to).push(from);
    behind.get(from).push(to);
  }
  const index = new Map();
  const note = (layer) => layer.forEach((each, at) => index.set(each.id, at));
  layers.forEach(note);
  for (let sweep = 0; sweep < 8; sweep += 1) {
    const neighbours = sweep % 2 ? behind : before;
    for (const layer of sweep % 2 ? [...layers].reverse() : layers) {
      const weight = new Map(layer.map((each, at) => {
        const found = (neighbours.get(each.id) ?? []).map((id) => index.get(id));
        return [each.id, found.length ? found.reduce((a, b) => a + b, 0) / found.length : at];
      }));
      layer.sort((a, b) => weight.get(a.id) - weight.get(b.id));
      note(layer);
    }
  }
}

function placed(layers, vertical) {
  const across = vertical ? NODE.width : NODE.height, along = vertical ? NODE.height : NODE.width;
  const step = along + (vertical ? 70 : GAP.between);
  const size = (each) => (each.bend ? GAP.bend : across);
  const extents = layers.map((layer) => layer.reduce((sum, each) => sum + size(each) + GAP.beside, -GAP.beside));
  const widest = Math.max(...extents, across);
  const centres = new Map();
  layers.forEach((layer, number) => {
    let at = (widest - extents[number]) / 2;
    for (const each of layer) {
      const middle = at + size(each) / 2, forward = number * step + along / 2;
      centres.set(each.id, vertical ? { x: middle, y: forward } : { x: forward, y: middle });
      at += size(each) + GAP.beside;
    }
  });
  const length = (layers.length - 1) * step + along;
  return { centres, width: vertical ? widest : length, height: vertical ? length : widest, vertical };
}
