import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { transform } from "@swc/core";

/** Node 20 can't strip types: compiles each TypeScript file of ours as it is loaded. */
export async function load(url, context, nextLoad) {
  if (!url.startsWith("file:") || !url.endsWith(".ts")) return nextLoad(url, context);
  const path = fileURLToPath(url);
  const { code } = await transform(await readFile(path, "utf8"), compilerOptions(path));
  return { format: "module", source: code, shortCircuit: true };
}

export function compilerOptions(filename) {
  return {
    filename,
    jsc: { parser: { syntax: "typescript" }, target: "es2023" },
    module: { type: "es6" },
    sourceMaps: "inline",
  };
}
