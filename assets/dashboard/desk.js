// Keeps a page up to date, and adds keys. Without it every page works as it was sent.
const main = document.getElementById("main");
const said = document.getElementById("live-state");
const LEAST_MS = 1500;
const MOST_LINES = 12;
const SAYS = {
  live: "Up to date",
  behind:
    "A transaction stays open in this database: steps are shown when it ends. All else is up to date.",
  away: "The dashboard does not answer; it is asked again.",
  connecting: "",
};

let isStale = false;
let isAsking = false;
let askedAt = -LEAST_MS;
let timer;

// Somebody who writes or reads in a form is not interrupted.
const isBusy = () =>
  document.hidden || main.querySelector("form :focus, dialog[open]") !== null || hasSelection();

const hasSelection = () => {
  const selection = getSelection();
  return selection !== null && !selection.isCollapsed && main.contains(selection.anchorNode);
};

async function refresh() {
  if (document.body.dataset.updates === "still" || isAsking) return;
  if (isBusy()) return;
  const wait = askedAt + LEAST_MS - performance.now();
  if (wait > 0) {
    clearTimeout(timer);
    timer = setTimeout(refresh, wait);
    return;
  }
  isAsking = true;
  isStale = false;
  askedAt = performance.now();
  try {
    const response = await fetch(location.href, { headers: { accept: "text/html" } });
    if (response.ok) show(await response.text());
  } catch {
    isStale = true;
  } finally {
    isAsking = false;
    if (isStale) timer = setTimeout(refresh, LEAST_MS);
  }
}

// Somebody may have begun to write while the page was asked for.
function show(text) {
  if (isBusy()) isStale = true;
  else swap(text);
}

function swap(text) {
  const { body } = new DOMParser().parseFromString(text, "text/html");
  const next = body.querySelector("#main");
  if (next === null) return;
  document.body.dataset.updates = body.dataset.updates ?? "still";
  for (const kept of main.querySelectorAll("[data-keep]")) {
    next.querySelector(`#${kept.id}`)?.replaceWith(kept);
  }
  for (const form of main.querySelectorAll("form[action]")) {
    const sameAction = `form[action="${CSS.escape(form.getAttribute("action"))}"]`;
    if (isChanged(form)) next.querySelector(sameAction)?.replaceWith(form);
  }
  const open = new Set([...main.querySelectorAll("details[open][id]")].map(({ id }) => id));
  for (const details of next.querySelectorAll("details[id]")) details.open = open.has(details.id);
  const focus = focusPath(document.activeElement);
  main.replaceChildren(...next.childNodes);
  if (focus !== null) main.querySelector(focus)?.focus({ preventScroll: true });
}

// What was chosen or written and is not sent yet would be lost with its form.
const isChanged = (form) => [...form.elements].some(isChangedField);

function isChangedField(field) {
  if (field.matches("[type=radio], [type=checkbox]")) return field.checked !== field.defaultChecked;
  if (field.matches("select")) {
    const sent = [...field.options].findIndex(({ defaultSelected }) => defaultSelected);
    return field.selectedIndex !== Math.max(0, sent);
  }
  return field.matches("input, textarea") && field.value !== field.defaultValue;
}

const focusPath = (element) => {
  if (element === null || !main.contains(element)) return null;
  if (element.id !== "") return `#${CSS.escape(element.id)}`;
  const href = element.getAttribute("href");
  if (href !== null) return `a[href="${CSS.escape(href)}"]`;
  const place = [...element.parentElement.children].indexOf(element) + 1;
  return `${focusPath(element.parentElement)} > :nth-child(${place})`;
};

function showStep({ batch, custom_id: id, kind, step, duration_ms: ms, run_id: run }) {
  const list = document.getElementById("activity");
  if (list === null) return;
  const line = document.createElement("li");
  const link = document.createElement("a");
  link.href = `/runs/${encodeURIComponent(run)}`;
  link.textContent = id;
  line.append(
    `${batch === null ? "" : `${batch}: `}${kind} `,
    link,
    ` ${step.replaceAll("_", " ")}, ${Math.round(ms)} ms`,
  );
  list.prepend(line);
  while (list.children.length > MOST_LINES) list.lastElementChild.remove();
}

const concernsUs = ({ batch_id: batch }) => {
  const about = document.querySelector("[data-batch]")?.dataset.batch;
  return about === undefined || batch === undefined || about === batch;
};

function hear({ data: message }) {
  switch (message.kind) {
    case "state":
      said.textContent = SAYS[message.state] ?? "";
      said.dataset.state = message.state;
      // Whoever was away may have missed what has no id.
      if (message.state === "live") later();
      return;
    case "step":
      showStep(message.data);
      if (concernsUs(message.data)) later();
      return;
    case "many":
    case "changed":
      later();
  }
}

function later() {
  isStale = true;
  void refresh();
}

if (document.body.dataset.live !== undefined && "SharedWorker" in window && said !== null) {
  const worker = new SharedWorker(document.body.dataset.live, { name: "nightdesk-live" });
  worker.port.addEventListener("message", hear);
  worker.port.start();
  addEventListener("pagehide", () => worker.port.postMessage("leave"));
  addEventListener("pageshow", ({ persisted }) => {
    if (persisted) location.reload();
  });
}
const whenFree = () => {
  if (isStale) void refresh();
};
document.addEventListener("visibilitychange", whenFree);
document.addEventListener("focusout", () => setTimeout(whenFree));
document.addEventListener("selectionchange", whenFree);

// A desk without clocks of its own shows those of the browser, which says them once.
const clocks = Intl.DateTimeFormat().resolvedOptions().timeZone;
const cookie = `nightdesk_zone=${clocks}`;
if (document.body.dataset.zone !== undefined && !document.cookie.split("; ").includes(cookie)) {
  document.cookie = `${cookie}; path=/; max-age=31536000; samesite=strict`;
  if (document.body.dataset.updates === "live" && document.body.dataset.zone !== clocks) {
    if (document.cookie.includes(cookie)) location.reload();
  }
}

// Files that are chosen or dropped are sent one after the other, each by itself.
async function upload(form, files) {
  const list = form.querySelector("ul");
  const headers = { accept: "application/json", "x-nightdesk-csrf": form.elements.csrf.value };
  for (const file of files) {
    const line = document.createElement("li");
    line.textContent = `${file.name} …`;
    list.append(line);
    const path = `${form.dataset.upload}/${encodeURIComponent(file.name)}`;
    const sent = fetch(path, { method: "PUT", body: file, headers });
    const told = await sent.then((response) => response.json()).catch(() => ({}));
    const words = told.error_message ?? "The dashboard does not answer.";
    line.textContent =
      told.path === undefined ? `${file.name}: ${words}` : `Stored as ${told.path}`;
  }
}

for (const form of document.querySelectorAll("form[data-upload]")) {
  const field = form.querySelector("input[type=file]");
  form.hidden = false;
  field.addEventListener("change", () => void upload(form, [...field.files]));
  form.addEventListener("dragover", (event) => event.preventDefault());
  form.addEventListener("drop", (event) => {
    event.preventDefault();
    void upload(form, [...event.dataTransfer.files]);
  });
}

// Keys: j and k move through what can be decided, 1 to 4 choose, / goes to the first field of the page.
const isWriting = (target) =>
  target instanceof HTMLElement &&
  target.matches("input:not([type=radio], [type=checkbox]), textarea, select");

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || isWriting(event.target)) return;
  const { key } = event;
  if (key === "/") {
    const field =
      main.querySelector("input[type=search], textarea, input[type=text]") ??
      document.querySelector("header .ask input:not([type])");
    if (field !== null) {
      event.preventDefault();
      field.focus();
    }
    return;
  }
  const cards = [...main.querySelectorAll("[data-card]")];
  if (cards.length === 0) return;
  const at = cards.findIndex((card) => card.contains(document.activeElement));
  if (key === "j" || key === "k") {
    const next = cards[Math.min(cards.length - 1, Math.max(0, at + (key === "j" ? 1 : -1)))];
    next.focus();
    next.scrollIntoView({ block: "nearest" });
  } else if (/^[1-4]$/.test(key)) {
    const choice = cards[Math.max(0, at)].querySelector(`[data-key="${key}"]`);
    if (choice === null) return;
    event.preventDefault();
    const folded = choice.closest("details:not([open])");
    if (folded === null) choice.click();
    else folded.open = true;
    choice.focus();
  }
});
