// Empties the page with the atoms when it is left, because a browser that keeps pages in memory must not show
// it again. A page that was kept is loaded again, and shows the shut box.
addEventListener("pagehide", () => document.querySelector("main").replaceChildren());
addEventListener("pageshow", (event) => { if (event.persisted) location.reload(); });
