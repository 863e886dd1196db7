// Shows the digest of a batch on the desktop of whoever runs the worker. In nightdesk.yaml:
//   on_batch_end: { command: [node, /path/to/notify-send.js] }
import { spawn } from "node:child_process";
import { text } from "node:stream/consumers";

const event = JSON.parse(await text(process.stdin));
// A worker that is started by systemd or cron knows no session; this is where it is by default.
const bus = `unix:path=/run/user/${process.getuid?.() ?? 0}/bus`;
// Desktops take these for the beginning of a mark.
const body = event.text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
const shown = spawn("notify-send", ["--app-name=Nightdesk", "--", "Nightdesk", body], {
  stdio: "inherit",
  env: { DBUS_SESSION_BUS_ADDRESS: bus, ...process.env },
});
shown.on("exit", (code) => {
  process.exitCode = code ?? 1;
});
