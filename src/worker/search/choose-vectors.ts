import { Failure } from "../../shared/failure.ts";
import type { Queryable } from "../../shared/store/connection/database.ts";
import { selectSearchedVectors } from "../../shared/store/index/searched-vectors.ts";
import type { SearchedVectors } from "../../shared/store/index/searched-vectors.ts";
import type { Embedder } from "../embedders/embedder.ts";

/**
 * The embedder whose vectors a question is compared with: the configured one; until that has embedded the whole index, the
 * former one, which was the last to have done so; or none, where the former one can't embed a question any more.
 */
export type VectorChoice =
  | { readonly whose: "configured" | "former"; readonly embedder: Embedder }
  | { readonly whose: "none"; readonly why: string };

export type ChooseVectors = () => Promise<VectorChoice>;

type ChoiceDeps = {
  readonly db: Queryable;
  readonly configured: Embedder;
  /** Opens the embedder of earlier settings of `embed`. */
  readonly openFormer: (settings: unknown) => Promise<Embedder>;
};

/** Always chooses the vectors of this embedder. */
export const vectorsOf =
  (embedder: Embedder): ChooseVectors =>
  async () => ({ whose: "configured", embedder });

/** A former embedder that could not be opened, or failed to embed, is tried again after this time. */
const TRY_AGAIN_MS = 60_000;

/** Asks the database each time: meanwhile another worker may have stored the last missing vector of another embedder. */
export function chooseVectors({ db, configured, openFormer }: ChoiceDeps): ChooseVectors {
  let former: FormerChoice | undefined;
  const open = async ({ signature, model, settings }: SearchedVectors): Promise<VectorChoice> => {
    const giveUp = (why: string): void => {
      former = {
        signature,
        choice: { whose: "none", why },
        until: performance.now() + TRY_AGAIN_MS,
      };
    };
    try {
      const embedder = await openFormer(settings);
      if (embedder.signature === signature) {
        return { whose: "former", embedder: untilItFails(embedder, giveUp) };
      }
      return { whose: "none", why: `"${model}" is another build now` };
    } catch (error) {
      if (error instanceof Failure) return { whose: "none", why: error.message };
      throw error;
    }
  };
  return async () => {
    const searched = await selectSearchedVectors(db);
    if (searched === undefined || searched.signature === configured.signature) {
      return { whose: "configured", embedder: configured };
    }
    if (former?.signature !== searched.signature || performance.now() > former.until) {
      const choice = await open(searched);
      const until = choice.whose === "none" ? performance.now() + TRY_AGAIN_MS : Infinity;
      former = { signature: searched.signature, choice, until };
    }
    return former.choice;
  };
}

type FormerChoice = {
  readonly signature: string;
  readonly choice: VectorChoice;
  /** On the clock of performance.now(). */
  readonly until: number;
};

/** A search does not wait for the host of a former embedder: its failure becomes EMBED_DRIFT, and the next choice is none. */
const untilItFails = (embedder: Embedder, giveUp: (why: string) => void): Embedder => ({
  ...embedder,
  async embed(texts, signal, onCut) {
    try {
      return await embedder.embed(texts, signal, onCut);
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      giveUp(error.message);
      throw new Failure("EMBED_DRIFT", error.message, { cause: error });
    }
  },
});

/** The note for a search that runs while vectors are made anew; null where the configured embedder is used. */
export function vectorsNote(choice: VectorChoice): string | null {
  switch (choice.whose) {
    case "configured":
      return null;
    case "former":
      return `Searched by the vectors of the embedder before ("${choice.embedder.id}"), until nightdesk embed has made all of the new one's.`;
    case "none":
      return `Searched by words alone: the vectors of the new embedder are not complete, and the one before can't embed the question (${choice.why}). Run: nightdesk embed`;
  }
}
