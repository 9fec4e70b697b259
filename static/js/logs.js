/* Logs that follow: polls while somebody looks on, stands still when they scroll. Without it the page is read by reloading. */
(() => {
  "use strict";

  const EVERY_MS = 2000;
  const FIRST_MS = 400;
  const SLOWEST_MS = 15000;
  const KEEP_MS = 10000;
  const SLOW_MS = 10000;
  const NEAR_END_PX = 32;
  const MOST_LINES = 1000;

  const panes = [];
  let following = true;
  let keptAt = -Infinity;

  const raise = (element, name) => element.dispatchEvent(new Event(name));
  const allowed = () => following && document.visibilityState === "visible";

  /** One pane: its scrolling region, its list, and how its polling goes. */
  class Pane {
    constructor(root) {
      this.root = root;
      this.words = root.dataset;
      this.scroller = root.querySelector("[data-log-scroll]");
      this.list = this.scroller.querySelector("ol");
      this.form = root.querySelector("form");
      this.state = root.querySelector("[data-log-state]");
      this.scrolled = false;
      this.failures = 0;
      this.askedAt = null;
      this.due = performance.now() + FIRST_MS;
      this.scroller.addEventListener("scroll", () => this.onScroll(), { passive: true });
      this.toEnd();
      this.say();
    }

    get polls() { return allowed() && !this.scrolled && !this.stopped; }

    atEnd() {
      const { scrollTop, scrollHeight, clientHeight } = this.scroller;
      return scrollHeight - scrollTop - clientHeight <= NEAR_END_PX;
    }

    toEnd() {
      this.scroller.scrollTop = this.scroller.scrollHeight;
    }

    onScroll() {
      const scrolled = !this.atEnd();
      if (scrolled === this.scrolled) return;
      this.scrolled = scrolled;
      if (!scrolled) this.due = 0;
      this.say();
    }

    /** Somebody selects text or reads a tip in here: nothing moves under their hands. */
    held() {
      const selection = document.getSelection();
      const selects = selection && !selection.isCollapsed && this.scroller.contains(selection.anchorNode);
      const focused = document.activeElement !== this.scroller && this.scroller.contains(document.activeElement);
      return selects || focused;
    }

    poll(now) {
      if (this.askedAt !== null) {
        if (now - this.askedAt > SLOW_MS) this.say("slow");
        return;
      }
      if (!this.polls || now < this.due) return;
      this.askedAt = now;
      raise(this.form, "log:poll");
    }

    answered() {
      this.askedAt = null;
      this.failures = 0;
      this.due = performance.now() + (this.list.childElementCount ? EVERY_MS : EVERY_MS / 2);
      this.say();
    }

    failed(status) {
      this.askedAt = null;
      if (status && status < 500) {
        this.stopped = true;
        this.say("gone");
        return;
      }
      this.failures += 1;
      this.due = performance.now() + Math.min(SLOWEST_MS, EVERY_MS * 2 ** (this.failures - 1));
      this.say("lost");
    }

    grown() {
      if (this.root.hasAttribute("data-merged")) this.sort();
      if (this.held()) return;
      while (this.list.childElementCount > MOST_LINES) this.list.firstElementChild.remove();
      if (!this.scrolled && following) this.toEnd();
    }

    /** A slower replica's lines can be older than what stands here already; only new ones move. */
    sort() {
      for (const line of [...this.list.children].slice(1)) {
        let before = line.previousElementSibling;
        if (!before || later(line, before)) continue;
        while (before.previousElementSibling && !later(line, before.previousElementSibling)) before = before.previousElementSibling;
        this.list.insertBefore(line, before);
      }
    }

    say(what) {
      const word = what ?? (this.stopped ? "gone" : this.failures ? "lost" : !following ? "paused" : this.scrolled ? "scrolled" : "following");
      const said = this.words[word];
      if (this.state.textContent !== said) this.state.textContent = said;
      this.root.dataset.now = word;
    }
  }

  /** Nanoseconds do not fit a number; as texts of equal length they compare rightly. */
  function later(line, other) {
    const [mine, theirs] = [line.dataset.t, other.dataset.t];
    return mine.length === theirs.length ? mine >= theirs : mine.length > theirs.length;
  }

  function paneOf(event) {
    const source = event.detail?.ctx?.sourceElement;
    return panes.find((pane) => pane.form === source);
  }

  function tick() {
    const now = performance.now();
    const looking = panes.some((pane) => pane.polls);
    if (looking && now - keptAt >= KEEP_MS) {
      keptAt = now;
      raise(document.getElementById("log-keep"), "log:keep");
    }
    for (const pane of panes) pane.poll(now);
  }

  function showFollow(button) {
    button.textContent = following ? button.dataset.pause : button.dataset.follow;
    button.setAttribute("aria-pressed", String(following));
  }

  function onFollow(button) {
    const scrolled = panes.some((pane) => pane.scrolled);
    following = !following || scrolled;
    showFollow(button);
    for (const pane of panes) {
      if (following) {
        pane.scrolled = false;
        pane.due = 0;
        pane.toEnd();
      }
      pane.say();
    }
  }

  function findError() {
    const link = document.querySelector("[data-log-error]");
    const first = document.querySelector(".log__line:is([data-level=ERROR], [data-level=CRITICAL])");
    link.hidden = !first;
    if (first) link.hash = first.id;
  }

  function onError(event, link) {
    const line = document.getElementById(link.hash.slice(1));
    if (!line) return;
    event.preventDefault();
    line.scrollIntoView({ block: "center" });
    line.focus({ preventScroll: true });
  }

  /** Keep a tip inside its region: below a line that stands near the top. */
  function placeTip(event) {
    const values = event.target.closest?.(".log__values");
    if (!values) return;
    delete values.dataset.closed;
    const region = values.closest(".log").getBoundingClientRect();
    const tip = values.querySelector(".log__tip");
    const line = values.getBoundingClientRect();
    values.toggleAttribute("data-below", line.top - tip.offsetHeight < region.top);
  }

  document.addEventListener("htmx:after:swap", (event) => {
    paneOf(event)?.grown();
    findError();
  });
  document.addEventListener("htmx:after:request", (event) => {
    const pane = paneOf(event);
    const status = event.detail.ctx.response?.status;
    if (pane && status && status < 400) pane.answered();
  });
  document.addEventListener("htmx:response:error", (event) => paneOf(event)?.failed(event.detail.ctx.response?.status));
  document.addEventListener("htmx:error", (event) => paneOf(event)?.failed());
  document.addEventListener("mouseover", placeTip);
  document.addEventListener("focusin", placeTip);
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    for (const values of document.querySelectorAll(".log__values:is(:hover, :focus-within)")) values.dataset.closed = "";
  });
  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-log-follow]");
    const link = event.target.closest("[data-log-error]");
    if (button) onFollow(button);
    if (link) onError(event, link);
  });
  document.addEventListener("change", (event) => {
    if (event.target.matches("#log-filters [name=wrap]")) {
      document.getElementById("log-panes")?.classList.toggle("wrap", event.target.checked);
      const address = new URL(location.href);
      if (event.target.checked) address.searchParams.set("wrap", "on");
      else address.searchParams.delete("wrap");
      history.replaceState(history.state, "", address);
      for (const pane of panes) if (!pane.scrolled) pane.toEnd();
    }
  });

  document.addEventListener("DOMContentLoaded", () => {
    for (const root of document.querySelectorAll("[data-log-pane]")) panes.push(new Pane(root));
    if (!panes.length) return;
    if (location.hash) document.getElementById(location.hash.slice(1))?.scrollIntoView({ block: "center" });
    setInterval(tick, 200);
  });
})();
