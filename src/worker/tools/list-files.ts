import { z } from "zod";
import { foldCase } from "../../shared/text/normalise-text.ts";
import { plural } from "../evidence/footer.ts";
import { defineTool, outputOf, pathPrefix } from "./tool.ts";

const MOST_LISTED = 200;

/** Lists the readable files. */
export const LIST_FILES = defineTool({
  name: "list_files",
  description: "Lists the files that can be read, in order of their paths.",
  args: z.strictObject({
    path_prefix: pathPrefix("files"),
    name_contains: z
      .string("a part of a name")
      .optional()
      .describe("Only files whose path holds this, in either case."),
    after: z.string("a path").optional().describe("Go on behind this path, when a list was cut."),
  }),
  effect: "none",
  move: "count",
  place: { argument: "path_prefix", of: "folder" },
  isEvidence: false,
  limits: { callsPerRun: 100 },
  async run({ path_prefix: prefix = "", name_contains: part = "", after = "" }, { listFiles }) {
    const wanted = foldCase(part);
    const all = (await listFiles()).filter(
      (path) => path.startsWith(prefix) && foldCase(path).includes(wanted),
    );
    const left = all.filter((path) => path > after);
    const shown = left.slice(0, MOST_LISTED);
    const more = left.length - shown.length;
    const count = `${plural(all.length, "file")}${more > 0 ? `, of which ${shown.length} are listed; ${more} more follow: give the last path as after` : ""}.`;
    return outputOf([count, ...shown].join("\n"), {
      files: all.length,
      listed: shown.length,
    });
  },
});
