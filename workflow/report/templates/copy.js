// Two buttons below each table copy it, so that they work in a page that was mailed without its files.
const cells = (row) => [...row.cells].filter((cell) => !cell.hidden).map((cell) => cell.textContent.trim());
const visible = (table) => [...table.rows].filter((row) => !row.hidden);
const asCsv = (table) =>
  visible(table).map((row) => cells(row).map((text) => (/[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text)).join(",")).join("\n") + "\n";
const escaped = (text) => text.replaceAll("\\", "\\textbackslash{}").replace(/[&%$#_{}]/g, "\\$&").replaceAll("±", "$\\pm$").replaceAll("−", "$-$").replaceAll("↑", "$\\uparrow$").replaceAll("↓", "$\\downarrow$");
const asTex = (table) => {
  const [head, ...body] = visible(table);
  const line = (row) => [...row.cells].filter((cell) => !cell.hidden).map((cell) => {
    const text = escaped(cell.textContent.trim());
    return cell.querySelector("strong") ? `\\textbf{${text}}` : text;
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
