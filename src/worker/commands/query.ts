import { openContext, withDatabase } from "../../shared/commands/command-context.ts";
import type { CommandContext } from "../../shared/commands/command-context.ts";
import type { CommandHandler } from "../../shared/commands/command.ts";
import { printRefusal } from "../../shared/commands/report-failure.ts";
import { Failure } from "../../shared/failure.ts";
import { anyChunkPasses } from "../../shared/store/index/passages.ts";
import type { DocumentVersion } from "../../shared/store/index/document-versions.ts";
import { layOutLines } from "../../shared/terminal/styled-text.ts";
import { rerankerOf } from "../evidence/retrieve.ts";
import type { Explanation } from "../search/explain-hits.ts";
import type { Reranked } from "../search/fuse.ts";
import { parseOperators } from "../search/parse-operators.ts";
import type { Operators } from "../search/parse-operators.ts";
import { searchFilterOf } from "../search/search.ts";
import type { Correction, Passage, SearchRequest } from "../search/search.ts";
import { checkWords, outcomeJson, openFinder } from "./find-passages.ts";
import type { Hit, SearchOutcome } from "./find-passages.ts";
import { readQueries, parseSearchOptions } from "./search-options.ts";

type Find = (wanted: Pick<SearchRequest, "text"> & Partial<Operators>) => Promise<SearchOutcome>;

/** Queries of a file that run at once: the number of connections. */
const AT_ONCE = 4;

/** Searches the index: for one text, with output for people or programs, or for a file of texts, with one line of JSON each. */
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
    const explain = options["explain"] === true ? "explain" : "plain";
    const finder = await openFinder(context, database, searchOptions.mode);
    const find: Find = (wanted) => finder({ ...searchOptions, ...wanted }, explain);
    if (typeof file === "string") await searchFile(file, find, context);
    else if ((await searchOne(text ?? "", find, context)) === 0 && options["json"] !== true) {
      const filter = searchFilterOf({ ...searchOptions, text: "" }, 1);
      context.terminal.say(formatNothing(await anyChunkPasses(database, filter)));
    }
    return 0;
  });
};

/** @returns the number of hits */
async function searchOne(
  text: string,
  find: Find,
  { terminal, invocation }: CommandContext,
): Promise<number> {
  checkWords(text);
  const found = await find(parseOperators(text));
  const { hits, corrections } = found;
  if (invocation.options["json"] === true) {
    await terminal.printJson({ ok: true, text, ...outcomeJson(found) });
  } else {
    if (found.vectors !== null) terminal.say(found.vectors);
    const reranker = rerankerOf(hits.map(({ passage }) => passage));
    if (reranker !== null) terminal.say(`Ordered by ${reranker}.`);
    for (const correction of corrections) terminal.say(formatCorrection(correction));
    const lines = hits.flatMap((hit, place) => hitLines(hit, place + 1));
    for (const line of layOutLines(lines, terminal.dataColumns)) await terminal.print(line);
  }
  return hits.length;
}

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

/** Searches the texts literally: in a program's question, quotation marks are no operators. */
async function searchFile(file: string, find: Find, { terminal }: CommandContext): Promise<void> {
  const queries = await readQueries(file);
  for (let start = 0; start < queries.length; start += AT_ONCE) {
    const portion = queries.slice(start, start + AT_ONCE);
    const found = await Promise.all(portion.map(({ text }) => find({ text })));
    for (const [place, { id }] of portion.entries()) {
      await terminal.printJson({ id, ...outcomeJson(found[place] ?? NOTHING) });
    }
    terminal.status(`${Math.min(start + AT_ONCE, queries.length)} of ${queries.length} queries`);
  }
  terminal.clearStatus();
}

const SNIPPET_CHARS = 200;
const MOST_MISSING = 8;
const NOTHING: SearchOutcome = { hits: [], corrections: [], vectors: null };

function hitLines({ passage, explanation, version }: Hit, place: number): readonly string[] {
  const heading = passage.headingPath === null ? "" : `  ${passage.headingPath}`;
  const snippet = passage.text.replace(/\s+/g, " ").trim().slice(0, SNIPPET_CHARS);
  const where = `${passage.path}:${passage.lineStart}-${passage.lineEnd}${heading}`;
  const lines = [
    `${place}. ${where}  (${passage.score.toFixed(4)}${dateOf(version)})`,
    `   ${snippet}`,
    ...newerLine(version),
  ];
  if (explanation !== undefined) lines.push(...explanationLines(passage, explanation));
  return lines;
}

/** `, 2025-03-14 by file name`; the modification time of a file is too unreliable to show. */
function dateOf(version: DocumentVersion | undefined): string {
  if (version === undefined || version.daySource === "file_time") return "";
  const { day, dayUntil, daySource } = version;
  const span = day === dayUntil ? day : `${day} to ${dayUntil}`;
  return `, ${span} by ${daySource.replaceAll("_", " ")}`;
}

function newerLine(version: DocumentVersion | undefined): readonly string[] {
  const [newest, ...others] = version?.newer ?? [];
  if (newest === undefined) return [];
  return [
    `   newer: ${newest}${others.length === 0 ? "" : ` (and ${others.length} more between them)`}`,
  ];
}

function explanationLines(passage: Passage, { terms, missing, coverage }: Explanation): string[] {
  const words = terms.map(
    ({ term, chunks, score }) =>
      `${term} ${score.toFixed(2)} (in ${chunks} chunk${chunks === 1 ? "" : "s"})`,
  );
  const lines = [
    `   words: ${wordsOf(passage)}; vector: ${vectorOf(passage)}; holds ${(100 * coverage).toFixed(0)} % of the question`,
  ];
  if (passage.reranked !== undefined) lines.push(`   ${formatReranked(passage.reranked)}`);
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

const formatReranked = ({ score, rank, fusedRank, fusedScore }: Reranked): string =>
  `reranker: ${score === null ? "not read" : `score ${score.toFixed(4)}`}, rank ${rank}; before: rank ${fusedRank}, ${fusedScore.toFixed(4)}`;

const vectorOf = ({ vectorRank, vectorScore }: Passage): string =>
  vectorRank === null || vectorScore === null
    ? "not found"
    : `rank ${vectorRank}, similarity ${vectorScore.toFixed(3)}`;
