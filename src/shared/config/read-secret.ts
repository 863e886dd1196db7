import { resolve } from "node:path";
import { readSmallFile } from "./read-small-file.ts";

/** Where a key or a token is kept: in a variable of the process, or else in a file; neither where both are missing. */
export type SecretPlace = {
  readonly variable: string | null | undefined;
  readonly file: string | null | undefined;
  /** That the file's name is relative to. */
  readonly folder: string;
  /** Of the file; a longer one holds none. */
  readonly maxBytes: number;
};

/** @returns null where no place is named; empty where the one that is holds nothing, or in a file more than one word */
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

/** The certificates that a file holds; null where it holds none in PEM. @param folder that its name is relative to */
export async function readCertificates(file: string, folder: string): Promise<string | null> {
  const read = await readSmallFile(resolve(folder, file), MOST_CERTIFICATE_BYTES);
  return read.kind === "text" && read.text.includes("-----BEGIN CERTIFICATE-----")
    ? read.text
    : null;
}
