import { ensureBuilt } from "./build.js";
import { ensureInstalled } from "./install.js";
import { phase, runScript } from "./phase.js";
import { root } from "./root.js";
import { runCommand } from "./run-command.js";

const demo = ["bin/nightdesk.js", "demo", "--config", "examples/nightdesk.yaml"];

await runScript(async () => {
  await phase("install", () => ensureInstalled("build"));
  await phase("build", ensureBuilt);
  return phase("demo", () => runCommand(process.execPath, demo, { cwd: root }));
});
