// Boxes for methods and datasets hide the rest of all tables; the address keeps what is hidden. Print opens all folds.
const form = document.getElementById("filter");
const known = { methods: JSON.parse(form.dataset.methods), datasets: JSON.parse(form.dataset.datasets) };
const hidden = { methods: new Set(), datasets: new Set() };
const names = (title, of) => of.some((name) => title === name || title.startsWith(`${name},`) || title.startsWith(`${name}:`) || title.startsWith(`Cost on ${name} (`));
const overAll = /\brank|Nemenyi|win rates|seconds per fold/i;  // of all methods or datasets: not shown of some
const fold = document.createElement("details");
const label = document.createElement("summary");
const apply = () => {
  const gone = [...hidden.methods, ...hidden.datasets];
  label.textContent = "Show only some methods or datasets in the tables" + (gone.length ? ` (hidden: ${gone.join(", ")}; means over all)` : "");
  const stale = (title) => gone.length > 0 && overAll.test(title);
  for (const table of document.querySelectorAll("table")) {
    const [head, ...rows] = table.rows;
    const away = [...head.cells].map((cell) => names(cell.textContent.trim(), gone) || stale(cell.textContent));
    for (const row of rows) row.hidden = [...row.cells].some((cell) => gone.includes(cell.textContent.trim()));
    for (const row of table.rows) [...row.cells].forEach((cell, column) => { cell.hidden = away[column]; });
  }
  let covered = false;  // notes are on all tables since the last notes
  for (const block of document.querySelectorAll(".block")) {
    const [head, ...rows] = block.querySelector("table").rows;
    const numbers = [...head.cells].filter((cell) => cell.classList.contains("number"));
    const empty = rows.every((row) => row.hidden) || (numbers.length > 0 && numbers.every((cell) => cell.hidden));
    const away = empty || stale(block.dataset.title) || names(block.dataset.title, [...hidden.datasets]);
    const notes = [...block.querySelectorAll(".note")];
    covered ||= !away;
    for (const part of block.querySelectorAll("h3, .wide, .copy")) part.hidden = away;
    for (const note of notes) note.hidden = !covered;
    if (notes.length) covered = false;
  }
  for (const group of document.querySelectorAll("details:has(.block)")) group.hidden = [...group.querySelectorAll("h3")].every((title) => title.hidden);
  const query = new URLSearchParams(gone.map((name) => ["hide", name])).toString();
  const address = `${location.pathname}${query ? `?${query}` : ""}${location.hash}`;
  if (location.search !== (query ? `?${query}` : "")) history.replaceState(null, "", address);
};
for (const name of new URLSearchParams(location.search).getAll("hide"))
  for (const what in known) if (known[what].includes(name)) hidden[what].add(name);
fold.append(label);
for (const what in known) {
  const group = document.createElement("fieldset");
  group.innerHTML = `<legend>${what}</legend>`;
  for (const name of known[what]) {
    const title = document.createElement("label");
    const box = document.createElement("input");
    box.type = "checkbox";
    box.checked = !hidden[what].has(name);
    box.addEventListener("change", () => { hidden[what][box.checked ? "delete" : "add"](name); apply(); });
    title.append(box, ` ${name}`);
    group.append(title);
  }
  fold.append(group);
}
form.append(fold);
form.hidden = false;
apply();
let opened = [];
addEventListener("beforeprint", () => {
  opened = [...document.querySelectorAll("details:not([open])")].filter((one) => one !== fold);
  for (const one of opened) one.open = true;
});
addEventListener("afterprint", () => { for (const one of opened) one.open = false; });
