import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import {
  claimDocument,
  endWrites,
  releaseDocument,
} from "../../../../src/shared/store/index/write-backs.ts";
import { describeOnPostgres, openPostgres } from "../../../support/test-databases.ts";
import type { TestDatabase } from "../../../support/test-databases.ts";

describeOnPostgres("documents that are written back to", () => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await openPostgres();
  });
  afterAll(() => database.close());

  const [one, other] = [randomUUID(), randomUUID()];
  const document = { source: "paper", remoteId: "7.pdf" };
  const claim = (by: string, of = document) => claimDocument(database.db, of, by);

  test("are one write-back's for five minutes, or until that one lets them go", async () => {
    expect([await claim(one), await claim(one), await claim(other)]).toEqual([true, true, false]);
    expect(await claim(other, { ...document, remoteId: "8.pdf" })).toBe(true);
    await releaseDocument(database.db, document, other);
    expect(await claim(other)).toBe(false);
    const pass = (minutes: number) =>
      database.db.query(
        "update nightdesk_data.write_claims set expires_at = expires_at - make_interval(mins => $1)",
        [minutes],
      );
    await pass(4);
    expect(await claim(other)).toBe(false);
    await pass(1);
    expect(await claim(other)).toBe(true);
    await releaseDocument(database.db, document, other);
    expect(await claim(one)).toBe(true);
  });

  test("are described anew only where their place says something else", async () => {
    await database.db.query(
      `insert into nightdesk_data.remote_sources (source, kind, address, run_id) values ('paper', 'paperless', 'x', gen_random_uuid())`,
    );
    await database.db.query(
      `insert into nightdesk_data.remote_files (source, seen_by, remote_id, listed_version, description, described_at, fate)
       values ('paper', gen_random_uuid(), '7.pdf', '1', '{"title": "a"}', now() - interval '1 day', 'waiting')`,
    );
    const describedAt = async (title: string): Promise<unknown> => {
      await endWrites(database.db, document, [], { title });
      const { rows } = await database.db.query(
        "select described_at from nightdesk_data.remote_files",
      );
      return (rows[0] as { described_at: Date }).described_at.getTime();
    };
    const before = await describedAt("a");
    expect(await describedAt("a")).toBe(before);
    expect(before).toBeLessThan(Date.now() - 80_000_000);
    expect(await describedAt("b")).toBeGreaterThan(Date.now() - 80_000_000);
  });
});
