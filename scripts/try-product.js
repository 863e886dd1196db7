import { execFile } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { waitUntil } from "../tests/services/wait-until.js";
import { runScript } from "./phase.js";
import { root } from "./root.js";

// Whether a built product runs on this Node: it works one job of each kind, with the embedded database and extractive answers, and
// each of its modules is loaded.
//   node scripts/try-product.js [FOLDER]     of the product; the checkout without it

const product = resolve(process.argv[2] ?? root);
/** The program itself, which reads the command line and runs: every job below loads it. */
const PROGRAM = "main.js";

const DOCUMENTS = {
  "hut.md":
    "# Hut\n\nThe hut opens on 3 May. It closes on 10 October.\n\nAnna orders the gas before 1 April.\n",
  "gas.md": "# Gas\n\nThe total of the gas is 240 EUR, payable by 30 June.\n",
};
const CONFIG = `extends: nightdesk:embedded
on_batch_end: { command: [/bin/sh, -c, "cat > told.json"] }
`;
const LINES = [
  { kind: "ask", question: "When does the hut open?", options: { verify: "standard" } },
  { kind: "summarize", path: "allowed/corpus/hut.md" },
  { kind: "extract", path: "allowed/corpus/hut.md", preset: "actions" },
  { kind: "investigate", task: "When does the hut close?", tools: "optional" },
  { kind: "embed", text: ["The hut opens on 3 May."] },
  { kind: "index" },
  { kind: "chat", prompt: "Hello" },
];
/** Each in its order; a worker that drains has done the jobs of all before it ends. */
const COMMANDS = [
  ["index"],
  ["enqueue", "lines.jsonl", "--batch-name", "kinds"],
  ["schedule", "set", "again", "--cron", "0 3 * * *", "--", "index"],
  ["schedule", "run", "again"],
  ["worker", "--drain"],
  ["digest", "kinds", "--wait"],
];
const OUTCOMES = `select kind, state, error_code from results
  union select 'notify', state, error from hooks where batch = 'kinds'`;
/**
 * Nobody chats without a language model, and that is told by its code. Nor is there a job of kind check: rules settle what is
 * asked of quoted sentences.
 */
const EXPECTED = {
  ask: "succeeded",
  chat: "refused MODEL_UNSUPPORTED",
  command: "succeeded",
  digest: "succeeded",
  embed: "succeeded",
  extract: "succeeded",
  index: "succeeded",
  investigate: "succeeded",
  notify: "done",
  summarize: "succeeded",
};

await runScript(async () => {
  const worked = await workEachKind();
  // Last: modules that are processes of their own listen for a parent, and stand up to signals.
  const loaded = await loadModules();
  const trials = [...worked, ...loaded];
  const failures = trials.filter((trial) => trial.failure !== null);
  for (const { name, failure } of failures) process.stdout.write(`${name}: ${failure}\n`);
  process.stdout.write(
    `Node ${process.version}: ${worked.length} kinds of jobs, ${loaded.length} modules: ` +
      `${trials.length - failures.length} passed, ${failures.length} failed\n`,
  );
  process.exit(failures.length === 0 ? 0 : 1);
});

/** @typedef {{ name: string, failure: string | null }} Trial */

/** @returns {Promise<Trial[]>} one for each module of the product */
async function loadModules() {
  const dist = join(product, "dist");
  const names = readdirSync(dist, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".js") && name !== PROGRAM)
    .sort();
  if (names.length === 0) throw new Error(`${dist} holds no module.`);
  const trials = [];
  for (const name of names) {
    const failure = await import(pathToFileURL(join(dist, name)).href).then(
      () => null,
      (error) => String(error),
    );
    trials.push({ name, failure });
  }
  return trials;
}

/** @returns {Promise<Trial[]>} one for each kind of job */
async function workEachKind() {
  const folder = mkdtempSync(join(tmpdir(), "nightdesk-try-"));
  try {
    writeWorkroot(folder);
    for (const words of COMMANDS) await nightdesk(folder, words);
    const rows = JSON.parse(await nightdesk(folder, ["sql", OUTCOMES, "--json"]));
    return compareKinds(rows);
  } finally {
    await waitForWorkers(folder);
    await stopDatabase(folder);
    rmSync(folder, { recursive: true, force: true });
  }
}

/** A worker that a command started stays for a moment, and would start the database again. */
async function waitForWorkers(folder) {
  const log = join(folder, ".nightdesk", "worker.log");
  if (!existsSync(log)) return;
  const times = (words) => readFileSync(log, "utf8").split(words).length;
  const haveEnded = () => times("worker ready") === times("worker stopped");
  await waitUntil(() => Promise.resolve(haveEnded()), 30_000);
}

function writeWorkroot(folder) {
  const corpus = join(folder, "allowed", "corpus");
  mkdirSync(corpus, { recursive: true });
  for (const [name, text] of Object.entries(DOCUMENTS)) writeFileSync(join(corpus, name), text);
  writeFileSync(join(folder, "nightdesk.yaml"), CONFIG);
  const lines = LINES.map((line) => `${JSON.stringify(line)}\n`);
  writeFileSync(join(folder, "lines.jsonl"), lines.join(""));
}

/** @returns {Promise<string>} stdout; rejects with what it said when it ends otherwise than by 0 */
async function nightdesk(folder, words) {
  const bin = join(product, "bin", "nightdesk.js");
  const { stdout } = await promisify(execFile)(process.execPath, [bin, ...words], {
    cwd: folder,
    env: { PATH: process.env.PATH, HOME: folder, TZ: "UTC", NODE_NO_WARNINGS: "1" },
  });
  return stdout;
}

function compareKinds(rows) {
  const kinds = new Set([...Object.keys(EXPECTED), ...rows.map(({ kind }) => kind)]);
  return [...kinds].map((kind) => {
    const outcomes = rows
      .filter((row) => row.kind === kind)
      .map(({ state, error_code: code }) => (code === null ? state : `${state} ${code}`));
    const found = outcomes.join(", ") || "no job";
    const expected = EXPECTED[kind] ?? "no job";
    return { name: kind, failure: found === expected ? null : `${found}, expected ${expected}` };
  });
}

/** By the product itself, which waits for the end of the process. */
async function stopDatabase(folder) {
  const module = join(product, "dist", "shared", "store", "embedded", "embedded-process.js");
  const { stopEmbedded } = await import(pathToFileURL(module).href);
  await stopEmbedded(join(folder, ".nightdesk"));
}
