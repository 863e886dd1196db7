import type { Figure } from "./figure.ts";
import { readNumber, scaleNumber } from "./read-number.ts";

const NUMBER =
  /(?<![\p{L}\p{N}.,])[-−](?=[0-9０-９])[0-9０-９]+(?:[.,'’][0-9０-９]+|[ \u00A0\u202F][0-9０-９]{3}(?![0-9０-９]))*|[0-9０-９]+(?:[.,'’][0-9０-９]+|(?<![0-9０-９]{4})[ \u00A0\u202F][0-9０-９]{3}(?![.,]?[0-9０-９]))*/gu;
const SCALES: readonly (readonly [RegExp, number])[] = [
  [/^[\s\u00A0-]?(?:million(?:s|en)?|mio|mn)(?!\p{L})/iu, 6],
  [/^[\s\u00A0-]?(?:billions?|milliarden?|bn|mrd)(?!\p{L})/iu, 9],
  [/^[\s\u00A0-]?(?:trillions?)(?!\p{L})/iu, 12],
  [/^[\s\u00A0-]?(?:thousands?|tausend)(?!\p{L})/iu, 3],
  [/^[\s\u00A0-]?(?:hundreds?|hundert)(?!\p{L})/iu, 2],
];

/** The numbers of a text, also those within dates and names. */
export const findNumbers = (text: string): Figure[] =>
  [...text.matchAll(NUMBER)].map(({ 0: spelled, index }) => {
    const end = index + spelled.length;
    const values = readNumber(spelled);
    const after = text.slice(end, end + 16);
    const scale = SCALES.find(([regexp]) => regexp.test(after))?.[1];
    const scaled = scale === undefined ? [] : values.map((value) => scaleNumber(value, scale));
    const asked =
      scale !== undefined ? scaled : /^k(?!\p{L})/iu.test(after) ? withThousands(values) : values;
    const offered = [...asked, ...values];
    const unsigned = offered
      .filter((value) => value.startsWith("-"))
      .map((value) => value.slice(1));
    return {
      kind: "number",
      start: index,
      end,
      asks: asked.map((value) => [`n:${value}`]),
      offers: [...offered, ...unsigned].map((value) => `n:${value}`),
    };
  });

/** "5k" is 5000, or five of something. */
const withThousands = (values: readonly string[]): string[] => [
  ...values,
  ...values.map((value) => scaleNumber(value, 3)),
];
