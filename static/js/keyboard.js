/* Shortcuts and the finder. Every place that they lead to has a link or a form of its own. */
(() => {
  "use strict";

  const WAIT_MS = 1200;
  const finder = document.getElementById("finder");
  const shortcuts = document.getElementById("shortcuts");
  let going = 0;

  /** Whether keys belong to a field: then no shortcut may take them. */
  function typing(target) {
    return target.closest?.("input:not([type=checkbox], [type=radio]), textarea, select, [contenteditable]");
  }

  function openFinder(text = "") {
    if (finder.open) return;
    shortcuts.close();
    finder.showModal();
    const field = document.getElementById("finder-text");
    field.value = text;
    field.select();
    field.form.dispatchEvent(new CustomEvent("open"));
  }

  const options = () => [...finder.querySelectorAll("[role=option]:not([aria-disabled])")];

  function mark(option) {
    const field = document.getElementById("finder-text");
    for (const [place, one] of options().entries()) {
      one.id = `option-${place}`;
      one.setAttribute("aria-selected", String(one === option));
    }
    if (!option) return field.removeAttribute("aria-activedescendant");
    field.setAttribute("aria-activedescendant", option.id);
    option.scrollIntoView({ block: "nearest" });
  }

  function inFinder(event) {
    const listed = options();
    const now = listed.findIndex((one) => one.getAttribute("aria-selected") === "true");
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (event.key === "Escape") {
      // A search field would only empty itself.
      event.preventDefault();
      finder.close();
    } else if (step && listed.length) {
      event.preventDefault();
      mark(listed[(now + step + listed.length) % listed.length]);
    } else if (event.key === "Enter" && event.target.id === "finder-text" && listed[now]) {
      event.preventDefault();
      listed[now].click();
    }
  }

  /** The second key of `g d` and its like; the navigation says which there are. */
  function go(key) {
    going = 0;
    const entry = document.querySelector(`.nav [data-go="${CSS.escape(key)}"]`);
    entry?.click();
    return Boolean(entry);
  }

  function onKey(event) {
    if (finder.open) return inFinder(event);
    const opens = (event.ctrlKey || event.metaKey) && !event.altKey && event.key.toLowerCase() === "k";
    if (opens) {
      event.preventDefault();
      return openFinder();
    }
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || typing(event.target)) return;
    if (document.querySelector("dialog[open]")) return;
    if (going && performance.now() - going < WAIT_MS && go(event.key)) return event.preventDefault();
    going = event.key === "g" ? performance.now() : 0;
    if (event.key === "/") openFinder();
    else if (event.key === "?") shortcuts.showModal();
    else if (event.key === "f" && document.getElementById("table-search")) document.getElementById("table-search").focus();
    else return;
    event.preventDefault();
  }

  document.addEventListener("keydown", onKey);
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && typing(event.target) && !document.querySelector("dialog[open]")) event.target.blur();
  });

  /** The box in the bar is the finder's door; without scripts it is a form. */
  document.addEventListener("click", (event) => {
    const door = event.target.closest("[data-opens-finder]");
    if (!door || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    openFinder();
  });

  /** A click beside a dialog closes it. */
  for (const dialog of [finder, shortcuts]) {
    dialog.addEventListener("click", (event) => { if (event.target === dialog) dialog.close(); });
  }

  document.addEventListener("htmx:after:swap", () => { if (finder.open) mark(options()[0]); });
})();
