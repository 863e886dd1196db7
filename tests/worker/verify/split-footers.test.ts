import { expect, test } from "@jest/globals";
import { splitFooters } from "../../../src/worker/verify/reply.ts";

const FOOTER = `Scope: full evidence from read_text_file (1/1), sha256=${"a".repeat(64)}`;

test("every footer at the end is taken off, on lines of their own or behind words", () => {
  expect(splitFooters(`It rains. ${FOOTER}\n${FOOTER}`)).toEqual({
    body: "It rains.",
    footers: [FOOTER, FOOTER],
  });
});
