import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync } from "node:fs";
import { readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { jsonLine, runBin } from "../support/run-bin.ts";
import type { Ended } from "../support/run-bin.ts";
import { waitUntil } from "../services/wait-until.js";

/** A home without a configuration, and a folder in it with files of some formats. */
let home: string;
let papers: string;
beforeAll(() => {
  home = realpathSync(mkdtempSync(join(tmpdir(), "nightdesk-minute-")));
  papers = join(home, "papers");
  mkdirSync(join(papers, "node_modules", "left-pad"), { recursive: true });
  mkdirSync(join(papers, ".hidden"));
  const files = {
    "hut.md": "# Hut\n\nThe hut opens on 3 May.\n",
    "lease.html": "<h1>Lease</h1><p>The lease ends on 30 June 2031.</p>",
    "prices.csv": "item,price\nsoup,7.50\n",
    "minutes.rst": "Minutes\n=======\n\nThe board elected Ida Falk as treasurer.\n",
    "node_modules/left-pad/README.md": "# left-pad\n",
    ".hidden/secret.md": "# Secret\n",
  };
  for (const [name, text] of Object.entries(files)) writeFileSync(join(papers, name), text);
});
afterAll(async () => {
  // Who asks about a folder leaves a worker awake for a while, and that has a database.
  await waitUntil(async () => {
    const left = processesOf(home);
    for (const pid of left) process.kill(pid, "SIGKILL");
    return left.length === 0;
  }, 10_000);
  rmSync(home, { recursive: true, force: true, maxRetries: 5 });
});

const stateFolders = (): readonly string[] => {
  const state = join(home, ".local", "state", "nightdesk");
  return existsSync(state) ? readdirSync(state).map((name) => join(state, name)) : [];
};

/** The processes that were started with this home. */
const processesOf = (folder: string): readonly number[] =>
  readdirSync("/proc")
    .map(Number)
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/environ`, "utf8").includes(`HOME=${folder}\0`);
      } catch {
        return false;
      }
    });

const run = (cwd: string, ...words: readonly string[]): Promise<Ended> =>
  runBin(words, { cwd, env: { HOME: home } });

describe("a folder of anything", () => {
  test("is named by its first question, which makes the configuration, indexes and answers", async () => {
    const asked = await run(home, "ask", "When does the lease end?", "--in", "papers");
    expect(asked.stderr).toContain(`${papers}: 4 files to read.`);
    expect(asked.stdout).toContain("The lease ends on 30 June 2031.");
    expect(asked.code).toBe(0);
  }, 90_000);

  test("is known inside of it from then on, with what was added", async () => {
    writeFileSync(join(papers, "boat.md"), "# Boat\n\nThe boat leaves at 17:40.\n");
    const asked = await run(papers, "ask", "When does the boat leave?", "--json");
    expect(jsonLine(asked)).toMatchObject({
      ok: true,
      citations: [expect.objectContaining({ path: "boat.md" })],
    });
    expect(asked.stderr).not.toContain("files to read");
    const rows = await run(papers, "sql", "select path from documents order by 1", "--json");
    expect(JSON.parse(rows.stdout)).toEqual(
      ["boat.md", "hut.md", "lease.html", "minutes.rst", "prices.csv"].map((path) => ({ path })),
    );
    expect(existsSync(join(papers, ".nightdesk"))).toBe(false);
  }, 60_000);

  test("is told of by nightdesk alone, in twelve lines at most", async () => {
    const { stdout, code } = await run(papers);
    expect(code).toBe(0);
    expect(stdout).toContain("5 documents indexed");
    expect(stdout.trimEnd().split("\n").length).toBeLessThanOrEqual(12);
    expect((await run(home)).stdout).toContain('nightdesk ask "When does the lease end?" --in');
    const named = await run(home, "--in", "papers");
    expect(named.stdout).toContain("5 documents indexed");
    expect(named.stdout).toContain('nightdesk dashboard --in "papers"\n');
  }, 60_000);

  test("keeps its configuration by init, once, and its database stays where it is", async () => {
    const below = join(papers, "node_modules");
    const kept = await run(below, "init");
    expect(kept.stdout).toBe(`${join(papers, "nightdesk.yaml")}\n`);
    expect((await run(below, "init")).stderr).toContain(`"${papers}" has a configuration`);
    const shown = await run(papers, "config", "show", "--json");
    expect(shown.stdout).toContain(stateFolders()[0]);
    expect((await run(home, "init", "--in", "papers")).code).toBe(1);
    const status = await run(papers);
    expect(status.stdout).toContain(`by ${join(papers, "nightdesk.yaml")}`);
    expect(status.stdout).toContain("5 documents indexed");
  }, 60_000);
});

test("a folder that was moved is told where its results are, and takes them over as it is told", async () => {
  const folder = (place: string) => join(home, place, "letters");
  mkdirSync(folder("old"), { recursive: true });
  writeFileSync(join(folder("old"), "letter.md"), "# Letter\n\nThe lamp costs 12 euros.\n");
  const first = await run(home, "index", "--in", folder("old"));
  expect(first.stderr).not.toContain("any more");
  mkdirSync(join(home, "new"));
  renameSync(folder("old"), folder("new"));
  const moved = await run(home, "index", "--in", folder("new"));
  const said = new RegExp(`${folder("old")} is not there any more.* to "(.*)"\\.\n`);
  const [, state = ""] = said.exec(moved.stderr) ?? [];
  expect(stateFolders()).toContain(state);
  await run(home, "init", "--in", folder("new"));
  const file = join(folder("new"), "nightdesk.yaml");
  const text = readFileSync(file, "utf8").replace(/directory: ".*"/, `directory: "${state}"`);
  writeFileSync(file, text);
  const asked = await run(folder("new"), "sql", "select kind from results", "--json");
  expect(asked.stdout).toContain('"kind":"index"');
}, 90_000);

describe("a folder is refused", () => {
  const refusal = async (folder: string): Promise<string> => {
    const asked = await run(home, "ask", "When?", "--in", folder);
    expect(asked.code).toBe(1);
    return asked.stderr;
  };

  test("that is the machine, the home or above it, or is not there", async () => {
    expect(await refusal("/")).toContain("is the whole machine");
    expect(await refusal(home)).toContain("is your home, or holds it");
    expect(await refusal(join(home, ".."))).toContain("is your home, or holds it");
    expect(await refusal("nowhere")).toContain("is not there");
  });

  test("whose configuration can't be kept anywhere", async () => {
    const file = join(papers, "hut.md");
    mkdirSync(join(home, "fresh"));
    writeFileSync(join(home, "fresh", "a.md"), "# A\n");
    const env = { HOME: home, XDG_STATE_HOME: file };
    const asked = await runBin(["index", "--in", "fresh"], { cwd: home, env });
    expect(asked.stderr).toContain(`nightdesk: INPUT_INVALID: "${file}/nightdesk/fresh-`);
    expect(asked.stderr).toContain("can't be written (ENOTDIR). Get write access to it");
    expect(asked.code).toBe(1);
  });

  test("that others may write, or that holds nothing to read", async () => {
    const shared = join(home, "shared");
    mkdirSync(shared);
    expect(await refusal(shared)).toContain("holds no file that can be read");
    chmodSync(shared, 0o777);
    expect(await refusal(shared)).toContain("can be written by everybody, so that others");
    expect(stateFolders().filter((state) => state.includes("shared"))).toEqual([]);
  });
});

test("a folder of more than 20,000 files needs a yes", async () => {
  const large = join(home, "large");
  mkdirSync(large);
  for (let n = 0; n <= 20_000; n += 1) writeFileSync(join(large, `${n}.txt`), "");
  const refused = await run(home, "init", "--in", "large");
  expect(refused.stderr).toContain("holds more than 20,000 files");
  expect((await run(home, "init", "--in", "large", "--yes")).code).toBe(0);
}, 60_000);
