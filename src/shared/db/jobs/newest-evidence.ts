import { z } from "zod";
import type { FileFacts } from "../index/document-facts.ts";
import type { Queryable } from "../database.ts";

const rowSchema = z.object({
  used: z.string().nullable(),
  sha256: z.string().nullable(),
  settled: z.boolean().nullable(),
  bytes: z.string().nullable(),
  mtime_ns: z.string().nullable(),
  ctime_ns: z.string().nullable(),
  inode: z.string().nullable(),
});

/** A file as the index knows it. */
export type KnownFile = {
  readonly sha256: string;
  readonly settled: boolean;
  readonly facts: Omit<FileFacts, "device">;
};

/** What the newest result of a job rests on, and what the index knows of the file now. */
export type NewestEvidence = {
  /** SHA-256 of the file that the newest successful result of the same input was made of; null where there is none. */
  readonly used: string | null;
  readonly known: KnownFile | null;
};

/**
 * For each job of kind summarize or extract, in the order given.
 * @param jobs SHA-256 of the canonical JSON of the input, and the path in it
 */
export async function selectNewestEvidence(
  db: Queryable,
  jobs: readonly { readonly inputSha256: string; readonly path: string }[],
): Promise<readonly NewestEvidence[]> {
  const { rows } = await db.query(
    `select e.sha256 as used, d.sha256, d.settled, d.bytes::text, d.mtime_ns::text, d.ctime_ns::text, d.inode::text
       from unnest($1::text[], $2::text[]) with ordinality as i (input_sha256, path, place)
       left join lateral (
         select run_id from nightdesk_data.jobs
          where input_sha256 = i.input_sha256 and state = 'succeeded' and kind in ('summarize', 'extract')
          order by finished_at desc limit 1) j on true
       left join lateral (
         select sha256 from nightdesk_data.evidence
          where run_id = j.run_id and admitted and kind = 'file' order by ordinal limit 1) e on true
       left join lateral (
         select * from nightdesk_data.documents
          where path = i.path order by scanned_at desc limit 1) d on true
      order by i.place`,
    [jobs.map(({ inputSha256 }) => inputSha256), jobs.map(({ path }) => path)],
  );
  return z
    .array(rowSchema)
    .parse(rows)
    .map((row) => ({ used: row.used, known: knownFile(row) }));
}

function knownFile(row: z.infer<typeof rowSchema>): KnownFile | null {
  const { sha256, settled, bytes, mtime_ns: mtimeNs, ctime_ns: ctimeNs, inode } = row;
  if (sha256 === null || bytes === null || mtimeNs === null || ctimeNs === null || inode === null) {
    return null;
  }
  return {
    sha256,
    settled: settled === true,
    facts: {
      bytes: BigInt(bytes),
      mtimeNs: BigInt(mtimeNs),
      ctimeNs: BigInt(ctimeNs),
      inode: BigInt(inode),
    },
  };
}
