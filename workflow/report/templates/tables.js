// Columns of numbers are aligned and sort at a click: ascending, descending, and back. A button copies a table as csv, in which
// standard errors have columns of their own; what stands in parentheses is left out.
const DASH = "–";
const numbers = (cell) => {
  const text = cell.textContent.trim().replaceAll("−", "-").replaceAll(",", "").replace(/^× /, "").replace(/ [%†]$/, "").replace(/ \(.*\)$/, "");
  const parts = text.split(/ ± | to /).map((part) => (part === "" ? NaN : Number(part)));
  return parts.some(Number.isNaN) ? null : parts;
};
const quoted = (text) => (/[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
const column = (table, place) => [...table.tBodies[0].rows].map((row) => row.cells[place]);
const isNumeric = (cells) => cells.every((cell) => cell.textContent === DASH || numbers(cell));
const asCsv = (table) => {
  const columns = [...table.tHead.rows[0].cells].flatMap((head, place) => {
    const title = head.textContent, cells = column(table, place);
    if (!head.classList.contains("number")) return [[title, ...cells.map((cell) => cell.textContent)]];
    const values = cells.map((cell) => numbers(cell) ?? []);
    const parts = [[title, ...values.map((parts) => parts[0] ?? "")]];
    if (values.some((parts) => parts.length > 1)) parts.push([`${title} (error or upper end)`, ...values.map((parts) => parts[1] ?? "")]);
    return parts;
  });
  return columns[0].map((_, line) => columns.map((cells) => quoted(String(cells[line]))).join(",")).join("\n") + "\n";
};
const sort = (table, head, place, rows) => {
  const order = head.textContent.includes("↑") ? ["descending", "ascending", "none"] : ["ascending", "descending", "none"];
  const next = order[(order.indexOf(head.getAttribute("aria-sort")) + 1) % 3];
  for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
  const value = (row) => numbers(row.cells[place])?.[0] ?? null;
  const sorted = [...rows];
  if (next !== "none") {
    head.setAttribute("aria-sort", next);
    const sign = next === "ascending" ? 1 : -1;
    sorted.sort((one, other) => {
      const left = value(one), right = value(other);
      return left === null || right === null ? (left === null) - (right === null) : sign * (left - right);
    });
  }
  table.tBodies[0].append(...sorted);
};
for (const table of document.querySelectorAll("table")) {
  const rows = [...table.tBodies[0].rows];
  [...table.tHead.rows[0].cells].forEach((head, place) => {
    const cells = column(table, place);
    if (!isNumeric(cells)) return;
    for (const cell of [head, ...cells]) cell.classList.add("number");
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    button.addEventListener("click", () => sort(table, head, place, rows));
    head.append(button);
  });
  const copy = document.createElement("button");
  copy.type = "button";
  copy.className = "copy";
  copy.textContent = "copy csv";
  copy.addEventListener("click", async () => {
    await navigator.clipboard.writeText(asCsv(table));
    copy.textContent = "copied";
  });
  table.parentElement.after(copy);
}
addEventListener("beforeprint", () => document.querySelectorAll("details").forEach((part) => { part.open = true; }));
