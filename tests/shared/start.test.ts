import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { expect, test } from "@jest/globals";

const SOURCES = resolve(import.meta.dirname, "..", "..", "src");
const MAIN = join(SOURCES, "main.ts");
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

const COMMANDS = join(SOURCES, "producer", "commands");

test.each(readdirSync(COMMANDS).filter((name) => name.endsWith(".ts")))(
  "%s of the producer loads neither BullMQ nor a client of Redis before it needs one",
  (name) => {
    const packages = packagesFrom(join(COMMANDS, name));
    expect([...packages].filter((one) => /^(?:bullmq|ioredis)$/.test(one))).toEqual([]);
  },
);
