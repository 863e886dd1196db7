// Loaded into the process of a model before all else: texts that name a fault cause it, in the real process.
import { existsSync, writeFileSync } from "node:fs";

const MARK = process.execArgv.find((flag) => flag.startsWith("--conditions="))?.slice(13) ?? "";

function disturb(texts) {
  if (texts.includes("die")) process.kill(process.pid, "SIGKILL");
  if (texts.includes("die once") && !existsSync(MARK)) {
    writeFileSync(MARK, "");
    process.kill(process.pid, "SIGKILL");
  }
  // Nothing in this process gets a turn any more, as in a native call that never returns.
  if (texts.includes("hang")) {
    writeFileSync(MARK, "");
    for (;;);
  }
}

// A listener of its own would take the messages that come before the process listens itself.
const { on } = process;
process.on = function (name, listener) {
  if (name !== "message") return on.call(this, name, listener);
  return on.call(this, name, (message) => {
    disturb(message.texts ?? message.pairs?.flat() ?? []);
    listener(message);
  });
};
