/* The wizard while it is filled in: live preview, address, focus, and what is kept in the account. The page works without it. */
(() => {
  "use strict";
  const TYPED = "textarea, input:not([type=radio], [type=checkbox], [type=hidden])";
  const shown = () => document.getElementById("wizard-preview")?.dataset.address;
  const stepOf = (address) => new URL(address, location.href).searchParams.get("step");

  function raise(id, name) {
    document.getElementById(id)?.dispatchEvent(new Event(name));
  }

  function inWizard(element) {
    return element.form?.id === "wizard-form";
  }

  /** The address always tells the state: a new step is a new entry of the history. */
  function keepAddress(whole) {
    const address = shown();
    if (!address) return;
    const here = stepOf(location.href);
    if (stepOf(address) === here || !whole) {
      // A part that comes late, when the next step stands there already, must not take this step's entry.
      if (!here || stepOf(address) === here) history.replaceState(null, "", address);
      return;
    }
    history.pushState(null, "", address);
    window.scrollTo(0, 0);
    document.getElementById("content").focus({ preventScroll: true });
  }

  /** Keep what was chosen in the account, once the choosing pauses or the page is left. */
  let waiting = 0;
  function keepSoon() {
    clearTimeout(waiting);
    waiting = setTimeout(keep, 1200);
  }

  async function keep() {
    const form = document.getElementById("wizard-keep");
    waiting = clearTimeout(waiting);
    if (!form || !new URL(shown(), location.href).searchParams.get("model")) return;
    const body = new FormData(form);
    body.set("query", new URL(shown(), location.href).search.slice(1));
    const answer = await fetch(form.action, { method: "POST", body, keepalive: true, headers: { Accept: "application/json" } }).catch(() => null);
    const said = document.getElementById("wizard-kept");
    if (said && answer) said.textContent = answer.ok ? form.dataset.kept : answer.status === 409 ? await answer.text() : "";
  }

  document.addEventListener("input", (event) => {
    if (inWizard(event.target) && event.target.matches(TYPED)) raise("wizard-live", "typed");
  });
  document.addEventListener("change", (event) => {
    if (inWizard(event.target) && !event.target.matches(TYPED)) raise("wizard-refresh", "chosen");
  });
  document.addEventListener("htmx:after:swap", (event) => {
    keepAddress(event.detail?.ctx?.target?.id === "content");
    if (["content", "wizard", "wizard-preview"].includes(event.detail?.ctx?.target?.id)) keepSoon();
  });
  window.addEventListener("pagehide", () => { if (waiting) keep(); });
  window.addEventListener("popstate", () => location.reload());
})();
