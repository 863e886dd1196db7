import { expect, test } from "@jest/globals";
import type { RunResult } from "../../../src/shared/job/run-result.ts";
import type { RunEnd } from "../../../src/shared/job/settlement.ts";
import { startTrace } from "../../../src/worker/run-trace.ts";
import { snapshotHash } from "../../../src/worker/evidence/retrieve.ts";
import type { Passage } from "../../../src/worker/evidence/types.ts";
import { answerQuestion } from "../../../src/worker/jobs/ask.ts";
import { callFor, passageOf, scripted, sha256Of, worldOf } from "../../support/pipeline-world.ts";

const RAIL = "# Rail\n\nTrains run every 20 minutes. 🚲\n";
const BIKE = "# Bike\n\nBikes are blue.\n\n## Rent\n\nRent is 2 EUR.\n";
const FILES = { "corpus/rail.md": RAIL, "corpus/bike.md": BIKE };
const OLD = "f".repeat(64);
const chars = (text: string): number => Array.from(text).length;

/** A chunk as the index holds it, of the file as it is, or as it was. */
function chunk(path: keyof typeof FILES, text: string, sha256 = sha256Of(FILES[path])): Passage {
  const startChar = Math.max(0, FILES[path].indexOf(text));
  const lineStart = FILES[path].slice(0, startChar).split("\n").length;
  return {
    ...passageOf(path, text, "H1: Somewhere"),
    sha256,
    docChars: chars(FILES[path]),
    truncated: chars(FILES[path].trim()) > chars(text),
    startChar,
    endChar: startChar + chars(text),
    lineStart,
    lineEnd: lineStart,
  };
}
const rail = chunk("corpus/rail.md", "Trains run every 20 minutes.");
const bike = chunk("corpus/bike.md", "Bikes are blue.");
const rent = chunk("corpus/bike.md", "Rent is 2 EUR.");
const staleRail = chunk("corpus/rail.md", "Trains run.", OLD);

type Run = { readonly outcome: RunEnd; readonly record: Omit<RunResult, "outcome"> };

async function ask(
  question: string,
  passages: readonly Passage[],
  replies: string[],
): Promise<Run> {
  const trace = startTrace();
  const deps = worldOf({ files: FILES, passages, models: [scripted(replies)] });
  const input = { kind: "ask", question } as const;
  const { signal } = new AbortController();
  const outcome = await answerQuestion({ jobId: "job", input }, deps, trace, signal);
  return { outcome, record: trace.record() };
}

const ofRail = `full evidence from read_text_file (${chars(RAIL)}/${chars(RAIL)}), sha256=${sha256Of(RAIL)}`;
const ofPassages = (passages: readonly Passage[], counts: string): string =>
  `${counts}, snapshot=${snapshotHash(passages)}`;

type Row = {
  readonly name: string;
  readonly question: string;
  readonly passages: readonly Passage[];
  readonly replies: string[];
  readonly scope: string | null;
  /** Of each piece, in order: what it is, and why it is not admitted. */
  readonly pieces: readonly (readonly ["file" | "chunk", string, string | null])[];
};

const NAMED = "the question names a file: only a read of it admits";
const STALE = "the file has changed since it was indexed";

const ROWS: readonly Row[] = [
  {
    name: "a named file, read: passages of others do not count",
    question: "What does corpus/rail.md say?",
    passages: [rail, bike],
    replies: [callFor("corpus/rail.md"), "Every 20 minutes [1]."],
    scope: `Scope: ${ofRail}`,
    pieces: [
      ["file", "corpus/rail.md", null],
      ["chunk", "corpus/rail.md", NAMED],
      ["chunk", "corpus/bike.md", NAMED],
    ],
  },
  {
    name: "two named files, both read by a call for one: passages don't stand in for either",
    question: "Compare corpus/rail.md with corpus/bike.md",
    passages: [rail, bike],
    replies: [callFor("corpus/bike.md"), "Trains run [1], bikes are blue [2]."],
    scope: `Scope: full evidence from 2 files, snapshot=${sha256Of(`corpus/rail.md ${sha256Of(RAIL)}\ncorpus/bike.md ${sha256Of(BIKE)}`)}`,
    pieces: [
      ["file", "corpus/rail.md", null],
      ["file", "corpus/bike.md", null],
      ["chunk", "corpus/rail.md", NAMED],
      ["chunk", "corpus/bike.md", NAMED],
    ],
  },
  {
    name: "two named files, neither read: passages don't stand in for them",
    question: "Compare corpus/rail.md with corpus/bike.md",
    passages: [rail, bike],
    replies: ["ENOUGH"],
    scope: null,
    pieces: [
      ["chunk", "corpus/rail.md", "EVIDENCE_NOT_ACQUIRED"],
      ["chunk", "corpus/bike.md", "EVIDENCE_NOT_ACQUIRED"],
    ],
  },
  {
    name: "no file named: a document of the snapshot read, and all of its passages",
    question: "How often do trains run?",
    passages: [rail, bike, rent],
    replies: [callFor("corpus/rail.md"), "Every 20 minutes [1][2]."],
    scope: `Scope: ${ofRail}; ${ofPassages([rail, bike, rent], "3 passages from 2 files")}`,
    pieces: [
      ["file", "corpus/rail.md", null],
      ["chunk", "corpus/rail.md", null],
      ["chunk", "corpus/bike.md", null],
      ["chunk", "corpus/bike.md", null],
    ],
  },
  {
    name: "no file named, none read: a direct answer is replaced by one from the passages",
    question: "How often do trains run?",
    passages: [rail, bike],
    replies: ["Every 5 minutes.", "Every 20 minutes [1]."],
    scope: `Scope: ${ofPassages([rail, bike], "2 passages from 2 files")}`,
    pieces: [
      ["chunk", "corpus/rail.md", null],
      ["chunk", "corpus/bike.md", null],
    ],
  },
  {
    name: "a document that changed since it was indexed: its passages are rejected beside the read of it",
    question: "How often do trains run?",
    passages: [staleRail, bike],
    replies: [callFor("corpus/rail.md"), "Every 20 minutes [1]."],
    scope: `Scope: ${ofRail}; ${ofPassages([bike], "1 passage from 1 file")}`,
    pieces: [
      ["file", "corpus/rail.md", null],
      ["chunk", "corpus/rail.md", STALE],
      ["chunk", "corpus/bike.md", null],
    ],
  },
  {
    name: "nothing but passages of an earlier state: the file alone",
    question: "How often do trains run?",
    passages: [staleRail],
    replies: [callFor("corpus/rail.md"), "Every 20 minutes [1]."],
    scope: `Scope: ${ofRail}`,
    pieces: [
      ["file", "corpus/rail.md", null],
      ["chunk", "corpus/rail.md", STALE],
    ],
  },
  {
    name: "a named file that was not read",
    question: "What does corpus/rail.md say?",
    passages: [rail],
    replies: ["Every 20 minutes."],
    scope: null,
    pieces: [["chunk", "corpus/rail.md", "EVIDENCE_NOT_ACQUIRED"]],
  },
  {
    name: "a call for a file that nobody named",
    question: "How often do trains run?",
    passages: [bike],
    replies: [callFor("corpus/rail.md")],
    scope: null,
    pieces: [["chunk", "corpus/bike.md", "PATH_DENIED"]],
  },
  {
    name: "two named files, one of them nowhere: refused before anything is looked for",
    question: "Compare corpus/rail.md with corpus/bus.md",
    passages: [bike],
    replies: [],
    scope: null,
    pieces: [],
  },
];

test.each(ROWS)("$name", async ({ question, passages, replies, scope, pieces }) => {
  const { outcome, record } = await ask(question, passages, replies);
  expect(outcome.kind === "succeeded" ? outcome.scope : null).toBe(scope);
  expect(
    record.evidence.map(({ kind, path, rejectedReason }) => [kind, path, rejectedReason]),
  ).toEqual(pieces);
  for (const { admitted, rejectedReason } of record.evidence)
    expect(admitted).toBe(rejectedReason === null);
});

test("each piece on record has its path, hash, counts, offsets, lines and heading", async () => {
  const { record } = await ask(
    "How often do trains run?",
    [rent],
    [callFor("corpus/bike.md"), "2 EUR [1][2]."],
  );
  const ofFile = { path: "corpus/bike.md", sha256: sha256Of(BIKE), charsFull: chars(BIKE) };
  expect(record.evidence).toEqual([
    {
      ...ofFile,
      kind: "file",
      admitted: true,
      rejectedReason: null,
      source: null,
      textSha256: sha256Of(BIKE),
      extractor: "utf-8",
      charsReturned: chars(BIKE),
      truncated: false,
      chunkKey: null,
      headingPath: null,
      locator: null,
      startChar: 0,
      endChar: chars(BIKE),
      lineStart: 1,
      lineEnd: 7,
      score: null,
      preview: BIKE.slice(0, 20),
    },
    {
      ...ofFile,
      kind: "chunk",
      admitted: true,
      rejectedReason: null,
      source: "corpus",
      textSha256: sha256Of("Rent is 2 EUR."),
      extractor: "utf-8",
      charsReturned: 14,
      truncated: true,
      chunkKey: rent.chunkKey,
      headingPath: "H1: Somewhere",
      locator: null,
      startChar: BIKE.indexOf("Rent is"),
      endChar: BIKE.indexOf("Rent is") + 14,
      lineStart: 7,
      lineEnd: 7,
      score: 1,
      preview: "Rent is 2 EUR.",
    },
  ]);
});
