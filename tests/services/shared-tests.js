import { existsSync, readFileSync } from "node:fs";
import { dirname, join, sep } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../..", import.meta.url));
/** What measures time or memory does so without what others have loaded. */
const MEASURED = join(root, "tests", "limits") + sep;
/** Databases, queues and programs: what a test has of them may outlive it, and holds up others. */
const NOT_PURE =
  /^(jest|node:child_process|pg|pgvector|bullmq|ioredis|@electric-sql\/.*|@huggingface\/.*)$/;
/** Imports of values, as prettier writes them; `jest` changes functions and clocks under others. */
const IMPORT = /^(?:import|export) (?!type )(?:[^"';]*? from )?"([^"]+)";/gm;
const MOCKS = /^import \{[^}]*\bjest\b[^}]*\} from "@jest\/globals";/m;

/**
 * Whether a test file is a pure unit, whose modules can be those of other such files: it reaches, by imports of values, no
 * database, no queue and no program, mocks nothing, and measures nothing.
 * @param {string} path absolute
 */
export function sharesModules(path) {
  return !path.startsWith(MEASURED) && isPure(path, new Set());
}

function isPure(path, seen) {
  if (seen.has(path)) return true;
  seen.add(path);
  const { packages, files } = readImports(path);
  return (
    packages.every((name) => !NOT_PURE.test(name)) && files.every((file) => isPure(file, seen))
  );
}

const imports = new Map();

function readImports(path) {
  const known = imports.get(path);
  if (known !== undefined) return known;
  const text = existsSync(path) ? readFileSync(path, "utf8") : "";
  const names = Array.from(text.matchAll(IMPORT), ([, name]) => name);
  const found = {
    packages: names.filter((name) => !name.startsWith(".")),
    files: names.filter((name) => name.startsWith(".")).map((name) => join(dirname(path), name)),
  };
  if (MOCKS.test(text)) found.packages.push("jest");
  imports.set(path, found);
  return found;
}
