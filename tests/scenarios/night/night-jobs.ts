import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";

/** What the jobs of a night come to, and how many replies of a model that takes. */
export type NightJobs = {
  readonly lines: readonly Readonly<Record<string, unknown>>[];
  readonly expected: {
    readonly succeeded: number;
    readonly refused: Readonly<Record<"FILE_NOT_FOUND" | "FILE_EMPTY", number>>;
    readonly failed: number;
    /** Each is given once. */
    readonly replies: number;
  };
};

/** Stands in each prompt of the batch that somebody regrets. */
export const EXTRA = "of the extra train";

/** The model breaks down over it, every time. */
export const POISON = "the poisoned well";

const SCHEMA = {
  type: "object",
  properties: { train: { type: "integer" }, harbour: { type: "integer" } },
  required: ["train", "harbour"],
  additionalProperties: false,
};

/** Writes the files of a night of so many jobs. @returns its jobs, none of which asks what another asks */
export async function writeNight(workroot: string, total: number): Promise<NightJobs> {
  const share = (part: number) => Math.ceil(total * part);
  // More of one kind than of the other: a report has the more frequent one first.
  const missing = share(0.012) + 1;
  const empty = share(0.008);
  const asks = share(0.18);
  const extracts = share(0.1);
  const chats = share(0.3);
  const summaries = total - missing - empty - asks - extracts - chats;
  const folder = join(workroot, "allowed", "corpus");
  await mkdir(folder, { recursive: true });
  await Promise.all([
    ...range(summaries).map((n) => writeFile(join(folder, noteName(n)), noteText(n))),
    ...range(empty).map((n) => writeFile(join(folder, `empty-${n}.md`), "")),
  ]);
  const lines = [
    ...range(summaries).map((n) => ({ kind: "summarize", path: notePath(n) })),
    ...range(missing).map((n) => ({ kind: "summarize", path: `allowed/corpus/missing-${n}.md` })),
    ...range(empty).map((n) => ({ kind: "summarize", path: `allowed/corpus/empty-${n}.md` })),
    ...range(asks).map((n) => ({
      kind: "ask",
      question: `How often does the train run by ${noteName(n)}?`,
    })),
    ...range(extracts).map((n) => ({ kind: "extract", path: notePath(n), schema: SCHEMA })),
    ...range(chats - 1).map((n) => ({
      kind: "chat",
      prompt: `Greet passenger ${n} of the night.`,
    })),
    // Last of all, so that the acts before the end need not reckon with it.
    { kind: "chat", prompt: `Draw from ${POISON}.`, priority: -100 },
  ];
  return {
    lines: lines.map((line, n) => ({ custom_id: `${line.kind}-${n}`, ...line })),
    expected: {
      succeeded: total - missing - empty - 1,
      refused: { FILE_NOT_FOUND: missing, FILE_EMPTY: empty },
      failed: 1,
      // A question that names a file takes two: which file, and the answer.
      replies: summaries + 2 * asks + extracts + chats - 1,
    },
  };
}

/** Jobs of a batch that somebody regrets. */
export const extraLines = (count: number): readonly Readonly<Record<string, unknown>>[] =>
  range(count).map((n) => ({
    custom_id: `extra-${n}`,
    kind: "chat",
    prompt: `Greet passenger ${n} ${EXTRA}.`,
  }));

export const toJsonl = (lines: readonly object[]): string =>
  lines.map((line) => `${JSON.stringify(line)}\n`).join("");

const range = (count: number): readonly number[] => Array.from({ length: count }, (_, n) => n);

const noteName = (n: number): string => `note-${String(n).padStart(3, "0")}.md`;
const notePath = (n: number): string => `allowed/corpus/${noteName(n)}`;

const noteText = (n: number): string =>
  `# Note ${n}\n\nTrain ${n} runs every 20 minutes to harbour ${n}.\n`;
