// Steps through a game with the slider and the arrow keys without loading pages; the address and the link
// follow. The page works without it, too.
(() => {
  "use strict";
  const slider = document.getElementById("turn");
  if (!slider) return;
  const parts = ["headline", "told", "steps", "position", "share"];
  slider.form.querySelector("button").hidden = true;
  let asking = null;

  const show = async (turn) => {
    const url = `${location.pathname}?turn=${turn}`;
    if (asking) asking.abort();
    asking = new AbortController();
    try {
      const answer = await fetch(url, { signal: asking.signal });
      if (!answer.ok) throw new Error(answer.statusText);
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      const open = [...document.querySelectorAll("main details")].map((one) => one.open);
      for (const id of parts) {
        const fresh = page.getElementById(id);
        const shown = document.getElementById(id);
        if (fresh && shown) shown.replaceChildren(...document.importNode(fresh, true).childNodes);
      }
      document.querySelectorAll("main details").forEach((one, at) => { one.open = Boolean(open[at]); });
      slider.setAttribute("aria-valuetext", `${turn} of ${slider.max}`);
      document.title = page.title;
      history.replaceState(null, "", url);
    } catch (error) {
      if (error.name !== "AbortError") location.assign(url);
    }
  };

  slider.addEventListener("input", () => show(slider.value));
  document.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    const isPlain = !(event.altKey || event.ctrlKey || event.metaKey || event.shiftKey);
    if (!step || !isPlain || event.target.closest("input, .roll")) return; // these have their own use for it
    const before = slider.value;
    slider.value = Number(before) + step;
    if (slider.value !== before) show(slider.value);
    event.preventDefault();
  });
})();
