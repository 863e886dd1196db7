/** An entry of a Postgres index holds 2,704 bytes, and the name of the source is in it too. */
const MAX_PATH_BYTES = 2_000;
const SHOWN_CHARS = 500;

export const isTooLong = (path: string): boolean => Buffer.byteLength(path) > MAX_PATH_BYTES;

/** The path as a failure is stored under. */
export const storablePath = (path: string): string =>
  isTooLong(path) ? `${path.slice(0, SHOWN_CHARS)}…`.toWellFormed() : path;
