import { expect, test } from "@jest/globals";
import { splitFooters } from "../../../src/worker/verify/reply.ts";
import { timeTaken } from "../../time-taken.ts";

const FOOTER = `Scope: full evidence from read_text_file (1/1), sha256=${"a".repeat(64)}`;

test("every footer at the end is taken off, on lines of their own or behind words", () => {
  expect(splitFooters(`It rains. ${FOOTER}\n${FOOTER}`)).toEqual({
    body: "It rains.",
    footers: [FOOTER, FOOTER],
  });
});

test.each([
  ["one line", " "],
  ["lines of their own", "\n"],
])("a reply of thousands of footers on %s takes no longer than its length", (_, between) => {
  const reply = `It rains.${between}${`${FOOTER}${between}`.repeat(20_000)}`;
  expect(timeTaken(() => splitFooters(reply), 500)).toBeLessThan(500);
});
