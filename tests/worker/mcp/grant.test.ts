import { expect, test } from "@jest/globals";
import { grantedRoots } from "../../../src/worker/mcp/grant.ts";
import type { Config } from "../../../src/shared/config/schema.ts";

test.each([
  [
    ["./corpus", "notes//2026/"],
    ["corpus", "notes/2026/"],
  ],
  [["."], []],
  [["corpus", "./"], []],
  [["../other"], ["../other"]],
])("the roots %j grant %j", (roots, granted) => {
  expect(grantedRoots({ mcp: { roots } as unknown as Config["mcp"] })).toEqual(granted);
});
