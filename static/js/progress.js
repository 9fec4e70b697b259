/* The page of a release: elapsed times run on between two polls. Without it they stand still. */
(() => {
  "use strict";

  const anchors = new WeakMap();
  const lengths = [86400, 3600, 60, 1];

  /** Seconds as their two largest units, as the server writes them. */
  function duration(seconds, units) {
    const parts = [];
    let left = Math.max(0, Math.round(seconds));
    for (const [place, length] of lengths.entries()) {
      const amount = Math.floor(left / length);
      left %= length;
      if (amount || (parts.length && parts.length < 2)) parts.push(amount ? `${amount}\u00a0${units[place]}` : "");
      if (parts.length === 2) break;
    }
    return parts.filter(Boolean).join(" ") || `0\u00a0${units[3]}`;
  }

  /** Count on from what the server said, so that a wrong clock in the browser does not matter. */
  function tick() {
    const now = performance.now();
    for (const element of document.querySelectorAll("[data-elapsed]")) {
      const said = element.dataset.elapsed;
      let anchor = anchors.get(element);
      if (anchor?.said !== said) {
        anchor = { said, at: now };
        anchors.set(element, anchor);
      }
      const units = element.closest("[data-units]").dataset.units.split(",");
      element.textContent = duration(Number(said) + (now - anchor.at) / 1000, units);
    }
  }

  tick();
  setInterval(tick, 1000);
})();
