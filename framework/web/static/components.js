// The table of components, what is known of the chosen one, and their errors.

import { byId, setText, showTable } from "./elements.js";
import { count, micros, percent, ratio, time } from "./format.js";

const total = ({ component }) => (component.role === "spout" ? component.emitted : component.processed);
const sum = (rows, name) => rows.reduce((all, row) => all + row[name], 0);
const perClaim = ({ component }) => (sum(component.tasks, "claims") ? sum(component.tasks, "claimed") / sum(component.tasks, "claims") : null);
const some = (name) => ({ component }) => component[name];

export function showComponents(rows, chosen, choose) {
  const column = (head, value, more = {}) => ({ head, value, ...more });
  const counted = (head, name) => column(head, (row) => count(row.component[name]), { optional: some(name), bad: some(name) });
  showTable(byId("components"), [
    column("component", ({ component }) => component.id, { kind: "text", press: choose }),
    column("role", ({ component }) => component.role, { kind: "text" }),
    column("tasks", ({ component }) => component.parallelism),
    column("per second", ({ rates }) => count(rates?.rate)),
    column("total", (row) => count(total(row))),
    column("busy", ({ rates }) => percent(rates?.busy)),
    column("waiting", ({ rates }) => percent(rates?.waiting), { title: "in its own code, but not computing: it sleeps, or waits for others" }),
    column("blocked", ({ rates }) => percent(rates?.blocked)),
    column("idle", ({ rates }) => percent(rates?.idle)),
    column("capacity", ({ rates }) => ratio(rates?.capacity), { bad: ({ rates }) => rates?.capacity > 0.9, title: "the share of time for which the busiest task can do no more; of a spout, for which it computes" }),
    column("µs each", ({ rates }) => micros(rates?.execute_s), { title: "microseconds of work per tuple" }),
    column("p50", ({ rates }) => time(rates?.p50_s)),
    column("p99", ({ rates }) => time(rates?.p99_s)),
    column("queue", ({ component }) => (component.role === "spout" ? "–" : percent(component.fill)), { bad: ({ component }) => component.fill >= 0.8 }),
    column("per claim", (row) => ratio(perClaim(row)), { optional: perClaim, title: "tuples that a task takes in one claim: its tasks share their input by claims" }),
    counted("failed", "failed"), counted("errors", "errors"), counted("restarts", "restarts"), counted("lost", "lost"), counted("late", "late"),
    column("held by", ({ component }) => component.held_by.join(", "), { kind: "text", optional: (row) => row.component.held_by.length }),
  ], rows, ({ component }) => component.id, chosen);
}

export function showDetail(description, seen, snapshot) {
  const section = byId("detail");
  section.hidden = !seen;
  if (!seen) return;
  const { component } = seen, described = description.components.find((each) => each.id === component.id);
  setText(byId("h-detail"), component.id);
  const kind = described.kind === "Python" ? "" : `${described.kind} `;
  const sharing = { claims: ", whose tasks share their input by claims", "claims by key": ", whose tasks claim its key groups" }[described.sharing] ?? "";
  setText(byId("about"), `${kind}${component.role} ${described.implementation}${sharing}`);
  showScaling(described, component);
  const workers = new Set(component.tasks.map((task) => task.worker));
  showTable(byId("tasktable"), [
    { head: "task", value: (task) => task.id }, { head: "worker", value: (task) => task.worker },
    { head: "in turns, s", value: (task) => task.busy_s.toFixed(2) }, { head: "waiting, s", value: (task) => task.waited_s.toFixed(2) },
    { head: "of the run", value: (task) => percent(snapshot.elapsed_s ? Math.min(1, task.busy_s / snapshot.elapsed_s) : null) },
    { head: "claims", value: (task) => count(task.claims), optional: (task) => task.claims },
    { head: "per claim", value: (task) => ratio(task.claims ? task.claimed / task.claims : null), optional: (task) => task.claims },
  ], component.tasks, (task) => `${component.id}:${task.id}:${workers.size}`);
  byId("confbox").hidden = !Object.keys(described.conf).length;
  showTable(byId("conftable"), [
    { head: "key", value: ([key]) => key, kind: "code" }, { head: "value", value: ([, value]) => JSON.stringify(value), kind: "code wrap" },
  ], Object.entries(described.conf), ([key]) => `${component.id}:${key}`);
}

function showScaling(described, component) {
  const input = byId("tasks"), form = byId("scale"), button = form.querySelector("button");
  if (form.dataset.component !== component.id || form.dataset.tasks !== String(component.parallelism)) {
    form.dataset.component = component.id;
    form.dataset.tasks = String(component.parallelism);
    input.value = component.parallelism;
    input.max = described.tasks;
  }
  input.disabled = !described.scalable;
  button.hidden = !described.scalable;
  button.disabled = false;
  setText(byId("scalehint"), described.scalable ? `of at most ${described.tasks} (viper.parallelism.max)`
    : component.role === "spout" ? "those of a spout cannot be changed while it runs"
      : "cannot be changed while it runs: a bolt whose state is by key, or that has none, can with viper.parallelism.max");
}

export function showErrors(snapshot) {
  const rows = snapshot.components.flatMap((component) => component.error_sites.map((site) => ({ component: component.id, ...site })));
  byId("errorbox").hidden = !rows.length;
  byId("noerrors").hidden = Boolean(rows.length || snapshot.incidents.length || snapshot.components.some((each) => each.errors));
  showTable(byId("errors"), [
    { head: "component", value: (row) => row.component, kind: "text" }, { head: "times", value: (row) => count(row.count), bad: () => true },
    { head: "error", value: (row) => `${row.kind}: ${row.message}`, kind: "wrap" }, { head: "where", value: (row) => row.place, kind: "code" },
    { head: "last", value: (row) => new Date(row.last_s * 1000).toLocaleTimeString() },
  ], rows, (row) => `${row.component} ${row.place}`);
  const list = byId("incidents");
  if ([...list.children].map((each) => each.textContent).join("\n") !== snapshot.incidents.join("\n")) {
    list.replaceChildren(...snapshot.incidents.map((text) => Object.assign(document.createElement("li"), { textContent: text })));
  }
}
