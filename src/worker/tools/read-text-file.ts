import { z } from "zod";
import type { Refusal } from "../../shared/failure.ts";
import { splitLines } from "../documents/lines.ts";
import type { Reading } from "../evidence/types.ts";
import { spanPassage } from "../evidence/span-passage.ts";
import { defineTool, filledText, outputOf } from "./tool.ts";
import type { ToolOutput, ToolAccess } from "./tool.ts";

const LINE = "a line number from 1";

const READ_ARGS = z.strictObject({
  path: filledText("a text that is not blank").describe(
    "The file, spelled as the question or the passage spells it.",
  ),
  from_line: z.int(LINE).min(1, LINE).optional().describe("The first line to read; 1 without it."),
  to_line: z
    .int(LINE)
    .min(1, LINE)
    .optional()
    .describe("The last line; that of the file without it."),
});

/** Reads a text file through the sandbox. Evidence for an answer comes from this tool, or is a passage of the index. */
export const READ_TEXT_FILE = defineTool({
  name: "read_text_file",
  description: "Reads a text file, or some lines of it.",
  args: READ_ARGS,
  effect: "none",
  move: "open",
  place: { argument: "path", of: "file" },
  isEvidence: true,
  limits: { callsPerRun: 100 },
  run,
});

async function run(
  { path, from_line: from = 1, to_line: to = Infinity }: z.infer<typeof READ_ARGS>,
  { readFile }: Pick<ToolAccess, "readFile">,
): Promise<ToolOutput | Refusal> {
  const reading = await readFile(path);
  if (reading.kind === "refused") return reading;
  return from === 1 && to === Infinity && !reading.truncated
    ? wholeFile(reading)
    : someLines(reading, from, to);
}

const wholeFile = (reading: Reading): ToolOutput =>
  outputOf(`The whole of ${reading.path}, ${reading.charsFull} characters.`, factsOf(reading), [
    { kind: "file", reading },
  ]);

/** The same tool for questions: it reads the whole file, or as much as there is room for. */
export const READ_WHOLE_FILE = defineTool({
  ...READ_TEXT_FILE,
  description: "Reads a whole text file.",
  args: READ_ARGS.pick({ path: true }),
});

/** Some lines of a file are a passage, not a file: a footer that names a file means the whole file. */
function someLines(reading: Reading, from: number, to: number): ToolOutput {
  const lines = splitLines(reading.text);
  const last = Math.min(to, lines.count);
  if (from > last) {
    return outputOf(
      `${reading.path} has ${lines.count} lines${reading.truncated ? " that could be read" : ""}; there is nothing from line ${from}${to === Infinity ? "" : ` to ${to}`}.`,
      factsOf(reading),
    );
  }
  const passage = spanPassage(reading, lines.start(from - 1), lines.start(last));
  const cut = reading.truncated ? " The rest of the file is beyond what may be read at once." : "";
  return outputOf(
    `Lines ${from} to ${last} of ${lines.count} of ${reading.path}.${cut}`,
    { ...factsOf(reading), line_start: from, line_end: last },
    [{ kind: "passage", passage }],
  );
}

/** The facts of a reading that are stored. */
const factsOf = ({
  path,
  sha256,
  bytes,
  charsFull,
  charsReturned,
  truncated,
}: Reading): ToolOutput["facts"] => ({
  path,
  sha256,
  bytes,
  chars_full: charsFull,
  chars_returned: charsReturned,
  truncated,
});
