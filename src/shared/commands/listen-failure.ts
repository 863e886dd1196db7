import { Failure } from "../failure.ts";
import { hasCode } from "../store/connection/errors.ts";

/**
 * The failure of a command that can't listen: CONFIG_ERROR for a port in use, or an address that is not local or not permitted,
 * else the error itself.
 * @param keys the settings of the address, in words
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
