import { z } from "zod";
import type { CommandContext } from "../../shared/commands/command-context.ts";
import type { Database } from "../../shared/store/connection/database.ts";
import type { OfferedTool } from "../mcp/offered-tools.ts";
import { defineMcpTool, resultShape, rowShape } from "../mcp/tool.ts";
import { lazyOpen } from "../../shared/once.ts";
import { parseOperators } from "../search/parse-operators.ts";
import { checkWords, outcomeJson, openFinder } from "./find-passages.ts";

const MOST_HITS = 200;

/**
 * The tools for the dashboard: search in all allowed roots, and doctor. Only `nightdesk mcp --dashboard` has this scope,
 * whatever `mcp.roots` and `mcp.tools` say. That is safe: the command line chooses the scope before the first message, and HTTP
 * can't, so no client can request it; both tools only read; and whoever starts this command may also run `nightdesk query` and
 * `nightdesk doctor`, which give the same.
 */
export function dashboardTools(
  context: CommandContext,
  database: () => Promise<Database>,
): readonly OfferedTool[] {
  const finder = lazyOpen(async () => openFinder(context, await database(), "hybrid"));
  const search = defineMcpTool({
    name: "search",
    description: "Gives what `nightdesk query TEXT --explain --json` prints.",
    args: z.strictObject({ text: z.string().max(10_000), limit: z.int().min(1).max(MOST_HITS) }),
    result: resultShape({ text: z.string(), hits: z.array(rowShape({ path: z.string() })) }),
    changes: "nothing",
    async run({ text, limit }) {
      checkWords(text);
      const find = await finder.get();
      const request = { limit, mode: "hybrid", ...parseOperators(text) } as const;
      return { text, ...outcomeJson(await find(request, "explain")) };
    },
  });
  const doctor = defineMcpTool({
    name: "doctor",
    description: "Gives what `nightdesk doctor --json` prints, by the configuration as it is now.",
    args: z.strictObject({}),
    result: z.looseObject({ ok: z.boolean(), checks: z.array(rowShape({ level: z.string() })) }),
    changes: "nothing",
    async run() {
      const { checksJson, runChecks } = await import("../doctor/run-checks.ts");
      return { ...checksJson(await runChecks(context.invocation)) };
    },
  });
  return [search, doctor].map((tool) => ({ tool, disabled: null }));
}
