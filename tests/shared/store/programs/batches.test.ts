import { randomUUID } from "node:crypto";
import { Readable } from "node:stream";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { findOrCreateBatch } from "../../../../src/shared/store/jobs/batches.ts";
import { cancelBatch } from "../../../../src/shared/store/jobs/close-batches.ts";
import {
  attachJobs,
  beginProgramBatch,
  countOpenJobs,
  deleteProgramBatch,
  failInterrupted,
  failProgramBatch,
  listProgramBatches,
  selectOpenBatches,
} from "../../../../src/shared/store/programs/batches.ts";
import type { NewProgramBatch } from "../../../../src/shared/store/programs/batches.ts";
import { storeFile } from "../../../../src/shared/store/programs/files.ts";
import { revokeToken } from "../../../../src/shared/store/programs/tokens.ts";
import { askJob, openBatchOf } from "../../../conformance/jobs.ts";
import { describeOnPostgres, openPostgres } from "../../../support/test-databases.ts";
import type { TestDatabase } from "../../../support/test-databases.ts";
import { makeToken } from "./make-token.ts";
import type { MadeToken } from "./make-token.ts";

let database: TestDatabase;

const REQUEST: NewProgramBatch = {
  ...{ fileId: null, endpoint: "/v1/nightdesk/jobs", completionWindow: "24h", metadata: {} },
  ...{ requestSha256: "a".repeat(64), idempotencyKey: null, sent: "first" },
};

async function begin({ tokenId }: MadeToken, request: Partial<NewProgramBatch> = {}) {
  const begun = await beginProgramBatch(database.db, tokenId, { ...REQUEST, ...request });
  if (begun === undefined) throw new Error("the token has ended");
  return begun;
}
const idOf = async (token: MadeToken, request: Partial<NewProgramBatch> = {}) =>
  (await begin(token, request)).batch.programBatchId;
const rowOf = async (programBatchId: string) => {
  const { rows } = await database.db.query(
    "select * from nightdesk_data.program_batches where program_batch_id = $1",
    [programBatchId],
  );
  return rows[0] as Record<string, unknown> | undefined;
};

type Attaching = { readonly programBatchId: string; readonly jobs?: number };
const attach = async (token: MadeToken, { programBatchId, jobs = 1 }: Attaching) => {
  const ids = Array.from({ length: jobs }, (_, at) => askJob(`${at}`));
  const { batchId, jobIds } = await openBatchOf(database.db, ids);
  const attached = await database.db.transaction((db) =>
    attachJobs(db, token, { programBatchId, batchId, jobs, mostOpen: 3, action: "queue" }),
  );
  return { attached, batchId, jobIds };
};

describeOnPostgres("batches of programs", () => {
  beforeAll(async () => {
    database = await openPostgres();
  });
  afterAll(() => database.close());

  test("are the same for the same key of the same token within ten minutes", async () => {
    const [token, other] = [await makeToken(database.db), await makeToken(database.db)];
    const keyed = { idempotencyKey: "k" };
    const first = await idOf(token, keyed);
    expect(await begin(token, keyed)).toMatchObject({
      created: false,
      batch: { programBatchId: first },
    });
    expect(await begin(other, keyed)).toMatchObject({ created: true });
    await database.db.query(
      "update nightdesk_data.program_batches set created_at = now() - interval '11 minutes' where program_batch_id = $1",
      [first],
    );
    expect(await begin(token, keyed)).toMatchObject({ created: true });
  });

  test("are the same for the same words where the client says that it sends them again", async () => {
    const token = await makeToken(database.db);
    const first = await idOf(token);
    const second = await idOf(token);
    expect(second).not.toBe(first);
    expect(await idOf(token, { sent: "again" })).toBe(second);
    const others = { sent: "again", requestSha256: "b".repeat(64) } as const;
    expect(await begin(token, others)).toMatchObject({ created: true });
    expect(await begin(token, { sent: "again", idempotencyKey: "k" })).toMatchObject({
      created: true,
    });
  });

  test("are listed and found newest first, also where their numbers get another digit", async () => {
    const token = await makeToken(database.db);
    const { tokenId } = token;
    const file = await storeFile(
      database.db,
      token,
      { name: "a", bytes: 1, sha256: "a".repeat(64), keepSeconds: 60, mostBytesADay: 9 },
      Readable.from([Buffer.from("a")]),
    );
    if (typeof file === "string") throw new Error(file);
    await database.db.query(
      "select setval(pg_get_serial_sequence('nightdesk_data.program_batches', 'seq'), 98)",
    );
    const { fileId } = file;
    const ids = [await idOf(token, { fileId }), await idOf(token, { fileId })];
    const listed = async (after: string | null) => {
      const found = await listProgramBatches(database.db, tokenId, { after, limit: 10 });
      return found.map(({ programBatchId }) => programBatchId);
    };
    expect(await listed(null)).toEqual(ids.toReversed());
    expect(await listed("100")).toEqual([ids[0]]);
    expect(await idOf(token, { fileId, sent: "again" })).toBe(ids[1]);
  });

  test("have no more open jobs of a token than it may have, those that wait for a host among them", async () => {
    const token = await makeToken(database.db);
    const { attached, jobIds, batchId } = await attach(token, {
      programBatchId: await idOf(token),
      jobs: 2,
    });
    expect(attached).toBe("attached");
    await database.db.query(
      `update nightdesk_data.jobs
          set state = 'parked', waiting_for = 'time', error_code = 'MODEL_UNREACHABLE', error_message = 'away' where job_id = $1`,
      [jobIds[0]],
    );
    expect(await countOpenJobs(database.db, token.tokenId)).toBe(2);
    const refused = { programBatchId: await idOf(token), jobs: 2 };
    expect(await attach(token, refused)).toMatchObject({ attached: "too_many" });
    expect(await attach(token, { ...refused, jobs: 1 })).toMatchObject({ attached: "attached" });
    await cancelBatch(database.db, batchId);
    expect(await countOpenJobs(database.db, token.tokenId)).toBe(1);
  });

  test("take no jobs of a token that was revoked, and none once they were given up or have some", async () => {
    const token = await makeToken(database.db);
    const programBatchId = await idOf(token);
    expect(await attach(token, { programBatchId })).toMatchObject({ attached: "attached" });
    expect(await attach(token, { programBatchId })).toMatchObject({ attached: "given_up" });
    const failed = await idOf(token);
    await failProgramBatch(database.db, failed, [{ line: 1, message: "no JSON" }]);
    expect(await attach(token, { programBatchId: failed })).toMatchObject({ attached: "given_up" });
    const late = await idOf(token);
    await revokeToken(database.db, token.name);
    expect(await attach(token, { programBatchId: late })).toMatchObject({ attached: "revoked" });
    expect(await beginProgramBatch(database.db, token.tokenId, REQUEST)).toBeUndefined();
  });

  test("are failed where nobody reads their lines any more, and not deleted once they have jobs", async () => {
    const token = await makeToken(database.db);
    const [read, abandoned, queued] = [await idOf(token), await idOf(token), await idOf(token)];
    await attach(token, { programBatchId: queued });
    await database.db.query(
      "update nightdesk_data.program_batches set created_at = now() - interval '31 minutes' where program_batch_id = any($1::uuid[])",
      [[abandoned, queued]],
    );
    await failInterrupted(database.db);
    expect(await rowOf(abandoned)).toMatchObject({
      errors: [{ line: null, message: expect.stringContaining("interrupted") }],
    });
    expect(await rowOf(read)).toMatchObject({ failed_at: null });
    expect(await rowOf(queued)).toMatchObject({ failed_at: null });
    for (const id of [read, queued]) await deleteProgramBatch(database.db, id);
    expect(await rowOf(read)).toBeUndefined();
    expect(await rowOf(queued)).toBeDefined();
  });

  test("are cancelled with their token while they are loaded or open", async () => {
    const token = await makeToken(database.db);
    const { batchId: open } = await attach(token, { programBatchId: await idOf(token) });
    const { batchId: ended } = await attach(token, { programBatchId: await idOf(token) });
    await cancelBatch(database.db, ended);
    const programBatchId = await idOf(token);
    const { batchId: loading } = await findOrCreateBatch(database.db, randomUUID(), "file");
    await database.db.transaction((db) =>
      attachJobs(db, token, {
        ...{ programBatchId, batchId: loading, jobs: 0, mostOpen: 3, action: "queue" },
      }),
    );
    expect(await selectOpenBatches(database.db, token.tokenId)).toEqual([open, loading]);
  });
});

describeOnPostgres("batches of programs that come at once", () => {
  beforeAll(async () => {
    database = await openPostgres();
  });
  afterAll(() => database.close());

  test("have together no more open jobs than their token may have", async () => {
    const token = await makeToken(database.db);
    const batches = await Promise.all([1, 2, 3].map(() => idOf(token)));
    const attached = await Promise.all(
      batches.map((programBatchId) => attach(token, { programBatchId, jobs: 2 })),
    );
    expect(attached.map((one) => one.attached).sort()).toEqual([
      "attached",
      "too_many",
      "too_many",
    ]);
  });
});
