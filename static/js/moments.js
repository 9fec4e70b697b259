/* Keeps "2 min ago" true while a page is open; the words come from the page's own language. */
(() => {
  "use strict";

  const EVERY_MS = 5000;

  /** The distance as the server would write it now; null where it writes a date instead. */
  function relative(then, words) {
    const seconds = (Date.now() - then) / 1000;
    const distance = Math.round(Math.abs(seconds));
    if (distance >= words.days * 86400) return null;
    if (distance === 0) return words.now;
    const [length, unit] = words.steps.find(([step]) => distance >= step);
    const amount = `${Math.floor(distance / length)}${words.space}${unit}`;
    return (seconds >= 0 ? words.ago : words.in).replace("%(distance)s", amount);
  }

  function wordsOf(holder) {
    const { now, ago, in: later, steps, space, days } = holder.dataset;
    const pairs = steps.split(" ").map((pair) => pair.split(":"));
    return { now, ago, in: later, space, days: Number(days), steps: pairs.map(([length, unit]) => [Number(length), unit]) };
  }

  document.addEventListener("DOMContentLoaded", () => {
    const holder = document.getElementById("moments");
    if (!holder) return;
    const words = wordsOf(holder);
    setInterval(() => {
      if (document.hidden) return;
      for (const element of document.querySelectorAll("time[data-relative]")) {
        const text = relative(Date.parse(element.dateTime), words);
        if (text !== null && element.textContent !== text) element.textContent = text;
      }
    }, EVERY_MS);
  });
})();
