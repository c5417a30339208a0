// Shows a letter at its full height, and announces new letters. The mailbox works without it, too.
(() => {
  "use strict";
  const frame = document.querySelector(".letter-frame");
  if (frame) {
    const fit = () => {
      const page = frame.contentDocument && frame.contentDocument.documentElement;
      if (page) {
        frame.style.height = "0";
        frame.style.height = `${page.scrollHeight + 2}px`;
      }
    };
    frame.addEventListener("load", fit);
    window.addEventListener("resize", fit);
    fit();
  }

  // The cursor is at the end of a text that a letter's link has filled in, and above the quote of an answer.
  const body = document.getElementById("body");
  const isUntouched = body && body.value === body.defaultValue && body.selectionEnd === 0;
  if (isUntouched && !body.value.startsWith("\n")) body.setSelectionRange(body.value.length, body.value.length);

  const tabs = [...document.querySelectorAll(".people [data-address]")];
  const told = document.getElementById("arrivals");
  const counts = new Map(tabs.map((tab) => [
    tab.dataset.address, tab.querySelector(".new").hidden ? 0 : Number(tab.querySelector("b").textContent),
  ]));
  const top = document.querySelector(".mark").getAttribute("href");

  const showList = async () => {
    const list = document.getElementById("fresh");
    if (!list) return;
    const answer = await fetch(location.href, { cache: "no-store" });
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const fresh = page.getElementById("fresh");
    // A link that has the focus stays; it may have got it while the answer was on its way.
    if (list.contains(document.activeElement)) return;
    if (answer.ok && fresh) list.replaceWith(document.importNode(fresh, true));
  };

  const look = async () => {
    if (document.hidden) return;
    const answer = await fetch(`${top}news`, { cache: "no-store" });
    if (!answer.ok) return;
    const news = await answer.json();
    let changed = false;
    for (const tab of tabs) {
      const address = tab.dataset.address;
      const count = news[address] || 0;
      const before = counts.get(address);
      if (count === before) continue;
      changed = true;
      counts.set(address, count);
      tab.querySelector("b").textContent = count;
      tab.querySelector(".new").hidden = count === 0;
      if (count > before) told.textContent = `A letter has come for ${address.split("@")[0]}.`;
    }
    if (changed || Object.keys(news).length > tabs.length) await showList();
  };

  setInterval(() => look().catch(() => {}), 2000);
})();
