import { randomUUID } from "node:crypto";
import type { Queryable } from "../../../../src/shared/store/connection/database.ts";
import { createToken } from "../../../../src/shared/store/programs/tokens.ts";

export type MadeToken = { readonly tokenId: string; readonly name: string };

/** A token of a program, valid for a day. */
export async function makeToken(db: Queryable): Promise<MadeToken> {
  const name = `program ${randomUUID()}`;
  const { tokenId } = await createToken(db, {
    ...{ name, scopes: ["batches:write"], kinds: ["chat"], presets: [], sources: [], models: [] },
    expiresAt: new Date(Date.now() + 86_400_000),
  });
  return { tokenId, name };
}
