import { firstCodePoints } from "../../text/clean-text.ts";
import { stemWord, withoutFunctionWords, wordsOf } from "../../text/content-words.ts";
import type { Move, Tool, ToolOutput } from "../../tools/tool.ts";
import type { RecordedStep } from "./record.ts";
import { parseUrl } from "../../../shared/http/parse-url.ts";

/** What a row says of a call beside its arguments: the views `moves` and `queries` and the rules against drift go by it. */
type MoveDetail = {
  readonly move: Move;
  /** Of a search: which argument is the query. */
  readonly query_argument?: string;
  /** The same for queries of the same words. */
  readonly family?: string;
  /** Whether no earlier query of the job was of this family. */
  readonly novel?: boolean;
  /** The folder, or the origin of a site, that it looks at. */
  readonly place?: string;
};

type DescribedTool = Pick<Tool, "move" | "query" | "place">;
type Args = Readonly<Record<string, unknown>>;

/**
 * Of a call before it is made. Pure.
 * @param earlier the steps before it
 * @param checked files that the statement of a check rests on: to open one is to verify it
 */
export function describeMove(
  tool: DescribedTool,
  args: Args,
  earlier: readonly RecordedStep[],
  checked: readonly string[] = [],
): MoveDetail {
  const { query, place } = tool;
  const isChecked = place?.of === "file" && checked.includes(textOf(args, place.argument));
  const move = tool.move === "open" && isChecked ? "verify" : tool.move;
  const family = query === undefined ? null : familyOf(textOf(args, query.argument));
  const where = place === undefined ? null : placeOf(place.of, textOf(args, place.argument));
  return {
    move,
    ...(query === undefined ? {} : { query_argument: query.argument }),
    ...(family === null ? {} : { family, novel: isNovel(family, earlier) }),
    ...(where === null ? {} : { place: where }),
  };
}

/** How much a search found, as it said itself; nothing of any other call, and of one that gave an error. */
export function hitsOf(
  { query }: Pick<Tool, "query">,
  output: Pick<ToolOutput, "facts"> | null,
): { readonly hits?: number } {
  const hits = query === undefined ? undefined : output?.facts[query.hits];
  return typeof hits === "number" ? { hits } : {};
}

const textOf = (args: Args, name: string): string => {
  const value = args[name];
  return typeof value === "string" ? value : "";
};

/** A row has to say what it is, not repeat a long query. */
const MOST_FAMILY_CHARS = 500;

/**
 * The words of a query that carry its subject, folded, as stems, each once and in order; all of its words where none does.
 * Null where it has no words.
 */
function familyOf(query: string): string | null {
  const words = wordsOf(query);
  const subject = withoutFunctionWords(words);
  const stems = new Set((subject.length === 0 ? words : subject).map(stemWord));
  const family = firstCodePoints([...stems].sort().join(" "), MOST_FAMILY_CHARS);
  return family === "" ? null : family;
}

const isNovel = (family: string, earlier: readonly RecordedStep[]): boolean =>
  !earlier.some(({ state, detail }) => state !== "skipped" && detail["family"] === family);

/** Null for what names no place: all that may be read, files outside of any folder, a URL that is none. */
function placeOf(of: NonNullable<Tool["place"]>["of"], text: string): string | null {
  switch (of) {
    case "url":
      return parseUrl(text)?.origin ?? null;
    case "file":
      return text.includes("/") ? folderName(text.slice(0, text.lastIndexOf("/"))) : null;
    case "folder":
      return folderName(text);
  }
}

function folderName(text: string): string | null {
  const name = text.replace(/\/+$/, "");
  return name === "" ? null : name;
}
