// The page with the atoms is empty as soon as somebody leaves it: a browser that keeps pages in memory
// must not show it again. A page that was kept is loaded anew, and shows the shut box.
addEventListener("pagehide", () => document.querySelector("main").replaceChildren());
addEventListener("pageshow", (event) => { if (event.persisted) location.reload(); });
