import { afterAll, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { insertMemory } from "../../../src/shared/store/memory.ts";
import type { NewMemory } from "../../../src/shared/store/memory.ts";
import { checkMemory } from "../../../src/worker/doctor/check-memory.ts";
import type { Database } from "../../../src/shared/store/connection/database.ts";
import { databases, startTopology } from "../../conformance/topologies.ts";
import type { Topology } from "../../conformance/topologies.ts";

const KEY = "a".repeat(32);
const NOTE: NewMemory = { type: "preference", source: "manual", content: "x", chunkKeys: [] };

describe.each(databases)("the doctor on durable notes, on %s", (name) => {
  let topology: Topology;
  let database: Database;
  beforeAll(async () => {
    topology = await startTopology(name);
    database = await topology.connect();
  });
  afterAll(async () => {
    await database.end();
    await topology.dispose();
  });
  beforeEach(async () => {
    await database.query("delete from nightdesk_data.memory");
    await database.query("delete from nightdesk_data.documents");
    await database.query(
      `with document as (
         insert into nightdesk_data.documents
           (source, path, sha256, bytes, chars, mtime_ns, ctime_ns, inode, device, settled, metadata_state, chunk_settings)
         values ('corpus', 'allowed/corpus/a.md', repeat('e', 64), 90, 90, 1, 1, 1, 1, true, 'absent', 'x')
         returning doc_id)
       insert into nightdesk_data.chunks
         (doc_id, chunk_key, ordinal, start_char, end_char, line_start, line_end, text, sha256, terms)
       select doc_id, $1, 0, 0, 4, 1, 1, 'Bear', repeat('e', 64), 1 from document`,
      [KEY],
    );
  });

  const check = () => checkMemory(topology.context.config, database);

  test("is satisfied where there are none, or their passages are there", async () => {
    expect(await check()).toMatchObject([
      { level: "ok", code: "DOCTOR_MEMORY_DANGLING_EVIDENCE_OK" },
    ]);
    await insertMemory(database, { ...NOTE, chunkKeys: [KEY] });
    expect(await check()).toMatchObject([
      { level: "ok", code: "DOCTOR_MEMORY_DANGLING_EVIDENCE_OK" },
    ]);
  });

  test("fails on passages that went away, and names the note, not its words", async () => {
    const inserted = await insertMemory(database, {
      ...NOTE,
      content: "secret words",
      chunkKeys: [KEY],
    });
    await database.query("delete from nightdesk_data.documents");
    const [found, ...rest] = await check();
    expect(rest).toEqual([]);
    expect(found).toMatchObject({ level: "fail", code: "DOCTOR_MEMORY_DANGLING_EVIDENCE" });
    expect(found?.message).toContain("1 of 1 durable notes");
    expect(found?.message).toContain("memoryId" in inserted ? inserted.memoryId : "no id");
    expect(JSON.stringify(found)).not.toContain("secret");
  });

  test("warns of notes that newer ones leave no room for", async () => {
    for (const letter of ["a", "b", "c"])
      await insertMemory(database, { ...NOTE, content: letter.repeat(3_900) });
    expect(await check()).toMatchObject([
      { level: "ok" },
      { level: "warn", code: "DOCTOR_MEMORY_LEFT_OUT" },
    ]);
  });

  test("only notes that they are switched off", async () => {
    await insertMemory(database, { ...NOTE, chunkKeys: [KEY] });
    await database.query("delete from nightdesk_data.documents");
    const config = { ...topology.context.config, memory: { enabled: false } };
    const [found, ...rest] = await checkMemory(config, database);
    expect(rest).toEqual([]);
    expect(found).toMatchObject({ level: "warn", code: "DOCTOR_MEMORY_DISABLED" });
    expect(found?.fix).toContain("memory.enabled");
  });

  test("fails where they can't be read", async () => {
    await database.query("alter table nightdesk_data.memory rename column seq to sequence");
    try {
      expect(await check()).toMatchObject([{ level: "fail", code: "DOCTOR_MEMORY_DB_ERROR" }]);
    } finally {
      await database.query("alter table nightdesk_data.memory rename column sequence to seq");
    }
  });
});
