import { z } from "zod";

/** A text with the label that somebody gave it, for preset `classify`. */
export type LabelExample = z.infer<typeof labelExampleSchema>;

export const MOST_LABEL_CHARS = 100;
export const MOST_EXAMPLE_CHARS = 4_000;
/** Each job stores its examples, so that a rerun uses the same ones. */
export const MOST_CHARS_OF_EXAMPLES = 40_000;
export const MOST_EXAMPLES = 500;

export const exampleText = z
  .string()
  .max(MOST_EXAMPLE_CHARS)
  .refine((value) => value.trim() !== "", "must not be blank");

export const labelExampleSchema = z.strictObject({
  text: exampleText,
  label: z.string().min(1).max(MOST_LABEL_CHARS),
});

/** Checks examples against the labels to choose from: returns the fault, or undefined. */
export function examplesProblem(
  examples: readonly LabelExample[],
  labels: readonly string[],
): string | undefined {
  const stray = examples.findIndex(({ label }) => !labels.includes(label));
  if (stray !== -1) {
    const label = JSON.stringify(examples[stray]?.label);
    return `example ${stray + 1} has the label ${label}, which is none of the labels to choose from`;
  }
  const chars = examples.reduce((sum, { text }) => sum + text.length, 0);
  return chars <= MOST_CHARS_OF_EXAMPLES
    ? undefined
    : `the examples hold ${count(chars)} characters of text, and ${count(MOST_CHARS_OF_EXAMPLES)} are taken: give fewer or shorter ones`;
}

const count = (value: number): string => value.toLocaleString("en-US");
