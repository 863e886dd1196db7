import { z } from "zod";
import { plural } from "../evidence/footer.ts";
import { defineTool, filledText, numberUpTo, outputOf } from "./tool.ts";
import type { ToolOutput } from "./tool.ts";

const RESULTS = 5;
const MOST_RESULTS = 10;

/** Searches the web. A result is no evidence: its page has to be fetched first. */
export const WEB_SEARCH = defineTool({
  name: "web_search",
  description:
    "Searches the web and gives titles, URLs and snippets. They can't be cited: fetch a page to use it.",
  args: z.strictObject({
    query: filledText("words to look for", 400).describe(
      "Words to look for. They are sent to a search provider: nothing confidential.",
    ),
    limit: numberUpTo(MOST_RESULTS).describe(`How many results; ${RESULTS} without it.`),
  }),
  effect: "network",
  move: "search",
  query: { argument: "query", hits: "results" },
  isRepeatable: true,
  isEvidence: false,
  limits: { callsPerRun: 20 },
  disabled: ({ web }) => web.whyOff("web_search"),
  async run({ query, limit = RESULTS }, { web }) {
    const found = await web.search(query, limit);
    if (found.kind === "refused") return found;
    const { pages, provider } = found;
    const urls = pages.map(({ url }) => url);
    const lines = pages.map(
      ({ title, url, snippet }, at) => `${at + 1}. ${title}\n   ${url}\n   ${snippet}`,
    );
    const head = `${plural(pages.length, "result")} by ${provider}, which nobody has read: fetch what may answer.`;
    return outputOf([head, ...lines].join("\n"), { provider, results: pages.length, urls });
  },
});

const foundSchema = z.object({ urls: z.array(z.string()) });

/** The URLs that a call of this tool found; none for another tool. */
export function urlsFound({
  name,
  output,
}: {
  readonly name: string;
  readonly output: Pick<ToolOutput, "facts"> | null;
}): readonly string[] {
  if (name !== WEB_SEARCH.name || output === null) return [];
  const found = foundSchema.safeParse(output.facts);
  return found.success ? found.data.urls : [];
}
