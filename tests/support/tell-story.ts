import { traceLineSchema } from "../../src/shared/views/trace-lines.ts";
import type { TraceLine, TraceLineOf } from "../../src/shared/views/trace-lines.ts";

/** What a person who reads a trace from top to bottom remembers of it. */
type Reader = {
  /** Runs of the job, in the order in which they began. */
  readonly runs: string[];
  /** Drafts whose statements were read already. */
  readonly drafts: Set<number>;
};

/** Tells what happened from the lines of a trace alone: who was asked what, what was found, and why it went on. */
export function tellStory(trace: string): readonly string[] {
  const reader: Reader = { runs: [], drafts: new Set() };
  const lines = trace
    .trimEnd()
    .split("\n")
    .map((line) => traceLineSchema.parse(JSON.parse(line)));
  return lines.flatMap((line, at) => {
    const told = tell(line, reader);
    // Statements come together: the draft was read when the next line is none.
    if (line.type === "claim" && lines[at + 1]?.type !== "claim") {
      for (const draft of draftsUntil(lines, at)) reader.drafts.add(draft);
    }
    return told === undefined ? [] : [told];
  });
}

const draftsUntil = (lines: readonly TraceLine[], at: number): readonly number[] =>
  lines.slice(0, at + 1).flatMap((line) => (line.type === "claim" ? [line.draft] : []));

function tell(line: TraceLine, reader: Reader): string | undefined {
  if (line.type === "job") return `Somebody asked: ${String(line.input["question"])}`;
  if (line.type === "run") return tellRun(line, reader);
  if (line.type === "call")
    return `${whoOf(line)}${line.model} (${line.pass}): ${oneLine(line.reply)}`;
  if (line.type === "tool") return tellTool(line);
  if (line.type === "claim") return reader.drafts.has(line.draft) ? undefined : tellClaim(line);
  if (line.type === "check") return tellCheck(line);
  if (line.type === "audit") return tellAudit(line);
  if (line.type === "constraint") return `Open: ${line.what} Needed: ${line.needed}`;
  return line.type === "answer" ? tellEnd(line, reader) : undefined;
}

const whoOf = ({ scope }: TraceLine): string => (scope === "job" ? "" : `${scope}: `);

const oneLine = (text: string | null): string => (text ?? "nothing").replace(/\s+/g, " ").trim();

function tellRun({ run_id: id, scope, input }: TraceLineOf<"run">, { runs }: Reader): string {
  if (scope !== "job") return `${scope}: a job was asked: ${String(input?.["question"])}`;
  runs.push(id);
  return `Run ${String(runs.length)} began.`;
}

function tellTool(line: TraceLineOf<"tool">): string {
  const { result } = line;
  return `${whoOf(line)}${line.name} gave ${String(result?.["chars_returned"])} of ${String(result?.["chars_full"])} characters of ${String(line.args["path"])}`;
}

const tellClaim = (line: TraceLineOf<"claim">): string =>
  `Draft ${String(line.draft + 1)} states: ${line.text} (${line.grade}, ${String(line.path)}:${String(line.line_start)})`;

function tellCheck(check: TraceLineOf<"check">): string {
  const { round, ordinal, expects, state, evidence, how, rule } = check;
  if (how === "rule") return `A rule (${String(rule)}) found ${state}, as ${expects} was expected.`;
  const [place] = evidence;
  const where =
    place === undefined
      ? ""
      : ` by ${place.path}:${String(place.line_start)} "${String(place.quote)}"`;
  return `Check ${String(round)}.${String(ordinal)}: ${expects} was expected, ${state} was found${where}`;
}

function tellAudit(line: TraceLineOf<"audit">): string {
  const { round, score, given, caps, corrections } = line;
  const passes = score !== null && score >= 3;
  const kept = caps.length === 0 ? "" : `, kept at ${String(score)} by ${caps.join(", ")}`;
  const wanted = corrections.map(({ where, change }) => ` Wanted: ${change} (${where})`).join("");
  return `Round ${String(round)} was given ${String(given)} of 4${kept}: it ${passes ? "passed" : "did not pass"}.${wanted}`;
}

function tellEnd(line: TraceLineOf<"answer">, { runs }: Reader): string {
  if (line.scope !== "job") return `${line.scope}: the job ended ${line.state}.`;
  const run = `Run ${String(runs.indexOf(line.run_id) + 1)} ended ${line.state}, verification ${line.verification}`;
  return line.answer === null
    ? `${run}.`
    : `${run}, grade ${String(line.grade)}: ${line.answer.split("\n")[0] ?? ""}`;
}
