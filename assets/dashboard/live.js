// One stream for all tabs of a browser: a stream a tab would take all of the six connections that it has for one address.
const ports = new Set();
let source;
let state = "connecting";

function tell(message) {
  for (const port of ports) port.postMessage(message);
}

function connect() {
  source = new EventSource("/events");
  const forward = (event) => {
    tell({ kind: event.type, id: event.lastEventId, data: JSON.parse(event.data) });
  };
  for (const kind of ["step", "many", "changed", "hello"]) source.addEventListener(kind, forward);
  source.addEventListener("open", () => say("live"));
  source.addEventListener("behind", ({ data }) => {
    const now = JSON.parse(data).behind ? "behind" : "live";
    if (now !== state) say(now);
  });
  source.addEventListener("error", () => {
    say("away");
    // Refused for good, as by a session that has ended; otherwise the browser tries again by itself.
    if (source.readyState === EventSource.CLOSED) setTimeout(connect, 10000);
  });
}

function say(now) {
  state = now;
  tell({ kind: "state", state });
}

self.addEventListener("connect", ({ ports: [port] }) => {
  ports.add(port);
  port.addEventListener("message", ({ data }) => {
    if (data === "leave") ports.delete(port);
  });
  port.start();
  port.postMessage({ kind: "state", state });
  if (source === undefined) connect();
});
