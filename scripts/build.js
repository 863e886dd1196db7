import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, join, relative } from "node:path";
import { runScript } from "./phase.js";
import { root } from "./root.js";

const source = join(root, "src");
const output = join(root, "dist");
const stampFile = join(output, ".build-stamp");
const buildInfo = join(output, ".tsbuildinfo");
const settings = ["package-lock.json", "tsconfig.json", "tsconfig.build.json"];

/**
 * Brings dist/ in step with src/: compiles what changed, and removes what has no source any more.
 * @returns {"built" | "unchanged"}
 * @throws {Error} with the compiler's output; dist/ then counts as not built
 */
export function ensureBuilt() {
  const sources = filesBelow(source).filter((file) => file.endsWith(".ts"));
  const stamp = stampOf([...sources, ...settings.map((name) => join(root, name))]);
  const complete = sources.every((file) => existsSync(compiledName(file)));
  if (complete && readStamp() === stamp) return "unchanged";
  // The compiler trusts its notes and would not write again a file that somebody deleted.
  if (!complete) rmSync(buildInfo, { force: true });
  compile();
  removeOrphans(new Set(sources.map(compiledName)));
  mkdirSync(output, { recursive: true });
  writeFileSync(stampFile, stamp);
  return "built";
}

function compile() {
  rmSync(stampFile, { force: true });
  const tsc = join(root, "node_modules", "typescript", "bin", "tsc");
  const { status, stdout, stderr, error } = spawnSync(
    process.execPath,
    [tsc, "-p", "tsconfig.build.json"],
    { cwd: root, encoding: "utf8" },
  );
  if (error !== undefined) throw error;
  if (status !== 0) throw new Error(`The build failed.\n${stdout}${stderr}`.trimEnd());
}

function removeOrphans(compiled) {
  for (const file of filesBelow(output)) {
    if (!/\.js(\.map)?$/.test(file) || compiled.has(file.replace(/\.map$/, ""))) continue;
    rmSync(file);
    removeEmptyFolders(dirname(file));
  }
}

function removeEmptyFolders(folder) {
  if (folder === output || readdirSync(folder).length > 0) return;
  rmdirSync(folder);
  removeEmptyFolders(dirname(folder));
}

const compiledName = (file) => join(output, relative(source, file).replace(/\.ts$/, ".js"));

function filesBelow(folder) {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
}

function stampOf(files) {
  const hash = createHash("sha256").update(process.version);
  for (const file of files) {
    const { mtimeMs, size } = statSync(file);
    hash.update(`\n${relative(root, file)} ${mtimeMs} ${size}`);
  }
  return hash.digest("hex");
}

const readStamp = () => (existsSync(stampFile) ? readFileSync(stampFile, "utf8") : null);

if (process.argv[1] === import.meta.filename) {
  await runScript(() => {
    process.stderr.write(`build: ${ensureBuilt()}\n`);
    return 0;
  });
}
