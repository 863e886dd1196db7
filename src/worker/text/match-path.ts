import { normaliseText } from "../../shared/text/normalise-text.ts";

/** A path in one form of Unicode: a file system may decompose a name that a model writes composed. */
export const plainPath = (path: string): string =>
  normaliseText(path.trim().replace(/^(?:\.\/)+/, ""), "NFC");

/** Whether a path is the one that a model wrote. Some models escape paths as markup: `a&amp;b.md`. */
export const isSamePath = (path: string, written: string): boolean =>
  plainPath(path) === plainPath(written) || plainPath(path) === plainPath(withoutEntities(written));

/** Whether one of the names means a path: it equals the path, or the end of it behind a slash. */
export const isNamed = (path: string, namedFiles: readonly string[]): boolean =>
  namedFiles.some(
    (named) =>
      isSamePath(named, path) ||
      plainPath(path)
        .toLowerCase()
        .endsWith(`/${plainPath(named).toLowerCase()}`),
  );

const withoutEntities = (path: string): string =>
  path.replace(/&(?:amp|lt|gt|quot|apos|#39);/g, (entity) => ENTITIES[entity] ?? entity);
const ENTITIES: Readonly<Record<string, string>> = {
  "&amp;": "&",
  "&lt;": "<",
  "&gt;": ">",
  "&quot;": '"',
  "&apos;": "'",
  "&#39;": "'",
};
