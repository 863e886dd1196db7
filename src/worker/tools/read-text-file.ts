import { z } from "zod";
import { defineTool } from "./tool.ts";

const PATH = "a text that is not blank";

/** Reads a text file through the sandbox. What an answer rests on comes by it, or is a passage of the index. */
export const READ_TEXT_FILE = defineTool({
  name: "read_text_file",
  description: "Reads a whole text file.",
  args: z.strictObject({
    path: z
      .string(PATH)
      .refine((path) => path.trim() !== "", PATH)
      .describe("The file, spelled as the question or the passage spells it."),
  }),
  effect: "none",
  isEvidence: true,
  limits: { callsPerRun: 8 },
  run: ({ path }, { readFile }) => readFile(path),
});
