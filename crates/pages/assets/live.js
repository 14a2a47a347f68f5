// Makes pages live: when a stream tells of a change, the page is asked for again and its parts marked `data-live` are put
// in place of the old ones. Without it every page works as it is.
"use strict";
(() => {
  const pace = 1000;
  const longest = 200000;
  const sign = document.getElementById("live");
  const events = document.body.dataset.events;
  let due = null;
  let last = 0;
  let stale = document.hidden;
  let busy = false;
  let over = false;
  let source = null;
  let leave = null;

  const say = (text, bad) => {
    if (!sign) return;
    sign.hidden = false;
    sign.textContent = text;
    sign.classList.toggle("bad", bad);
  };

  // A part that somebody is typing in or about to press is left alone until they go on.
  const isUsed = (part) => part.contains(document.activeElement) && document.activeElement !== document.body;

  // The attempt whose log a page shows.
  const logOf = (page) => page.getElementById("log")?.dataset.attempt;

  // One at a time: a slow server is not asked the more, and no older answer comes after a newer one.
  const refresh = async () => {
    due = null;
    if (busy || document.hidden) {
      stale = true;
      return;
    }
    busy = true;
    stale = false;
    try {
      const headers = { accept: "text/html", "remora-refresh": "1" };
      const answer = await fetch(location.href, { headers, cache: "no-store" });
      if (!answer.ok || answer.redirected) return;
      const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
      for (const part of document.querySelectorAll("[data-live]")) {
        const now = fresh.getElementById(part.id);
        if (!now) {
          if (!isUsed(part) && part.id === "empty") part.remove();
        } else if (!isUsed(part) && part.innerHTML !== now.innerHTML) {
          part.replaceChildren(...now.childNodes);
        }
      }
      if (document.getElementById("result") === null && fresh.getElementById("result") !== null) location.reload();
      if (logOf(document) !== logOf(fresh)) location.reload();
    } catch {
      say("offline", true);
    } finally {
      busy = false;
      last = Date.now();
      if (stale) soon();
    }
  };

  const soon = () => {
    if (due === null) due = setTimeout(refresh, Math.max(0, last + pace - Date.now()));
  };

  const listen = () => {
    if (!events || over || source) return;
    source = new EventSource(events);
    // The first event counts, too: something may have changed since the page was written.
    const heard = () => {
      say("live", false);
      soon();
    };
    source.addEventListener("overview", heard);
    source.addEventListener("job", (event) => {
      heard();
      const phase = JSON.parse(event.data).job?.phase;
      over = ["succeeded", "failed", "cancelled"].includes(phase);
      if (over) source.close();
    });
    source.addEventListener("away", () => {
      say("a room is away", true);
      soon();
    });
    source.onerror = () => say("reconnecting", true);
  };

  const follow = async () => {
    const box = document.getElementById("logtext");
    if (!box || !box.dataset.follow || leave) return;
    const mine = new AbortController();
    leave = mine;
    const toEnd = () => (box.scrollTop = box.scrollHeight);
    toEnd();
    try {
      const answer = await fetch(box.dataset.follow, { signal: mine.signal });
      if (!answer.ok) return;
      const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
      let text = "";
      for (;;) {
        const { value, done } = await reader.read();
        if (done) break;
        text = (text + value).slice(-longest);
        const atEnd = box.scrollHeight - box.scrollTop - box.clientHeight < 40;
        box.textContent = text;
        if (atEnd) toEnd();
      }
      // The attempt has ended: that was all.
      delete box.dataset.follow;
    } catch {
      // The log stays as it was read; loading the page again goes on.
    }
  };

  // A browser has six connections to a server, whatever the number of its tabs: one that nobody sees holds none.
  const rest = () => {
    source?.close();
    source = null;
    leave?.abort();
    leave = null;
  };
  const wake = () => {
    listen();
    follow();
  };

  const choose = () => {
    const all = document.getElementById("all");
    if (!all) return;
    const boxes = [...document.querySelectorAll("input[name=job]")];
    const count = () => {
      const chosen = boxes.filter((box) => box.checked).length;
      document.getElementById("chosen").textContent = chosen ? `${chosen} chosen` : "";
      for (const id of ["bulk-cancel", "bulk-retry"]) document.getElementById(id).disabled = chosen === 0;
      all.checked = chosen === boxes.length;
      all.indeterminate = chosen > 0 && chosen < boxes.length;
    };
    all.parentElement.hidden = false;
    all.addEventListener("change", () => {
      for (const box of boxes) box.checked = all.checked;
      count();
    });
    for (const box of boxes) box.addEventListener("change", count);
    addEventListener("pageshow", count);
    count();
  };

  document.addEventListener("visibilitychange", () => {
    if (document.hidden) {
      rest();
      stale = true;
    } else {
      wake();
      if (events && stale) soon();
    }
  });
  addEventListener("pagehide", rest);
  addEventListener("pageshow", (event) => {
    if (event.persisted) wake();
  });
  choose();
  if (!document.hidden) wake();
})();
