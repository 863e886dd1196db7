/** The host rejected a batch because one of its texts exceeds the model's window; it does not report which. */
export class TextTooLong extends Error {
  override readonly name = "TextTooLong";
}

type FittingOptions = {
  /** @throws TextTooLong */
  readonly embed: (texts: readonly string[]) => Promise<Float32Array[]>;
  /** Length of the zero vector of a blank text, which hosts omit from their reply. */
  readonly dims: number;
  readonly onCut: () => void;
};

/** No current window holds more; a longer text would take many tries to shorten. */
const MOST_CHARS = 200_000;
const SHRINK_BY = 0.7;

/** So short a text fits any window: the host's error has another cause. */
const LEAST_CHARS = 8;

/**
 * One vector per text, in order. A batch that is rejected for its length is halved until the long text is found; that text is
 * shortened by three tenths at a time until the host accepts it: a vector of the beginning is better than none.
 * @throws TextTooLong when even a few words are rejected
 */
export async function embedFitting(
  texts: readonly string[],
  options: FittingOptions,
): Promise<Float32Array[]> {
  const filled = texts.filter(isFilled);
  const vectors = filled.length === 0 ? [] : await embedHalves(filled, options);
  let next = 0;
  return texts.map((text) => {
    const vector = isFilled(text) ? vectors[next++] : new Float32Array(options.dims);
    if (vector === undefined) throw new Error("there are fewer vectors than texts");
    return vector;
  });
}

const isFilled = (text: string): boolean => text.trim() !== "";

async function embedHalves(
  texts: readonly string[],
  options: FittingOptions,
): Promise<Float32Array[]> {
  try {
    return await options.embed(texts);
  } catch (error) {
    if (!(error instanceof TextTooLong)) throw error;
    const [only, ...others] = texts;
    if (only === undefined) throw error;
    if (others.length === 0) return [await embedBeginning(only, options, error)];
  }
  const middle = Math.ceil(texts.length / 2);
  const first = await embedHalves(texts.slice(0, middle), options);
  return first.concat(await embedHalves(texts.slice(middle), options));
}

async function embedBeginning(
  text: string,
  { embed, onCut }: FittingOptions,
  refused: TextTooLong,
): Promise<Float32Array> {
  let kept = Math.min(text.length, MOST_CHARS) * SHRINK_BY;
  for (; kept >= LEAST_CHARS; kept *= SHRINK_BY) {
    try {
      const [vector] = await embed([beginningOf(text, Math.floor(kept))]);
      if (vector === undefined) break;
      onCut();
      return vector;
    } catch (error) {
      if (!(error instanceof TextTooLong)) throw error;
    }
  }
  throw refused;
}

/** The first `length` UTF-16 units of a text, without splitting a surrogate pair. */
export function beginningOf(text: string, length: number): string {
  const last = text.charCodeAt(length - 1);
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? length - 1 : length);
}
