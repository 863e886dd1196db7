import { expect, test } from "@jest/globals";
import {
  filesHash,
  outputsHash,
  partsFooter,
  scopeFooter,
} from "../../../src/worker/evidence/footer.ts";
import { snapshotHash } from "../../../src/worker/evidence/retrieve.ts";
import type { Reading } from "../../../src/worker/evidence/types.ts";
import { holdsFooter } from "../../../src/worker/text/footer-form.ts";
import { passageOf, readingOf, sha256Of } from "../../support/pipeline-world.ts";

const text = "Zwölf Räder 🚲";
const file = readingOf("a.md", text);
const passages = [passageOf("a.md", "one"), passageOf("b.md", "two"), passageOf("a.md", "three")];
const hash = snapshotHash(passages);
const sha = sha256Of(text);

const pageOf = (url: string): Reading => ({
  ...readingOf(url, "Fahrten"),
  page: { title: null, retrievedAt: "2026-11-23T20:00:00.000Z" },
});
const page = pageOf("https://a.example/x");
const other = readingOf("b.md", "Schnee");
const filesLine = `a.md ${sha}\nb.md ${sha256Of("Schnee")}`;

test.each([
  ["a whole file", [file], [], `Scope: full evidence from read_text_file (13/13), sha256=${sha}`],
  [
    "a part of a file",
    [readingOf("a.md", text, 5)],
    [],
    `Scope: partial evidence from read_text_file (5/13), sha256=${sha}`,
  ],
  ["passages", [], passages, `Scope: 3 passages from 2 files, snapshot=${hash}`],
  ["one passage", [], passages.slice(0, 1), `Scope: 1 passage from 1 file, snapshot=${hash}`],
  [
    "both",
    [file],
    passages,
    `Scope: full evidence from read_text_file (13/13), sha256=${sha}; 3 passages from 2 files, snapshot=${hash}`,
  ],
  [
    "several files",
    [file, other],
    [],
    `Scope: full evidence from 2 files, snapshot=${sha256Of(filesLine)}`,
  ],
  [
    "several files and passages",
    [file, other],
    passages,
    `Scope: full evidence from 2 files, snapshot=${sha256Of(filesLine)}; 3 passages from 2 files, snapshot=${hash}`,
  ],
  [
    "a web page",
    [page],
    [],
    `Scope: full evidence from web page https://a.example/x (7/7), sha256=${sha256Of("Fahrten")}`,
  ],
  [
    "a web page with a long URL",
    [pageOf(`https://a.example/${"x".repeat(500)}`)],
    [],
    `Scope: full evidence from web page https://a.example/${"x".repeat(182)} (7/7), sha256=${sha256Of("Fahrten")}`,
  ],
  [
    "a file and web pages",
    [file, page, pageOf("https://b.example/")],
    [],
    `Scope: full evidence from 1 file and 2 web pages, snapshot=${filesHash([file, page, pageOf("https://b.example/")])}`,
  ],
])("%s", (_, files, found, footer) => {
  const evidence = {
    kind: "admitted",
    files,
    passages: found,
    snapshotHash: hash,
  } as const;
  expect(scopeFooter(evidence)).toBe(footer);
});

test.each([
  "Full evidence from web page https://a.example/ (7/7), sha256=0",
  "It rests on 2 web pages, snapshot=0",
])("%s is a footer in any text", (forged) => {
  expect(holdsFooter(forged)).toBe(true);
});

test("words about web pages are none", () => {
  expect(holdsFooter("There is evidence from web pages that the ferry is late.")).toBe(false);
});

test("a summary in parts says in how many", () => {
  expect(partsFooter("Scope: x", 4)).toBe("Scope: x, parts=4");
});

test("the hash of several files is of their paths and hashes in reading order, joined by line feeds", () => {
  expect(filesHash([file, other])).toBe(sha256Of(filesLine));
  expect(filesHash([other, file])).not.toBe(filesHash([file, other]));
});

test("the snapshot's hash is of its keys and file hashes in rank order, joined by line feeds", () => {
  const lines = passages.map(({ chunkKey, sha256 }) => `${chunkKey} ${sha256}`).join("\n");
  expect(hash).toBe(sha256Of(lines));
  expect(snapshotHash([...passages].reverse())).not.toBe(hash);
});

const printOf = (step: number, text: string) => ({
  label: `output of shell, step ${step}`,
  call: "grep -c FAILED /input/log",
  sha256: sha256Of(text),
  charsFull: text.length,
  text,
});

test("what a tool printed is a part of its own, and no evidence of a file", () => {
  const outputs = [printOf(4, "7\n")];
  const evidence = {
    kind: "admitted",
    files: [],
    passages: [],
    outputs,
    snapshotHash: hash,
  } as const;
  expect(scopeFooter(evidence)).toBe(`Scope: output of shell, step 4, sha256=${sha256Of("7\n")}`);
  expect(scopeFooter({ ...evidence, files: [file] })).toBe(
    `Scope: full evidence from read_text_file (13/13), sha256=${sha}; output of shell, step 4, sha256=${sha256Of("7\n")}`,
  );
});

test("of several calls the footer says how many, and the hash of their labels and hashes", () => {
  const outputs = [printOf(4, "7\n"), printOf(5, "8\n")];
  const lines = outputs.map(({ label, sha256 }) => `${label} ${sha256}`).join("\n");
  expect(outputsHash(outputs)).toBe(sha256Of(lines));
  const evidence = {
    kind: "admitted",
    files: [],
    passages: [],
    outputs,
    snapshotHash: hash,
  } as const;
  expect(scopeFooter(evidence)).toBe(`Scope: output of 2 calls, snapshot=${sha256Of(lines)}`);
});
