/* Small behaviours of the panel. Every page works without them. */
(() => {
  "use strict";

  /** Show what only works with scripts. */
  function reveal(root) {
    for (const element of root.querySelectorAll("[data-copy], [data-copy-from], [data-js]")) {
      element.hidden = false;
    }
  }

  /** Move the focus to what a refused form says, once. */
  function focusSummary(root) {
    root.querySelector("[data-focus]")?.focus();
  }

  function toast(text) {
    const list = document.getElementById("toasts");
    const shown = [...list.querySelectorAll("p")].some((line) => line.textContent === text);
    if (!text || shown) return;
    const item = document.getElementById("toast").content.cloneNode(true);
    item.querySelector("p").textContent = text;
    list.append(item);
  }

  function clearToast(text) {
    for (const line of document.querySelectorAll("#toasts p")) {
      if (line.textContent === text) line.closest(".toast").remove();
    }
  }

  function toastForStatus(status) {
    const texts = document.getElementById("toasts").dataset;
    if (status === 401 || status === 403) return texts.forbidden;
    if (status === 404) return texts.missing;
    return status >= 500 ? texts.failed : "";
  }

  /** Copy, also where the page is not served over HTTPS and the clipboard API is missing. */
  async function copy(text) {
    if (navigator.clipboard) return navigator.clipboard.writeText(text);
    const area = document.createElement("textarea");
    area.value = text;
    document.body.append(area);
    area.select();
    const done = document.execCommand("copy");
    area.remove();
    if (!done) throw new Error("copy refused");
  }

  async function onCopy(button) {
    const source = button.dataset.copyFrom && document.getElementById(button.dataset.copyFrom);
    await copy(source ? source.textContent : button.dataset.copy);
    const label = button.firstChild;
    const before = label.textContent;
    label.textContent = button.dataset.done;
    setTimeout(() => { label.textContent = before; }, 1600);
  }

  /** Change the theme in place: the page keeps what was typed into it. */
  async function onTheme(event) {
    event.preventDefault();
    const form = event.target;
    const theme = new FormData(form).get("theme");
    const answer = await fetch(form.action, { method: "POST", body: new FormData(form), redirect: "manual" });
    if (!answer.ok && answer.type !== "opaqueredirect") return toast(toastForStatus(answer.status));
    if (theme === "system") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = theme;
    for (const other of document.querySelectorAll("[data-theme-form]")) turnThemeForm(other, theme);
  }

  function turnThemeForm(form, theme) {
    const names = JSON.parse(form.dataset.themeForm);
    const order = Object.keys(names);
    const next = order[(order.indexOf(theme) + 1) % order.length];
    form.elements.theme.value = next;
    form.querySelector("[data-theme-now]").textContent = names[theme];
    form.querySelector("[data-theme-next]").textContent = names[next];
  }

  document.addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (!button) return;
    if (button.matches("[data-copy], [data-copy-from]")) onCopy(button).catch(() => {});
    if (button.matches("[data-dismiss]")) button.closest(".toast").remove();
    if (button.dataset.opens) document.getElementById(button.dataset.opens)?.showModal();
    if (button.matches("[data-closes]")) button.closest("dialog")?.close();
  });

  const TYPED = "draftboard-typed";
  const KEPT = "main form[method=post] :is(input, select, textarea)[name]:not([type=hidden], [type=password], [type=file])";

  /** Another language loads the page anew: at the address as it is now, with what was typed into it. */
  function keepTyped(form) {
    form.elements.next.value = location.pathname + location.search;
    const typed = [...document.querySelectorAll(KEPT)].map((field) => [
      field.form.getAttribute("action"), field.name, field.value, Boolean(field.checked),
    ]);
    sessionStorage.setItem(TYPED, JSON.stringify({ path: location.pathname, typed }));
  }

  function bringTyped() {
    const { path, typed } = JSON.parse(sessionStorage.getItem(TYPED) ?? "{}");
    sessionStorage.removeItem(TYPED);
    if (path !== location.pathname) return;
    for (const field of document.querySelectorAll(KEPT)) {
      const choice = field.matches("[type=checkbox], [type=radio]");
      const was = typed.find(([action, name, value]) =>
        action === field.form.getAttribute("action") && name === field.name && (!choice || value === field.value));
      if (!was) continue;
      if (choice) field.checked = was[3];
      else field.value = was[2];
    }
  }

  document.addEventListener("submit", (event) => {
    const form = event.target;
    if (form.matches(".bar form:has([name=language])")) keepTyped(form);
    if (form.matches("[data-theme-form]")) onTheme(event).catch(() => form.submit());
    else if (form.matches("[data-once]")) {
      for (const button of form.querySelectorAll("button")) button.setAttribute("aria-disabled", "true");
      if (form.dataset.sent) event.preventDefault();
      form.dataset.sent = "yes";
    }
  });

  /** Filters stand in the address, so that reload, back and sharing keep them. */
  document.addEventListener("input", (event) => {
    const form = event.target.closest?.("form[data-address]");
    if (!form) return;
    const filled = [...new FormData(form)].filter(([, value]) => value !== "");
    const query = new URLSearchParams(filled).toString();
    history.replaceState(history.state, "", query ? `?${query}` : location.pathname);
  });

  /** Regions that update themselves: while they cannot, the page says how old it is, and when that ends. */
  let seenAt = new Date();
  let goodbye = 0;

  const source = (event) => event.detail.ctx?.sourceElement ?? event.target;
  const trigger = (element) => element.getAttribute?.("hx-trigger") ?? "";
  const updatesItself = (element) => trigger(element).startsWith("every");
  // A log says beside its lines that it cannot be read.
  const speaksForItself = (element) => trigger(element).startsWith("log:");

  function say(kind) {
    const line = document.getElementById("connection");
    if (!line) return;
    clearTimeout(goodbye);
    const clock = { timeZone: document.body.dataset.zone, hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23" };
    const time = new Intl.DateTimeFormat(document.documentElement.lang, clock).format(seenAt);
    line.textContent = line.dataset[kind].replace("{time}", time);
    line.classList.toggle("lost", kind === "lost");
    line.hidden = false;
    if (kind === "back") goodbye = setTimeout(() => { line.hidden = true; }, 4000);
  }

  function lost(element) {
    element.dataset.stale = "";
    if (!document.querySelector("#connection.lost:not([hidden])")) say("lost");
  }

  function answered(element) {
    delete element.dataset.stale;
    seenAt = new Date();
    // One region that answers does not make another one current that still fails.
    if (document.querySelector("[data-stale]")) return;
    if (document.querySelector("#connection.lost:not([hidden])")) say("back");
  }

  // Nobody looks at a hidden tab; it asks at once when somebody does again.
  document.addEventListener("every", (event) => { if (document.hidden) event.stopPropagation(); }, true);
  document.addEventListener("visibilitychange", () => {
    if (document.hidden) return;
    for (const region of document.querySelectorAll('[hx-trigger^="every"]')) region.dispatchEvent(new Event("every"));
  });

  document.addEventListener("htmx:response:error", (event) => {
    const status = event.detail.ctx?.response?.status ?? 500;
    if (updatesItself(source(event)) && status >= 500) lost(source(event));
    else toast(toastForStatus(status));
  });
  document.addEventListener("htmx:error", (event) => {
    if (updatesItself(source(event))) lost(source(event));
    else if (!speaksForItself(source(event))) toast(document.getElementById("toasts").dataset.offline);
  });
  document.addEventListener("htmx:after:request", (event) => {
    const status = event.detail.ctx?.response?.status ?? 500;
    if (status >= 500) return;
    clearToast(document.getElementById("toasts").dataset.offline);
    if (updatesItself(source(event))) answered(source(event));
  });
  document.addEventListener("htmx:after:swap", (event) => {
    reveal(document);
    if (event.detail.ctx?.response?.status >= 400) focusSummary(document.body);
  });
  window.addEventListener("offline", () => {
    // What updates itself says so by its age, which is more than a toast could tell.
    const regions = document.querySelectorAll('[hx-trigger^="every"]');
    regions.forEach(lost);
    if (!regions.length && !document.querySelector('[hx-trigger^="log:"]')) toast(document.getElementById("toasts").dataset.offline);
  });
  window.addEventListener("online", () => clearToast(document.getElementById("toasts").dataset.offline));

  /** A sheet under its button closes by Escape, which returns the focus, and when somebody leaves it. */
  document.addEventListener("keydown", (event) => {
    const sheet = event.key === "Escape" && event.target.closest?.("details.confirm[open]");
    if (!sheet) return;
    sheet.open = false;
    sheet.querySelector("summary").focus();
  });
  document.addEventListener("focusout", (event) => {
    const sheet = event.target.closest?.("details.confirm[open]");
    if (sheet && event.relatedTarget && !sheet.contains(event.relatedTarget)) sheet.open = false;
  });
  document.addEventListener("pointerdown", (event) => {
    for (const sheet of document.querySelectorAll("details.confirm[open]")) {
      if (!sheet.contains(event.target)) sheet.open = false;
    }
  });

  document.addEventListener("DOMContentLoaded", () => {
    bringTyped();
    reveal(document);
    focusSummary(document.body);
  });
})();
