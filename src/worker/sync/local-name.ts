import { hash } from "node:crypto";
import { posix } from "node:path";

/** Of one name: with the suffix of a partial file it stays below the 255 bytes that file systems take. */
const MOST_NAME_BYTES = 200;
const MOST_PATH_BYTES = 1_000;
const MOST_FOLDERS = 40;
/** Control characters, invisible characters, and path separators. */
const HARMFUL = /[\p{C}\p{Zl}\p{Zp}/\\]/gu;

/** A possible path of a file, relative to the root of its mirror. */
export type LocalPlace = {
  /** Folders and name: none is hidden, points outside of its folder or has more than 200 bytes. */
  readonly path: string;
  /** Equal for two paths that some file system does not distinguish. */
  readonly key: string;
};

/**
 * Makes remote names safe, best path first: a slash, a backslash, a control character or a leading dot becomes "_", and a long
 * name is cut. The second path is for a file whose first one is taken: its name has the first digits of the id's hash;
 * the third lies in no folder.
 * @param id names, each percent-encoded, with slashes between them
 */
export function localPlaces(id: string): readonly [LocalPlace, LocalPlace, LocalPlace] {
  const digits = hash("sha256", id, "hex").slice(0, 16);
  const names = id.split("/").map((name) => harmlessName(decodeName(name)));
  const folders = names.slice(0, -1);
  const name = names.at(-1) ?? "_";
  const marked = withMark(name, digits.slice(0, 8));
  const flat = placeOf(withMark(name, digits));
  const path = [...folders, name].join("/");
  if (folders.length > MOST_FOLDERS || Buffer.byteLength(path) > MOST_PATH_BYTES)
    return [flat, flat, flat];
  return [placeOf(path), placeOf([...folders, marked].join("/")), flat];
}

const placeOf = (path: string): LocalPlace => ({
  path,
  key: path.normalize("NFKC").toLowerCase().normalize("NFC"),
});

/** Decodes a name; an invalid percent-encoding stays as it is. */
export function decodeName(name: string): string {
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}

function harmlessName(name: string): string {
  const clean = name
    .toWellFormed()
    .normalize("NFC")
    .replaceAll(HARMFUL, "_")
    .trim()
    .replace(/^\.+/, "_");
  if (clean === "") return "_";
  if (Buffer.byteLength(clean) <= MOST_NAME_BYTES) return clean;
  return withMark(clean, hash("sha256", name, "hex").slice(0, 8));
}

/** `report~1f3a5b7c.pdf`; the stem is cut if the name is too long. */
function withMark(name: string, mark: string): string {
  const found = posix.extname(name);
  const extension = Buffer.byteLength(found) <= 20 ? found : "";
  const stem = name.slice(0, name.length - extension.length);
  const room = MOST_NAME_BYTES - Buffer.byteLength(extension) - mark.length - 1;
  const cut = Buffer.from(stem)
    .subarray(0, room)
    .toString()
    .replace(/\uFFFD+$/, "");
  return `${cut}~${mark}${extension}`;
}
