import { hash, randomBytes } from "node:crypto";
import { z } from "zod";
import { Failure } from "../../failure.ts";
import type { Queryable } from "../connection/database.ts";
import { hasCode } from "../connection/errors.ts";
import { camelRow, rowOf, rowsOf, valueOf } from "../connection/rows.ts";

/** `batches:write` includes the two others. */
export const TOKEN_SCOPES = ["batches:write", "batches:read", "files:write"] as const;
export type TokenScope = (typeof TOKEN_SCOPES)[number];

/** Kinds of jobs that a program may queue. */
export const TOKEN_KINDS = ["ask", "summarize", "extract", "chat", "embed", "investigate"] as const;
export type TokenKind = (typeof TOKEN_KINDS)[number];

/** Those that read documents, of the sources that the token names. */
export const READING_KINDS: readonly TokenKind[] = ["ask", "summarize", "extract", "investigate"];

const COLUMNS =
  "token_id, name, scopes, kinds, presets, sources, models, created_at, expires_at, last_used_at, revoked_at";

const tokenSchema = camelRow({
  token_id: z.string(),
  name: z.string(),
  scopes: z.array(z.enum(TOKEN_SCOPES)),
  kinds: z.array(z.enum(TOKEN_KINDS)),
  presets: z.array(z.string()),
  sources: z.array(z.string()),
  models: z.array(z.string()),
  created_at: z.date(),
  expires_at: z.date(),
  last_used_at: z.date().nullable(),
  revoked_at: z.date().nullable(),
});
export type Token = z.infer<typeof tokenSchema>;

/** What a new token allows. */
export type TokenGrant = Pick<
  Token,
  "name" | "scopes" | "kinds" | "presets" | "sources" | "models" | "expiresAt"
>;

const PREFIX = "nd_";
const SECRET = /^nd_[A-Za-z0-9_-]{43}$/;
const SECRET_BYTES = 32;
const UNIQUE_VIOLATION = "23505";

const hashSecret = (secret: string): string => hash("sha256", secret);

/**
 * Makes a token. Its secret is in no row, and is given this once.
 * @throws Failure INPUT_INVALID where a token of that name is in use
 */
export async function createToken(
  db: Queryable,
  { name, scopes, kinds, presets, sources, models, expiresAt }: TokenGrant,
): Promise<{ readonly tokenId: string; readonly secret: string }> {
  const secret = PREFIX + randomBytes(SECRET_BYTES).toString("base64url");
  const values = [name, hashSecret(secret), scopes, kinds, presets, sources, models, expiresAt];
  try {
    const tokenId = await valueOf(db, z.string(), values)`
     insert into nightdesk_data.tokens (name, secret_sha256, scopes, kinds, presets, sources, models, expires_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8) returning token_id`;
    return { tokenId, secret };
  } catch (error) {
    if (!hasCode(error, UNIQUE_VIOLATION)) throw error;
    throw new Failure(
      "INPUT_INVALID",
      `There is a token ${JSON.stringify(name)} already. Take another name, or first: nightdesk tokens revoke ${JSON.stringify(name)}`,
    );
  }
}

/** All tokens, newest first. */
export const listTokens = (db: Queryable): Promise<readonly Token[]> =>
  rowsOf(db, tokenSchema)`
     select ${COLUMNS} from nightdesk_data.tokens order by created_at desc, token_id`;

/**
 * The token of a secret, while it is valid; its use is written down once a minute.
 * @returns undefined for a secret that was never given out, is revoked or has expired
 */
export const useToken = async (db: Queryable, secret: string): Promise<Token | undefined> =>
  SECRET.test(secret)
    ? rowOf(db, tokenSchema, [hashSecret(secret)])`
     with found as materialized (
       select * from nightdesk_data.tokens
        where secret_sha256 = $1 and revoked_at is null and expires_at > clock_timestamp()),
     used as (
       update nightdesk_data.tokens t set last_used_at = clock_timestamp()
         from found
        where t.token_id = found.token_id
          and (found.last_used_at is null or found.last_used_at < clock_timestamp() - interval '1 minute'))
     select ${COLUMNS} from found`
    : undefined;

/** From now on nobody is let in by it. @returns undefined where no token of that name is in use */
export const revokeToken = (db: Queryable, name: string): Promise<Token | undefined> =>
  rowOf(db, tokenSchema, [name])`
     update nightdesk_data.tokens set revoked_at = clock_timestamp()
      where name = $1 and revoked_at is null returning ${COLUMNS}`;
