/* The wizard while it is filled in: live preview, address, focus. The page works without it. */
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
    if (stepOf(address) === stepOf(location.href) || !whole) {
      history.replaceState(null, "", address);
      return;
    }
    history.pushState(null, "", address);
    window.scrollTo(0, 0);
    document.getElementById("content").focus({ preventScroll: true });
  }

  document.addEventListener("input", (event) => {
    if (inWizard(event.target) && event.target.matches(TYPED)) raise("wizard-live", "typed");
  });
  document.addEventListener("change", (event) => {
    if (inWizard(event.target) && !event.target.matches(TYPED)) raise("wizard-refresh", "chosen");
  });
  document.addEventListener("htmx:after:swap", (event) => {
    keepAddress(event.detail?.ctx?.target?.id === "content");
  });
  window.addEventListener("popstate", () => location.reload());
})();
