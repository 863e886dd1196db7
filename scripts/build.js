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
import { basename, dirname, join, relative } from "node:path";
import { runScript } from "./phase.js";
import { root } from "./root.js";

const source = join(root, "src");
const output = join(root, "dist");
const stampFile = join(output, ".build-stamp");
const buildInfo = join(output, ".tsbuildinfo");
const configs = join(root, "configs");
const migrations = join(root, "migrations");
const packer = join(source, "embedded", "pack-empty-database.ts");
const settings = ["package-lock.json", "tsconfig.json", "tsconfig.build.json"];

/**
 * Brings dist/ in step with src/: compiles what changed, and removes what has no source any more.
 * @returns {"built" | "unchanged"}
 * @throws {Error} with the compiler's output; dist/ then counts as not built
 */
export function ensureBuilt() {
  const sources = filesBelow(source).filter((file) => file.endsWith(".ts"));
  const shipped = filesBelow(configs);
  const stamp = stampOf([
    ...sources,
    ...shipped,
    ...filesBelow(migrations),
    ...settings.map((name) => join(root, name)),
  ]);
  const complete =
    sources.every((file) => existsSync(compiledName(file))) &&
    shipped.every((file) => existsSync(parsedName(file)));
  if (complete && readStamp() === stamp) return "unchanged";
  // The compiler trusts its notes and would not write again a file that somebody deleted.
  if (!complete) rmSync(buildInfo, { force: true });
  compile();
  removeOrphans(new Set(sources.map(compiledName)));
  if (shipped.length > 0) parseConfigs(shipped);
  if (sources.includes(packer)) packEmptyDatabase();
  mkdirSync(output, { recursive: true });
  writeFileSync(stampFile, stamp);
  return "built";
}

function compile() {
  rmSync(stampFile, { force: true });
  runNode([join(root, "node_modules", "typescript", "bin", "tsc"), "-p", "tsconfig.build.json"]);
}

/** Keeps the shipped configurations parsed beside what reads them. */
function parseConfigs(files) {
  const program = `
    import { readFileSync, writeFileSync } from "node:fs";
    import { parseYaml } from "./dist/shared/config/parse-yaml.js";
    import { storeTree } from "./dist/shared/config/parsed-tree.js";
    const files = ${JSON.stringify(files.map((file) => [file, parsedName(file)]))};
    for (const [file, parsed] of files) {
      const text = readFileSync(file, "utf8");
      writeFileSync(parsed, storeTree(parseYaml(text, file), text));
    }`;
  runNode(["--input-type=module", "--eval", program]);
}

/** Keeps the files of an empty database, unless they are there: they depend on little that changes. */
function packEmptyDatabase() {
  const program = `
    import { existsSync } from "node:fs";
    import { emptyDatabaseFile } from "./dist/embedded/database-command.js";
    const file = await emptyDatabaseFile(".");
    if (!existsSync(file)) {
      const { packEmptyDatabase } = await import("./dist/embedded/pack-empty-database.js");
      await packEmptyDatabase(".");
    }
    process.stdout.write(file);`;
  const kept = basename(runNode(["--input-type=module", "--eval", program]));
  for (const name of readdirSync(output)) {
    if (name.startsWith("empty-database-") && name !== kept) rmSync(join(output, name));
  }
}

function runNode(words) {
  const { status, stdout, stderr, error } = spawnSync(process.execPath, words, {
    cwd: root,
    encoding: "utf8",
  });
  if (error !== undefined) throw error;
  if (status !== 0) throw new Error(`The build failed.\n${stdout}${stderr}`.trimEnd());
  return stdout;
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

const parsedName = (file) => join(output, "shared", "config", `${basename(file)}.json`);
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
