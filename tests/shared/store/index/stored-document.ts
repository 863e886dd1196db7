import type { Queryable } from "../../../../src/shared/store/connection/database.ts";

type Stored = {
  readonly path: string;
  readonly sha256: string;
  readonly source?: string;
  readonly extractor?: string;
  /** In which it lies. */
  readonly mail?: string;
  readonly leftOut?: Readonly<Record<string, number>>;
};

/** A document of the index, as an index job leaves it. */
export const storeDocument = (
  db: Queryable,
  { path, sha256, source = "corpus", extractor = "pdf 1", mail, leftOut = {} }: Stored,
): Promise<unknown> =>
  db.query(
    `insert into nightdesk_data.documents (source, path, sha256, bytes, chars, mtime_ns, ctime_ns, inode, device, settled,
            metadata_state, chunk_settings, extractor, left_out, mail)
     values ($1, $2, $3, 1, 1, 0, 0, 0, 0, true, 'absent', 'x', $4, $5, $6)`,
    [source, path, sha256, extractor, JSON.stringify(leftOut), mail ?? null],
  );
