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

/** The rules that apply in a folder: its own, then those of the folders above. The first rule that matches decides. */
export type IgnoreRules = readonly IgnoreRule[];

type IgnoreRule = {
  readonly verdict: "ignored" | "kept";
  readonly takes: "folders" | "all";
  readonly pattern: PathPattern;
  readonly places: Places;
  readonly chars: number;
};

export const NO_RULES: IgnoreRules = [];

/** Adds the lines of a folder's own ignore file to the outer rules. The last line has precedence. */
export const addRules = (outer: IgnoreRules, lines: readonly string[]): IgnoreRules => [
  ...lines.flatMap(parseRule).reverse(),
  ...outer,
];

/** The rules that can match something inside a folder. */
export const rulesBelow = (rules: IgnoreRules, folder: string): IgnoreRules =>
  rules.flatMap((rule) => {
    const places = enterFolder(rule.pattern, rule.places, folder);
    if (places.length === 0) return [];
    return [isSame(places, rule.places) ? rule : { ...rule, places }];
  });

const isSame = (a: Places, b: Places): boolean =>
  a.length === b.length && a.every((place, at) => place === b[at]);

/**
 * Whether the rules leave an entry of the folder out. As in git, an ignored folder is not read, so that no rule can restore a
 * file in it. Takes time up to the name's length times the rules' length.
 */
export function isIgnored(rules: IgnoreRules, name: string, kind: "file" | "folder"): boolean {
  const first = rules.find(
    ({ takes, pattern, places }) =>
      (takes === "all" || kind === "folder") && endsWith(pattern, places, name),
  );
  return first?.verdict === "ignored";
}

/** The length of the rules, to which the time for one name is proportional. */
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

/** Removes blanks at the end, except one with a `\` before it. */
function trimBlanks(line: string): string {
  let end = line.length;
  while (line[end - 1] === " ") end -= 1;
  let escapes = 0;
  while (line[end - 1 - escapes] === "\\") escapes += 1;
  return line.slice(0, escapes % 2 === 1 ? end + 1 : end);
}

/** Holds rules in gitignore syntax for its folder and all folders below. */
export const IGNORE_FILE = ".nightdeskignore";

/** Limit of all rules that apply in a folder together, since each name is compared with each of their characters. */
export const MOST_BYTES_OF_RULES = 65_536;
// A link could lead anywhere, and reading a planted FIFO would never end.
const OPEN = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK | constants.O_NOCTTY;

/**
 * Reads the patterns of a folder's ignore file, one a line. Refuses a file that can't be read or trusted, because then nobody
 * knows which files it would leave out.
 * @param folder absolute
 * @param shown the file's path for messages
 * @param mostBytes MOST_BYTES_OF_RULES minus the size of the rules of the folders above
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

/** Splits lines of Unix or Windows. */
const linesOf = (text: string): readonly string[] => text.replace(/^\uFEFF/, "").split(/\r?\n/);

const tooLong = (mostBytes: number): string =>
  mostBytes === MOST_BYTES_OF_RULES
    ? `is over ${MOST_BYTES_OF_RULES} bytes`
    : `is over ${MOST_BYTES_OF_RULES} bytes together with those of the folders above it`;

const refuseFile = (shown: string, why: string): Refusal =>
  refuse(
    "FILE_READ_ERROR",
    `"${shown}" ${why}, so the documents of its folder stay as indexed: correct or remove the file.`,
  );
