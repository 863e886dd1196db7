import type { Config } from "../../shared/config/schema.ts";
import type { CommandContext } from "../../shared/commands/command-context.ts";
import { Failure } from "../../shared/failure.ts";
import type { Database } from "../../shared/store/connection/database.ts";
import { selectVersions } from "../../shared/store/index/document-versions.ts";
import type { DocumentVersion } from "../../shared/store/index/document-versions.ts";
import { asksNewest } from "../../shared/files/version-family.ts";
import { createEmbedder } from "../embedders/create-embedder.ts";
import { createHashingEmbedder } from "../embedders/hashing.ts";
import { rerankerOf } from "../evidence/retrieve.ts";
import { explainHits } from "../search/explain-hits.ts";
import type { Explanation } from "../search/explain-hits.ts";
import { chooseVectors, vectorsNote, vectorsOf } from "../search/choose-vectors.ts";
import type { ChooseVectors } from "../search/choose-vectors.ts";
import { createSearch, findCorrections, mayCorrectSpelling } from "../search/search.ts";
import type { Correction, Passage, SearchRequest } from "../search/search.ts";
import {
  embedderPlaceOf,
  openFormerEmbedder,
  accessOfCommand,
  rerankingOf,
  searchSettingsOf,
} from "../settings.ts";

const MOST_MS = 60_000;

/** A passage that was found, with an explanation if one was requested. */
export type Hit = {
  readonly passage: Passage;
  readonly explanation: Explanation | undefined;
  /** Undefined if the document was removed after the search. */
  readonly version: DocumentVersion | undefined;
};

export type SearchOutcome = {
  readonly hits: readonly Hit[];
  readonly corrections: readonly Correction[];
  /** A note about the vectors that were searched; null if they are those of the configured embedder. */
  readonly vectors: string | null;
};

type Finder = (request: SearchRequest, explain: "explain" | "plain") => Promise<SearchOutcome>;

/** Search for people: without the minimum score that answers require. */
export async function openFinder(
  { config, invocation }: CommandContext,
  database: Database,
  mode: SearchRequest["mode"],
): Promise<Finder> {
  const settings = { ...searchSettingsOf(config), floor: 0 };
  const choose = await vectorsFor(mode, { config, database, env: invocation.env });
  let said: string | null = null;
  const vectors: ChooseVectors = async () => {
    const choice = await choose();
    said = vectorsNote(choice);
    return choice;
  };
  const search = createSearch({ db: database, vectors, settings, reranking: rerankingOf(config) });
  return async (request, explain) => {
    const passages = await search(request, AbortSignal.timeout(MOST_MS));
    const explanations =
      explain === "explain" ? await explainHits(database, request, passages, settings) : undefined;
    const versions = await selectVersions(database, [...new Set(passages.map(({ path }) => path))]);
    const hits = passages.map((passage) => ({
      passage,
      version: versions.get(passage.path),
      explanation: explanations?.get(passage.chunkKey),
    }));
    const mayCorrect = mayCorrectSpelling(request) && hits.length > 0;
    return {
      hits: asksNewest(request.text) ? newestFirst(hits) : hits,
      corrections: mayCorrect ? await findCorrections(database, request) : [],
      vectors: said,
    };
  };
}

type VectorPlace = {
  readonly config: Config;
  readonly database: Database;
  readonly env: CommandContext["invocation"]["env"];
};

async function vectorsFor(
  mode: SearchRequest["mode"],
  { config, database, env }: VectorPlace,
): Promise<ChooseVectors> {
  // A lexical search needs no vectors, so a missing model must not matter.
  if (mode === "lexical") return vectorsOf(createHashingEmbedder());
  const reach = accessOfCommand(config, env);
  return chooseVectors({
    db: database,
    configured: await createEmbedder(config.embed, embedderPlaceOf(config, reach)),
    openFormer: (stored) => openFormerEmbedder(config, stored, reach),
  });
}

/** Moves passages of documents with a newer version behind all others. */
const newestFirst = (hits: readonly Hit[]): readonly Hit[] => {
  const isOlder = ({ version }: Hit): boolean => (version?.newer.length ?? 0) > 0;
  return [...hits.filter((hit) => !isOlder(hit)), ...hits.filter(isOlder)];
};

/** @throws Failure INVALID_QUERY for a text without letters and digits; the search itself rejects a blank one */
export function checkWords(text: string): void {
  if (text.trim() === "" || /[\p{L}\p{N}\p{So}]/u.test(text)) return;
  throw new Failure(
    "INVALID_QUERY",
    `${JSON.stringify(text)} holds no word: give at least one to search for, as in: nightdesk query "kitchen load".`,
  );
}

/** The result as `query --json` prints it. */
export function outcomeJson({ hits, corrections, vectors }: SearchOutcome): object {
  const reranker = rerankerOf(hits.map(({ passage }) => passage));
  return {
    ...(vectors === null ? {} : { vectors }),
    ...(reranker === null ? {} : { reranker }),
    hits: hits.map(hitJson),
    corrections: corrections.map(({ word, searchedFor }) => ({ word, searched_for: searchedFor })),
  };
}

const hitJson = ({ passage, explanation, version }: Hit): object => ({
  chunk_key: passage.chunkKey,
  path: passage.path,
  heading_path: passage.headingPath,
  start_char: passage.startChar,
  end_char: passage.endChar,
  line_start: passage.lineStart,
  line_end: passage.lineEnd,
  score: passage.score,
  ...(version === undefined
    ? {}
    : {
        day: version.day,
        day_until: version.dayUntil,
        day_source: version.daySource,
        newer_versions: version.newer,
      }),
  text: passage.text,
  ...(explanation === undefined ? {} : { explain: explanationJson(passage, explanation) }),
});

const explanationJson = (passage: Passage, { terms, missing, coverage }: Explanation): object => ({
  ...rerankedJson(passage),
  lexical_rank: passage.lexicalRank,
  lexical_score: passage.lexicalScore,
  borrowed_score: passage.borrowedScore,
  vector_rank: passage.vectorRank,
  vector_score: passage.vectorScore,
  coverage,
  terms,
  missing,
});

const rerankedJson = ({ reranked }: Passage): object =>
  reranked === undefined
    ? {}
    : {
        rerank_score: reranked.score,
        rerank_rank: reranked.rank,
        fused_rank: reranked.fusedRank,
        fused_score: reranked.fusedScore,
      };
