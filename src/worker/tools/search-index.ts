import { z } from "zod";
import { daySchema } from "../../shared/files/document-filter.ts";
import { plural } from "../evidence/footer.ts";
import { rerankerOf } from "../evidence/retrieve.ts";
import { defineTool, filledText, numberUpTo, outputOf, pathPrefix } from "./tool.ts";

const MOST_HITS = 20;
const HITS = 8;

const day = (text: string): z.ZodOptional<z.ZodISODate> => daySchema.optional().describe(text);

/** Searches the index by words and by meaning. */
export const SEARCH_INDEX = defineTool({
  name: "search_index",
  description: "Searches all documents and gives the passages that fit best.",
  args: z.strictObject({
    query: filledText("words to look for", 2_000).describe(
      'Words to look for; "a phrase" in quotes, and -word to leave out.',
    ),
    path_prefix: pathPrefix("documents"),
    since: day("Only documents of this day or a later one, YYYY-MM-DD."),
    until: day("Only documents of this day or an earlier one, YYYY-MM-DD."),
    where: z
      .record(z.string().min(1).max(200), z.string().max(500))
      .optional()
      .describe("Only documents whose frontmatter has these values by these keys."),
    limit: numberUpTo(MOST_HITS).describe(`How many passages; ${HITS} without it.`),
  }),
  effect: "none",
  move: "search",
  query: { argument: "query", hits: "hits" },
  place: { argument: "path_prefix", of: "folder" },
  isEvidence: true,
  limits: { callsPerRun: 100 },
  async run({ query, path_prefix: pathPrefix = null, limit = HITS, ...documents }, { search }) {
    const { passages, hidden } = await search({ text: query, limit, pathPrefix, documents });
    const files = new Set(passages.map(({ path }) => path)).size;
    const found =
      passages.length === 0
        ? "Nothing fits."
        : `${plural(passages.length, "passage")} from ${plural(files, "file")}, best first.`;
    // Without the notice a model repeats the search in other words for documents that it may not see.
    const notice =
      hidden === 0
        ? ""
        : ` ${plural(hidden, "more hit")} outside of what this job may read: other words will not bring it.`;
    const reranker = rerankerOf(passages);
    return outputOf(
      found + notice,
      { hits: passages.length, files, hidden, ...(reranker === null ? {} : { reranker }) },
      passages.map((passage) => ({ kind: "passage", passage })),
    );
  },
});
