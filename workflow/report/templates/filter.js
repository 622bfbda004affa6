// Boxes for methods and datasets hide the rest of all tables; the address keeps what is hidden. Print opens all folds.
const form = document.getElementById("filter");
const known = { methods: JSON.parse(form.dataset.methods), datasets: JSON.parse(form.dataset.datasets) };
const hidden = { methods: new Set(), datasets: new Set() };
const filters = "#hide=";
const names = (title, of) => of.some((name) => title === name || title.startsWith(`${name},`) || title.startsWith(`${name}:`) || title.startsWith(`Cost on ${name} (`));
const apply = () => {
  const gone = [...hidden.methods, ...hidden.datasets];
  for (const block of document.querySelectorAll(".block")) block.hidden = names(block.dataset.title, [...hidden.datasets]);
  for (const table of document.querySelectorAll("table")) {
    const [head, ...rows] = table.rows;
    const away = [...head.cells].map((cell) => names(cell.textContent.trim(), gone));
    for (const row of rows) row.hidden = [...row.cells].some((cell) => gone.includes(cell.textContent.trim()));
    for (const row of table.rows) [...row.cells].forEach((cell, column) => { cell.hidden = away[column]; });
  }
  const state = gone.length ? filters + gone.map(encodeURIComponent).join("|") : "#";
  if (gone.length || location.hash.startsWith(filters)) history.replaceState(null, "", state);
};
if (location.hash.startsWith(filters)) {
  for (const part of location.hash.slice(filters.length).split("|")) {
    const name = decodeURIComponent(part);
    for (const what in known) if (known[what].includes(name)) hidden[what].add(name);
  }
}
const fold = document.createElement("details");
fold.innerHTML = "<summary>Show only some methods or datasets in the tables</summary>";
for (const what in known) {
  const group = document.createElement("fieldset");
  group.innerHTML = `<legend>${what}</legend>`;
  for (const name of known[what]) {
    const label = document.createElement("label");
    const box = document.createElement("input");
    box.type = "checkbox";
    box.checked = !hidden[what].has(name);
    box.addEventListener("change", () => { hidden[what][box.checked ? "delete" : "add"](name); apply(); });
    label.append(box, ` ${name}`);
    group.append(label);
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
