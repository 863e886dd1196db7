import { resolve } from "node:path";
import { readSmallFile } from "./read-small-file.ts";

/** Where a secret is stored: in an environment variable, or else in a file. Both may be missing. */
export type SecretPlace = {
  readonly variable: string | null | undefined;
  readonly file: string | null | undefined;
  /** The folder that the file name is relative to. */
  readonly folder: string;
  /** A longer file counts as empty. */
  readonly maxBytes: number;
};

/** @returns null if no place is configured; empty if it has no value, or a file has more than one word */
export async function readSecret(
  { variable, file, folder, maxBytes }: SecretPlace,
  env: Readonly<Record<string, string | undefined>>,
): Promise<string | null> {
  if (variable != null) return env[variable]?.trim() ?? "";
  if (file == null) return null;
  const read = await readSmallFile(resolve(folder, file), maxBytes);
  const text = read.kind === "text" ? read.text.trim() : "";
  return /[\s\p{C}]/u.test(text) ? "" : text;
}

const MOST_CERTIFICATE_BYTES = 1_000_000;

/** The certificates in a PEM file; null if it has none. @param folder that the file name is relative to */
export async function readCertificates(file: string, folder: string): Promise<string | null> {
  const read = await readSmallFile(resolve(folder, file), MOST_CERTIFICATE_BYTES);
  return read.kind === "text" && read.text.includes("-----BEGIN CERTIFICATE-----")
    ? read.text
    : null;
}
