import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";
import { posix } from "node:path";
import { refuse } from "../../shared/failure.ts";
import type { Refusal } from "../../shared/failure.ts";
import {
  endsWith,
  enterFolder,
  parsePathPattern,
  startOf,
} from "../../shared/files/path-pattern.ts";
import type { PathPattern, Places } from "../../shared/files/path-pattern.ts";
import { decodeText } from "../documents/formats/utf8.ts";

/** The rules that hold in a folder: those of all folders above it and its own. The first that matches decides. */
export type IgnoreRules = readonly IgnoreRule[];

type IgnoreRule = {
  readonly verdict: "ignored" | "kept";
  readonly takes: "folders" | "all";
  readonly pattern: PathPattern;
  readonly places: Places;
  readonly chars: number;
};

export const NO_RULES: IgnoreRules = [];

/** The rules of a folder that has a file of its own, whose last line counts most. */
export const addRules = (outer: IgnoreRules, lines: readonly string[]): IgnoreRules => [
  ...lines.flatMap(parseRule).reverse(),
  ...outer,
];

/** The rules inside a folder, without those that can match nothing there. */
export const rulesBelow = (rules: IgnoreRules, folder: string): IgnoreRules =>
  rules.flatMap((rule) => {
    const places = enterFolder(rule.pattern, rule.places, folder);
    if (places.length === 0) return [];
    return [isSame(places, rule.places) ? rule : { ...rule, places }];
  });

const isSame = (a: Places, b: Places): boolean =>
  a.length === b.length && a.every((place, at) => place === b[at]);

/**
 * Whether an entry of the folder is left out, by its name. Nothing below an ignored folder comes back: it is not
 * looked into, as in git. Time at most in the product of the name's length and the rules'.
 */
export function isIgnored(rules: IgnoreRules, name: string, kind: "file" | "folder"): boolean {
  const first = rules.find(
    ({ takes, pattern, places }) =>
      (takes === "all" || kind === "folder") && endsWith(pattern, places, name),
  );
  return first?.verdict === "ignored";
}

/** How much text the rules are, and so what one name costs. */
export const charsOf = (rules: IgnoreRules): number =>
  rules.reduce((sum, { chars }) => sum + chars, 0);

/** A line in the syntax of .gitignore; none for a comment, a blank line or a pattern that matches nothing. */
function parseRule(line: string): readonly IgnoreRule[] {
  if (line.startsWith("#")) return [];
  const trimmed = trimBlanks(line);
  const isKept = trimmed.startsWith("!");
  const body = trimmed.slice(isKept ? 1 : 0);
  const isFolder = body.endsWith("/");
  const path = isFolder ? body.slice(0, -1) : body;
  if (path === "") return [];
  // Without a slash inside, a name matches at any depth.
  const pattern = parsePathPattern(path.includes("/") ? path.replace(/^\//, "") : `**/${path}`);
  if (pattern === undefined) return [];
  return [
    {
      verdict: isKept ? "kept" : "ignored",
      takes: isFolder ? "folders" : "all",
      pattern,
      places: startOf(pattern),
      chars: line.length,
    },
  ];
}

/** Blanks at the end do not count, but for one with a `\` before it. */
function trimBlanks(line: string): string {
  let end = line.length;
  while (line[end - 1] === " ") end -= 1;
  let escapes = 0;
  while (line[end - 1 - escapes] === "\\") escapes += 1;
  return line.slice(0, escapes % 2 === 1 ? end + 1 : end);
}

/** Rules in gitignore syntax for the folder that holds it and all below. */
export const IGNORE_FILE = ".nightdeskignore";

/** Of all that hold in a folder together, since each name in it is compared with each of their characters. */
export const MOST_BYTES_OF_RULES = 65_536;
// A link could lead anywhere, and a FIFO planted there would never end.
const OPEN = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK | constants.O_NOCTTY;

/**
 * The patterns of a folder's ignore file, one a line. Refused when it can't be read or trusted: what it would leave
 * out is not known then.
 * @param folder absolute
 * @param shown the file's path for messages
 * @param mostBytes what the files of the folders above leave of MOST_BYTES_OF_RULES
 */
export function readIgnoreFile(
  folder: string,
  shown: string,
  mostBytes: number,
): readonly string[] | Refusal {
  let descriptor: number | undefined;
  try {
    descriptor = openSync(posix.join(folder, IGNORE_FILE), OPEN);
    if (!fstatSync(descriptor).isFile()) return refuseFile(shown, "is no regular file");
    const buffer = Buffer.allocUnsafe(mostBytes + 1);
    const bytes = readSync(descriptor, buffer, 0, buffer.length, 0);
    if (bytes > mostBytes) return refuseFile(shown, tooLong(mostBytes));
    const decoded = decodeText(buffer.subarray(0, bytes));
    return decoded.kind === "text" ? linesOf(decoded.text) : refuseFile(shown, decoded.why);
  } catch {
    return refuseFile(shown, "can't be read");
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

/** A line ends as one of Unix or of Windows does. */
const linesOf = (text: string): readonly string[] => text.replace(/^\uFEFF/, "").split(/\r?\n/);

const tooLong = (mostBytes: number): string =>
  mostBytes === MOST_BYTES_OF_RULES
    ? `is over ${MOST_BYTES_OF_RULES} bytes`
    : `is over ${MOST_BYTES_OF_RULES} bytes together with those of the folders above it`;

const refuseFile = (shown: string, why: string): Refusal =>
  refuse(
    "FILE_READ_ERROR",
    `"${shown}" ${why}, so its folder is left as it was: mend or remove the file.`,
  );
