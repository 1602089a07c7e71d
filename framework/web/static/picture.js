// The picture of the topology. A component's colour, the length of its bar and its number say the same, so that the
// picture can be read without colours.

import { svg, setText } from "./elements.js";
import { compact, percent, ratio } from "./format.js";
import { laidOut } from "./layout.js";

const STEPS = [
  { below: 0.25, fill: "#f4f6f8" }, { below: 0.5, fill: "#fbe3c0" }, { below: 0.75, fill: "#f6b26b" },
  { below: 0.9, fill: "#e0752d" }, { below: Infinity, fill: "#8f3310", light: true },
];
const MARGIN = 26, BOW = 110, FULL = 0.8;

const stepOf = (value) => STEPS.find((step) => value < step.below);

// For each measure what a component is coloured by, and how that is said.
const MEASURES = {
  capacity: { value: (seen) => seen.rates?.capacity ?? 0, say: (value) => `capacity ${ratio(value)}` },
  pressure: {
    value: (seen) => Math.max(seen.rates?.blocked ?? 0, seen.component.fill),
    say: (value, seen) => (seen.component.role === "spout" ? `blocked ${percent(seen.rates?.blocked)}`
      : `queue ${percent(seen.component.fill)}, blocked ${percent(seen.rates?.blocked)}`),
  },
};

export class Picture {
  constructor(box, onChoose) {
    this.box = box;
    this.onChoose = onChoose;
    this.nodes = new Map();
    this.edges = [];
  }

  // Draw the topology anew, as when the page has become narrow.
  draw(description) {
    this.description = description;
    this.vertical = this.box.clientWidth < 700;
    const plan = laidOut(description.components, description.streams, this.vertical);
    const bow = plan.edges.some((edge) => edge.feedback) ? BOW : 0; // above a row, or beside a column
    const width = plan.width + 2 * MARGIN + (this.vertical ? bow : 0), height = plan.height + 2 * MARGIN + (this.vertical ? 0 : bow);
    const top = -MARGIN - (this.vertical ? 0 : bow);
    const root = svg("svg", { width, height, viewBox: `${-MARGIN} ${top} ${width} ${height}`, role: "group" });
    root.style.minWidth = `${0.6 * width}px`; // smaller ones cannot be read, and are scrolled instead
    root.append(svg("title", {}, `Topology ${description.topology}`), arrowHead());
    this.edges = plan.edges.map((edge) => this.edge(root, plan, edge));
    this.nodes = new Map(description.components.map((each) => [each.id, this.node(root, plan, each)]));
    this.box.replaceChildren(root);
  }

  redrawIfTurned() {
    if (this.description && this.vertical !== this.box.clientWidth < 700) this.draw(this.description);
  }

  node(root, plan, component) {
    const { x, y } = plan.centres.get(component.id), { width, height } = plan.node;
    const group = svg("g", {
      class: "node", tabindex: 0, role: "button", transform: `translate(${x - width / 2} ${y - height / 2})`,
    });
    const shape = svg("rect", { class: "shape", width, height, rx: component.role === "spout" ? height / 2 : 6 });
    const lines = [22, 39, 54].map((at, index) => svg("text", {
      x: width / 2, y: at, "text-anchor": "middle", "font-size": index ? 12 : 14.5, "font-weight": index ? 400 : 700,
    }));
    const meter = svg("rect", { class: "meter", x: 34, y: 60, width: width - 68, height: 6 });
    const level = svg("rect", { class: "level", x: 34, y: 60, width: 0, height: 6 });
    const title = svg("title");
    group.append(title, shape, ...lines, meter, level);
    group.addEventListener("click", () => this.onChoose(component.id));
    group.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      this.onChoose(component.id);
    });
    root.append(group);
    return { group, shape, lines, meter, level, title, room: width - 68 };
  }

  edge(root, plan, edge) {
    const line = svg("path", { class: `edge${edge.feedback ? " feedback" : ""}`, d: way(plan, edge), "marker-end": "url(#arrow)" });
    root.append(line);
    const [from, to] = [edge.path[0], edge.path[1]].map((id) => plan.centres.get(id));
    const middle = { x: (from.x + to.x) / 2, y: (from.y + to.y) / 2 };
    if (edge.feedback) { // at the peak of its bow
      if (plan.vertical) middle.x += plan.node.width / 2 + 0.75 * BOW;
      else middle.y -= plan.node.height / 2 + 0.75 * BOW;
    }
    edge.captions.forEach((caption, index) => root.append(svg("text", {
      class: "halo soft", x: middle.x, y: middle.y - 6 + 13 * index, "text-anchor": "middle", "font-size": 11,
    }, shortened(caption, plan.vertical ? 34 : 20))));
    return { ...edge, line };
  }

  // Show what was seen last: by component {component, rates}.
  show(seen, measure, chosen) {
    const { value, say } = MEASURES[measure];
    for (const [id, node] of this.nodes) {
      const each = seen.get(id);
      if (!each) continue;
      const found = Math.min(1, value(each)), step = stepOf(found), tone = step.light ? "light" : "dark";
      const times = each.component.parallelism === 1 ? "" : ` × ${each.component.parallelism}`;
      const texts = [shortened(id, 22) + times, `${compact(each.rates?.rate)}/s`, say(found, each)];
      texts.forEach((text, index) => {
        setText(node.lines[index], text);
        node.lines[index].setAttribute("class", tone);
      });
      node.shape.setAttribute("fill", step.fill);
      node.meter.setAttribute("class", `meter ${tone}`);
      node.level.setAttribute("class", `level ${tone}`);
      node.level.setAttribute("width", found * node.room);
      node.group.classList.toggle("chosen", id === chosen);
      const about = `${id}: ${texts[1]}, ${texts[2]}`;
      setText(node.title, about);
      node.group.setAttribute("aria-label", about);
    }
    for (const edge of this.edges) {
      edge.line.classList.toggle("full", (seen.get(edge.target)?.component.fill ?? 0) >= FULL);
    }
  }
}

export function showLegend(list) {
  const bounds = ["below 0.25", "to 0.5", "to 0.75", "to 0.9", "above"];
  list.replaceChildren(...STEPS.map((step, index) => {
    const item = document.createElement("span"), sample = svg("svg", { width: 26, height: 14, "aria-hidden": "true" });
    sample.append(svg("rect", { width: 26, height: 14, fill: step.fill, stroke: "#1c2733" }),
      svg("rect", { class: `level${step.light ? " light" : ""}`, x: 3, y: 9, width: 4 + 4 * index, height: 3 }));
    item.append(sample, bounds[index]);
    return item;
  }));
}

function arrowHead() {
  const marker = svg("marker", {
    id: "arrow", viewBox: "0 0 8 8", refX: 8, refY: 4, markerWidth: 8, markerHeight: 8, orient: "auto", markerUnits: "userSpaceOnUse",
  });
  marker.append(svg("path", { d: "M0 0 8 4 0 8z", fill: "#6b7a89" }));
  const definitions = svg("defs");
  definitions.append(marker);
  return definitions;
}

function way(plan, edge) {
  const { centres, node, vertical } = plan, points = edge.path.map((id) => centres.get(id));
  const out = vertical ? { x: 0, y: node.height / 2 } : { x: node.width / 2, y: 0 };
  const first = points[0], last = points[points.length - 1];
  const [start, end] = [{ x: first.x + out.x, y: first.y + out.y }, { x: last.x - out.x, y: last.y - out.y }];
  if (edge.feedback) { // from the top of a component to that of another, or from side to side
    const [from, to] = [first, last].map(({ x, y }) => (vertical ? { x: x + node.width / 2, y } : { x, y: y - node.height / 2 }));
    const bow = vertical ? `${from.x + BOW} ${from.y} ${to.x + BOW} ${to.y}` : `${from.x} ${from.y - BOW} ${to.x} ${to.y - BOW}`;
    return `M${from.x} ${from.y}C${bow} ${to.x} ${to.y}`;
  }
  let path = `M${start.x} ${start.y}`, at = start;
  for (const next of [...points.slice(1, -1), end]) {
    const half = vertical ? (next.y - at.y) / 2 : (next.x - at.x) / 2;
    path += vertical ? `C${at.x} ${at.y + half} ${next.x} ${next.y - half} ${next.x} ${next.y}`
      : `C${at.x + half} ${at.y} ${next.x - half} ${next.y} ${next.x} ${next.y}`;
    at = next;
  }
  return path;
}

const shortened = (text, most) => (text.length <= most ? text : `${text.slice(0, most - 1)}…`);
