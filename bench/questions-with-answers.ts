import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { EvidenceBlock } from "../src/worker/models/model.ts";
import { fold } from "../tests/corpora/stranger/read-stranger.ts";
import { createBm25 } from "./rank-by-bm25.ts";

export type Paragraph = { readonly id: string; readonly title: string; readonly text: string };
export type Asked = {
  readonly id: string;
  readonly question: string;
  /** Empty where nothing in the paragraphs answers it. */
  readonly answers: readonly string[];
  readonly doc: string;
};

const shared = "../shared/data/questions";
export const FOLDERS = ["squad", "xquad-es", "xquad-zh"].map((name) => `${shared}/${name}`);

type Questions = {
  /** The halves by the hash of their ids: rules are written by the first alone. */
  readonly tuned: readonly Asked[];
  readonly heldOut: readonly Asked[];
  /** Paragraphs by BM25 over them and their titles, best first. */
  readonly search: (question: string) => Paragraph[];
};

/** Reads docs.jsonl and questions.jsonl of a folder. */
export function readQuestions(folder: string): Questions {
  const questions = readLines<Asked>(join(folder, "questions.jsonl"));
  const half = (rest: number) => questions.filter(({ id }) => firstByteOf(id) % 2 === rest);
  const search = searchIn(readLines<Paragraph>(join(folder, "docs.jsonl")));
  return { tuned: half(0), heldOut: half(1), search };
}

function firstByteOf(id: string): number {
  return createHash("sha256").update(id).digest()[0] ?? 0;
}

function searchIn(paragraphs: readonly Paragraph[]): (question: string) => Paragraph[] {
  const rank = createBm25(paragraphs.map(({ title, text }) => `${title} ${text}`));
  return (question) => rank(question).flatMap((at) => paragraphs[at] ?? []);
}

function readLines<T>(file: string): T[] {
  const lines = readFileSync(file, "utf8").trim().split("\n");
  return lines.map((line) => JSON.parse(line) as T);
}

const PARAGRAPHS = 8;

/** The best of the paragraphs, as a model is given them. */
export const evidenceFor = (found: readonly Paragraph[]): EvidenceBlock[] =>
  found.slice(0, PARAGRAPHS).map(({ id, title, text }, index) => ({
    number: index + 1,
    path: `${id}.md`,
    title,
    headingPath: null,
    text,
  }));

export const holdsAnyOf = (text: string, answers: readonly string[]): boolean =>
  answers.some((answer) => fold(text).includes(fold(answer)));
