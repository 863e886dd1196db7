import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { jsonLine, runBin } from "../support/run-bin.ts";
import type { Ended } from "../support/run-bin.ts";
import { removeDesk } from "../support/workers-ended.ts";

/** A folder as somebody has it who has just installed Nightdesk: documents, and no configuration. */
let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "nightdesk-smoke-"));
  mkdirSync(join(folder, "allowed", "corpus"), { recursive: true });
  writeFileSync(join(folder, "allowed", "corpus", "hut.md"), "# Hut\n\nThe hut opens on 3 May.\n");
});
afterAll(() => removeDesk(folder));

const run = (...words: readonly string[]): Promise<Ended> => runBin(words, { cwd: folder });

test("the commands, a worker and the embedded database do the first evening", async () => {
  const indexed = await run("index", "--json");
  expect(indexed.code).toBe(0);
  expect(jsonLine(indexed)).toMatchObject({ ok: true });
  const asked = await run("ask", "When does the hut open?", "--wait", "--json");
  expect(jsonLine(asked)).toMatchObject({
    ok: true,
    citations: [expect.objectContaining({ path: "allowed/corpus/hut.md" })],
  });
  const refused = await run("ask", "What does no-such-note.md say?", "--wait", "--json");
  expect(refused.code).toBe(4);
  expect(jsonLine(refused)).toMatchObject({ ok: false, error_code: "FILE_NOT_FOUND" });
  const rows = await run(
    "sql",
    "select kind, state, count(*)::int as jobs from nightdesk.results group by 1, 2 order by 1, 2",
    "--json",
  );
  expect(JSON.parse(rows.stdout)).toEqual([
    { kind: "ask", state: "refused", jobs: 1 },
    { kind: "ask", state: "succeeded", jobs: 1 },
    { kind: "embed", state: "succeeded", jobs: 1 },
    { kind: "index", state: "succeeded", jobs: 1 },
  ]);
});

test("a dump into a folder that is not there names the folder, and what to do", async () => {
  const lacking = join(folder, "nowhere");
  const ended = await run("backup", join(lacking, "dump.tar.gz"));
  expect(ended.code).toBe(1);
  expect(ended.stderr).toContain(
    `INPUT_INVALID: ${lacking} is no folder that can be reached. Make it, or name a file elsewhere.`,
  );
});
