import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { describeOnPostgres, openPostgres } from "../../support/test-databases.ts";
import type { TestDatabase } from "../../support/test-databases.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await openPostgres();
});
afterAll(() => database.close());

const select = async (sql: string) => (await database.db.query(sql)).rows;

describeOnPostgres("the views of the index", () => {
  test("have the columns of the contract, each with a comment", async () => {
    const columns = await select(
      `select c.relname as view, string_agg(a.attname, ', ' order by attnum) as columns,
              bool_and(col_description(c.oid, attnum) is not null) as commented
         from pg_class c join pg_attribute a on a.attrelid = c.oid and attnum > 0
        where c.relnamespace = 'nightdesk'::regnamespace and c.relname in ('documents', 'chunks')
        group by c.relname order by c.relname`,
    );
    expect(columns).toEqual([
      {
        view: "chunks",
        columns:
          "chunk_key, source, path, ordinal, heading_path, start_char, end_char, line_start, line_end, text, " +
          "embedded_models, locator",
        commented: true,
      },
      {
        view: "documents",
        columns:
          "source, path, sha256, bytes, chars, chunks, metadata_state, metadata, indexed_at, language, metadata_problem, extractor, day, day_until, day_source, dates, mail, attachments, secrets, left_out, is_kept, not_kept_code",
        commented: true,
      },
    ]);
  });
});

describeOnPostgres("the role of nightdesk sql", () => {
  test("may read the views and nothing else, also not what is made later", async () => {
    await database.db.query("create table nightdesk_data.made_later (n int)");
    const allowed = await select(
      `select distinct relnamespace::regnamespace::text as schema, relkind::text as kind, privilege
         from pg_class cross join unnest(array['select', 'insert', 'update', 'delete', 'truncate']) privilege
        where relkind in ('r', 'p', 'v', 'm') and relnamespace::regnamespace::text !~ '^(pg_|information_schema)'
          and has_table_privilege('nightdesk_reader', oid, privilege)`,
    );
    expect(allowed).toEqual([{ schema: "nightdesk", kind: "v", privilege: "select" }]);
    await database.db.query("drop table nightdesk_data.made_later");
  });
});

describeOnPostgres("rows that can't be", () => {
  const document = (values: Record<string, string> = {}) => {
    const row = {
      source: "'s'",
      path: "'a.md'",
      sha256: "repeat('a', 64)",
      bytes: "9",
      chars: "9",
      metadata_state: "'absent'",
      metadata: "null",
      ...values,
    };
    return `insert into nightdesk_data.documents
      (${Object.keys(row).join(", ")}, mtime_ns, ctime_ns, inode, device, settled, chunk_settings)
      values (${Object.values(row).join(", ")}, 1, 1, 1, 1, true, 'x') returning doc_id`;
  };
  const chunk = (values: Record<string, string> = {}) => {
    const row = {
      chunk_key: "md5(random()::text)",
      ordinal: "0",
      start_char: "0",
      end_char: "4",
      text: "'text'",
      line_start: "1",
      line_end: "1",
      ...values,
    };
    return `insert into nightdesk_data.chunks (doc_id, sha256, terms, ${Object.keys(row).join(", ")})
      select doc_id, repeat('b', 64), 1, ${Object.values(row).join(", ")} from nightdesk_data.documents limit 1`;
  };

  test.each([
    ["more characters than bytes", document({ chars: "10" })],
    ["an absolute path", document({ path: "'/a.md'" })],
    ["a hash that is none", document({ sha256: "'abc'" })],
    ["metadata that is said to be absent", document({ metadata: "'{}'" })],
    ["metadata that is no mapping", document({ metadata_state: "'present'", metadata: "'[]'" })],
    ["a text that does not fill its span", chunk({ end_char: "5" })],
    ["an empty chunk", chunk({ end_char: "0", text: "''" })],
    ["lines that run backwards", chunk({ line_start: "2" })],
    ["a key that is none", chunk({ chunk_key: "'x'" })],
    [
      "a vector of other dimensions than it says",
      `insert into nightdesk_data.embeddings (chunk_id, model, signature, dims, embedding)
       select chunk_id, 'm', repeat('0', 32), 3, '[1,2]' from nightdesk_data.chunks limit 1`,
    ],
    [
      "a vector of half precision of other dimensions than it says",
      `insert into nightdesk_data.embeddings (chunk_id, model, signature, dims, half_embedding)
       select chunk_id, 'm', repeat('0', 32), 3, '[1,2]' from nightdesk_data.chunks limit 1`,
    ],
    [
      "a vector in two precisions",
      `insert into nightdesk_data.embeddings (chunk_id, model, signature, dims, embedding, half_embedding)
       select chunk_id, 'm', repeat('0', 32), 2, '[1,2]', '[1,2]' from nightdesk_data.chunks limit 1`,
    ],
    [
      "a vector without numbers",
      `insert into nightdesk_data.embeddings (chunk_id, model, signature, dims)
       select chunk_id, 'm', repeat('0', 32), 2 from nightdesk_data.chunks limit 1`,
    ],
  ])("%s is refused", async (_name, sql) => {
    await database.db.query("delete from nightdesk_data.documents");
    await database.db.query(document({ path: "'good.md'" }));
    await database.db.query(chunk({ ordinal: "7" }));
    await expect(database.db.query(sql)).rejects.toMatchObject({ code: "23514" });
  });

  test("a chunk goes with its document, and is counted no more", async () => {
    await database.db.query("delete from nightdesk_data.documents");
    await database.db.query(document());
    await database.db.query(chunk());
    const counts =
      "select sum(chunks)::int as chunks, sum(terms)::int as terms from nightdesk_data.chunk_counts";
    expect(await select(counts)).toEqual([{ chunks: 1, terms: 1 }]);
    await database.db.query("delete from nightdesk_data.documents");
    expect(await select(counts)).toEqual([{ chunks: 0, terms: 0 }]);
  });
});
