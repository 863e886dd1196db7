import { readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { expect, test } from "@jest/globals";

const MAIN = resolve(import.meta.dirname, "..", "..", "src", "main.ts");
/** Imports by value, over several lines or one. */
const IMPORT = /^import (?!type\b)[^;]*?from "([^"]+)";/gm;

/** What is loaded before a command is known. */
function packagesFrom(file: string, seen = new Set<string>()): Set<string> {
  const packages = new Set<string>();
  if (seen.has(file)) return packages;
  seen.add(file);
  for (const [, name = ""] of readFileSync(file, "utf8").matchAll(IMPORT)) {
    if (name.startsWith("node:")) continue;
    if (!name.startsWith(".")) packages.add(name);
    else for (const one of packagesFrom(join(dirname(file), name), seen)) packages.add(one);
  }
  return packages;
}

test("a command starts with the parser of command lines and no other package", () => {
  expect([...packagesFrom(MAIN)]).toEqual(["commander"]);
});
