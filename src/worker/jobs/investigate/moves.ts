import { firstCodePoints } from "../../text/clean-text.ts";
import { stemWord, withoutFunctionWords, wordsOf } from "../../text/content-words.ts";
import type { Move, Tool, ToolOutput } from "../../tools/tool.ts";
import type { RecordedStep } from "./record.ts";
import { parseUrl } from "../../../shared/http/parse-url.ts";

/** The fields that describe a call in its row, for the views `moves` and `queries` and the rules against drift. */
type MoveDetail = {
  readonly move: Move;
  /** For a search: the name of the argument that holds the query. */
  readonly query_argument?: string;
  /** Equal for queries with the same words. */
  readonly family?: string;
  /** Whether no earlier query of the job belongs to this family. */
  readonly novel?: boolean;
  /** The folder, or the origin of the site, that the call looks at. */
  readonly place?: string;
};

type DescribedTool = Pick<Tool, "move" | "query" | "place">;
type Args = Readonly<Record<string, unknown>>;

/**
 * Describes a call before it is made. Pure.
 * @param earlier the steps before it
 * @param checked files that the statement of a check rests on: opening one of them counts as verifying
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

/** The number of hits that a search reports; nothing for any other call, and for a call that failed. */
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

/** A row only has to identify the query, not to repeat a long one. */
const MOST_FAMILY_CHARS = 500;

/**
 * The stems of the words that carry the subject of a query, folded, each once and sorted; of all its words if none does.
 * Null if it has no words.
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

/** Null for a text that names no place: the whole of the readable files, a file outside of any folder, an invalid URL. */
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
