/** The host refused a batch because one of its texts does not fit the model's window; it does not say which. */
export class TextTooLong extends Error {
  override readonly name = "TextTooLong";
}

type FittingOptions = {
  /** @throws TextTooLong */
  readonly embed: (texts: readonly string[]) => Promise<Float32Array[]>;
  /** Of the zeros that stand for a blank text, which a host leaves out of its reply. */
  readonly dims: number;
  readonly onCut: () => void;
};

/** No window of today holds more; what is longer would take many tries to cut down. */
const MOST_CHARS = 200_000;
const SHRINK_BY = 0.7;

/** A text of so few characters fits any window: the host means something else. */
const LEAST_CHARS = 8;

/**
 * One vector a text, in order. A batch that is refused for its length is halved until the text is found, and that text
 * loses its end, three tenths at a time, until it is taken: a vector of the beginning finds more than none.
 * @throws TextTooLong when even a few words are refused
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

/** So many UTF-16 code units of a text, and not between the two halves of a character. */
export function beginningOf(text: string, length: number): string {
  const last = text.charCodeAt(length - 1);
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? length - 1 : length);
}
