// A click on a column's head sorts its table: the best first, the worst first, and back to the order it came in. Cells without a number come last.
for (const button of document.querySelectorAll("th button")) {
  const head = button.closest("th"), body = head.closest("table").tBodies[0];
  const column = head.cellIndex, rows = [...body.rows], before = new Map(rows.map((row, place) => [row, place]));
  const number = (row) => { const key = row.cells[column].dataset.key; return key ? Number(key) : null; };
  const compare = (one, two, sign) => {
    if (!head.classList.contains("number"))
      return sign * one.cells[column].textContent.localeCompare(two.cells[column].textContent, "en", { numeric: true });
    const left = number(one), right = number(two);
    if (left === null || right === null) return (left === null) - (right === null);
    return sign * (left - right);
  };
  button.addEventListener("click", () => {
    const order = head.textContent.includes("↑") ? ["descending", "ascending"] : ["ascending", "descending"];
    const next = [...order, "none"][order.indexOf(head.getAttribute("aria-sort")) + 1];
    for (const other of head.parentElement.cells) other.removeAttribute("aria-sort");
    if (next !== "none") head.setAttribute("aria-sort", next);
    const sign = next === "ascending" ? 1 : -1;
    rows.sort((one, two) => (next === "none" ? 0 : compare(one, two, sign)) || before.get(one) - before.get(two));
    body.append(...rows);
  });
}
