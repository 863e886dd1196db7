import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, beforeEach } from "@jest/globals";
import { bindSources } from "../../src/worker/index/sources.ts";
import type { IndexSource } from "../../src/worker/index/sources.ts";
import type { Watch } from "../../src/worker/index/watch-rules.ts";
import { lookAtSource, watchMemory } from "../../src/worker/index/watch-source.ts";
import type { LookOutcome, WatchMemory } from "../../src/worker/index/watch-source.ts";
import { openSandbox } from "../../src/worker/sandbox/open-sandbox.ts";
import { extractText } from "./read-documents.ts";
import { policyOver } from "./security-policy.ts";
import { openPostgres } from "./test-databases.ts";
import type { TestDatabase } from "./test-databases.ts";

const REST_S = 1;

type WatchedFolder = {
  readonly db: TestDatabase["db"];
  readonly workroot: string;
  /** @param path below the work root */
  readonly write: (path: string, text: string) => void;
  /** Until what was written is at rest. */
  readonly rest: () => Promise<void>;
  /** One look; without a memory as after a restart. */
  readonly look: (watch?: Partial<Watch>, memory?: WatchMemory) => Promise<LookOutcome>;
  readonly rows: (sql: string) => Promise<readonly unknown[]>;
  /** The inputs of all jobs, in the order in which they were queued. */
  readonly jobs: () => Promise<readonly Readonly<Record<string, unknown>>[]>;
};

/** A folder `in`, watched as source `inbox`, with a database of this test file's own, and of each test a work root and empty rows. */
export function watchedFolder(extensions: readonly string[]): WatchedFolder {
  let database: TestDatabase;
  let workroot: string;
  let source: IndexSource;

  beforeAll(async () => {
    database = await openPostgres();
  });
  afterAll(() => database.close());
  beforeEach(async () => {
    workroot = mkdtempSync(join(tmpdir(), "nightdesk-watch-"));
    mkdirSync(join(workroot, "in"));
    const sandbox = await openSandbox(
      policyOver(workroot, {
        allowedRoots: [join(workroot, "in")],
        allowedExts: extensions,
        maxFileBytes: 20_000,
      }),
      extractText,
    );
    const configured = [{ name: "inbox", root: "in", language: "auto" as const }];
    [source] = bindSources(sandbox, configured, workroot) as [IndexSource];
  });
  afterEach(async () => {
    rmSync(workroot, { recursive: true });
    await database.db.query("delete from nightdesk_data.batches");
    await database.db.query("delete from nightdesk_data.watched_files");
    await database.db.query("delete from nightdesk_data.watches");
  });

  const rows = async (sql: string) => (await database.db.query(sql)).rows;
  return {
    get db() {
      return database.db;
    },
    get workroot() {
      return workroot;
    },
    write: (path: string, text: string): void => {
      mkdirSync(dirname(join(workroot, path)), { recursive: true });
      writeFileSync(join(workroot, path), text);
    },
    rest: () => setTimeout(REST_S * 1_000 + 100),
    look: (watch = {}, memory = watchMemory()) =>
      lookAtSource(
        { database: database.db, workroot, extensions },
        { source, watch: { every_s: 1, rest_s: REST_S, rules: [], ...watch } },
        memory,
      ),
    rows,
    jobs: async () =>
      (await rows("select input from nightdesk_data.jobs order by seq")).map(
        (row) => (row as { input: Record<string, unknown> }).input,
      ),
  };
}
