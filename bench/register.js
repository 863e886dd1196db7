// Lets Node run the TypeScript of this repository: `node --import ./bench/register.js bench/index.ts`.
import { readFileSync } from "node:fs";
import { register } from "node:module";
import { fileURLToPath } from "node:url";
import { isMainThread } from "node:worker_threads";
import { transformSync } from "@swc/core";

if (isMainThread) register(import.meta.url);

/** A hook of node:module: gives a .ts file as the JavaScript that it stands for. */
export async function load(url, context, nextLoad) {
  if (!url.startsWith("file:") || !url.endsWith(".ts")) return nextLoad(url, context);
  const filename = fileURLToPath(url);
  const { code } = transformSync(readFileSync(filename, "utf8"), {
    filename,
    sourceMaps: "inline",
    jsc: { parser: { syntax: "typescript" }, target: "es2022" },
    module: { type: "es6" },
  });
  return { format: "module", source: code, shortCircuit: true };
}
