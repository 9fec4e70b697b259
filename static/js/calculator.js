/* The calculator's address tells the whole state, so that it can be shared. The page works without it. */
(() => {
  "use strict";
  document.addEventListener("htmx:after:swap", () => {
    const address = document.getElementById("calculator-answer")?.dataset.address;
    if (address) history.replaceState(null, "", address);
  });
})();
