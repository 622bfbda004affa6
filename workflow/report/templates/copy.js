// Two buttons below each table copy it, so that they work in a page that was mailed without its files.
const visible = (table) => [...table.rows].filter((row) => !row.hidden);
const quoted = (text) => (/[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
// Columns of numbers have their full precision, without units; standard errors and upper ends have columns of their own.
const asCsv = (table) => {
  const [head, ...body] = visible(table);
  const columns = [...head.cells].filter((cell) => !cell.hidden).flatMap((cell) => {
    const of = body.map((row) => row.cells[cell.cellIndex]);
    const title = cell.textContent.trim().replaceAll("\u00a0", " ");
    if (!cell.classList.contains("number")) return [[title, ...of.map((one) => one.textContent.trim().replaceAll("−", "-"))]];
    const column = [cell.dataset.unit ? `${title} (${cell.dataset.unit})` : title, ...of.map((one) => one.dataset.key)];
    if (!of.some((one) => one.dataset.second)) return [column];
    const second = of.some((one) => one.textContent.includes("±")) ? "standard error" : "upper end";
    return [column, [`${title} (${second})`, ...of.map((one) => one.dataset.second ?? "")]];
  });
  return columns[0].map((_, line) => columns.map((column) => quoted(column[line])).join(",")).join("\n") + "\n";
};
const symbols = { "\\": "\\textbackslash{}", "±": "$\\pm$", "†": "$\\dagger$", "−": "$-$", "↑": "$\\uparrow$", "↓": "$\\downarrow$" };
const escaped = (text) => text.replace(/[&%$#_{}\\±†−↑↓]/g, (one) => symbols[one] ?? `\\${one}`);
const asTex = (table) => {
  const [head, ...body] = visible(table);
  const line = (row) => [...row.cells].filter((cell) => !cell.hidden).map((cell) => {
    const text = escaped(cell.textContent.trim());
    if (cell.querySelector("strong")) return `\\textbf{${text}}`;
    return cell.classList.contains("tied") ? `\\textit{${text}}` : text;
  }).join(" & ") + " \\\\";
  const columns = [...head.cells].filter((cell) => !cell.hidden).map((cell) => (cell.classList.contains("number") ? "r" : "l")).join("");
  return [`\\begin{tabular}{${columns}}`, "\\toprule", line(head), "\\midrule", ...body.map(line), "\\bottomrule", "\\end{tabular}", ""].join("\n");
};
const copy = async (text) => {
  try { await navigator.clipboard.writeText(text); } catch {
    const area = document.createElement("textarea");
    area.value = text;
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
};
for (const wide of document.querySelectorAll(".wide")) {
  const table = wide.querySelector("table");
  const bar = document.createElement("p");
  bar.className = "copy";
  for (const [name, write] of [["csv", asCsv], ["tex", asTex]]) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = `copy ${name}`;
    button.addEventListener("click", async () => {
      await copy(write(table));
      button.textContent = "copied";
      setTimeout(() => { button.textContent = `copy ${name}`; }, 1500);
    });
    bar.append(button);
  }
  wide.after(bar);
}
// Only what scrolls takes the focus. Where two columns name a row, both stay in view on a phone.
const settle = () => {
  for (const part of document.querySelectorAll(".wide, .drawing")) {
    const scrolls = part.scrollWidth > part.clientWidth;
    if (scrolls) part.tabIndex = 0;
    else part.removeAttribute("tabindex");
    part.classList.toggle("scrolls", scrolls);
    part.onscroll = () => part.classList.toggle("ended", part.scrollLeft + part.clientWidth >= part.scrollWidth - 2);
    const second = part.querySelector("tbody tr:first-child > :nth-child(2):not(.number)");
    const first = part.querySelector("tr > :first-child");
    part.classList.toggle("two-heads", Boolean(second) && part.querySelector("thead tr").cells.length > 4);
    if (second) part.style.setProperty("--first", `${first.offsetWidth}px`);
  }
};
settle();
addEventListener("resize", settle);
document.addEventListener("toggle", settle, true);
