/* Tables by keyboard: j and k or the arrows walk, Enter opens, Space selects, Shift selects on the way. */
(() => {
  "use strict";

  let anchor = null;

  const rows = () => [...document.querySelectorAll("#table tr[data-row]")];
  const box = (row) => row.querySelector("input[name=row]");
  const boxes = () => rows().map(box).filter(Boolean);

  function typing(target) {
    return target.closest?.("input:not([type=checkbox], [type=radio]), textarea, select, [contenteditable], summary");
  }

  /** Say how many are selected, and offer the act only then. */
  function count() {
    const form = document.getElementById("bulk");
    if (!form) return;
    const picked = boxes().filter((one) => one.checked).length;
    const said = form.querySelector("[data-picked]");
    said.textContent = picked ? said.dataset.some.replace("{count}", picked) : said.dataset.none;
    form.classList.toggle("picked", picked > 0);
    form.querySelector("details").hidden = !picked;
    const all = document.querySelector("[data-pick-all]");
    if (all) {
      all.checked = picked > 0 && picked === boxes().length;
      all.indeterminate = picked > 0 && !all.checked;
    }
  }

  function pick(row, on) {
    const one = box(row);
    if (one) one.checked = on;
  }

  function walk(event, step) {
    const listed = rows();
    if (!listed.length) return;
    const now = listed.indexOf(event.target.closest?.("tr[data-row]") ?? null);
    const next = listed[now < 0 ? (step > 0 ? 0 : listed.length - 1) : now + step];
    event.preventDefault();
    if (!next) return;
    if (event.shiftKey) {
      if (now >= 0) pick(listed[now], true);
      pick(next, true);
      count();
    }
    anchor = next;
    next.focus();
  }

  function onKey(event) {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    if (typing(event.target) || document.querySelector("dialog[open]")) return;
    const row = event.target.closest?.("tr[data-row]");
    const letter = { j: 1, k: -1 }[event.key.toLowerCase()];
    const arrow = row && { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (letter || arrow) return walk(event, letter || arrow);
    if (row !== event.target || !row) return;
    if (event.key === "Enter") row.querySelector("a")?.click();
    else if (event.key === " ") pick(row, !box(row)?.checked);
    else if (event.key === "Escape") row.blur();
    else return;
    event.preventDefault();
    count();
  }

  /** Shift and a click select everything between two boxes. */
  function onClick(event) {
    const row = event.target.matches("input[name=row]") && event.target.closest("tr");
    if (!row) return;
    const listed = rows();
    if (event.shiftKey && anchor?.isConnected) {
      const [from, to] = [listed.indexOf(anchor), listed.indexOf(row)].sort((a, b) => a - b);
      for (const one of listed.slice(from, to + 1)) pick(one, event.target.checked);
    }
    anchor = row;
    count();
  }

  /** Change the density in place: what is selected and where the page stands stay. */
  async function onDensity(event) {
    const form = event.target;
    if (!form.matches("[data-density-form]")) return;
    event.preventDefault();
    const density = form.elements.density.value;
    const answer = await fetch(form.action, { method: "POST", body: new FormData(form), redirect: "manual" });
    if (!answer.ok && answer.type !== "opaqueredirect") return form.submit();
    const compact = density === "compact";
    if (compact) document.documentElement.dataset.density = density;
    else delete document.documentElement.dataset.density;
    form.elements.density.value = compact ? "comfortable" : "compact";
    const button = form.querySelector("button");
    button.textContent = compact ? button.dataset.comfortable : button.dataset.compact;
  }

  document.addEventListener("submit", (event) => onDensity(event).catch(() => event.target.submit()));
  document.addEventListener("keydown", onKey);
  document.addEventListener("click", onClick);
  document.addEventListener("change", (event) => {
    if (!event.target.matches("[data-pick-all]")) return;
    for (const one of boxes()) one.checked = event.target.checked;
    count();
  });
  document.addEventListener("htmx:after:swap", count);
  count();
})();
