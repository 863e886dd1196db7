import { hash, randomBytes } from "node:crypto";
import { z } from "zod";
import { Failure } from "../../failure.ts";
import type { Queryable } from "../connection/database.ts";
import { quoteForShell } from "../../terminal/styled-text.ts";
import { hasCode } from "../connection/errors.ts";
import { camelRow, rowOf, rowsOf, valueOf } from "../connection/rows.ts";

/** `batches:write` includes the two others. */
export const TOKEN_SCOPES = ["batches:write", "batches:read", "files:write"] as const;
export type TokenScope = (typeof TOKEN_SCOPES)[number];

/** Kinds of jobs that a program may queue. */
export const TOKEN_KINDS = ["ask", "summarize", "extract", "chat", "embed", "investigate"] as const;
type TokenKind = (typeof TOKEN_KINDS)[number];

/** Kinds that read documents, from the token's sources only. */
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

/** The permissions of a new token. */
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
 * Creates a token. No row stores its secret, which is returned only here.
 * @throws Failure INPUT_INVALID when a token with that name is in use
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
      `There is a token ${JSON.stringify(name)} already. Take another name, or first: nightdesk tokens revoke ${quoteForShell(name)}`,
    );
  }
}

/** All tokens, newest first. */
export const listTokens = (db: Queryable): Promise<readonly Token[]> =>
  rowsOf(db, tokenSchema)`
     select ${COLUMNS} from nightdesk_data.tokens order by created_at desc, token_id`;

/**
 * The valid token of a secret; records its use, at most once a minute.
 * @returns undefined for a secret that is unknown, revoked or expired
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

/** Revokes a token. @returns undefined when no token with that name is in use */
export const revokeToken = (db: Queryable, name: string): Promise<Token | undefined> =>
  rowOf(db, tokenSchema, [name])`
     update nightdesk_data.tokens set revoked_at = clock_timestamp()
      where name = $1 and revoked_at is null returning ${COLUMNS}`;
