// Curves over time, one line for each component. That of the chosen component is thick, and the others stand beside it
// in grey with their names, so that no line is known by its colour alone.

import { svg } from "./elements.js";
import { compact, moment, percent, time } from "./format.js";

const WIDTH = 560, HEIGHT = 190, LEFT = 62, RIGHT = 118, TOP = 10, BOTTOM = 22;
const POINTS = 300, MOST = 25;
const CURVES = [
  { title: "Tuples per second", value: (each) => each.rate, say: compact },
  { title: "p99 latency, on a logarithmic scale", value: (each) => each.p99_s, say: time, logarithmic: true },
  { title: "p50 latency, on a logarithmic scale", value: (each) => each.p50_s, say: time, logarithmic: true },
  { title: "Capacity", value: (each) => each.capacity, say: percent, top: 1 },
  { title: "Fullest queue", value: (each) => each.fill, say: percent, top: 1 },
];

export class Curves {
  constructor(box) {
    this.figures = CURVES.map((curve) => {
      const figure = document.createElement("figure"), caption = document.createElement("figcaption");
      caption.textContent = curve.title;
      figure.append(caption);
      box.append(figure);
      return { curve, figure };
    });
  }

  show(all, everything, chosen) {
    const samples = thinned(all), components = busiest(everything, all.at(-1), chosen);
    for (const { curve, figure } of this.figures) {
      figure.querySelector("svg")?.remove();
      figure.append(drawn(curve, samples, components, chosen));
    }
  }
}

// As many points as there is room for; the last one is among them.
function thinned(samples) {
  const step = Math.ceil(samples.length / POINTS);
  return samples.filter((_, index) => (samples.length - 1 - index) % step === 0);
}

// The chosen component, and those others that work most, in the order of the topology.
function busiest(components, last, chosen) {
  const work = (id) => (id === chosen ? Infinity : last?.components[id]?.capacity ?? 0);
  const shown = new Set([...components].sort((a, b) => work(b) - work(a)).slice(0, MOST));
  return components.filter((id) => shown.has(id));
}

function drawn(curve, samples, components, chosen) {
  const root = svg("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": curve.title });
  if (samples.length < 2) {
    root.append(svg("text", { x: LEFT, y: HEIGHT / 2, class: "soft", "font-size": 13 }, "There is nothing to compare yet."));
    return root;
  }
  const [from, to] = [samples[0].at_s, samples[samples.length - 1].at_s];
  const values = components.flatMap((id) => samples.map((sample) => curve.value(sample.components[id] ?? {}))).filter((value) => value > 0);
  const scale = (curve.logarithmic ? logarithmic : linear)(values, curve.top);
  const x = (at) => LEFT + ((at - from) / (to - from)) * (WIDTH - LEFT - RIGHT);
  const y = (value) => HEIGHT - BOTTOM - Math.max(0, Math.min(1, scale.share(value))) * (HEIGHT - TOP - BOTTOM);
  for (const mark of scale.marks) {
    root.append(svg("line", { class: "grid", x1: LEFT, x2: WIDTH - RIGHT, y1: y(mark), y2: y(mark) }),
      svg("text", { class: "soft", x: LEFT - 6, y: y(mark) + 4, "text-anchor": "end", "font-size": 11 }, curve.say(mark)));
  }
  for (const [at, anchor] of [[from, "start"], [to, "end"]]) {
    root.append(svg("text", { class: "soft", x: x(at), y: HEIGHT - 6, "text-anchor": anchor, "font-size": 11 }, moment(at)));
  }
  const ends = [];
  for (const id of components) {
    const points = samples.map((sample) => [sample.at_s, curve.value(sample.components[id] ?? {})]);
    if (!points.some(([, value]) => value !== null && value !== undefined)) continue;
    const line = svg("path", { class: id === chosen ? "curve chosen" : "curve", d: path(points, x, y) });
    if (id === chosen) root.append(line); else root.prepend(line);
    ends.push({ id, isChosen: id === chosen, y: y(points.findLast(([, value]) => value !== null && value !== undefined)[1]) });
  }
  for (const end of apart(ends)) {
    root.append(svg("text", {
      x: WIDTH - RIGHT + 5, y: end.y + 4, "font-size": 11.5, "font-weight": end.id === chosen ? 700 : 400, class: end.id === chosen ? "" : "soft",
    }, end.id.length > 17 ? `${end.id.slice(0, 16)}…` : end.id));
  }
  return root;
}

// Moments at which nothing was measured are passed over.
function path(points, x, y) {
  const measured = points.filter(([, value]) => value !== null && value !== undefined);
  return measured.map(([at, value], index) => `${index ? "L" : "M"}${x(at).toFixed(1)} ${y(value).toFixed(1)}`).join("");
}

// Each scale: where a value stands from 0 to 1, and the values that have a line.
function linear(values, given) {
  const top = given ?? nice(largest(values, 0));
  return { share: (value) => value / top, marks: [0, top / 2, top] };
}

function logarithmic(values) {
  const lowest = Math.floor(Math.log10(values.reduce((a, b) => Math.min(a, b), 1e-3)));
  const highest = Math.ceil(Math.log10(largest(values, 1e-3)) + 1e-9);
  const decades = Math.max(1, highest - lowest);
  const marks = Array.from({ length: decades + 1 }, (_, index) => 10 ** (lowest + index));
  return { share: (value) => (Math.log10(Math.max(value, 1e-12)) - lowest) / decades, marks };
}

// Names that would stand on each other are moved apart; where there is no room for all, the lowest ones are left out, but
// for that of the chosen component.
function apart(ends) {
  const room = Math.floor((HEIGHT - TOP - BOTTOM) / 13) + 1;
  const kept = [...ends].sort((a, b) => b.isChosen - a.isChosen || a.y - b.y).slice(0, room);
  const sorted = kept.sort((a, b) => a.y - b.y);
  for (let at = 1; at < sorted.length; at += 1) sorted[at].y = Math.max(sorted[at].y, sorted[at - 1].y + 13);
  const excess = (sorted.at(-1)?.y ?? 0) - (HEIGHT - BOTTOM);
  if (excess > 0) {
    let limit = HEIGHT - BOTTOM;
    for (let at = sorted.length - 1; at >= 0; at -= 1) {
      sorted[at].y = Math.min(sorted[at].y, limit);
      limit = sorted[at].y - 13;
    }
  }
  return sorted;
}

// A call of Math.max has no room for as many values as a large topology has.
const largest = (values, least) => values.reduce((a, b) => Math.max(a, b), least);

function nice(value) {
  if (!(value > 0)) return 1;
  const size = 10 ** Math.floor(Math.log10(value));
  return [1, 2, 5, 10].map((factor) => factor * size).find((bound) => bound >= value);
}
