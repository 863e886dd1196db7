import { z } from "zod";
import { refuse } from "../../shared/failure.ts";
import { compilePattern, parsePattern } from "../../shared/schema/linear-pattern.ts";
import { foldCase } from "../../shared/text/normalise-text.ts";
import { splitLines } from "../documents/lines.ts";
import { spanPassage } from "../evidence/span-passage.ts";
import type { Passage } from "../evidence/types.ts";
import type { PureWork } from "../offload/offload.ts";
import { plural } from "../evidence/footer.ts";
import { defineTool, filledText, numberUpTo, outputOf, pathPrefix } from "./tool.ts";
import type { ToolAccess } from "./tool.ts";

const MATCHES = 10;
const MOST_MATCHES = 40;
/** Limits of one call: files and time. */
const MOST_FILES = 5_000;
const MOST_MS = 20_000;

/** Searches the files themselves for words or a pattern, even files that are not indexed. */
export const SEARCH_TEXT = defineTool({
  name: "search_text",
  description: "Looks for exact words, or a pattern, in the lines of all files that can be read.",
  args: z.strictObject({
    text: filledText("words to look for", 500).describe(
      "The words, in either case; they have to stand in one line.",
    ),
    is_pattern: z
      .boolean("true or false")
      .optional()
      .describe("The text is a regular expression without look-around."),
    path_prefix: pathPrefix("files"),
    limit: numberUpTo(MOST_MATCHES).describe(
      `How many lines to show; ${MATCHES} without it. All are counted.`,
    ),
  }),
  effect: "none",
  move: "search",
  query: { argument: "text", hits: "matches" },
  place: { argument: "path_prefix", of: "folder" },
  isEvidence: true,
  limits: { callsPerRun: 100 },
  async run(
    { text, is_pattern: isPattern = false, path_prefix: prefix = "", limit = MATCHES },
    access,
  ) {
    const wanted = isPattern ? patternOf(text) : ({ kind: "literal", text } as const);
    if (wanted.kind === "fault") return refuse("INVALID_ARGS", `The pattern ${wanted.reason}.`);
    const paths = (await access.listFiles()).filter((path) => path.startsWith(prefix));
    const found = await searchFiles(paths, wanted, limit, access);
    const left = paths.length - found.searched;
    const where =
      left === 0
        ? plural(paths.length, "file")
        : `${found.searched} of ${plural(paths.length, "file")}`;
    const rest = left === 0 ? "" : " One call looks at no more: narrow it down by path_prefix.";
    const shown =
      found.passages.length < found.matches ? `, of which ${found.passages.length} are shown` : "";
    return outputOf(
      `${plural(found.matches, "line")} in ${plural(found.files, "file")}${shown}; looked at ${where}.${rest}${found.unread === 0 ? "" : ` ${plural(found.unread, "file")} could not be read.`}`,
      {
        matches: found.matches,
        files: found.files,
        looked_at: found.searched,
        of_files: paths.length,
        unread: found.unread,
      },
      found.passages.map((passage) => ({ kind: "passage", passage })),
    );
  },
});

type Wanted =
  | { readonly kind: "literal"; readonly text: string }
  | { readonly kind: "pattern"; readonly source: string };

function patternOf(text: string): Wanted | { readonly kind: "fault"; readonly reason: string } {
  const parsed = parsePattern(text);
  return parsed.kind === "fault" ? parsed : { kind: "pattern", source: parsed.source };
}

type TextMatches = {
  readonly passages: readonly Passage[];
  readonly matches: number;
  readonly files: number;
  readonly searched: number;
  readonly unread: number;
};

async function searchFiles(
  paths: readonly string[],
  wanted: Wanted,
  limit: number,
  { readFile, offload, signal }: ToolAccess,
): Promise<TextMatches> {
  const startedAt = performance.now();
  const passages: Passage[] = [];
  let [matches, files, searched, unread] = [0, 0, 0, 0];
  for (const path of paths.slice(0, MOST_FILES)) {
    signal.throwIfAborted();
    if (performance.now() - startedAt > MOST_MS) break;
    searched += 1;
    const reading = await readFile(path);
    if (reading.kind === "refused") {
      unread += 1;
      continue;
    }
    const { text } = reading;
    const room = limit - passages.length;
    const hits = await offload(
      MATCH_LINES,
      { text, wanted, most: room },
      { chars: text.length, signal },
    );
    matches += hits.count;
    if (hits.count > 0) files += 1;
    passages.push(...hits.lines.map(({ start, end }) => spanPassage(reading, start, end)));
  }
  return { passages, matches, files, searched, unread };
}

type Lines = { readonly text: string; readonly wanted: Wanted; readonly most: number };
type Hits = {
  readonly count: number;
  /** The first matching lines, each with the line before and after it. */
  readonly lines: readonly { readonly start: number; readonly end: number }[];
};

/** Finds the lines of a text that match. Linear in the text. */
export function matchLines({ text, wanted, most }: Lines): Hits {
  const holds = matcherOf(wanted);
  const lines = splitLines(text);
  const found: { start: number; end: number }[] = [];
  let count = 0;
  for (let line = 0; line < lines.count; line += 1) {
    if (!holds(text.slice(lines.start(line), lines.end(line)))) continue;
    count += 1;
    if (found.length < most) {
      found.push({
        start: lines.start(Math.max(0, line - 1)),
        end: lines.end(Math.min(lines.count - 1, line + 1)),
      });
    }
  }
  return { count, lines: found };
}

const MATCH_LINES: PureWork<Lines, Hits> = { home: import.meta.url, run: matchLines };

function matcherOf(wanted: Wanted): (line: string) => boolean {
  if (wanted.kind === "pattern") return compilePattern(wanted.source).test;
  const words = foldCase(wanted.text);
  return (line) => foldCase(line).includes(words);
}
