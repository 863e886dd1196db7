import { rm, symlink, utimes } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { openDesk, pretendWorker } from "../../producer/desk.ts";
import type { Desk } from "../../producer/desk.ts";
import { runBin } from "../../support/run-bin.ts";
import type { Ended } from "../../support/run-bin.ts";

let desk: Desk;
beforeAll(async () => {
  desk = await openDesk();
  for (const name of ["kept", "edited", "touched", "gone"]) {
    await desk.write(`allowed/corpus/${name}.md`, `# ${name}\n\nThe ferry leaves at 09:15.\n`);
  }
  await symlink("kept.md", join(desk.workroot, "allowed/corpus/link.md"));
  await nightdesk("index", "--no-wait");
  expect((await nightdesk("worker", "--drain")).code).toBe(0);
});
afterAll(() => desk.dispose());

const nightdesk = (...words: readonly string[]): Promise<Ended> =>
  runBin(words, { cwd: desk.workroot });

type Check = {
  readonly error_code: string;
  readonly message: string;
  readonly suggested_fix: string | null;
};
const filesCheckOf = ({ stdout }: Ended): Check | undefined =>
  (JSON.parse(stdout) as { checks: Check[] }).checks.find(({ error_code: code }) =>
    code.startsWith("DOCTOR_FILES_"),
  );

test("Doctor makes the tables of an empty database when it is allowed to, and leaves a database alone that workers are at work on", async () => {
  const empty = await openDesk("empty");
  const doctor = (...words: readonly string[]): Promise<Ended> =>
    runBin(["doctor", "--no-ollama", ...words], { cwd: empty.workroot });
  try {
    const made = await doctor("--fix", "--yes", "--json");
    expect(made.stderr).toContain("running: nightdesk migrate\n");
    expect(codesOf(made)).toContain("DOCTOR_INDEX_SCHEMA_OK");
    expect(codesOf(made)).toContain("DOCTOR_QUEUE_OK");

    await empty.database.query("delete from nightdesk_migrations.applied where name like '0004%'");
    await pretendWorker(empty.database);
    const left = await doctor("--fix", "--yes", "--json");
    expect(left.stderr).not.toContain("running:");
    expect(codesOf(left)).toContain("DOCTOR_INDEX_SCHEMA_IN_USE");
  } finally {
    await empty.dispose();
  }
}, 120_000);

const codesOf = ({ stdout }: Ended): readonly string[] =>
  (JSON.parse(stdout) as { checks: Check[] }).checks.map(({ error_code: code }) => code);

test("Doctor counts files that changed or went since they were indexed, and mends it when it is allowed to", async () => {
  const before = await nightdesk("doctor", "--no-ollama", "--json");
  expect(filesCheckOf(before)?.error_code).toBe("DOCTOR_FILES_OK");

  await desk.write("allowed/corpus/edited.md", "# edited\n\nThe ferry leaves at 10:45 now.\n");
  const touched = join(desk.workroot, "allowed/corpus/touched.md");
  await utimes(touched, new Date("2026-01-01"), new Date("2026-01-01"));
  await rm(join(desk.workroot, "allowed/corpus/gone.md"));
  await desk.write("allowed/corpus/new.md", "# new\n\nThe ferry has a bar.\n");
  await desk.write("allowed/corpus/new.exe", "no document");
  const after = await nightdesk("doctor", "--no-ollama", "--json");
  expect(filesCheckOf(after)).toMatchObject({
    error_code: "DOCTOR_FILES_CHANGED",
    message: "Files that changed since they were indexed: 2; that are gone: 1; that are new: 1.",
    suggested_fix: "Run: nightdesk index",
  });

  const unasked = await nightdesk("doctor", "--no-ollama", "--fix");
  expect(unasked).toMatchObject({ code: 2, stderr: expect.stringContaining("Give --yes") });
  // No worker is alive, and nobody waits for one.
  const queued = await nightdesk("doctor", "--no-ollama", "--fix", "--yes", "--json");
  expect(queued.stderr).toContain("running: nightdesk index --no-wait");
  expect((await nightdesk("worker", "--drain")).code).toBe(0);
  const mended = await nightdesk("doctor", "--no-ollama", "--json");
  expect(filesCheckOf(mended)?.error_code).toBe("DOCTOR_FILES_OK");
  const found = await nightdesk("query", "10:45", "--json");
  expect(found.stdout).toContain("allowed/corpus/edited.md");
}, 120_000);
