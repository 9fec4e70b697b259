// Point at a drawn chart: all charts show that moment, with the figures of the table beside their names.
// With the keyboard: the arrow keys move that moment by a step. Drag over a chart: the stretch becomes the page's own range, so that it stands in the address.
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

  /** The row of the table whose step a moment lies in. */
  function rowAt(seconds) {
    const steps = document.querySelector("tbody[data-step]");
    return Array.from(steps?.rows ?? []).find((row) => {
      const from = Number(row.dataset.at);
      return from <= seconds && seconds < from + Number(steps.dataset.step);
    });
  }

  /** Mark a moment in every chart, and say what the table has of it. */
  function point(frame, seconds) {
    frame.dataset.here = seconds;
    const [from, to] = [Number(frame.dataset.from), Number(frame.dataset.to)];
    const place = `${100 * (seconds - from) / (to - from)}%`;
    for (const one of frame.querySelectorAll(":scope > svg")) {
      const line = one.querySelector(":scope > .here")
        || one.appendChild(document.createElementNS("http://www.w3.org/2000/svg", "line"));
      line.setAttribute("class", "here");
      for (const end of ["x1", "x2"]) line.setAttribute(end, place);
      line.setAttribute("y1", 0);
      line.setAttribute("y2", 86);
    }
    const row = rowAt(seconds);
    for (const name of frame.querySelectorAll("[data-under]")) {
      name.dataset.top ??= name.textContent;
      const cells = row ? Array.from(row.querySelectorAll(`[data-of="${name.dataset.under}"]`)) : [];
      name.textContent = row ? `${row.cells[0].textContent}: ${cells.map((cell) => cell.textContent).join(" / ")}` : name.dataset.top;
    }
  }

  /** As it was before anybody pointed. */
  function leave(frame) {
    delete frame.dataset.here;
    for (const line of frame.querySelectorAll(".here")) line.remove();
    for (const name of frame.querySelectorAll("[data-top]")) name.textContent = name.dataset.top;
  }

  /** Move the moment by a step, by ten, or to an end of the range. */
  function onKey(frame, event) {
    if (event.target !== frame || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Escape") return leave(frame);
    const step = Number(document.querySelector("tbody[data-step]")?.dataset.step ?? LEAST_S);
    const [first, last] = [Number(frame.dataset.from) + step / 2, Number(frame.dataset.to) - step / 2];
    const here = Number(frame.dataset.here ?? last);
    const wanted = { ArrowLeft: here - step, ArrowRight: here + step, PageUp: here - 10 * step, PageDown: here + 10 * step, Home: first, End: last }[event.key];
    if (wanted === undefined) return;
    event.preventDefault();
    point(frame, Math.min(last, Math.max(first, wanted)));
  }

  document.addEventListener("DOMContentLoaded", () => {
    for (const frame of document.querySelectorAll("[data-zoom][data-from]")) {
      frame.tabIndex = 0;
      frame.addEventListener("keydown", (event) => onKey(frame, event));
      frame.addEventListener("blur", () => leave(frame));
      frame.addEventListener("pointerleave", () => leave(frame));
      for (const chart of frame.querySelectorAll(":scope > svg")) {
        let begun = null;
        chart.addEventListener("pointermove", (event) => point(frame, at(frame, chart, event.clientX)));
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
