import { z } from "zod";

/** In the environment of a command whose parent sends it further variables over the channel between them. */
export const SECRETS_FOLLOW = "NIGHTDESK_SECRETS_FOLLOW";

/** Variables whose values may hold a password, or name the file that does. */
const SECRET = /^(?:DATABASE_URL|REDIS_URL)(?:_FILE)?$|^PG[A-Z]+$/;

const variablesSchema = z.record(z.string(), z.string());

/** What reaches the database and the queue: not part of an environment, which every child inherits and any tool prints. */
export const secretsOf = (
  env: Readonly<Record<string, string | undefined>>,
): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(env).filter(
      (entry): entry is [string, string] => SECRET.test(entry[0]) && entry[1] !== undefined,
    ),
  );

/** The variables that the parent sends; none where it is gone, or where there never was a channel. */
export function receiveSecrets(): Promise<Readonly<Record<string, string>>> {
  if (!process.connected) return Promise.resolve({});
  return new Promise((resolve) => {
    const end = (message: unknown): void => {
      process.off("message", end).off("disconnect", end);
      const parsed = variablesSchema.safeParse(message);
      resolve(parsed.success ? parsed.data : {});
    };
    process.once("message", end).once("disconnect", end);
  });
}
