// What is folded away at first: channels, workers, state and checkpoints, configuration.

import { byId, showFacts, showTable } from "./elements.js";
import { bytes, count, percent, ratio, time } from "./format.js";

export function showStatistics(statistics) {
  showChannels(statistics.channels);
  showWorkers(statistics.executors);
  showState(statistics);
}

// A line for each way from one task to another.
function showChannels(channels) {
  const rows = channels.flatMap((channel) => channel.sources.flatMap((source) => channel.readers.map((reader) => ({
    source, reader, waiting: reader.waiting[source.task] ?? 0, capacity: channel.capacity,
  }))));
  showTable(byId("channels"), [
    { head: "from", value: (row) => row.source.task, kind: "text" }, { head: "to", value: (row) => row.reader.task, kind: "text" },
    { head: "tuples", value: (row) => count(row.source.tuples) },
    { head: "per jumbo tuple", value: (row) => ratio(row.source.jumbos ? row.source.tuples / row.source.jumbos : null) },
    { head: "per merge run", value: (row) => ratio(row.reader.runs ? row.reader.delivered / row.reader.runs : null) },
    { head: "claims", value: (row) => count(row.reader.claims), optional: (row) => row.reader.claims },
    { head: "waiting", value: (row) => count(row.waiting) },
    { head: "fill", value: (row) => percent(row.waiting / Math.max(1, row.capacity)), bad: (row) => row.waiting >= 0.8 * row.capacity },
    { head: "blocked", value: (row) => time(row.source.blocked_s) },
    { head: "encoded", value: (row) => bytes(row.source.payload_bytes) },
    { head: "gate held by", value: (row) => row.reader.held_by ?? "", kind: "text" },
  ], rows, (row) => `${row.source.task} ${row.reader.task}`);
}

function showWorkers(executors) {
  showTable(byId("workers"), [
    { head: "worker", value: (row) => row.worker }, { head: "tasks", value: (row) => row.tasks.join(", "), kind: "wrap" },
    { head: "turns", value: (row) => count(row.turns) }, { head: "rests", value: (row) => count(row.rests) },
    { head: "rested", value: (row) => time(row.rested_s) },
    { head: "busy", value: (row) => time(row.busy_s.reduce((a, b) => a + b, 0)) },
    { head: "in a callback", value: (row) => (row.callback ? `${row.callback.task} in ${row.callback.callback} for ${time(row.callback.seconds)}` : ""), kind: "text" },
  ], executors, (row) => `${row.worker} ${row.tasks[0]}`);
}

function showState({ states, groups, checkpoints, repeats }) {
  const last = checkpoints.last;
  showFacts(byId("checkpoints"), [
    ["checkpoints", count(checkpoints.count)], ["last", last ? `${last.id}, ${last.path}` : "none"],
    ["bytes of all", bytes(checkpoints.bytes)], ["longest pause of a task", time(checkpoints.longest_pause_s)],
    ["gone back", count(repeats.went_back)], ["slices repeated after deaths", count(repeats.slices)],
  ]);
  byId("statebox").hidden = !states.length;
  byId("groupbox").hidden = !groups.length;
  showTable(byId("states"), [
    { head: "component", value: (row) => row.component, kind: "text" }, { head: "state", value: (row) => row.state, kind: "text" },
    { head: "per", value: (row) => row.per, kind: "text" }, { head: "keys", value: (row) => count(row.keys) }, { head: "memory", value: (row) => bytes(row.bytes) },
  ], states, (row) => `${row.component} ${row.state}`);
  showTable(byId("groups"), [
    { head: "component", value: (row) => row.component, kind: "text" }, { head: "group", value: (row) => row.group },
    { head: "owned by", value: (row) => row.task, kind: "text" }, { head: "accesses", value: (row) => count(row.accesses) },
    { head: "share", value: (row) => percent(row.share) }, { head: "keys", value: (row) => count(row.keys) },
  ], groups, (row) => `${row.component} ${row.group}`);
}

export function showConfiguration(description) {
  const part = byId("filter").value.trim().toLowerCase(), onlySet = byId("onlyset").checked;
  const rows = description.settings.filter((each) => each.key.toLowerCase().includes(part) && !(onlySet && each.is_default));
  showTable(byId("configuration"), [
    { head: "key", value: (row) => row.key, kind: "code" }, { head: "value", value: (row) => JSON.stringify(row.value), kind: "code wrap" },
    { head: "from", value: (row) => row.origin, kind: "code" },
  ], rows, (row) => row.key);
}
