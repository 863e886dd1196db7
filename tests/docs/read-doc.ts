import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";

export const root = resolve(import.meta.dirname, "..", "..");

/** Every document, by its path in the repository. */
export const DOCS: readonly string[] = [
  ...["README.md", "OPERATOR_QUICKREF.md", "SECURITY.md", "CHANGELOG.md"],
  ...readdirSync(join(root, "docs"), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".md"))
    .map((name) => join("docs", name))
    .sort(),
];

/** Those whose marked blocks are one session, in the order in which they are run. */
export const SESSION_DOCS = [
  "README.md",
  "docs/guide.md",
  "docs/nights.md",
  "docs/investigations.md",
  "docs/reference/errors.md",
  "OPERATOR_QUICKREF.md",
  "docs/models.md",
] as const;

export const readDoc = (name: string): string => readFileSync(join(root, name), "utf8");

export type Block = {
  /** The word after the fence: `console`, `sh`, `sql`; empty where there is none. */
  readonly language: string;
  readonly body: string;
  /** Whether `<!-- run -->` stands before the fence. */
  readonly isRun: boolean;
};

/** The fenced blocks of a text, in order. */
export const blocksOf = (text: string): readonly Block[] =>
  [...text.matchAll(/(<!-- run -->\s*)?^```(\w*)\n([\s\S]*?)^```$/gm)].map(
    ([, mark, language = "", body = ""]) => ({ language, body, isRun: mark !== undefined }),
  );

/** What stands under a heading of the second level, up to the next one. */
export function sectionOf(text: string, heading: string): string {
  const [, rest] = text.split(`\n## ${heading}\n`);
  if (rest === undefined) throw new Error(`there is no heading "## ${heading}"`);
  return rest.split("\n## ")[0] ?? "";
}

/** The rows of the tables in a text, without their heads: cells without padding and backticks. */
export function rowsOf(text: string): readonly (readonly string[])[] {
  const lines = text.split("\n").filter((line) => line.startsWith("|"));
  const isRule = (line: string | undefined) => /^\|[\s|:-]+$/.test(line ?? "");
  return lines
    .filter((line, place) => !isRule(line) && !isRule(lines[place + 1]))
    .map((line) =>
      line
        .slice(1, -1)
        .split("|")
        .map((cell) => cell.trim().replaceAll("`", "")),
    );
}
