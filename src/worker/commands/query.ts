import { openContext, withDatabase } from "../../shared/command-context.ts";
import type { CommandContext } from "../../shared/command-context.ts";
import type { CommandHandler } from "../../shared/commands/command.ts";
import { printRefusal } from "../../shared/commands/report-failure.ts";
import type { Database } from "../../shared/store/connection/database.ts";
import { anyChunkPasses } from "../../shared/store/index/passages.ts";
import { layOutLines } from "../../shared/styled-text.ts";
import { Failure } from "../../shared/failure.ts";
import { createEmbedder } from "../embedders/create-embedder.ts";
import { createHashingEmbedder } from "../embedders/hashing.ts";
import { isMended } from "../retrieval/search/find-words.ts";
import { type Correction, findCorrections } from "../retrieval/search/mend-words.ts";
import { explainHits } from "../retrieval/search/explain-hits.ts";
import { type Operators, readOperators } from "../retrieval/search/read-operators.ts";
import { searchFilterOf } from "../retrieval/search/search-filter-of.ts";
import { createSearch, type SearchRequest } from "../retrieval/search.ts";
import { embedderPlaceOf, searchSettingsOf } from "../settings.ts";
import { hitJson, hitLines, type Hit } from "./describe-hit.ts";
import { readQueries } from "./read-queries.ts";
import { readSearchOptions, type SearchOptions } from "./read-search-options.ts";

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
  const read = readSearchOptions(invocation, context.config);
  if (read.kind === "refused") return printRefusal(read, invocation);
  const searchOptions = read.options;
  return withDatabase(context, "must-exist", async (database) => {
    const find = await openFind(context, database, searchOptions);
    if (typeof file === "string") await searchFile(file, find, context);
    else if ((await searchOne(text ?? "", find, context)) === 0 && options["json"] !== true) {
      const filter = searchFilterOf({ ...searchOptions, text: "" }, 1);
      context.terminal.say(describeNothing(await anyChunkPasses(database, filter)));
    }
    return 0;
  });
};

type Found = { readonly hits: readonly Hit[]; readonly corrections: readonly Correction[] };

const NOTHING: Found = { hits: [], corrections: [] };

/** A text, and what its operators ask for. */
type Wanted = Pick<SearchRequest, "text"> & Partial<Operators>;
type Find = (wanted: Wanted) => Promise<Found>;

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
  const found = await find(readOperators(text));
  const { hits, corrections } = found;
  if (invocation.options["json"] === true) {
    await terminal.printJson({ ok: true, text, ...foundJson(found) });
  } else {
    for (const correction of corrections) terminal.say(describeCorrection(correction));
    const lines = hits.flatMap((hit, place) => hitLines(hit, place + 1));
    for (const line of layOutLines(lines, terminal.dataColumns)) await terminal.print(line);
  }
  return hits.length;
}

const foundJson = ({ hits, corrections }: Found): object => ({
  hits: hits.map(hitJson),
  corrections: corrections.map(({ word, searchedFor }) => ({ word, searched_for: searchedFor })),
});

function describeCorrection({ word, searchedFor }: Correction): string {
  const names = searchedFor.map((name) => JSON.stringify(name));
  const list = [names.slice(0, -1).join(", "), ...names.slice(-1)].filter((part) => part !== "");
  return `Searched for ${list.join(" and ")} instead of ${JSON.stringify(word)}, which no document holds.`;
}

const describeNothing = (anyPasses: boolean): string =>
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
