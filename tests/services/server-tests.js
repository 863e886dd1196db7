import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const tests = fileURLToPath(new URL("..", import.meta.url));
/** Whoever opens a desk of the producer needs a Postgres server for it. */
const DESK = join(tests, "producer", "desk.ts");

/**
 * The test files that can't run without a Postgres server: they import the desk, themselves or through others.
 * @returns {string[]} absolute paths
 */
export function serverTests() {
  return readdirSync(tests, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".test.ts"))
    .map((name) => join(tests, name))
    .filter((file) => reachesDesk(file, new Set()));
}

function reachesDesk(file, seen) {
  if (file === DESK) return true;
  if (seen.has(file) || !file.startsWith(tests) || !existsSync(file)) return false;
  seen.add(file);
  const imports = readFileSync(file, "utf8").matchAll(/ from "(\.[^"]+)";/g);
  return Array.from(imports, ([, specifier]) => join(dirname(file), specifier)).some((path) =>
    reachesDesk(path, seen),
  );
}
