import { mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { jsonLine, runBin } from "../support/run-bin.ts";
import type { Ended } from "../support/run-bin.ts";
import { runCommand } from "../support/run-command.ts";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "nightdesk-usage-"));
  await mkdir(join(folder, "empty"));
  await writeFile(join(folder, "typo.yaml"), "modell:\n  name: x\n");
  await writeFile(join(folder, "value.yaml"), "model:\n  num_ctx: -1\n");
  await writeFile(join(folder, "broken.yaml"), "queue: [\n");
  await writeFile(
    join(folder, "secret.yaml"),
    "database:\n  url: postgres://u:hunter2@127.0.0.1:1/x\n",
  );
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const run = (words: readonly string[]): Promise<Ended> =>
  runCommand(words, { cwd: join(folder, "empty") });
/** As a user runs it: what the bin does of itself. */
const runInShell = (...words: readonly string[]): Promise<Ended> =>
  runBin(words, { cwd: join(folder, "empty") });

type Wrong = {
  readonly words: readonly string[];
  readonly code: number;
  readonly error: string;
  readonly says: string;
};

const wrong: readonly Wrong[] = [
  { words: ["batc", "list"], code: 2, error: "USAGE_ERROR", says: "Did you mean batch?" },
  { words: ["batch", "lsit"], code: 2, error: "USAGE_ERROR", says: "Did you mean list?" },
  { words: ["ask", "x", "--wiat"], code: 2, error: "USAGE_ERROR", says: "Did you mean --wait?" },
  { words: ["summarize", "-name.txt"], code: 2, error: "USAGE_ERROR", says: "./-name.txt, or" },
  { words: ["ask"], code: 2, error: "USAGE_ERROR", says: "'question'" },
  { words: ["index", "extra"], code: 2, error: "USAGE_ERROR", says: "Expected 0 arguments" },
  { words: ["query", "x", "--limit", "0"], code: 2, error: "USAGE_ERROR", says: "from 1" },
  { words: ["query", "x", "--limit", "abc"], code: 2, error: "USAGE_ERROR", says: '"abc"' },
  { words: ["query", "x", "--mode", "best"], code: 2, error: "USAGE_ERROR", says: "lexical" },
  { words: ["query"], code: 2, error: "USAGE_ERROR", says: "--file" },
  { words: ["completion", "tcsh"], code: 2, error: "USAGE_ERROR", says: "bash, zsh, fish" },
  { words: ["batch", "list"], code: 1, error: "NOT_FOUND", says: "There is nothing yet" },
  { words: ["query", "x"], code: 1, error: "NOT_FOUND", says: "nightdesk index" },
  { words: ["sql", "select 1"], code: 1, error: "NOT_FOUND", says: "There is nothing yet" },
  {
    words: ["index", "--workroot", "/no/such/folder"],
    code: 78,
    error: "CONFIG_ERROR",
    says: "/no/such/folder",
  },
  {
    words: ["index", "--config", "nope.yaml"],
    code: 78,
    error: "CONFIG_ERROR",
    says: "does not exist",
  },
  {
    words: ["index", "--config", "../typo.yaml"],
    code: 78,
    error: "CONFIG_ERROR",
    says: "did you mean model?",
  },
  {
    words: ["index", "--config", "../value.yaml"],
    code: 78,
    error: "CONFIG_ERROR",
    says: "model.num_ctx is -1",
  },
  { words: ["index", "--config", "../broken.yaml"], code: 78, error: "CONFIG_ERROR", says: ":2:1" },
  {
    words: ["batch", "list", "--config", "../secret.yaml"],
    code: 69,
    error: "DATABASE_UNREACHABLE",
    says: "ECONNREFUSED",
  },
];

describe("a command that can't run", () => {
  test.each(wrong)(
    "$words ends with $code, in words on stderr",
    async ({ words, code, error, says }) => {
      const ended = await run(words);
      expect(ended.code).toBe(code);
      expect(ended.stdout).toBe("");
      expect(ended.stderr).toMatch(new RegExp(`^nightdesk: ${error}: .+\n$`));
      expect(ended.stderr).toContain(says);
    },
  );

  test.each(wrong)(
    "$words --json ends with one typed line",
    async ({ words, code, error, says }) => {
      const ended = await run([...words, "--json"]);
      expect(ended.code).toBe(code);
      const { ok, error_code, error_message, ...rest } = jsonLine(ended);
      expect({ ok, error_code, rest }).toEqual({ ok: false, error_code: error, rest: {} });
      expect(error_message).toContain(says);
      expect(ended.stderr).toBe("");
    },
  );

  test("leaves the folder as it was", async () => {
    expect(await readdir(join(folder, "empty"))).toEqual([]);
  });

  test("shows no password", async () => {
    const ended = await run(["batch", "list", "--config", "../secret.yaml", "--debug"]);
    expect(ended.stderr).not.toContain("hunter2");
  });

  test("ends so as a process too", async () => {
    expect(await runInShell("batc", "list")).toMatchObject({ code: 2, stdout: "" });
    const ended = await runInShell("index", "--config", "../typo.yaml", "--json");
    expect({ code: ended.code, ...jsonLine(ended) }).toMatchObject({
      code: 78,
      error_code: "CONFIG_ERROR",
    });
  });

  test("shows a stack only with --debug", async () => {
    const stack = /\n {4}at /;
    expect((await runInShell("batch", "list")).stderr).not.toMatch(stack);
    expect((await runInShell("batch", "list", "--debug")).stderr).toMatch(stack);
  });
});

describe("help", () => {
  test("is data on stdout, with examples first", async () => {
    const { code, stdout, stderr } = await runInShell("--help");
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toMatch(/^Examples:\n {2}nightdesk index\n/);
    for (const word of ["worker", "enqueue", "doctor", "sql"])
      expect(stdout).toContain(`  ${word}`);
    expect(stdout).not.toContain("  database");
  });

  test("of one command shows its own examples, once", async () => {
    const { code, stdout } = await run(["ask", "--help"]);
    expect(code).toBe(0);
    expect(stdout.match(/^Examples:$/gm)).toHaveLength(1);
    expect(stdout).toMatch(/^Examples:\n {2}nightdesk ask /);
  });

  test("is named when no command is given, after what is here and what comes next", async () => {
    const { code, stdout } = await runInShell();
    expect(code).toBe(0);
    expect(stdout).toContain("All commands: nightdesk --help");
    expect(stdout.trimEnd().split("\n").length).toBeLessThanOrEqual(12);
  });

  test("the version is one line", async () => {
    expect(await runInShell("--version")).toMatchObject({ code: 0, stdout: "0.1.0\n", stderr: "" });
  });
});

describe("the doctor before anything is there", () => {
  test("says what to run, and creates nothing", async () => {
    const ended = await run(["doctor"]);
    expect(ended.code).toBe(0);
    expect(ended.stdout).toContain("[WARN] DOCTOR_INDEX_DB_MISSING");
    expect(ended.stdout).toContain("fix: Run: nightdesk index");
    expect(await readdir(join(folder, "empty"))).toEqual([]);
  });

  test("reports a configuration with a typo as a failed check", async () => {
    const ended = await run(["doctor", "--json", "--config", "../typo.yaml"]);
    expect(ended.code).toBe(1);
    expect(jsonLine(ended)).toMatchObject({
      ok: false,
      checks: [{ error_code: "DOCTOR_CONFIG_INVALID", level: "fail" }],
    });
  });
});

test("the configuration shown holds no password", async () => {
  const ended = await run(["config", "show", "--json", "--config", "../secret.yaml"]);
  expect(ended.code).toBe(0);
  expect(jsonLine(ended)).toHaveProperty("values");
  expect(ended.stdout).not.toContain("hunter2");
});
