import { z } from "zod";
import { defineTool, filledText, outputOf } from "./tool.ts";

/** Stores a note for later prompts of the same investigation. A note is a row of the investigation, and no evidence. */
export const NOTE = defineTool({
  name: "note",
  description:
    "Keeps a note for yourself, which is shown with every later step: what was found, and what is open.",
  args: z.strictObject({
    text: filledText("words to keep", 2_000).describe("The note. Name evidence by its number."),
  }),
  effect: "none",
  move: "note",
  isEvidence: false,
  limits: { callsPerRun: 50 },
  run: ({ text }) => Promise.resolve(outputOf("Noted.", { chars: text.length })),
});
