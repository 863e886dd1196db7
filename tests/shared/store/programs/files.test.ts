import { afterAll, beforeAll, expect, test } from "@jest/globals";
import {
  deleteExpiredFiles,
  deleteFile,
  findFile,
  listFiles,
  selectBytesOfDay,
  storeFile,
} from "../../../../src/shared/store/programs/files.ts";
import type { ProgramFile } from "../../../../src/shared/store/programs/files.ts";
import { revokeToken } from "../../../../src/shared/store/programs/tokens.ts";
import { countOf } from "../../../conformance/jobs.ts";
import { describeOnPostgres, openPostgres } from "../../../support/test-databases.ts";
import type { TestDatabase } from "../../../support/test-databases.ts";
import { makeToken } from "./make-token.ts";
import type { MadeToken } from "./make-token.ts";

describeOnPostgres("files of programs", () => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await openPostgres();
  });
  afterAll(() => database.close());

  const store = (token: MadeToken, { bytes = 3, mostBytesADay = 100 } = {}) =>
    storeFile(
      database.db,
      token,
      { name: "a.jsonl", bytes, sha256: "a".repeat(64), keepSeconds: 3_600, mostBytesADay },
      (async function* parts() {
        yield Buffer.alloc(bytes);
      })(),
    );
  async function stored(token: MadeToken): Promise<ProgramFile> {
    const file = await store(token);
    if (typeof file === "string") throw new Error(file);
    return file;
  }
  const all = (token: MadeToken, order: "asc" | "desc", after: string | null = null) =>
    listFiles(database.db, token.tokenId, { after, limit: 10, order });
  const age = (file: ProgramFile, hours: number) =>
    database.db.query(
      `update nightdesk_data.program_files
          set created_at = now() - make_interval(hours => $2), expires_at = now() - interval '1 minute' where file_id = $1`,
      [file.fileId, hours],
    );

  test("are listed from one on, the newest or the oldest first", async () => {
    const token = await makeToken(database.db);
    // As text, 10 comes before 9.
    await database.db.query(
      "select setval(pg_get_serial_sequence('nightdesk_data.program_files', 'seq'), 8)",
    );
    const seqs = [(await stored(token)).seq, (await stored(token)).seq, (await stored(token)).seq];
    const listed = async (order: "asc" | "desc", after?: string) =>
      (await all(token, order, after)).map(({ seq }) => seq);
    expect(await listed("asc")).toEqual(seqs);
    expect(await listed("desc")).toEqual(seqs.toReversed());
    expect(await listed("asc", seqs[1])).toEqual([seqs[2]]);
    expect(await listed("desc", seqs[1])).toEqual([seqs[0]]);
  });

  test("whose time is over are not there, count for their day, and go after it with their parts", async () => {
    const token = await makeToken(database.db);
    const [file, kept] = [await stored(token), await stored(token)];
    await age(file, 23);
    expect(await findFile(database.db, token.tokenId, file.fileId)).toBeUndefined();
    expect(await all(token, "asc")).toEqual([kept]);
    expect(await deleteFile(database.db, token, file.fileId)).toBe(false);
    expect(await deleteExpiredFiles(database.db)).toBe(0);
    expect(await selectBytesOfDay(database.db, token.tokenId)).toBe(6);
    await age(file, 25);
    expect(await selectBytesOfDay(database.db, token.tokenId)).toBe(3);
    expect(await deleteExpiredFiles(database.db)).toBe(1);
    expect(
      await countOf(database.db, "nightdesk_data.program_file_parts where file_id = $1", [
        file.fileId,
      ]),
    ).toBe(0);
    expect(await all(token, "asc")).toEqual([kept]);
  });

  test("are kept as long as was asked, up to the share of a day, of a token that is valid", async () => {
    const token = await makeToken(database.db);
    const file = await stored(token);
    expect(file.expiresAt.getTime() - file.createdAt.getTime()).toBeCloseTo(3_600_000, -3);
    expect(await store(token, { bytes: 98 })).toBe("too_much");
    expect(await store(token, { bytes: 97 })).toMatchObject({ bytes: 97 });
    await revokeToken(database.db, token.name);
    expect(await store(token, { mostBytesADay: 1_000 })).toBe("revoked");
    expect(await all(token, "asc")).toHaveLength(2);
  });
});
