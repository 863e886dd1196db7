import { spawn } from "node:child_process";
import { once } from "node:events";
import { symlinkSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { makeWorkroot, SECRET, type Workroot } from "./make-workroot.ts";

const swapper = fileURLToPath(new URL("./swap-forever.js", import.meta.url));
const raceMs = 2_000;

let root: Workroot;
beforeEach(() => {
  root = makeWorkroot();
  root.write("allowed/folder/secret.md", "good");
});
afterEach(() => {
  root.remove();
});

/** Reads as fast as it can while another process swaps `path` for a link to `decoy`; counts what came. */
async function race(
  path: string,
  decoy: string,
): Promise<{ good: number; refused: number; leaked: number }> {
  const sandbox = await root.open();
  symlinkSync(decoy, join(root.folder, "decoy"));
  const child = spawn(process.execPath, [swapper, path, join(root.folder, "decoy")], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const count = { good: 0, refused: 0, leaked: 0 };
  try {
    await once(child.stdout, "data");
    const deadline = performance.now() + raceMs;
    for (let turn = 0; performance.now() < deadline; turn += 1) {
      const path = turn % 2 === 0 ? "allowed/folder/secret.md" : "folder/secret.md";
      const args = { path, maxChars: 200 };
      const reading = await sandbox.readTextFile(args);
      if (reading.kind === "refused") count.refused += 1;
      else if (reading.text === "good") count.good += 1;
      else count.leaked += 1;
    }
  } finally {
    child.kill("SIGKILL");
    await once(child, "exit");
  }
  return count;
}

test.each([
  ["a folder", "allowed/folder", "outside/folder"],
  ["the file", "allowed/folder/secret.md", "outside/folder/secret.md"],
  ["the root", "allowed", "outside"],
])("returns nothing from outside while %s is swapped for a link", async (_, swapped, decoy) => {
  root.write("../outside/folder/secret.md", SECRET);
  const { good, refused, leaked } = await race(join(root.work, swapped), join(root.folder, decoy));
  expect(leaked).toBe(0);
  expect(good).toBeGreaterThan(0);
  expect(refused).toBeGreaterThan(0);
});
