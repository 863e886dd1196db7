// Writes examples/formats: small documents of each format in four languages, and questions about them.
//   node scripts/write-format-examples.js

import { mkdirSync, writeFileSync } from "node:fs";
import { register } from "node:module";
import { dirname, join } from "node:path";
import { root } from "./root.js";

register("../tests/typescript-hooks.js", import.meta.url);
const { FORMAT_EXAMPLES, FORMAT_QUESTIONS } = await import("../tests/support/format-examples.ts");

const folder = join(root, "examples/formats");
for (const { path, bytes } of FORMAT_EXAMPLES) {
  const file = join(folder, "files", path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, bytes);
}
writeFileSync(
  join(folder, "questions.jsonl"),
  FORMAT_QUESTIONS.map((question) => `${JSON.stringify(question)}\n`).join(""),
);
