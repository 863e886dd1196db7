import { refuse } from "../../src/shared/failure.ts";
import { NO_MCP } from "../../src/worker/mcp-client/definition.ts";
import { openOffload } from "../../src/worker/offload/offload.ts";
import type { ToolAccess } from "../../src/worker/tools/tool.ts";
import { readingOf } from "./pipeline-world.ts";

type World = Partial<ToolAccess> & {
  /** Texts by path. */
  readonly files?: Readonly<Record<string, string>>;
};

const OFFLINE = refuse("WEB_UNAVAILABLE", "There is no web in this test.");

/** What a tool reaches in a test: the files that it is given, and nothing else. */
export const toolReach = ({ files = {}, ...given }: World = {}): ToolAccess => ({
  readFile: async (path) => {
    const text = files[path];
    return text === undefined
      ? refuse("FILE_NOT_FOUND", `There is no file ${path}.`)
      : readingOf(path, text);
  },
  listFiles: async () => Object.keys(files).sort(),
  search: async () => ({ passages: [], hidden: 0 }),
  readOutput: async () => undefined,
  web: {
    search: async () => OFFLINE,
    fetchPage: async () => OFFLINE,
    approvalReason: () => null,
    whyOff: () => null,
  },
  shell: { kind: "disabled", why: "this is a test" },
  mcp: NO_MCP,
  offload: openOffload(),
  signal: new AbortController().signal,
  ...given,
});
