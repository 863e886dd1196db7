import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { foldWord } from "./normalise-text.ts";

const words = z.array(z.string().min(1)).default([]);

/** What a file of `assets/words`, one a language, may list. */
const listsSchema = z.strictObject({
  /** Of what is written again for each month, meeting or case, and of names that count pictures. "-bericht" is the end of a word. */
  series: words,
  /** Of a document that another one has replaced, one that is not finished, and one that is. */
  old: words,
  draft: words,
  final: words,
});

type Lists = Readonly<Record<keyof z.infer<typeof listsSchema>, ReadonlySet<string>>>;

const FOLDER = join(import.meta.dirname, "..", "..", "assets", "words");

let kept: Lists | undefined;

/** The words of all languages, in lower case and without accents; read once. */
export function wordLists(): Lists {
  kept ??= readLists();
  return kept;
}

function readLists(): Lists {
  const files = readdirSync(FOLDER).map((file) =>
    listsSchema.parse(JSON.parse(readFileSync(join(FOLDER, file), "utf8"))),
  );
  const merge = (key: keyof Lists) => new Set(files.flatMap((lists) => lists[key]).map(foldWord));
  return {
    series: merge("series"),
    old: merge("old"),
    draft: merge("draft"),
    final: merge("final"),
  };
}
