import { openContext, withDatabase } from "../../shared/command-context.ts";
import type { CommandContext } from "../../shared/command-context.ts";
import type { CommandHandler } from "../../shared/commands/command.ts";
import { printRefusal } from "../../shared/commands/report-failure.ts";
import { Failure } from "../../shared/failure.ts";
import type { Database } from "../../shared/store/connection/database.ts";
import { anyChunkPasses } from "../../shared/store/index/passages.ts";
import { layOutLines } from "../../shared/styled-text.ts";
import { createEmbedder } from "../embedders/create-embedder.ts";
import { createHashingEmbedder } from "../embedders/hashing.ts";
import { explainHits } from "../search/explain-hits.ts";
import type { Explanation } from "../search/explain-hits.ts";
import { parseOperators } from "../search/parse-operators.ts";
import type { Operators } from "../search/parse-operators.ts";
import { createSearch, findCorrections, isMended, searchFilterOf } from "../search/search.ts";
import type { Correction, Passage, SearchRequest } from "../search/search.ts";
import { embedderPlaceOf, searchSettingsOf } from "../settings.ts";
import { readQueries, parseSearchOptions } from "./search-options.ts";
import type { SearchOptions } from "./search-options.ts";

/** As many queries of a file at once as there are connections for them. */
const AT_ONCE = 4;
const MOST_MS = 60_000;

/** Searches the index: one text for people or programs, or a file of texts, one JSON line each. */
export const query: CommandHandler = async (invocation) => {
  const { options, args } = invocation;
  const [text] = args;
  const file = options["file"];
  if ((text === undefined) === (file === undefined)) {
    throw new Failure(
      "USAGE_ERROR",
      'Give either a text or --file, as in: nightdesk query "kitchen load"',
    );
  }
  const context = await openContext(invocation);
  const read = parseSearchOptions(invocation, context.config);
  if (read.kind === "refused") return printRefusal(read, invocation);
  const searchOptions = read.options;
  return withDatabase(context, "must-exist", async (database) => {
    const find = await openFind(context, database, searchOptions);
    if (typeof file === "string") await searchFile(file, find, context);
    else if ((await searchOne(text ?? "", find, context)) === 0 && options["json"] !== true) {
      const filter = searchFilterOf({ ...searchOptions, text: "" }, 1);
      context.terminal.say(formatNothing(await anyChunkPasses(database, filter)));
    }
    return 0;
  });
};

type SearchOutcome = { readonly hits: readonly Hit[]; readonly corrections: readonly Correction[] };

const NOTHING: SearchOutcome = { hits: [], corrections: [] };

/** A text, and what its operators ask for. */
type Wanted = Pick<SearchRequest, "text"> & Partial<Operators>;
type Find = (wanted: Wanted) => Promise<SearchOutcome>;

async function openFind(
  { config, invocation }: CommandContext,
  database: Database,
  searchOptions: SearchOptions,
): Promise<Find> {
  // The floor is where answers stop; somebody who searches sees for themselves how little fits.
  const settings = { ...searchSettingsOf(config), floor: 0 };
  // Words need no vector, and so no model that may be missing.
  const embedder =
    searchOptions.mode === "lexical"
      ? createHashingEmbedder()
      : await createEmbedder(config.embed, embedderPlaceOf(config));
  const search = createSearch({ db: database, embedder, settings });
  return async (wanted) => {
    const request = { ...searchOptions, ...wanted };
    const passages = await search(request, AbortSignal.timeout(MOST_MS));
    const explanations =
      invocation.options["explain"] === true
        ? await explainHits(database, request, passages, settings)
        : undefined;
    const hits = passages.map((passage) => ({
      passage,
      explanation: explanations?.get(passage.chunkKey),
    }));
    const mayCorrect = isMended(request) && hits.length > 0;
    return { hits, corrections: mayCorrect ? await findCorrections(database, request) : [] };
  };
}

/** @returns how many hits there are */
async function searchOne(
  text: string,
  find: Find,
  { terminal, invocation }: CommandContext,
): Promise<number> {
  checkWords(text);
  const found = await find(parseOperators(text));
  const { hits, corrections } = found;
  if (invocation.options["json"] === true) {
    await terminal.printJson({ ok: true, text, ...foundJson(found) });
  } else {
    for (const correction of corrections) terminal.say(formatCorrection(correction));
    const lines = hits.flatMap((hit, place) => hitLines(hit, place + 1));
    for (const line of layOutLines(lines, terminal.dataColumns)) await terminal.print(line);
  }
  return hits.length;
}

const foundJson = ({ hits, corrections }: SearchOutcome): object => ({
  hits: hits.map(hitJson),
  corrections: corrections.map(({ word, searchedFor }) => ({ word, searched_for: searchedFor })),
});

function formatCorrection({ word, searchedFor }: Correction): string {
  const names = searchedFor.map((name) => JSON.stringify(name));
  const list = [names.slice(0, -1).join(", "), ...names.slice(-1)].filter((part) => part !== "");
  return `Searched for ${list.join(" and ")} instead of ${JSON.stringify(word)}, which no document holds.`;
}

const formatNothing = (anyPasses: boolean): string =>
  anyPasses
    ? "No hits. `nightdesk doctor` tells whether the index is there and current."
    : "No hits, because no document passes --path, --source, --where, --since and --until as they are given. " +
      'Paths begin at the work root; `nightdesk sql "select path, metadata from documents limit 20"` shows some.';

/** Of a blank text the search says the same. */
function checkWords(text: string): void {
  if (text.trim() === "" || /[\p{L}\p{N}\p{So}]/u.test(text)) return;
  throw new Failure(
    "INVALID_QUERY",
    `${JSON.stringify(text)} holds no word: give at least one to search for, as in: nightdesk query "kitchen load".`,
  );
}

/** The texts are taken as they are: a question of a program that holds quotation marks does not mean them. */
async function searchFile(file: string, find: Find, { terminal }: CommandContext): Promise<void> {
  const queries = await readQueries(file);
  for (let start = 0; start < queries.length; start += AT_ONCE) {
    const portion = queries.slice(start, start + AT_ONCE);
    const found = await Promise.all(portion.map(({ text }) => find({ text })));
    for (const [place, { id }] of portion.entries()) {
      await terminal.printJson({ id, ...foundJson(found[place] ?? NOTHING) });
    }
    terminal.status(`${Math.min(start + AT_ONCE, queries.length)} of ${queries.length} queries`);
  }
  terminal.clearStatus();
}

/** A passage that `query` found, and why, when that was asked for. */
type Hit = { readonly passage: Passage; readonly explanation: Explanation | undefined };

const SNIPPET_CHARS = 200;
const MOST_MISSING = 8;

const hitJson = ({ passage, explanation }: Hit): object => ({
  chunk_key: passage.chunkKey,
  path: passage.path,
  heading_path: passage.headingPath,
  start_char: passage.startChar,
  end_char: passage.endChar,
  line_start: passage.lineStart,
  line_end: passage.lineEnd,
  score: passage.score,
  text: passage.text,
  ...(explanation === undefined ? {} : { explain: explanationJson(passage, explanation) }),
});

const explanationJson = (passage: Passage, { terms, missing, coverage }: Explanation): object => ({
  lexical_rank: passage.lexicalRank,
  lexical_score: passage.lexicalScore,
  borrowed_score: passage.borrowedScore,
  vector_rank: passage.vectorRank,
  vector_score: passage.vectorScore,
  coverage,
  terms,
  missing,
});

function hitLines({ passage, explanation }: Hit, place: number): readonly string[] {
  const heading = passage.headingPath === null ? "" : `  ${passage.headingPath}`;
  const snippet = passage.text.replace(/\s+/g, " ").trim().slice(0, SNIPPET_CHARS);
  const where = `${passage.path}:${passage.lineStart}-${passage.lineEnd}${heading}`;
  const lines = [`${place}. ${where}  (${passage.score.toFixed(4)})`, `   ${snippet}`];
  if (explanation !== undefined) lines.push(...explanationLines(passage, explanation));
  return lines;
}

function explanationLines(passage: Passage, { terms, missing, coverage }: Explanation): string[] {
  const words = terms.map(
    ({ term, chunks, score }) =>
      `${term} ${score.toFixed(2)} (in ${chunks} chunk${chunks === 1 ? "" : "s"})`,
  );
  const lines = [
    `   words: ${wordsOf(passage)}; vector: ${vectorOf(passage)}; holds ${(100 * coverage).toFixed(0)} % of the question`,
  ];
  if (words.length > 0) lines.push(`   ${words.join(", ")}`);
  if (missing.length > 0) {
    const more = missing.length > MOST_MISSING ? ` and ${missing.length - MOST_MISSING} more` : "";
    lines.push(`   not in it: ${missing.slice(0, MOST_MISSING).join(", ")}${more}`);
  }
  return lines;
}

function wordsOf({ lexicalRank, lexicalScore, borrowedScore }: Passage): string {
  if (lexicalRank === null || lexicalScore === null) return "not found";
  const borrowed =
    borrowedScore === null || borrowedScore === 0
      ? ""
      : `, ${borrowedScore.toFixed(2)} of it from its neighbours`;
  return `rank ${lexicalRank}, ${lexicalScore.toFixed(2)}${borrowed}`;
}

const vectorOf = ({ vectorRank, vectorScore }: Passage): string =>
  vectorRank === null || vectorScore === null
    ? "not found"
    : `rank ${vectorRank}, similarity ${vectorScore.toFixed(3)}`;
