import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { namesOfChanges, readProcess } from "./left-behind.js";
import { sharesModules } from "./shared-tests.js";

const shares = (name: string): boolean => sharesModules(join(import.meta.dirname, "..", name));

test.each([
  ["imports nothing but what it tests", "worker/text/sentences.test.ts", true],
  ["starts programs", "services/find-services.test.ts", true],
  ["runs on databases", "shared/store/claims.test.ts", true],
  ["mocks a function", "worker/models/conformance.test.ts", false],
  ["measures time", "limits/long-text.test.ts", false],
])("a test file that %s", (_, name, expected) => {
  expect(shares(name)).toBe(expected);
});

test("what a test file leaves changed in its process is named", () => {
  const before = readProcess();
  const ours = { left: true };
  process.env["NIGHTDESK_LEFT_BEHIND"] = "yes";
  const listen = (): void => undefined;
  process.on("warning", listen);
  Object.assign(globalThis, ours);
  const after = readProcess();
  Reflect.deleteProperty(globalThis, "left");
  process.off("warning", listen);
  delete process.env["NIGHTDESK_LEFT_BEHIND"];
  expect(namesOfChanges(before, after)).toEqual([
    "globalThis.left",
    "listeners of process for warning",
    "process.env.NIGHTDESK_LEFT_BEHIND",
  ]);
  expect(namesOfChanges(before, readProcess())).toEqual([]);
});
