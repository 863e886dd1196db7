import { z } from "zod";
import type { Database, Queryable } from "../connection/database.ts";
import {
  anyRow,
  camelRow,
  countRows,
  execute,
  oneRowOf,
  rowOf,
  rowsOf,
  valueOf,
  valuesOf,
} from "../connection/rows.ts";
import { recordAction } from "../operator/actions.ts";
import type { Token } from "./tokens.ts";

const COLUMNS = "file_id, seq::text, name, bytes, sha256, created_at, expires_at";

const fileSchema = camelRow({
  file_id: z.string(),
  seq: z.string(),
  name: z.string(),
  bytes: z.coerce.number(),
  sha256: z.string(),
  created_at: z.date(),
  expires_at: z.date(),
});
/** A file that a program uploaded. */
export type ProgramFile = z.infer<typeof fileSchema>;

/** SQL condition: the file is not deleted and not expired. */
const IS_THERE = "deleted_at is null and expires_at > clock_timestamp()";

type NewFile = Pick<ProgramFile, "name" | "bytes" | "sha256"> & {
  readonly keepSeconds: number;
  /** Most bytes of a token's files within 24 hours. */
  readonly mostBytesADay: number;
};

/**
 * Stores a file that has arrived completely, in one transaction.
 * @param parts its content, piece by piece
 * @returns `too_much` when the token has used up its bytes of the day, `revoked` when it has ended meanwhile
 */
export const storeFile = (
  database: Database,
  token: Pick<Token, "tokenId" | "name">,
  { name, bytes, sha256, keepSeconds, mostBytesADay }: NewFile,
  parts: AsyncIterable<Uint8Array>,
): Promise<ProgramFile | "too_much" | "revoked"> =>
  database.within("build").transaction(async (db) => {
    if (!(await lockToken(db, token.tokenId))) return "revoked";
    if ((await selectBytesOfDay(db, token.tokenId)) + bytes > mostBytesADay) return "too_much";
    const stored = await oneRowOf(db, fileSchema, [
      token.tokenId,
      name,
      bytes,
      sha256,
      keepSeconds,
    ])`
     insert into nightdesk_data.program_files (token_id, name, bytes, sha256, expires_at)
     values ($1, $2, $3, $4, clock_timestamp() + make_interval(secs => $5)) returning ${COLUMNS}`;
    let ordinal = 0;
    for await (const part of parts) {
      await execute(db, [stored.fileId, ordinal, part])`
     insert into nightdesk_data.program_file_parts (file_id, ordinal, content) values ($1, $2, $3)`;
      ordinal += 1;
    }
    const action = { actor: `program ${token.name}`, action: "send-file" } as const;
    await recordAction(db, { ...action, detail: { name, bytes, sha256 } }, `${bytes} bytes.`);
    return stored;
  });

/** Locks a token until the transaction ends, so that one request at a time checks its limits. @returns whether it is valid */
export const lockToken = (transaction: Queryable, tokenId: string): Promise<boolean> =>
  anyRow(transaction, [tokenId])`
     select from nightdesk_data.tokens
      where token_id = $1 and revoked_at is null and expires_at > clock_timestamp() for no key update`;

/** Bytes of a token's files of the last 24 hours, including deleted ones. */
export const selectBytesOfDay = (db: Queryable, tokenId: string): Promise<number> =>
  valueOf(db, z.coerce.number(), [tokenId])`
     select coalesce(sum(bytes), 0) as bytes from nightdesk_data.program_files
      where token_id = $1 and created_at > clock_timestamp() - interval '24 hours'`;

export const findFile = (
  db: Queryable,
  tokenId: string,
  fileId: string,
): Promise<ProgramFile | undefined> =>
  rowOf(db, fileSchema, [tokenId, fileId])`
     select ${COLUMNS} from nightdesk_data.program_files where token_id = $1 and file_id = $2 and ${IS_THERE}`;

/** A page of a list. */
export type ListPage = {
  /** `seq` of the last item of the page before; null for the first page. */
  readonly after: string | null;
  readonly limit: number;
  readonly order: "asc" | "desc";
};

/** Files of a token, by arrival or the newest first. */
export const listFiles = (
  db: Queryable,
  tokenId: string,
  { after, limit, order }: ListPage,
): Promise<readonly ProgramFile[]> =>
  rowsOf(db, fileSchema, [tokenId, after, limit])`
     select ${COLUMNS} from nightdesk_data.program_files
      where token_id = $1 and ${IS_THERE} and ($2::bigint is null or seq ${order === "asc" ? ">" : "<"} $2)
      order by program_files.seq ${order} limit $3`;

/** The content of a file, piece by piece. @throws Error when the file is deleted meanwhile */
export async function* readFileParts(
  db: Queryable,
  { fileId, bytes }: ProgramFile,
): AsyncGenerator<Uint8Array, void> {
  let left = bytes;
  for (let ordinal = 0; left > 0; ordinal += 1) {
    const [part] = await valuesOf(db, z.instanceof(Uint8Array), [fileId, ordinal])`
     select content from nightdesk_data.program_file_parts where file_id = $1 and ordinal = $2`;
    if (part === undefined) throw new Error(`file ${fileId} was deleted while it was read`);
    left -= part.length;
    yield part;
  }
}

/** Deletes the content of a file. @returns whether the file existed */
export const deleteFile = (
  database: Database,
  token: Pick<Token, "tokenId" | "name">,
  fileId: string,
): Promise<boolean> =>
  database.transaction(async (db) => {
    const isThere = await anyRow(db, [token.tokenId, fileId])`
     update nightdesk_data.program_files set deleted_at = clock_timestamp()
      where token_id = $1 and file_id = $2 and ${IS_THERE}`;
    if (!isThere) return false;
    await execute(db, [fileId])`delete from nightdesk_data.program_file_parts where file_id = $1`;
    const action = { actor: `program ${token.name}`, action: "delete-file" } as const;
    await recordAction(db, { ...action, detail: { file_id: fileId } }, "Its content is gone.");
    return true;
  });

/** Deletes expired files. @returns how many */
export const deleteExpiredFiles = (db: Queryable): Promise<number> =>
  countRows(db)`
     delete from nightdesk_data.program_files
      where expires_at <= clock_timestamp() and created_at < clock_timestamp() - interval '24 hours'`;
