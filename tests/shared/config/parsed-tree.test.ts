import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { parseYaml } from "../../../src/shared/config/parse-yaml.ts";
import { restoreTree, storeTree } from "../../../src/shared/config/parsed-tree.ts";
import { checkout } from "../../deploy/compose-file.ts";

test.each(["default", "embedded"])("%s.yaml is the same tree as it was parsed", async (name) => {
  const text = await readFile(join(checkout, "configs", `${name}.yaml`), "utf8");
  const stored = storeTree(parseYaml(text, "where it was built"), text);
  expect(restoreTree(stored, text, "configs/x.yaml")).toEqual(parseYaml(text, "configs/x.yaml"));
});

test("values of every kind come back, with the places where they stand", () => {
  const text = "a: [1, 2.5, true, null, 'x']\nb:\n  __proto__: {}\n  c: []\n";
  const stored = storeTree(parseYaml(text, "here"), text);
  expect(restoreTree(stored, text, "here")).toEqual(parseYaml(text, "here"));
});

test("a file that was changed since is parsed anew", () => {
  const text = "a: 1\n";
  expect(restoreTree(storeTree(parseYaml(text, "here"), text), "a: 2\n", "here")).toBeUndefined();
});
