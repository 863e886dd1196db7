import { cp, mkdtemp, mkdir, readdir, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { afterEach, expect, test } from "@jest/globals";
import { start } from "./spawned.ts";

// The process that reads formats is given rights to the folders of packages: installed ones lie in several ways.

const root = resolve(import.meta.dirname, "../..");
const examples = join(root, "examples/formats/files");

const folders: string[] = [];
afterEach(async () => {
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true });
});

/** What a parser that was taken over may want, each by its name. */
const PLANTED = `
import { readFileSync, writeFileSync } from "node:fs";
import { spawnSync } from "node:child_process";
import { Worker } from "node:worker_threads";
const wishes = {
  read: () => readFileSync("/etc/passwd"),
  beside: () => readFileSync(new URL("../../../node_modules-of-others/file", import.meta.url)),
  write: () => writeFileSync(new URL("written", import.meta.url), ""),
  start: () => { const { error } = spawnSync(process.execPath, ["--version"]); if (error) throw error; },
  thread: () => new Worker("", { eval: true }),
  addon: () => process.dlopen({ exports: {} }, "/nowhere/addon.node"),
};
export function wish() {
  const codes = Object.entries(wishes).map(([name, act]) => {
    try { act(); return [name, "done"]; } catch (error) { return [name, error.code]; }
  });
  return { kind: "text", text: JSON.stringify(Object.fromEntries(codes)), places: [] };
}
`;

const SCRIPT = `
import { readFileSync } from "node:fs";
const [code, ...files] = process.argv.slice(2);
const { openDocumentReader } = await import(code + "worker/documents/reader/reader.js");
const { extractTextBy } = await import(code + "worker/documents/formats/registry.js");
const text = { chars: 1e7, pages: 5000, entries: 1e6, unpackedBytes: 2e8 };
const read = openDocumentReader({ timeoutMs: 60_000, memoryBytes: 600e6, text });
const extract = extractTextBy(read);
const unread = [];
for (const file of files) {
  const found = await extract(file, readFileSync(file));
  if (found.kind !== "text") unread.push([file, found.why]);
}
const wished = await read({ home: code + "planted.js", name: "wish" }, Buffer.from(""));
process.stdout.write(JSON.stringify({ unread, wished: JSON.parse(wished.text) }));
`;

/** Installs the built product as a package into this folder, and lets it read the examples of formats. */
async function readInstalled(installed: string): Promise<unknown> {
  await mkdir(installed, { recursive: true });
  await cp(join(root, "dist"), join(installed, "dist"), {
    recursive: true,
    filter: (path) => !path.endsWith(".map"),
  });
  await cp(join(root, "package.json"), join(installed, "package.json"));
  await writeFile(join(installed, "dist/planted.js"), PLANTED);
  const place = dirname(installed);
  await writeFile(join(place, "script.mjs"), SCRIPT);
  // Of the worker alone: it lies where the process that reads may not look.
  const preload = join(await temporaryFolder(), "preload.mjs");
  await writeFile(preload, "");
  const names = await readdir(examples, { recursive: true, withFileTypes: true });
  const files = names.flatMap((name) => (name.isFile() ? [join(name.parentPath, name.name)] : []));
  expect(files.length).toBeGreaterThan(20);
  const code = `${join(installed, "dist")}/`;
  const words = [process.execPath, "--import", preload, join(place, "script.mjs"), code];
  const { stdout, stderr, exitCode } = await start([...words, ...files], { cwd: "/", env: {} })
    .ended;
  // Node's warning that permissions are an experiment belongs to nobody.
  expect({ stderr, exitCode }).toEqual({ stderr: "", exitCode: 0 });
  return JSON.parse(stdout);
}

async function temporaryFolder(): Promise<string> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), "nightdesk-rights-")));
  folders.push(folder);
  return folder;
}

const DENIED = "ERR_ACCESS_DENIED";
const READ_AND_REFUSED = {
  unread: [],
  wished: {
    read: DENIED,
    beside: DENIED,
    write: DENIED,
    start: DENIED,
    thread: DENIED,
    addon: "ERR_DLOPEN_DISABLED",
  },
};

test("an installed product reads every format where the folder of all packages is a link", async () => {
  const app = await temporaryFolder();
  await symlink(join(root, "node_modules"), join(app, "node_modules"));
  expect(await readInstalled(join(app, "packages/nightdesk"))).toEqual(READ_AND_REFUSED);
}, 120_000);

test("an installed product reads every format where each package is a link to elsewhere", async () => {
  const modules = join(await temporaryFolder(), "node_modules");
  await mkdir(modules);
  for (const name of await readdir(join(root, "node_modules"))) {
    if (!name.startsWith(".")) await symlink(join(root, "node_modules", name), join(modules, name));
  }
  expect(await readInstalled(join(modules, "nightdesk"))).toEqual(READ_AND_REFUSED);
}, 120_000);
