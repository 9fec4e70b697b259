// Drag over a drawn chart: the stretch becomes the page's own range, so that it stands in the address.
(() => {
  "use strict";

  const LEAST_PIXELS = 6;
  const LEAST_S = 60;

  /** Seconds since 1970 under a place of the chart. */
  function at(frame, chart, x) {
    const box = chart.getBoundingClientRect();
    const share = Math.min(1, Math.max(0, (x - box.left) / box.width));
    const [from, to] = [Number(frame.dataset.from), Number(frame.dataset.to)];
    return Math.round(from + share * (to - from));
  }

  /** Show what is being chosen. */
  function stretch(chart, from, to) {
    const box = chart.getBoundingClientRect();
    const mark = chart.querySelector(".chosen")
      || chart.appendChild(document.createElementNS("http://www.w3.org/2000/svg", "rect"));
    mark.setAttribute("class", "chosen");
    mark.setAttribute("x", Math.max(0, Math.min(from, to) - box.left));
    mark.setAttribute("width", Math.abs(to - from));
    mark.setAttribute("y", 0);
    mark.setAttribute("height", 86);
  }

  document.addEventListener("DOMContentLoaded", () => {
    for (const frame of document.querySelectorAll("[data-zoom][data-from]")) {
      for (const chart of frame.querySelectorAll(":scope > svg")) {
        let begun = null;
        chart.addEventListener("pointerdown", (event) => {
          if (event.button !== 0 || event.pointerType === "touch") return;
          begun = event.clientX;
          chart.setPointerCapture(event.pointerId);
          event.preventDefault();
        });
        chart.addEventListener("pointermove", (event) => {
          if (begun !== null) stretch(chart, begun, event.clientX);
        });
        chart.addEventListener("pointercancel", () => {
          begun = null;
          chart.querySelector(".chosen")?.remove();
        });
        chart.addEventListener("pointerup", (event) => {
          if (begun === null) return;
          const wide = Math.abs(event.clientX - begun) >= LEAST_PIXELS;
          const [from, to] = [begun, event.clientX].map((x) => at(frame, chart, x)).sort((a, b) => a - b);
          begun = null;
          chart.querySelector(".chosen")?.remove();
          if (wide && to - from >= LEAST_S) location.assign(`${frame.dataset.zoom}&from=${from}&to=${to}`);
        });
      }
    }
  });
})();
