import { openContext, withDatabase } from "../../shared/command-context.ts";
import type { CommandContext } from "../../shared/command-context.ts";
import type { CommandHandler, Invocation } from "../../shared/commands/command.ts";
import type { Database } from "../../shared/db/database.ts";
import { Failure } from "../../shared/failure.ts";
import { createEmbedder } from "../embedder/create-embedder.ts";
import { createSearch } from "../retrieval/search.ts";
import type { Passage, Search, SearchRequest } from "../retrieval/search.ts";
import { embedderPlaceOf, searchSettingsOf } from "../runtime/settings-of.ts";
import { readQueries } from "./read-queries.ts";

const DEFAULT_LIMIT = 10;
/** As many queries of a file at once as there are connections for them. */
const AT_ONCE = 4;
const SNIPPET_CHARS = 200;

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
  const settings = searchSettings(invocation);
  checkSource(context, settings.source);
  return withDatabase(context, "must-exist", async (database) => {
    const search = await openSearch(context, database);
    if (typeof file === "string") await searchFile(file, { search, settings, context });
    else await searchOne({ ...settings, text: text ?? "" }, { search, context });
    return 0;
  });
};

async function openSearch({ config }: CommandContext, database: Database): Promise<Search> {
  return createSearch({
    db: database,
    embedder: await createEmbedder(config.embed, embedderPlaceOf(config)),
    settings: searchSettingsOf(config),
  });
}

type Settings = Omit<SearchRequest, "text">;

function searchSettings({ options }: Invocation): Settings {
  const { limit, mode, path, source } = options;
  return {
    limit: typeof limit === "number" ? limit : DEFAULT_LIMIT,
    mode: mode === "lexical" || mode === "vector" ? mode : "hybrid",
    ...(typeof path === "string" ? { pathPrefix: path } : {}),
    ...(typeof source === "string" ? { source } : {}),
  };
}

/** A misspelt source would otherwise look like a question that nothing answers. */
function checkSource({ config }: CommandContext, source: string | undefined): void {
  const names = config.index.sources.map(({ name }) => name);
  if (source === undefined || names.includes(source)) return;
  throw new Failure(
    "NOT_FOUND",
    `There is no source ${JSON.stringify(source)}. Configured under index.sources: ${names.join(", ")}.`,
  );
}

async function searchOne(
  request: SearchRequest,
  { search, context }: { search: Search; context: CommandContext },
): Promise<void> {
  const { terminal, invocation } = context;
  const hits = await search(request, AbortSignal.timeout(60_000));
  if (invocation.options["json"] === true) {
    await terminal.printJson({ ok: true, text: request.text, hits: hits.map(hitOf) });
    return;
  }
  for (const [place, hit] of hits.entries()) await terminal.print(describeHit(hit, place + 1));
  if (hits.length === 0) {
    terminal.say("No hits. `nightdesk doctor` tells whether the index is there and current.");
  }
}

async function searchFile(
  file: string,
  { search, settings, context }: { search: Search; settings: Settings; context: CommandContext },
): Promise<void> {
  const queries = await readQueries(file);
  const { terminal } = context;
  for (let start = 0; start < queries.length; start += AT_ONCE) {
    const portion = queries.slice(start, start + AT_ONCE);
    const found = await Promise.all(
      portion.map(({ text }) => search({ ...settings, text }, AbortSignal.timeout(60_000))),
    );
    for (const [place, { id }] of portion.entries()) {
      await terminal.printJson({ id, hits: (found[place] ?? []).map(hitOf) });
    }
    terminal.status(`${Math.min(start + AT_ONCE, queries.length)} of ${queries.length} queries`);
  }
  terminal.clearStatus();
}

const hitOf = (hit: Passage) => ({
  chunk_key: hit.chunkKey,
  path: hit.path,
  heading_path: hit.headingPath,
  start_char: hit.startChar,
  end_char: hit.endChar,
  line_start: hit.lineStart,
  line_end: hit.lineEnd,
  score: hit.score,
});

function describeHit(hit: Passage, place: number): string {
  const heading = hit.headingPath === null ? "" : `  ${hit.headingPath}`;
  const snippet = hit.text.replace(/\s+/g, " ").trim().slice(0, SNIPPET_CHARS);
  return `${place}. ${hit.path}:${hit.lineStart}-${hit.lineEnd}${heading}  (${hit.score.toFixed(4)})\n   ${snippet}`;
}
