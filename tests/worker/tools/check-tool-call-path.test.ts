import { describe, expect, test } from "@jest/globals";
import { isNamed } from "../../../src/worker/text/match-path.ts";
import { checkToolCallPath } from "../../../src/worker/tools/check-tool-call-path.ts";

const readable = {
  namedFiles: ["rail.md", "notes/cafe\u0301.md", "notes/a&b's.md"],
  snapshotPaths: ["corpus/bike.md", "corpus/bike.md", "corpus/bus.md", "old/bus.md"],
};
const check = (path: unknown): unknown =>
  checkToolCallPath({ name: "read_text_file", args: { path } }, readable);

describe("a call may be carried out", () => {
  test.each([
    ["for a file that the question names", "rail.md", "rail.md"],
    ["for a document of the snapshot", "corpus/bike.md", "corpus/bike.md"],
    ["with ./ before it", "./corpus/bike.md", "corpus/bike.md"],
    ["for the name alone of one document of the snapshot", "bike.md", "corpus/bike.md"],
    ["as an absolute path of nobody knows where", "/home/ann/corpus/bike.md", "corpus/bike.md"],
    ["as markup", "notes/a&amp;b&#39;s.md", "notes/a&b's.md"],
    ["with white space around it", " rail.md\n", "rail.md"],
    [
      "in another form of Unicode, as the question spells it",
      "notes/caf\u00e9.md",
      "notes/cafe\u0301.md",
    ],
  ])("%s", (_, path, allowed) => {
    expect(check(path)).toEqual({ kind: "allowed", path: allowed });
  });
});

describe("a call is refused with PATH_DENIED", () => {
  test.each([
    ["for any other file", "secret.md"],
    ["for a name that two documents of the snapshot have", "bus.md"],
    ["for a part of a name", "ike.md"],
    ["for a name in another folder", "corpus/rail.md"],
    ["for another case", "RAIL.md"],
    ["for a way around", "corpus/../corpus/bike.md"],
    ["for a climb", "../rail.md"],
    ["for an absolute path", "/etc/passwd"],
    ["for an absolute path of a name alone", "/etc/rail.md"],
    ["for an absolute path that two documents may be", "/x/old/corpus/bus.md/../bus.md"],
  ])("%s", (_, path) => {
    expect(check(path)).toMatchObject({ kind: "refused", code: "PATH_DENIED" });
  });
});

describe("a call is refused with INVALID_ARGS", () => {
  test.each([
    ["no path", undefined],
    ["a blank path", " "],
    ["a list", ["rail.md"]],
    ["null", null],
  ])("for %s", (_, path) => {
    expect(check(path)).toMatchObject({ kind: "refused", code: "INVALID_ARGS" });
  });

  test("but not for an argument that is null", () => {
    const call = { name: "read_text_file", args: { path: "rail.md", limit: null } };
    expect(checkToolCallPath(call, readable)).toEqual({ kind: "allowed", path: "rail.md" });
  });

  test.each(["max_chars", "encoding", "Path", ""])("for an argument %j beside the path", (key) => {
    const call = { name: "read_text_file", args: { path: "rail.md", [key]: 200 } };
    const refusal = checkToolCallPath(call, readable);
    expect(refusal).toMatchObject({ kind: "refused", code: "INVALID_ARGS" });
    expect(refusal.kind === "refused" && refusal.message).toContain(JSON.stringify(key));
  });

  test.each(["read_file", "Read_Text_File", " read_text_file"])("for the tool %j", (name) => {
    const refusal = checkToolCallPath({ name, args: { path: "rail.md" } }, readable);
    expect(refusal).toMatchObject({ kind: "refused", code: "INVALID_ARGS" });
  });
});

test.each([
  ["rail.md", "rail.md", true],
  ["corpus/rail.md", "rail.md", true],
  ["corpus/Rail.md", "rail.md", true],
  ["corpus/cafe\u0301.md", "caf\u00e9.md", true],
  ["corpus/monorail.md", "rail.md", false],
  ["corpus/rail.md", "notes/rail.md", false],
])("a read of %s as what %s names: %s", (path, named, expected) => {
  expect(isNamed(path, [named])).toBe(expected);
});
