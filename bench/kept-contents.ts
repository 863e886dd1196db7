// What keeping the bytes of documents costs the database (documents.keep: bytes), beside the index of their words:
//
//   node --import ./bench/register.js bench/kept-contents.ts [DOCUMENTS] [BYTES]
//
// On the server of TEST_DATABASE_URL: time of the statements that store them in portions of 16 MB, size of the table, log that
// was written, time to store them again when they are known, and to read each and compare its hash.
import { hash, randomBytes } from "node:crypto";
import { z } from "zod";
import { valueOf } from "../src/shared/store/connection/rows.ts";
import { selectStoredFile, storeContents } from "../src/shared/store/index/contents.ts";
import type { NewContent } from "../src/shared/store/index/contents.ts";
import { createFreshDatabase } from "./fresh-database.ts";

const [documents = 500, bytes = 200_000] = process.argv.slice(2).map(Number);
const PORTION_BYTES = 16_000_000;
const QUOTA = 1e12;

const words = Array.from({ length: 5_000 }, () => randomBytes(4).toString("hex").slice(0, 6));
const textOf = (): Buffer => {
  let text = "";
  while (text.length < bytes)
    text += `${words[Math.floor(Math.random() ** 3 * words.length)] ?? ""} `;
  return Buffer.from(text.slice(0, bytes));
};
const KINDS = { "random (as PDF, DOCX)": () => randomBytes(bytes), text: textOf } as const;

const count = z.coerce.number();
const millions = (value: number): string => (value / 1e6).toFixed(1);

for (const [kind, make] of Object.entries(KINDS)) {
  const { db, drop } = await createFreshDatabase();
  const all: NewContent[] = Array.from({ length: documents }, (_, at) => {
    const content = make();
    return {
      path: `corpus/${at}.bin`,
      sha256: hash("sha256", content, "hex"),
      content,
      extractor: null,
    };
  });
  await db.query(
    `insert into nightdesk_data.documents (source, path, sha256, extractor, bytes, chars, mtime_ns, ctime_ns, inode, device,
            settled, metadata_state, chunk_settings)
     select 'corpus', path, sha256, 'pdf', $3, 0, 0, 0, 0, 0, true, 'absent', 'bench'
       from unnest($1::text[], $2::text[]) as t (path, sha256)`,
    [all.map(({ path }) => path), all.map(({ sha256 }) => sha256), bytes],
  );
  const wal = () => valueOf(db, count)`select pg_current_wal_insert_lsn() - '0/0'::pg_lsn`;
  const perPortion = Math.max(1, Math.floor(PORTION_BYTES / bytes));
  const store = async (): Promise<number> => {
    const startedAt = performance.now();
    for (let at = 0; at < all.length; at += perPortion) {
      const contents = all.slice(at, at + perPortion);
      await db.transaction((transaction) =>
        storeContents(transaction, "corpus", { contents, quota: QUOTA }),
      );
    }
    return performance.now() - startedAt;
  };
  const before = await wal();
  const firstMs = await store();
  const written = (await wal()) - before;
  const againMs = await store();
  const size = await valueOf(db, count)`select pg_total_relation_size('nightdesk_data.contents')`;
  const startedAt = performance.now();
  for (const { path, sha256 } of all) {
    const file = await selectStoredFile(db, path, bytes);
    if (file?.content == null || hash("sha256", file.content, "hex") !== sha256)
      throw new Error(`${path} came back with other bytes.`);
  }
  const readMs = performance.now() - startedAt;
  console.log(
    `${kind}: ${documents} of ${bytes} bytes (${millions(documents * bytes)} MB): stored in ${(firstMs / 1e3).toFixed(1)} s ` +
      `(${(firstMs / documents).toFixed(1)} ms each), ${millions(size)} MB on disk, ${millions(written)} MB of log; known already ` +
      `${(againMs / documents).toFixed(2)} ms each; read and hashed ${(readMs / documents).toFixed(1)} ms each`,
  );
  await drop();
}
