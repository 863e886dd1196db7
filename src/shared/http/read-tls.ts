import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { Failure } from "../failure.ts";

export type Tls = { readonly cert: Buffer; readonly key: Buffer };

type TlsFiles = { readonly cert_file: string | null; readonly key_file: string | null };

/**
 * The certificate and key of a server; null for plain HTTP.
 * @param key of the settings, for messages
 * @throws Failure CONFIG_ERROR for one without the other, and for an unreadable file
 */
export async function readTls(
  { cert_file: certFile, key_file: keyFile }: TlsFiles,
  configRoot: string,
  key: string,
): Promise<Tls | null> {
  if (certFile === null && keyFile === null) return null;
  if (certFile === null || keyFile === null) {
    throw new Failure(
      "CONFIG_ERROR",
      `${key} needs both cert_file and key_file, or neither of them.`,
    );
  }
  const read = (name: string, file: string): Promise<Buffer> =>
    readFile(resolve(configRoot, file)).catch((cause: unknown) => {
      throw new Failure(
        "CONFIG_ERROR",
        `${key}.${name} ${JSON.stringify(file)} can't be read; expected a PEM file, relative to ${configRoot}.`,
        { cause },
      );
    });
  return { cert: await read("cert_file", certFile), key: await read("key_file", keyFile) };
}
