/* Draws the acceptance history with uPlot from the numbers of the table; a gap is a gap, never zero. */
(() => {
  "use strict";

  const HEIGHTS = { mean_acceptance_length: 220, acceptance_rate: 130 };
  const plots = [];

  /** The computed colour of a custom property, which may be light-dark(). */
  function colour(name) {
    const probe = document.createElement("i");
    probe.style.color = `var(${name})`;
    document.body.append(probe);
    const value = getComputedStyle(probe).color;
    probe.remove();
    return value;
  }

  function palette() {
    const names = ["accent", "ink-2", "ink-3", "hair", "control", "attention", "attention-wash", "idle-wash"];
    return Object.fromEntries(names.map((name) => [name, colour(`--${name}`)]));
  }

  /** Stretches without traffic as [from, to] in seconds. */
  function quietStretches(buckets) {
    const stretches = [];
    for (const bucket of buckets) {
      if (bucket.drafted !== null) continue;
      const last = stretches.at(-1);
      if (last && last[1] === bucket.from) last[1] = bucket.to;
      else stretches.push([bucket.from, bucket.to]);
    }
    return stretches;
  }

  function shade(plot, stretches, fill) {
    const { ctx, bbox } = plot;
    ctx.save();
    ctx.beginPath();
    ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
    ctx.clip();
    ctx.fillStyle = fill;
    for (const [from, to] of stretches) {
      const left = plot.valToPos(from, "x", true);
      const right = plot.valToPos(to, "x", true);
      ctx.fillRect(left, bbox.top, Math.max(right - left, 2 * devicePixelRatio), bbox.height);
    }
    ctx.restore();
  }

  function hatched(plot, ink) {
    const tile = document.createElement("canvas");
    tile.width = tile.height = 8;
    const ctx = tile.getContext("2d");
    ctx.strokeStyle = ink;
    ctx.beginPath();
    ctx.moveTo(-2, 10); ctx.lineTo(10, -2);
    ctx.stroke();
    return plot.ctx.createPattern(tile, "repeat");
  }

  function mark(plot, markers, words, colours, named) {
    const { ctx, bbox } = plot;
    ctx.save();
    ctx.strokeStyle = ctx.fillStyle = colours["ink-2"];
    ctx.setLineDash([3 * devicePixelRatio, 3 * devicePixelRatio]);
    ctx.font = `${11 * devicePixelRatio}px ${getComputedStyle(document.body).fontFamily}`;
    for (const marker of markers) {
      const x = Math.round(plot.valToPos(marker.at, "x", true));
      ctx.beginPath();
      ctx.moveTo(x, bbox.top);
      ctx.lineTo(x, bbox.top + bbox.height);
      ctx.stroke();
      const left = x > bbox.left + bbox.width * 0.8;
      ctx.textAlign = left ? "right" : "left";
      const gap = (left ? -4 : 4) * devicePixelRatio;
      if (named) ctx.fillText(`${words.release} ${marker.release} (r${marker.revision})`, x + gap, bbox.top - 4 * devicePixelRatio);
    }
    ctx.restore();
  }

  /** Points that no line reaches, because both neighbours are gaps. */
  function lonely(plot, series) {
    const values = plot.data[series];
    return values.flatMap((value, place) => {
      const alone = value !== null && (values[place - 1] ?? null) === null && (values[place + 1] ?? null) === null;
      return alone ? [place] : [];
    });
  }

  function options(figure, name, history, colours) {
    const words = figure.dataset;
    const isRate = name === "acceptance_rate";
    const axis = { stroke: colours["ink-3"], grid: { stroke: colours.hair, width: 1 }, ticks: { stroke: colours.hair, width: 1 } };
    return {
      width: figure.clientWidth,
      height: HEIGHTS[name],
      padding: [18, 22, 0, 0],
      legend: { show: false },
      cursor: { sync: { key: figure.dataset.chart }, drag: { x: false, y: false } },
      tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1000), history.time_zone),
      scales: {
        x: { time: true, range: [history.from, history.to] },
        y: { range: (_plot, _low, high) => (isRate ? [0, 1] : [1, Math.max(2, Math.ceil(high ?? 2))]) },
      },
      axes: [
        { ...axis, size: 30, values: [[86400, "{D}.{M}."], [3600, "{HH}:{mm}"], [60, "{HH}:{mm}"]].map(([step, text]) => [step, text, null, null, null, null, null, null, 1]) },
        { ...axis, size: 56, values: (_plot, ticks) => ticks.map((tick) => (isRate ? `${Math.round(tick * 100)} %` : tick.toFixed(1))), space: 30 },
      ],
      series: [
        {},
        { stroke: colours.accent, width: 1.6, spanGaps: false, points: { show: true, size: 5, fill: colours.accent, filter: lonely } },
      ],
      hooks: {
        drawClear: [(plot) => {
          shade(plot, quietStretches(history.buckets), hatched(plot, colours.control));
          shade(plot, history.log_gaps.map((gap) => [gap.from, gap.to]), colours["attention-wash"]);
        }],
        draw: [(plot) => mark(plot, history.markers, words, colours, !isRate)],
        setCursor: [(plot) => say(figure, plot, history)],
      },
    };
  }

  /** Write the figures under the cursor beside the chart's name. */
  function say(figure, plot, history) {
    const readout = figure.querySelector("[data-readout]");
    const bucket = history.buckets[plot.cursor.idx ?? -1];
    if (!bucket) {
      readout.textContent = "";
      return;
    }
    const zone = { timeZone: history.time_zone, month: "short", day: "numeric", hour: "2-digit", minute: "2-digit" };
    const time = new Intl.DateTimeFormat(document.documentElement.lang, zone).format(new Date(bucket.from * 1000));
    const words = figure.dataset;
    const length = bucket.mean_acceptance_length;
    const parts = bucket.drafted === null ? [words.quiet] : [
      ...(length === null ? [] : [`${length.toFixed(2)} ${words.length}`]),
      `${Math.round(bucket.acceptance_rate * 100)} % ${words.rate}`,
    ];
    readout.textContent = `${time}: ${parts.join(", ")}`;
  }

  function draw(figure, history) {
    const colours = palette();
    const times = history.buckets.map((bucket) => (bucket.from + bucket.to) / 2);
    for (const place of figure.querySelectorAll("[data-plot]")) {
      const name = place.dataset.plot;
      const values = history.buckets.map((bucket) => bucket[name]);
      place.replaceChildren();
      plots.push(new uPlot(options(figure, name, history, colours), [times, values], place));
    }
  }

  function redraw(figure, history) {
    for (const plot of plots.splice(0)) plot.destroy();
    draw(figure, history);
  }

  async function start(figure) {
    const answer = await fetch(figure.dataset.chart, { headers: { Accept: "application/json" } });
    if (!answer.ok) throw new Error(String(answer.status));
    const history = await answer.json();
    draw(figure, history);
    new ResizeObserver(() => {
      for (const plot of plots) plot.setSize({ width: figure.clientWidth, height: plot.height });
    }).observe(figure);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => redraw(figure, history));
    new MutationObserver(() => redraw(figure, history)).observe(document.documentElement, { attributeFilter: ["data-theme"] });
  }

  document.addEventListener("DOMContentLoaded", () => {
    for (const figure of document.querySelectorAll("[data-chart]")) {
      start(figure).catch(() => {
        const said = document.createElement("p");
        said.className = "quiet";
        said.textContent = figure.dataset.failed;
        figure.prepend(said);
      });
    }
  });
})();
