// The page: asks for what was seen once a second, and shows it. Everything it knows comes from /api/run.

import { byId, setText, showFacts } from "./elements.js";
import * as format from "./format.js";
import { Curves } from "./curves.js";
import { Picture, showLegend } from "./picture.js";
import { showComponents, showDetail, showErrors } from "./components.js";
import { showConfiguration, showStatistics } from "./parts.js";

const PERIOD_MS = 1000, SLOW_MS = 10_000, KEPT = 900;

const page = { description: null, seen: null, samples: [], chosen: null };
const picture = new Picture(byId("picture"), choose);
const curves = new Curves(byId("curves"));

async function fetched(path, options) {
  const answer = await fetch(path, options);
  const found = await answer.json().catch(() => ({ errorMessage: `${answer.status} ${answer.statusText}` }));
  if (!answer.ok) throw new Error(found.errorMessage ?? answer.statusText);
  return found;
}

async function look() {
  try {
    if (!page.description) begin(await fetched("/api/run/description"));
    const since = page.samples.at(-1)?.number ?? 0;
    const seen = await fetched(`/api/run?since=${since}`);
    if (seen.run !== page.description.run) location.reload(); // another run is shown here now
    page.samples = [...page.samples, ...seen.samples].slice(-KEPT);
    page.seen = seen;
    page.isOver = seen.state === "ended";
    show();
    if (seen.outcome.startsWith("failed")) tell(`The run has ${seen.outcome}`, true);
    if (document.querySelector("details[open][data-part]")) showStatistics(await fetched("/api/run/statistics"));
  } catch (error) {
    lost(error);
  }
  setTimeout(look, page.isOver ? SLOW_MS : PERIOD_MS);
}

function begin(description) {
  page.description = description;
  document.title = `${description.topology} – ViperStorm`;
  setText(byId("topology"), description.topology);
  const workers = description.worker === "inline" ? "one thread"
    : `${description.workers} ${description.worker === "process" ? "process" : "thread"}${description.workers === 1 ? "" : description.worker === "process" ? "es" : "s"}`;
  setText(byId("colophon"), `ViperStorm ${description.version}, process ${description.pid}, ${workers}, ${description.time} time, `
    + `since ${new Date(description.started_s * 1000).toLocaleString()}`);
  picture.draw(description);
  showLegend(byId("legend"));
  showConfiguration(description);
}

// The run has ended, or its view has; what was seen last stays. Whatever else is wrong is said.
function lost(error) {
  const isGone = error instanceof TypeError && page.description; // nobody listens there any more
  page.isOver = isGone;
  const how = page.seen?.outcome.startsWith("failed") ? "failed" : "ended";
  setText(byId("state"), isGone ? how : "no answer");
  byId("state").classList.add("bad");
  for (const button of document.querySelectorAll("header button, #scale button")) button.disabled = true;
  if (!isGone) tell(`The view gives no answer: ${error.message}`, true);
}

function show() {
  const { snapshot, rates, state } = page.seen;
  const byComponent = new Map(snapshot.components.map((component) => [component.id, { component, rates: rates[component.id] }]));
  page.chosen ??= page.seen.holds?.component ?? busiest(byComponent);
  byId("holds").hidden = !page.seen.holds;
  setText(byId("holds"), page.seen.holds?.told ?? "");
  showHead(snapshot, rates, state);
  picture.show(byComponent, byId("measure").value, page.chosen);
  showComponents([...byComponent.values()], page.chosen, choose);
  showDetail(page.description, byComponent.get(page.chosen), snapshot);
  curves.show(page.samples, [...byComponent.keys()], page.chosen);
  showErrors(snapshot);
}

function busiest(byComponent) {
  const all = [...byComponent.values()];
  if (!all.some((each) => each.rates)) return null;
  return all.reduce((a, b) => ((b.rates?.capacity ?? 0) > (a.rates?.capacity ?? 0) ? b : a)).component.id;
}

function showHead(snapshot, rates, state) {
  const element = byId("state"), bad = state === "ended" || state === "silent";
  const hasFailed = state === "ended" && page.seen.outcome.startsWith("failed");
  setText(element, hasFailed ? "failed" : { silent: "no answer", inactive: "paused" }[state] ?? state);
  element.classList.toggle("bad", bad);
  const sum = (name, role) => snapshot.components.filter((each) => !role || each.role === role).reduce((total, each) => total + each[name], 0);
  const rate = snapshot.components.filter((each) => each.role === "bolt").reduce((total, each) => total + (rates[each.id]?.rate ?? 0), 0);
  showFacts(byId("facts"), [
    ["elapsed", format.duration(snapshot.elapsed_s)], ["emitted", format.count(sum("emitted", "spout"))],
    ["processed", format.count(sum("processed", "bolt"))], ["processed/s", format.count(rate)],
    ["errors", format.count(sum("errors"))], ["tracked tuples failed", format.count(sum("failed", "spout"))],
    ["lost", format.count(sum("lost") + snapshot.lost)], ["worker deaths", format.count(snapshot.deaths)],
  ]);
  byId("share").hidden = snapshot.share === null;
  if (snapshot.share !== null) {
    byId("progress").value = snapshot.share;
    const left = page.seen.to_go_s === null || state !== "running" ? "" : `, ${format.duration(page.seen.to_go_s)} to go`;
    setText(byId("togo"), format.percent(snapshot.share) + left);
  }
  const buttons = Object.fromEntries([...document.querySelectorAll("[data-command]")].map((each) => [each.dataset.command, each]));
  buttons.activate.hidden = state !== "inactive";
  buttons.deactivate.hidden = state === "inactive";
  buttons.checkpoint.hidden = buttons.suspend.hidden = page.description.checkpoints === null;
  for (const button of Object.values(buttons)) button.disabled = bad || state === "draining";
}

function choose(id) {
  page.chosen = id;
  show();
}

function tell(text, bad = false) {
  const message = byId("message");
  message.hidden = !text;
  message.classList.toggle("bad", bad);
  setText(message, text);
}

async function order(path, body, done) {
  try {
    const answer = await fetched(path, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) });
    tell(done(answer));
  } catch (error) {
    tell(error.message, true);
  }
}

const DONE = {
  drain: () => "The run drains.", activate: () => "The spouts are asked for tuples again.",
  deactivate: () => "The spouts are asked for no more tuples.", checkpoint: (made) => `Checkpoint ${made.id}: ${made.path}`,
  suspend: (made) => `Suspended with checkpoint ${made.id}: ${made.path}`,
};

async function confirmed(question) {
  if (!question) return true;
  const dialog = byId("dialog");
  setText(byId("question"), question);
  dialog.returnValue = "no";
  dialog.showModal();
  await new Promise((resolve) => dialog.addEventListener("close", resolve, { once: true }));
  return dialog.returnValue === "yes";
}

for (const button of document.querySelectorAll("[data-command]")) {
  button.addEventListener("click", async () => {
    if (await confirmed(button.dataset.ask)) await order(`/api/run/${button.dataset.command}`, {}, DONE[button.dataset.command]);
  });
}
byId("scale").addEventListener("submit", (event) => {
  event.preventDefault();
  const tasks = Number(byId("tasks").value), component = page.chosen;
  order("/api/run/scale", { tasks: { [component]: tasks } }, () => `${component} goes on with ${tasks} task${tasks === 1 ? "" : "s"}.`);
});
byId("measure").addEventListener("change", () => page.seen && show());
for (const id of ["filter", "onlyset"]) byId(id).addEventListener("input", () => page.description && showConfiguration(page.description));
window.addEventListener("resize", () => {
  picture.redrawIfTurned();
  if (page.seen) show();
});
look();
