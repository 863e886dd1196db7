import { z } from "zod";
import { refuse } from "../../shared/failure.ts";
import { countCodePoints, sliceCodePoints } from "../text/clean-text.ts";
import { defineTool, outputOf } from "./tool.ts";

const MOST_CHARS = 4_000;

/** Pages through the output of an earlier step, of which a prompt shows only a part. */
export const READ_ARTIFACT = defineTool({
  name: "read_artifact",
  description: "Shows a part of what an earlier step of yours gave, where it was cut.",
  args: z.strictObject({
    step: z.int("the number of a step").min(1, "the number of a step").describe("The step."),
    stream: z
      .enum(["result", "stdout", "stderr"], "result, stdout or stderr")
      .optional()
      .describe("Of a command stdout or stderr; result without it."),
    from_char: z
      .int("a whole number from 0")
      .min(0, "a whole number from 0")
      .optional()
      .describe("The first character to show; 0 without it."),
  }),
  effect: "none",
  move: "open",
  isEvidence: false,
  limits: { callsPerRun: 50 },
  async run({ step, stream = "result", from_char: from = 0 }, { readOutput }) {
    const kept = await readOutput(step, stream);
    if (kept === undefined) {
      return refuse("INVALID_ARGS", `Step ${step} kept no ${stream}, or it was removed since.`);
    }
    const chars = countCodePoints(kept);
    const end = Math.min(chars, from + MOST_CHARS);
    const text = sliceCodePoints(kept, from, end);
    return outputOf(`Characters ${from} to ${end} of ${chars}.\n${text}`, {
      step,
      stream,
      from_char: from,
      chars,
    });
  },
});
