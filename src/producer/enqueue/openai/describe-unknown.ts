import type { UnknownModel } from "../line-parser.ts";
import type { ModelNames } from "./model-names.ts";

const MOST_NAMED = 10;

/** What to do about model names of a file that nothing here stands for; undefined where there are none. */
export function describeUnknown(
  unknown: readonly UnknownModel[],
  { known }: ModelNames,
): string | undefined {
  if (unknown.length === 0) return undefined;
  const named = unknown
    .slice(0, MOST_NAMED)
    .map(({ name, line }) => `${JSON.stringify(name)} (line ${line})`);
  const more = unknown.length > MOST_NAMED ? ", …" : "";
  return (
    `The file names models that are not known here: ${named.join(", ")}${more}. ` +
    `Known are ${known.map((name) => JSON.stringify(name)).join(", ")}. Map a name under model.aliases, ` +
    "give --model NAME for all chats, or --model-names any to leave the names to the model host."
  );
}
