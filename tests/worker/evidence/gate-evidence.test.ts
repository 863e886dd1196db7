import { describe, expect, test } from "@jest/globals";
import { gateEvidence } from "../../../src/worker/evidence/gate.ts";
import type { GateInput } from "../../../src/worker/evidence/gate.ts";
import { snapshotHash } from "../../../src/worker/evidence/retrieve.ts";
import type { Passage, Reading } from "../../../src/worker/evidence/types.ts";
import { passageOf, readingOf } from "../../support/pipeline-world.ts";

type Need = GateInput["classification"]["need"];

const gateAll = (
  need: Need,
  namedFiles: readonly string[],
  readings: readonly Reading[],
  passages: readonly Passage[] = [],
): ReturnType<typeof gateEvidence> =>
  gateEvidence({
    classification: { need, namedFiles, wholeBecause: null },
    readings,
    snapshot: { passages, passedOver: [], hash: snapshotHash(passages) },
    mostChars: 1_000,
  });
const gate = (
  need: Need,
  namedFiles: readonly string[],
  reading: Reading | null,
  passages: readonly Passage[] = [],
): ReturnType<typeof gateEvidence> =>
  gateAll(need, namedFiles, reading === null ? [] : [reading], passages);

const rail = readingOf("corpus/rail.md", "Trains run hourly. 🚲\n");
const bike = readingOf("bike.md", "Bikes are blue.");
const bus = readingOf("corpus/bus.md", "Buses run daily.");
const passage = passageOf("corpus/bike.md", "Bikes are blue.");

describe("what is admitted", () => {
  test("a whole file that the question names, and no passages of others", () => {
    expect(gate("file", ["rail.md"], rail, [passage])).toMatchObject({
      files: [rail],
      passages: [],
    });
  });

  test("a part of a file where a part will do", () => {
    const part = readingOf("rail.md", "Trains run hourly.", 6);
    expect(gate("file", ["rail.md"], part)).toMatchObject({ kind: "admitted", files: [part] });
  });

  test("passages alone, and passages with a document of theirs", () => {
    expect(gate("passages", [], null, [passage])).toMatchObject({
      files: [],
      passages: [passage],
    });
    expect(gate("passages", [], rail, [passage])).toMatchObject({
      files: [rail],
      passages: [passage],
    });
  });

  test("a file without the passages of an earlier state of it, and the passages of others", () => {
    const stale = { ...passageOf("corpus/rail.md", "Trains run daily."), sha256: "a".repeat(64) };
    const fresh = { ...passageOf("corpus/rail.md", "Trains run hourly."), sha256: rail.sha256 };
    expect(gate("passages", [], rail, [stale, passage, fresh])).toEqual({
      kind: "admitted",
      files: [rail],
      passages: [passage, fresh],
      snapshotHash: snapshotHash([passage, fresh]),
    });
  });

  test("a file alone where all passages are of an earlier state of it", () => {
    const stale = { ...passageOf("corpus/rail.md", "Trains run daily."), sha256: "a".repeat(64) };
    expect(gate("passages", [], rail, [stale])).toMatchObject({ files: [rail], passages: [] });
  });

  test("a file without the passages that another extractor made of the same bytes", () => {
    const other = {
      ...passageOf("corpus/rail.md", "Trains run hourly."),
      sha256: rail.sha256,
      extractor: "pdf 1",
    };
    expect(gate("passages", [], rail, [other])).toMatchObject({ files: [rail], passages: [] });
  });

  test("a text that is longer than the bytes that it was made of", () => {
    const packed = { ...rail, sha256: "a".repeat(64), bytes: 3, extractor: "docx 1" };
    expect(gate("file", ["rail.md"], packed)).toMatchObject({ files: [packed] });
  });

  test("a whole file that two names mean", () => {
    expect(gate("file", ["rail.md", "corpus/rail.md"], rail)).toMatchObject({ files: [rail] });
  });

  test("all of several files, in the order in which they were read, and no passages", () => {
    expect(gateAll("file", ["rail.md", "bus.md"], [bus, rail], [passage])).toMatchObject({
      files: [bus, rail],
      passages: [],
    });
  });

  test("as much of several files together as an answer takes in", () => {
    const half = readingOf("a.md", "x".repeat(500));
    const rest = readingOf("b.md", "y".repeat(500));
    expect(gateAll("file", ["a.md", "b.md"], [half, rest])).toMatchObject({ kind: "admitted" });
  });
});

type Case = [string, Need, string[], Reading | null, Passage[], string];

const BROKEN_PASSAGES: readonly (readonly [string, Partial<Passage>])[] = [
  ["no key", { chunkKey: "" }],
  ["no path", { path: "" }],
  ["a short hash", { sha256: "ab" }],
  ["an upper-case hash", { sha256: "A".repeat(64) }],
  ["an end that its text does not reach", { endChar: 99 }],
  ["an end before its text ends", { endChar: 3 }],
  ["a start that is no whole number", { startChar: 0.5, endChar: 15.5 }],
  ["a negative start", { startChar: -1, endChar: 14 }],
  ["an end behind its document", { docChars: 3 }],
  ["a document of no size", { docChars: Number.NaN }],
  ["line 0", { lineStart: 0 }],
  ["lines that run backwards", { lineStart: 5, lineEnd: 4 }],
  ["a score that is no number", { score: Number.NaN }],
];

describe("what is refused", () => {
  const long = readingOf("rail.md", "x".repeat(400), 200);
  test.each<Case>([
    ["nothing read", "file", ["rail.md"], null, [passage], "EVIDENCE_NOT_ACQUIRED"],
    ["another file read", "file", ["bus.md"], rail, [], "EVIDENCE_NOT_ACQUIRED"],
    [
      "one of two files read, though passages of the other were found",
      "file",
      ["rail.md", "bike.md"],
      rail,
      [passage],
      "EVIDENCE_NOT_ACQUIRED",
    ],
    [
      "one of two files read where all of both is needed",
      "whole_file",
      ["rail.md", "bike.md"],
      rail,
      [passage],
      "EVIDENCE_NOT_ACQUIRED",
    ],
    ["no passages", "passages", [], null, [], "EVIDENCE_NOT_ACQUIRED"],
    ["a cut file where all is needed", "whole_file", ["rail.md"], long, [], "EVIDENCE_TRUNCATED"],
    ["an empty file", "whole_file", ["rail.md"], readingOf("rail.md", ""), [], "FILE_EMPTY"],
    ["a blank file", "file", ["rail.md"], readingOf("rail.md", " \n\u00a0"), [], "FILE_EMPTY"],
    ["no path", "file", ["rail.md"], { ...rail, path: "" }, [], "EVIDENCE_INVALID"],
    [
      "an upper-case hash",
      "file",
      ["rail.md"],
      { ...rail, sha256: "A".repeat(64) },
      [],
      "EVIDENCE_INVALID",
    ],
    ["a short hash", "file", ["rail.md"], { ...rail, sha256: "ab" }, [], "EVIDENCE_INVALID"],
    [
      "a count that is no whole number",
      "file",
      ["rail.md"],
      { ...rail, charsFull: 1.5 },
      [],
      "EVIDENCE_INVALID",
    ],
    [
      "a negative count",
      "file",
      ["rail.md"],
      { ...rail, charsReturned: -1 },
      [],
      "EVIDENCE_INVALID",
    ],
    ["more than there is", "file", ["rail.md"], { ...rail, charsFull: 3 }, [], "EVIDENCE_INVALID"],
    [
      "truncated without a gap",
      "file",
      ["rail.md"],
      { ...rail, truncated: true },
      [],
      "EVIDENCE_INVALID",
    ],
    [
      "a gap without truncated",
      "file",
      ["rail.md"],
      { ...rail, charsFull: 99 },
      [],
      "EVIDENCE_INVALID",
    ],
    [
      "text of another length",
      "file",
      ["rail.md"],
      { ...rail, text: "Trains" },
      [],
      "EVIDENCE_INVALID",
    ],
    ["no text for its counts", "file", ["rail.md"], { ...rail, text: "" }, [], "EVIDENCE_INVALID"],
    [
      "text of its length that is not the file's",
      "file",
      ["rail.md"],
      { ...rail, text: rail.text.replace("hourly", "seldom") },
      [],
      "EVIDENCE_INVALID",
    ],
    [
      "text of a text file that is not its bytes",
      "file",
      ["rail.md"],
      { ...rail, sha256: "a".repeat(64) },
      [],
      "EVIDENCE_INVALID",
    ],
    [
      "text that another extraction gave",
      "file",
      ["rail.md"],
      { ...rail, sha256: "a".repeat(64), textSha256: "c".repeat(64), extractor: "docx 1" },
      [],
      "EVIDENCE_INVALID",
    ],
    [
      "more characters than bytes",
      "file",
      ["rail.md"],
      { ...rail, bytes: 3 },
      [],
      "EVIDENCE_INVALID",
    ],
    [
      "a size that is no number",
      "file",
      ["rail.md"],
      { ...rail, bytes: Number.NaN },
      [],
      "EVIDENCE_INVALID",
    ],
    ...BROKEN_PASSAGES.map(([name, changes]): Case => [
      `a passage with ${name}`,
      "passages",
      [],
      null,
      [{ ...passage, ...changes }],
      "EVIDENCE_INVALID",
    ]),
  ])("%s", (...[, need, named, reading, passages, code]) => {
    expect(gate(need, named, reading, passages)).toMatchObject({ kind: "refused", code });
  });

  test.each<[string, readonly Reading[], string, string]>([
    ["two of three files read", [rail, bus], "EVIDENCE_NOT_ACQUIRED", "bike.md was not"],
    [
      "one of several cut, though a part of it alone would do",
      [rail, readingOf("corpus/bus.md", "x".repeat(400), 200), bike],
      "EVIDENCE_TRUNCATED",
      "corpus/bus.md",
    ],
    ["one of several empty", [rail, bus, readingOf("bike.md", " ")], "FILE_EMPTY", "bike.md"],
    [
      "one of several that contradicts itself",
      [rail, { ...bus, bytes: 3 }, bike],
      "EVIDENCE_INVALID",
      "corpus/bus.md",
    ],
    [
      "more together than an answer takes in",
      [rail, readingOf("corpus/bus.md", "x".repeat(990)), bike],
      "EVIDENCE_TRUNCATED",
      "corpus/bus.md alone 990, and an answer takes in 1000",
    ],
  ])("%s", (_, readings, code, told) => {
    const refusal = gateAll("file", ["rail.md", "bus.md", "bike.md"], readings);
    expect(refusal).toMatchObject({ kind: "refused", code });
    expect(refusal.kind === "refused" && refusal.message).toContain(told);
  });

  test("one broken passage among good ones", () => {
    const broken = { ...passage, lineEnd: 0 };
    expect(gate("passages", [], null, [passage, broken])).toMatchObject({
      code: "EVIDENCE_INVALID",
    });
  });

  test("a broken passage that nothing rests on refuses nothing", () => {
    const broken = { ...passage, lineEnd: 0 };
    expect(gate("file", ["rail.md"], rail, [broken])).toMatchObject({ kind: "admitted" });
  });

  test("a cut file is refused with its counts", () => {
    const { message } = gate("whole_file", ["rail.md"], long) as { message: string };
    expect(message).toContain("200 of its 400 characters");
  });
});
