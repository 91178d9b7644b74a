(() => {
  "use strict";
  const find = (id) => document.getElementById(id);
  const table = find("matrix");
  const body = table.tBodies[0];
  const rows = [...body.rows];
  const name = find("by-name"), section = find("by-section"), verdict = find("by-verdict");
  const count = find("shown");
  const plain = (text) => text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();
  const details = new Map();  // of each opened row, the row below it
  const texts = new Map(rows.map((row) => [row, plain(row.cells[0].textContent + " " + row.dataset.detail)]));

  const filter = () => {
    const words = plain(name.value).split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const row of rows) {
      const fits = words.every((word) => texts.get(row).includes(word))
        && (!section.value || row.dataset.section === section.value)
        && (!verdict.value || [...row.cells].some((cell) => cell.dataset.verdict === verdict.value));
      row.hidden = !fits;
      if (details.has(row)) details.get(row).hidden = !fits;
      shown += fits;
    }
    for (const cell of body.querySelectorAll("td[data-verdict]")) {
      cell.classList.toggle("faded", Boolean(verdict.value) && cell.dataset.verdict !== verdict.value);
    }
    count.textContent = shown === rows.length ? `${shown} ${rows.length === 1 ? "student" : "students"}` : `${shown} of ${rows.length} students`;
  };

  const keyOf = (row, column) => row.cells[column].dataset.sort;
  const sort = (column, down) => {
    const sign = down ? -1 : 1;
    const isText = table.tHead.rows[0].cells[column].dataset.kind === "text";
    const ordered = rows.map((row, index) => ({ row, index, key: keyOf(row, column) }));
    ordered.sort((a, b) => {
      const empty = (a.key === "") - (b.key === "");
      const order = isText ? a.key.localeCompare(b.key) : Number(a.key) - Number(b.key);
      return empty || sign * order || a.index - b.index;
    });
    body.append(...ordered.flatMap(({ row }) => details.has(row) ? [row, details.get(row)] : [row]));
  };
  for (const cell of table.tHead.rows[0].cells) {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...cell.childNodes);
    cell.append(button);
    button.addEventListener("click", () => {
      const first = cell.dataset.kind === "text" ? "ascending" : "descending";
      const other = first === "ascending" ? "descending" : "ascending";
      const order = cell.getAttribute("aria-sort") === first ? other : first;
      for (const each of table.tHead.rows[0].cells) each.removeAttribute("aria-sort");
      cell.setAttribute("aria-sort", order);
      sort(cell.cellIndex, order === "descending");
    });
  }

  // A row opens on request: it then shows its cells' tooltips, for those who can't hover.
  const titles = [...table.tHead.rows[0].cells].map((cell) => cell.textContent);
  const toggle = (row, button) => {
    const old = details.get(row);
    button.setAttribute("aria-expanded", String(!old));
    if (old) {
      old.remove();
      details.delete(row);
      return;
    }
    const list = document.createElement("dl");
    for (const cell of row.querySelectorAll("[data-told]")) {
      const term = document.createElement("dt"), told = document.createElement("dd");
      term.textContent = titles[cell.cellIndex];
      told.textContent = cell.dataset.told;
      list.append(term, told);
    }
    const who = document.createElement("dt"), named = document.createElement("dd");
    who.textContent = titles[0];
    named.textContent = row.cells[0].title;
    list.prepend(who, named);
    const below = document.createElement("tr"), cell = document.createElement("td");
    below.className = "below";
    cell.colSpan = row.cells.length;
    cell.append(list);
    below.append(cell);
    row.after(below);
    details.set(row, below);
  };
  for (const row of rows) {
    const button = document.createElement("button");
    button.type = "button";
    button.setAttribute("aria-expanded", "false");
    button.append(...row.cells[0].childNodes);
    row.cells[0].append(button);
    button.addEventListener("click", () => toggle(row, button));
  }

  for (const cell of body.querySelectorAll("td[data-told]")) cell.title = cell.dataset.told;

  // Arrow keys go from cell to cell, past hidden rows.
  const places = (row) => [...row.querySelectorAll(":scope > th > button, :scope > td > a")];
  const keys = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1], Home: [0, -99], End: [0, 99] };
  body.addEventListener("keydown", (event) => {
    const step = keys[event.key];
    const cell = event.target.closest("th, td");
    if (!step || !cell || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    let row = cell.parentElement;
    if (step[0]) {
      do row = step[0] > 0 ? row.nextElementSibling : row.previousElementSibling;
      while (row && (row.hidden || row.className === "below"));
      if (!row) return;
      const same = row.cells[cell.cellIndex].querySelector("a, button") || places(row)[0];
      same.focus();
    } else {
      const all = places(row);
      all[Math.max(0, Math.min(all.length - 1, all.indexOf(event.target) + step[1]))].focus();
    }
  });

  for (const control of [name, section, verdict]) control.addEventListener("input", filter);
  document.addEventListener("keydown", (event) => {
    const isTyping = event.target.matches("input, select, textarea");
    if (event.key === "/" && !isTyping) {
      event.preventDefault();
      name.focus();
    } else if (event.key === "Escape" && event.target === name) {
      name.value = "";
      filter();
    }
  });
  find("controls").hidden = false;
  filter();
})();
