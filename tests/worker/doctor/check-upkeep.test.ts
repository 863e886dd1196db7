import { mkdir, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { indexFolder } from "../../../bench/index-folder.ts";
import { loadConfig } from "../../../src/shared/config/load-config.ts";
import type { Config } from "../../../src/shared/config/schema.ts";
import { checkRetrieval } from "../../../src/worker/doctor/check-index.ts";
import { checkUpkeep } from "../../../src/worker/doctor/check-upkeep.ts";
import { openDesk } from "../../producer/desk.ts";
import type { Desk } from "../../producer/desk.ts";
import {
  askAbout,
  beginInvestigation,
  investigationsOf,
} from "../../support/waiting-investigations.ts";

const packageRoot = join(import.meta.dirname, "..", "..", "..");
let desk: Desk;
let config: Config;

beforeAll(async () => {
  desk = await openDesk();
  config = await loadConfig({ flags: {}, env: {}, cwd: desk.workroot, packageRoot });
  await mkdir(join(desk.workroot, "corpus"));
  const sentence =
    "The pay day of the crew of this ship is the fifth of each month, at noon, on deck.";
  await desk.write("corpus/pay.md", `# Crew\n\n${sentence}\n`);
  await indexFolder(desk.database, desk.workroot, false);
});
afterAll(() => desk.dispose());

const upkeep = async () =>
  new Map((await checkUpkeep(config, desk.database, null)).map((check) => [check.code, check]));

test("a sentence of a document has to find it", async () => {
  const found = "Searched for 1 sentence of the index, and found the document of each.";
  expect(await checkRetrieval(config, desk.database)).toMatchObject([
    { code: "DOCTOR_RETRIEVAL_OK", message: found },
  ]);
  await desk.database.query("delete from nightdesk_data.postings");
  const [missed] = await checkRetrieval(config, desk.database);
  expect(missed?.code).toBe("DOCTOR_RETRIEVAL_MISSES");
});

test("a desk that is well has its clock, its disk and its jobs in order", async () => {
  expect([...(await upkeep()).keys()]).toEqual([
    "DOCTOR_CLOCK_OK",
    "DOCTOR_DISK_OK",
    "DOCTOR_BACKUP_UNKNOWN",
    "DOCTOR_JOBS_OK",
  ]);
});

test("dates the newest whole dump of an embedded database", async () => {
  const url = "embedded";
  const embedded = { ...config, database: { ...config.database, url } } as const;
  const folder = join(config.roots.databaseDirectory, "backups");
  await mkdir(folder, { recursive: true });
  const dump = join(folder, "20260101T120000000Z.tar.gz");
  await writeFile(dump, "");
  await utimes(dump, new Date("2026-01-01"), new Date("2026-01-01"));
  await writeFile(join(folder, ".nightdesk-0123.partial"), "");
  const codes = (await checkUpkeep(embedded, desk.database, null)).map(({ code }) => code);
  expect(codes).toContain("DOCTOR_BACKUP_OLD");
});

test("names batches whose jobs lost their worker, and those that wait for a person for days", async () => {
  const { database } = desk;
  const { jobIds } = await investigationsOf(database, "asks", 2);
  const [asks = "", lost = ""] = jobIds;
  await askAbout(database, asks);
  await beginInvestigation(database, lost);
  await database.query(
    "update nightdesk_data.jobs set lease_until = clock_timestamp() - interval '2 h' where job_id = $1",
    [lost],
  );
  await database.query(
    `update nightdesk_data.approvals set requested_at = requested_at - interval '30 h',
            expires_at = expires_at + interval '1 h'`,
  );
  const checks = await upkeep();
  expect(checks.get("DOCTOR_JOBS_STUCK")?.message).toContain('"asks" (1, 2.0 h)');
  expect(checks.get("DOCTOR_APPROVALS_WAIT")?.message).toContain('"asks" (1, 30.0 h)');
});

test("tells that the database's clock was set back, by the runs that have ended since", async () => {
  const { database } = desk;
  const { jobIds } = await investigationsOf(database, "back", 1);
  const { runId } = await beginInvestigation(database, jobIds[0] ?? "");
  expect((await upkeep()).has("DOCTOR_CLOCK_WENT_BACK")).toBe(false);
  await database.query(
    `update nightdesk_data.runs set state = 'handed_back', run_ms = 1, finished_at = clock_timestamp() + interval '1 h' where run_id = $1`,
    [runId],
  );
  expect((await upkeep()).get("DOCTOR_CLOCK_WENT_BACK")?.message).toContain("3600 s from now");
});
