import type { Config } from "../../shared/config/schema.ts";
import type { Database } from "../../shared/store/connection/database.ts";
import { selectSamples } from "../../shared/store/index/samples.ts";
import type { Sample } from "../../shared/store/index/samples.ts";
import { createHashingEmbedder } from "../embedders/hashing.ts";
import { vectorsOf } from "../search/choose-vectors.ts";
import { createSearch } from "../search/search.ts";
import { searchSettingsOf } from "../settings.ts";
import { ok, warn } from "./check.ts";
import type { Check } from "./check.ts";

const SAMPLES = 5;
const MOST_MS = 20_000;
/** Copies of a passage may stand in other documents. */
const AMONG = 10;

/** Asks the index for sentences that it holds: each has to find its own document by its words. */
export async function checkRetrieval(config: Config, db: Database): Promise<readonly Check[]> {
  const samples = await selectSamples(db, SAMPLES);
  if (samples.length === 0) return [];
  const settings = { ...searchSettingsOf(config), floor: 0 };
  const search = createSearch({ db, vectors: vectorsOf(createHashingEmbedder()), settings });
  const finds = async ({ path, text }: Sample): Promise<boolean> => {
    const request = { text: longestSentence(text), limit: AMONG, mode: "lexical" } as const;
    const hits = await search(request, AbortSignal.timeout(MOST_MS));
    return hits.some((hit) => hit.path === path || hit.text.includes(request.text));
  };
  const found = await Promise.all(samples.map(finds));
  const missed = samples.filter((_, at) => found[at] === false).map(({ path }) => path);
  return [
    missed.length === 0
      ? ok(
          "DOCTOR_RETRIEVAL_OK",
          `${samples.length} sentences of the index were asked for, and each found its document.`,
        )
      : warn(
          "DOCTOR_RETRIEVAL_MISSES",
          `Sentences of these documents do not find them: ${missed.join(", ")}.`,
          "Run: nightdesk index --rebuild",
        ),
  ];
}

const MOST_CHARS = 300;

const longestSentence = (text: string): string =>
  text
    .split(/(?<=[.!?])\s+|\n+/)
    .map((sentence) => sentence.trim())
    .reduce((longest, sentence) => (sentence.length > longest.length ? sentence : longest), "")
    .slice(0, MOST_CHARS);
