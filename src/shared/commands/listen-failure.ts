import { Failure } from "../failure.ts";
import { hasCode } from "../store/connection/errors.ts";

/**
 * The failure of a command that can't listen where it was asked to: CONFIG_ERROR for a port that is taken and an address that
 * is not this machine's or not allowed, else the error itself.
 * @param keys the settings that say where, in words
 */
export function listenFailure(
  error: Error,
  { host, port, keys }: { readonly host: string; readonly port: number; readonly keys: string },
): Error {
  const where = `${host}:${port}`;
  if (hasCode(error, "EADDRINUSE")) {
    return new Failure(
      "CONFIG_ERROR",
      `${where} is taken by another program. Give another --port, or 0 for any that is free.`,
    );
  }
  if (hasCode(error, "EADDRNOTAVAIL") || hasCode(error, "EACCES") || hasCode(error, "ENOTFOUND")) {
    return new Failure(
      "CONFIG_ERROR",
      `${where} can't be listened on: it is no address of this machine, or not allowed. Set ${keys}.`,
      { cause: error },
    );
  }
  return error;
}
