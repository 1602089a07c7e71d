// Makes and updates elements. Tables keep their rows from one second to the next, and with them focus and selection.

export const byId = (id) => document.getElementById(id);

export function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

export function svg(name, attributes = {}, text) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  if (text !== undefined) element.textContent = text;
  return element;
}

// Columns: {head, value(row) -> text, kind: "text" | "wrap" | "code" or nothing for numbers, bad(row), press(row)}.
// A column that has no value in any row is left out where it says `optional`.
export function showTable(table, columns, rows, key, chosen) {
  const shown = columns.filter((column) => !column.optional || rows.some((row) => column.optional(row)));
  const heads = shown.map((column) => column.head).join("\n");
  if (table.dataset.heads !== heads) {
    table.dataset.heads = heads;
    table.replaceChildren(headOf(shown), document.createElement("tbody"));
  }
  const body = table.tBodies[0], old = new Map([...body.rows].map((row) => [row.dataset.key, row]));
  rows.forEach((row, index) => {
    const name = String(key(row));
    const line = old.get(name) ?? lineOf(shown, row, name);
    old.delete(name);
    shown.forEach((column, at) => fill(line.cells[at], column, row));
    line.classList.toggle("chosen", chosen !== undefined && name === chosen);
    if (body.rows[index] !== line) body.insertBefore(line, body.rows[index] ?? null);
  });
  for (const line of old.values()) line.remove();
}

function headOf(columns) {
  const head = document.createElement("thead"), line = head.insertRow();
  for (const column of columns) {
    const cell = document.createElement("th");
    cell.scope = "col";
    cell.textContent = column.head;
    if (column.kind) cell.className = "text";
    if (column.title) cell.title = column.title;
    line.append(cell);
  }
  return head;
}

function lineOf(columns, row, name) {
  const line = document.createElement("tr");
  line.dataset.key = name;
  for (const column of columns) {
    const cell = line.insertCell();
    if (column.kind) cell.className = column.kind === "text" ? "text" : `text ${column.kind}`;
    if (column.press) {
      const button = document.createElement("button");
      button.type = "button";
      button.className = "link";
      button.addEventListener("click", () => column.press(name));
      cell.append(button);
    }
  }
  return line;
}

function fill(cell, column, row) {
  setText(column.press ? cell.firstChild : cell, String(column.value(row)));
  if (column.bad) cell.classList.toggle("bad", Boolean(column.bad(row)));
}

export function showFacts(list, facts) {
  const names = facts.map(([name]) => name).join("\n");
  if (list.dataset.names !== names) {
    list.dataset.names = names;
    list.replaceChildren(...facts.map(([name]) => {
      const group = document.createElement("div"), term = document.createElement("dt");
      term.textContent = name;
      group.append(term, document.createElement("dd"));
      return group;
    }));
  }
  facts.forEach(([, value], index) => setText(list.children[index].lastChild, value));
}
