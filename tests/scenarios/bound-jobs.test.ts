import { mkdir, symlink, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { stringify } from "yaml";
import { indexFolder } from "../../bench/index-folder.ts";
import { openDesk, rowsOf } from "../producer/desk.ts";
import type { Desk } from "../producer/desk.ts";
import { runBin } from "../support/run-bin.ts";

const LONG_MS = 120_000;
const SECRET = "The code of the vault is 4711.";
let desk: Desk;

beforeAll(async () => {
  desk = await openDesk();
  for (const folder of ["public", "private", "public-later"]) {
    await mkdir(join(desk.workroot, "corpus", folder), { recursive: true });
  }
  await desk.write("corpus/public/pay.md", "# Crew\n\nThe pay day is the fifth.\n");
  await desk.write("corpus/private/vault.md", `# Safe\n\n${SECRET}\n`);
  await desk.write("corpus/public-later/code.md", `# Code\n\n${SECRET}\n`);
  await symlink("../private/vault.md", join(desk.workroot, "corpus/public/link.md"));
  const base = { extends: "nightdesk:default", log: { level: "silent" } };
  await writeFile(
    join(desk.workroot, "nightdesk.yaml"),
    stringify({
      ...base,
      database: { url: desk.databaseUrl },
      queue: { backend: "postgres" },
      model: { provider: "extractive" },
      security: { allowed_roots: ["corpus"] },
      index: { sources: [{ name: "corpus", root: "corpus" }] },
      mcp: {
        roots: ["corpus/public"],
        submit_kinds: ["ask", "summarize", "extract"],
        max_open_jobs: 7,
      },
    }),
  );
  await indexFolder(desk.database, desk.workroot, false);
});
afterAll(() => desk.dispose());

async function submitAll(jobs: readonly object[]): Promise<readonly unknown[]> {
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [resolve(import.meta.dirname, "..", "..", "bin", "nightdesk.js"), "mcp"],
    cwd: desk.workroot,
    env: { PATH: process.env["PATH"] ?? "" },
    stderr: "pipe",
  });
  const client = new Client({ name: "test", version: "0" });
  await client.connect(transport);
  try {
    const told: unknown[] = [];
    for (const job of jobs) {
      const { structuredContent } = await client.callTool({
        name: "submit_job",
        arguments: { ...job },
      });
      told.push(structuredContent);
    }
    const found = await client.callTool({
      name: "search_index",
      arguments: { query: "code of the vault" },
    });
    expect(JSON.stringify(found)).not.toContain("4711");
    return told;
  } finally {
    await client.close();
  }
}

test(
  "jobs of a client read nothing outside of mcp.roots, whatever names it, and so many wait at once",
  async () => {
    const told = await submitAll([
      { kind: "ask", task: "Read corpus/private/vault.md: what is the code of the vault?" },
      { kind: "ask", task: "Read vault.md: what is the code of the vault?" },
      { kind: "ask", task: "Read corpus/public/link.md: what is the code of the vault?" },
      { kind: "ask", task: "What is the code of the vault?" },
      { kind: "summarize", path: "corpus/public/link.md" },
      { kind: "extract", path: "corpus/public/link.md", extract: "people" },
      { kind: "summarize", path: "corpus/public/pay.md" },
      { kind: "ask", task: "When is the pay day?" },
      { kind: "ask", task: "When?", path_prefix: "corpus/public/../private" },
      { kind: "ask", task: "When?", path_prefix: "corpus/public-later" },
    ]);
    expect(told).toMatchObject([
      ...Array.from({ length: 7 }, () => ({ ok: true })),
      { error_code: "INPUT_INVALID", error_message: expect.stringContaining("max_open_jobs") },
      { error_code: "INPUT_INVALID", error_message: expect.stringContaining("path_prefix") },
      { error_code: "INPUT_INVALID", error_message: expect.stringContaining("path_prefix") },
    ]);
    const worked = await runBin(["worker", "--drain"], { cwd: desk.workroot });
    expect(worked.code).toBe(0);
    const rows = await rowsOf(
      desk.database,
      "select error_code, answer from nightdesk.results order by created_at",
    );
    expect(rows.map(({ error_code: code }) => code)).toEqual([
      "PATH_DENIED",
      "FILE_NOT_FOUND",
      "PATH_DENIED",
      "EVIDENCE_NOT_ACQUIRED",
      "PATH_DENIED",
      "PATH_DENIED",
      null,
    ]);
    expect(JSON.stringify(rows)).not.toContain("4711");
    expect(await submitAll([{ kind: "ask", task: "When is the pay day?" }])).toMatchObject([
      { ok: true },
    ]);
  },
  LONG_MS,
);

test(
  "ask --path reads nothing outside of the folder, and finds nothing in one whose name begins the same",
  async () => {
    for (const words of [
      ["Read corpus/private/vault.md: what is the code of the vault?"],
      ["Read code.md: what is the code of the vault?"],
      ["What is the code of the vault?"],
    ]) {
      const queued = await desk.run("ask", ...words, "--path", "corpus/public");
      expect(queued.code).toBe(0);
    }
    await runBin(["worker", "--drain"], { cwd: desk.workroot });
    const rows = await rowsOf(
      desk.database,
      "select error_code, answer from nightdesk.results order by created_at desc limit 3",
    );
    expect(rows.map(({ error_code: code }) => code)).toEqual([
      "EVIDENCE_NOT_ACQUIRED",
      "FILE_NOT_FOUND",
      "PATH_DENIED",
    ]);
  },
  LONG_MS,
);
