import { z } from "zod";

/**
 * Words that are not blank.
 * @param expected what a model is told that gives something else
 */
export const words = (expected: string, mostChars = Infinity): z.ZodString =>
  (mostChars === Infinity
    ? z.string(expected)
    : z.string(expected).max(mostChars, `at most ${mostChars} characters`)
  ).refine((text) => text.trim() !== "", expected);

/** How many to show, up to so many. */
export const upTo = (most: number): z.ZodOptional<z.ZodInt> =>
  z.int("a whole number").min(1, "a number from 1").max(most, `a number up to ${most}`).optional();

/** @param things what is looked through, in the plural */
export const pathPrefix = (things: string): z.ZodOptional<z.ZodString> =>
  z
    .string("the beginning of a path")
    .optional()
    .describe(`Only ${things} whose path begins with this.`);
