/* Draws the acceptance history with uPlot from the numbers of the table; a gap is a gap, never zero: quiet is plain, unseen is hatched, not running is empty. */
(() => {
  "use strict";

  const HEIGHTS = { mean_acceptance_length: 220, acceptance_rate: 130, per_position: 130, throughput: 110 };
  const MOST_POSITIONS = 8;
  const LEAST_ZOOM_S = 120;
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
    const names = ["accent", "ink-2", "ink-3", "hair", "control", "attention", "attention-wash", "idle-wash", "accent-soft"];
    return Object.fromEntries(names.map((name) => [name, colour(`--${name}`)]));
  }

  /** Stretches of steps in a state, as [from, to] in seconds. */
  function stretchesIn(buckets, state) {
    const stretches = [];
    for (const bucket of buckets) {
      if (bucket.state !== state) continue;
      const last = stretches.at(-1);
      if (last && last[1] === bucket.from) last[1] = bucket.to;
      else stretches.push([bucket.from, bucket.to]);
    }
    return stretches;
  }

  /** The band in which most hours of the week before lay. */
  function band(plot, limits, fill) {
    if (!limits) return;
    const { ctx, bbox } = plot;
    const [low, high] = limits.map((value) => plot.valToPos(value, "y", true));
    ctx.save();
    ctx.fillStyle = fill;
    ctx.globalAlpha = 0.45;
    ctx.fillRect(bbox.left, high, bbox.width, Math.max(low - high, 2 * devicePixelRatio));
    ctx.restore();
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
      ctx.strokeStyle = ctx.fillStyle = colours[marker.kind === "alarm" ? "attention" : "ink-2"];
      ctx.beginPath();
      ctx.moveTo(x, bbox.top);
      ctx.lineTo(x, bbox.top + bbox.height);
      ctx.stroke();
      const left = x > bbox.left + bbox.width * 0.8;
      ctx.textAlign = left ? "right" : "left";
      const gap = (left ? -4 : 4) * devicePixelRatio;
      const word = marker.kind === "setting" ? words.setting : words.release;
      // Alarms stand close together; the lines below the charts name them.
      if (named && marker.kind !== "alarm") ctx.fillText(`${word} ${marker.release} (r${marker.revision})`, x + gap, bbox.top - 4 * devicePixelRatio);
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
    const isRate = name === "acceptance_rate" || name === "per_position";
    const isLength = name === "mean_acceptance_length";
    const line = { stroke: colours.accent, width: 1.6, spanGaps: false, points: { show: true, size: 5, fill: colours.accent, filter: lonely } };
    const thin = { ...line, stroke: colours["ink-3"], width: 1, points: { ...line.points, fill: colours["ink-3"] } };
    const other = isLength || isRate ? { ...thin, width: 1.4, dash: [5, 4] } : thin;
    const axis = { stroke: colours["ink-3"], grid: { stroke: colours.hair, width: 1 }, ticks: { stroke: colours.hair, width: 1 } };
    return {
      width: figure.clientWidth,
      height: HEIGHTS[name],
      padding: [18, 22, 0, 0],
      legend: { show: false },
      cursor: { sync: { key: figure.dataset.chart, setSeries: false }, drag: { x: true, y: false, setScale: false, dist: 6 } },
      tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1000), history.time_zone),
      scales: {
        x: { time: true, range: [history.from, history.to] },
        y: {
          range: (_plot, _low, high) => {
            if (isRate) return [0, 1];
            return isLength ? [1, Math.max(2, Math.ceil(high ?? 2))] : [0, Math.max(1, (high ?? 1) * 1.1)];
          },
        },
      },
      axes: [
        { ...axis, size: 30, values: [[86400, "{D}.{M}."], [3600, "{HH}:{mm}"], [60, "{HH}:{mm}"]].map(([step, text]) => [step, text, null, null, null, null, null, null, 1]) },
        { ...axis, size: 56, values: (_plot, ticks) => ticks.map((tick) => (isRate ? `${Math.round(tick * 100)} %` : isLength ? tick.toFixed(1) : tick.toLocaleString(document.documentElement.lang))), space: 30 },
      ],
      series: [{}, ...(name === "per_position" ? fainter(line, positionsOf(history)) : [line, other])],
      hooks: {
        drawClear: [(plot) => {
          shade(plot, stretchesIn(history.buckets, "no_traffic"), colours["idle-wash"]);
          shade(plot, stretchesIn(history.buckets, "not_seen"), hatched(plot, colours.control));
          band(plot, history.baseline[name], colours["accent-soft"]);
          shade(plot, history.log_gaps.map((gap) => [gap.from, gap.to]), colours["attention-wash"]);
        }],
        draw: [(plot) => mark(plot, [...history.markers, ...history.alarms], words, colours, isLength)],
        setCursor: [(plot) => say(figure, plot, history)],
        setSelect: [(plot) => zoom(figure, plot)],
      },
    };
  }

  /** How many draft positions are drawn. */
  const positionsOf = (history) => Math.min(MOST_POSITIONS, Math.max(0, ...history.buckets.map((bucket) => bucket.per_position?.length ?? 0)));

  /** A line for each position, each fainter than the one before it. */
  const fainter = (line, count) => Array.from({ length: count }, (_one, place) => ({ ...line, alpha: 1 - 0.65 * (place / Math.max(1, count - 1)) }));

  /** Open the selected stretch as the page's own range, so that it stands in the address. */
  function zoom(figure, plot) {
    const { left, width } = plot.select;
    if (width < 6) return;
    const [from, to] = [left, left + width].map((x) => Math.round(plot.posToVal(x, "x")));
    plot.setSelect({ left: 0, width: 0, top: 0, height: 0 }, false);
    if (to - from >= LEAST_ZOOM_S) location.assign(`${figure.dataset.zoom}&from=${from}&to=${to}`);
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
    const other = history.against?.buckets[plot.cursor.idx]?.mean_acceptance_length ?? null;
    const nothing = { no_traffic: words.quiet, not_seen: words.unseen }[bucket.state] ?? words.absent;
    const parts = bucket.drafted === null ? [nothing] : [
      ...(length === null ? [] : [`${length.toFixed(2)} ${words.length}`]),
      `${Math.round(bucket.acceptance_rate * 100)} % ${words.rate}`,
      `${Math.round(bucket.accepted / history.step_s)} ${words.second}`,
    ];
    if (bucket.per_position?.length > 1) parts.push(`${words.places} ${bucket.per_position.map((rate) => Math.round(rate * 100)).join(" / ")} %`);
    if (other !== null) parts.push(`${words.against} ${other.toFixed(2)}`);
    readout.textContent = `${time}: ${parts.join(", ")}`;
  }

  /** The line and the one beside it: the compared range, or what was drafted; or one for each position. */
  function seriesOf(history, name) {
    const perSecond = (value) => (value === null ? null : value / history.step_s);
    if (name === "throughput") {
      return ["accepted", "drafted"].map((key) => history.buckets.map((bucket) => perSecond(bucket[key])));
    }
    if (name === "per_position") {
      return Array.from({ length: positionsOf(history) }, (_one, place) => history.buckets.map((bucket) => bucket.per_position?.[place] ?? null));
    }
    const other = history.against?.buckets ?? [];
    return [history.buckets.map((bucket) => bucket[name]), history.buckets.map((_bucket, place) => other[place]?.[name] ?? null)];
  }

  function draw(figure, history) {
    const colours = palette();
    const times = history.buckets.map((bucket) => (bucket.from + bucket.to) / 2);
    for (const place of figure.querySelectorAll("[data-plot]")) {
      const name = place.dataset.plot;
      place.replaceChildren();
      plots.push(new uPlot(options(figure, name, history, colours), [times, ...seriesOf(history, name)], place));
    }
  }

  /** Move the crosshair of all charts by a step, by ten, or to an end; Escape takes it away. */
  function onKey(figure, event) {
    if (event.target !== figure || event.ctrlKey || event.metaKey || event.altKey || !plots.length) return;
    const times = plots[0].data[0];
    const last = times.length - 1;
    const here = plots[0].cursor.idx ?? last;
    const wanted = { ArrowLeft: here - 1, ArrowRight: here + 1, PageUp: here - 10, PageDown: here + 10, Home: 0, End: last, Escape: -1 }[event.key];
    if (wanted === undefined) return;
    event.preventDefault();
    const place = Math.min(last, Math.max(0, wanted));
    for (const plot of plots) plot.setCursor(event.key === "Escape" ? { left: -10, top: -10 } : { left: plot.valToPos(times[place], "x"), top: 1 });
  }

  function redraw(figure, history) {
    for (const plot of plots.splice(0)) plot.destroy();
    draw(figure, history);
  }

  /** What the figures around the chart are of; it changes when they are renewed. */
  const stampOf = (figure) => figure.closest("[data-stamp]")?.dataset.stamp;

  async function read(figure) {
    const answer = await fetch(figure.dataset.chart, { headers: { Accept: "application/json" } });
    if (!answer.ok) throw new Error(String(answer.status));
    return answer.json();
  }

  async function start(figure) {
    let drawn = stampOf(figure);
    let history = await read(figure);
    draw(figure, history);
    new ResizeObserver(() => {
      for (const plot of plots) plot.setSize({ width: figure.clientWidth, height: plot.height });
    }).observe(figure);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => redraw(figure, history));
    new MutationObserver(() => redraw(figure, history)).observe(document.documentElement, { attributeFilter: ["data-theme"] });

    figure.tabIndex = 0;
    figure.addEventListener("keydown", (event) => onKey(figure, event));

    /** Draw what is newer, but not under a pointer or keys that somebody reads or drags with. */
    async function renew() {
      const stamp = stampOf(figure);
      if (stamp === drawn || figure.matches(":hover, :focus")) return;
      drawn = stamp;
      const newer = await read(figure);
      if (figure.matches(":hover, :focus")) drawn = "";
      else redraw(figure, history = newer);
    }
    // What could not be read now is asked for again with the next answer.
    const renewed = () => renew().catch(() => { drawn = ""; });
    document.addEventListener("htmx:after:swap", renewed);
    figure.addEventListener("pointerleave", renewed);
    figure.addEventListener("blur", renewed);
  }

  /** The page is painted before a chart is read and drawn, which takes longer. */
  const painted = () => new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));

  document.addEventListener("DOMContentLoaded", async () => {
    await painted();
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
