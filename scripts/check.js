import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { phase, runScript } from "./phase.js";
import { root } from "./root.js";
import { runCommand } from "./run-command.js";

// Types, lint, cycles and format: two at once, for the two cores of the smallest machine. The longest begins first.
const CHECKS = [
  { name: "lint", words: ["eslint/bin/eslint.js", "."] },
  { name: "types", words: ["typescript/bin/tsc", "--noEmit"] },
  { name: "format", words: ["prettier/bin/prettier.cjs", "--check", "."] },
  {
    name: "cycles",
    words: [
      "dependency-cruiser/bin/dependency-cruise.mjs",
      "src",
      "tests",
      "bench",
      "--config",
      ".dependency-cruiser.js",
    ],
  },
];
const AT_ONCE = 2;
/** An exit code above it is a signal, after which no other check begins. */
const KILLED = 128;

await runScript(async () => {
  const folder = mkdtempSync(join(tmpdir(), "nightdesk-check-"));
  const waiting = [...CHECKS];
  const failed = [];
  const work = async () => {
    for (let check = waiting.shift(); check !== undefined; check = waiting.shift()) {
      const exitCode = await run(check, folder);
      if (exitCode !== 0) failed.push(check.name);
      if (exitCode > KILLED) waiting.length = 0;
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work)).finally(() =>
    rmSync(folder, { recursive: true }),
  );
  if (failed.length > 0) process.stderr.write(`failed: ${failed.join(", ")}\n`);
  return failed.length === 0 ? 0 : 1;
});

/** What a check prints is shown at its end, so that two do not write between each other's lines. */
async function run({ name, words: [program, ...args] }, folder) {
  const output = join(folder, name);
  const file = openSync(output, "w");
  const words = [join(root, "node_modules", program), ...args];
  const exitCode = await phase(name, () =>
    runCommand(process.execPath, words, { cwd: root, stdio: ["ignore", file, file] }),
  ).finally(() => closeSync(file));
  process.stdout.write(readFileSync(output));
  return exitCode;
}
