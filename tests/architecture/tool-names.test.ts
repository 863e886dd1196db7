import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { TOOLS } from "../../src/worker/tools/all-tools.ts";

const root = join(import.meta.dirname, "..", "..");
const sources = readdirSync(join(root, "src"), { recursive: true, encoding: "utf8" })
  // What outside clients call the tools of `nightdesk mcp` is a contract of its own.
  .filter((path) => path.endsWith(".ts") && !/(?:^|\/)mcp(?:-tools\.ts$|\/)/.test(path))
  .map((path) => `src/${path}`);

/** A name of one word, such as "note", is a word of sentences too; one with an underscore is nothing but the tool. */
test.each(TOOLS.names.filter((name) => name.includes("_")))(
  "%s stands in its own file and in the table of presets, and nowhere else in the sources",
  (name) => {
    // As a word: the protocols of others have such words in their own.
    const word = new RegExp(`(?<![/\\w])${name}(?!\\w)`);
    const knowing = sources.filter((path) => word.test(readFileSync(join(root, path), "utf8")));
    expect(knowing.sort()).toEqual([
      "src/shared/config/tool-presets.ts",
      `src/worker/tools/${name.replaceAll("_", "-")}.ts`,
    ]);
  },
);
