import { hash } from "node:crypto";
import { mkdir, readdir, readFile, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { writeAtomicFile } from "./atomic-file.ts";
import type { Config } from "../config/schema.ts";
import { PICTURE_TYPES } from "./picture-data.ts";
import { ignoreMissingFile } from "../store/connection/errors.ts";

const side = z.number().nonnegative();

const shownSchema = z.strictObject({
  kind: z.literal("picture"),
  type: z.enum(PICTURE_TYPES),
  /** Null for a picture that is no page. */
  page: z.int().min(1).nullable(),
  /** Pixels. */
  width: side,
  height: side,
  /** The coordinate system of the boxes and its unit; one inch has 72 points. */
  size: z.strictObject({ unit: z.enum(["points", "pixels"]), width: side, height: side }),
  /** Left, top, right, bottom of each marked line. */
  boxes: z.array(z.tuple([z.number(), z.number(), z.number(), z.number()])),
  /** The share of letters of the words that were found, 0 to 1. */
  share: z.number(),
  /** How often the words occur, if it is unknown which occurrence is meant. */
  times: z.number(),
});
const pictureSchema = shownSchema.extend({ base64: z.base64() });

/** A page and the marks of words on it. */
export type ShownPage = z.infer<typeof shownSchema>;
export type PagePicture = ShownPage & { readonly bytes: Buffer };

/** The limit of stored pictures of pages; the oldest are removed first. */
const QUOTA_BYTES = 200_000_000;

export const pictureFolder = ({ roots }: Pick<Config, "roots">): string =>
  join(roots.databaseDirectory, "pages");

/** Raise it when the same page is drawn differently. */
const VERSION = 1;

/** The name of a picture, which can't be guessed without its content. */
export const pictureKey = (parts: Readonly<Record<string, unknown>>): string =>
  hash("sha256", JSON.stringify({ ...parts, version: VERSION }), "hex");

/** The picture of a key; undefined if it is not stored any more, or never was. */
export async function readPicture(folder: string, key: string): Promise<PagePicture | undefined> {
  if (!/^[0-9a-f]{64}$/.test(key)) return undefined;
  const text = await readFile(join(folder, `${key}.json`), "utf8").catch(ignoreMissingFile);
  if (text === undefined) return undefined;
  const { base64, ...shown } = pictureSchema.parse(JSON.parse(text));
  return { ...shown, bytes: Buffer.from(base64, "base64") };
}

/** Stores a picture, and removes the oldest beyond the quota. */
export async function storePicture(
  folder: string,
  key: string,
  { bytes, ...shown }: PagePicture,
  quotaBytes = QUOTA_BYTES,
): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const content = JSON.stringify({ ...shown, base64: bytes.toString("base64") });
  await writeAtomicFile(join(folder, `${key}.json`), content, "replace");
  await removeOldest(folder, quotaBytes);
}

async function removeOldest(folder: string, quotaBytes: number): Promise<void> {
  const names = (await readdir(folder)).filter((name) => name.endsWith(".json"));
  const files = await Promise.all(
    names.map(async (name) => {
      const path = join(folder, name);
      // Another command may have removed it.
      const found = await stat(path).catch(() => undefined);
      return { path, bytes: found?.size ?? 0, at: found?.mtimeMs ?? 0 };
    }),
  );
  let total = 0;
  for (const { path, bytes } of files.sort((one, other) => other.at - one.at)) {
    total += bytes;
    if (total > quotaBytes) await rm(path, { force: true });
  }
}
