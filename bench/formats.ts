// How many documents a second become text, by format, and what the reading process holds at most:
//   node --import ./bench/register.js bench/formats.ts [ROUNDS]
// The documents are those of examples/formats, each ROUNDS times (20), through the process that a worker has.

import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { FORMAT_EXAMPLES } from "../tests/support/format-examples.ts";
import { extractText } from "../tests/support/read-documents.ts";

const rounds = Number(process.argv[2] ?? 20);

/** Of the only child of this process. */
function peakOfChild(): number {
  const children = readdirSync("/proc").filter((name) => {
    if (!/^\d+$/.test(name)) return false;
    try {
      const status = readFileSync(join("/proc", name, "status"), "latin1");
      return Number(/^PPid:\s+(\d+)$/m.exec(status)?.[1]) === process.pid;
    } catch {
      return false;
    }
  });
  const peaks = children.map((pid) => {
    const status = readFileSync(`/proc/${pid}/status`, "latin1");
    return Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0);
  });
  return Math.round(Math.max(0, ...peaks) / 1_024);
}

const formats = new Set(FORMAT_EXAMPLES.map(({ path }) => path.split("/")[0] ?? ""));
for (const format of formats) {
  const documents = FORMAT_EXAMPLES.filter(({ path }) => path.startsWith(`${format}/`));
  for (const { path, bytes } of documents) await extractText(path, bytes);
  const startedAt = performance.now();
  for (let round = 0; round < rounds; round += 1) {
    for (const { path, bytes } of documents) await extractText(path, bytes);
  }
  const seconds = (performance.now() - startedAt) / 1_000;
  const rate = Math.round((rounds * documents.length) / seconds);
  console.log(
    `${format.padEnd(5)} ${String(rate).padStart(6)} documents/s, ${peakOfChild()} MiB at the peak so far`,
  );
}
