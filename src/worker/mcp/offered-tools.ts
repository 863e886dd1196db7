import { DOCUMENT_TOOLS } from "./document-tools.ts";
import { ROW_TOOLS } from "./row-tools.ts";
import { SUBMIT_JOB } from "./submit-tool.ts";
import type { McpContext, McpTool } from "./tool.ts";

/** All tools for outside clients. */
export const OFFERED_TOOLS: readonly McpTool[] = [...DOCUMENT_TOOLS, ...ROW_TOOLS, SUBMIT_JOB];

export type OfferedTool = {
  readonly tool: McpTool;
  /** Why the configuration disables it; null if it is enabled. */
  readonly disabled: string | null;
};

/**
 * The tools that clients see. A tool that `mcp.tools` does not name is hidden. A named tool that can't be used is disabled, and
 * the instructions tell clients why.
 */
export const offeredTools = (config: McpContext["config"]): readonly OfferedTool[] =>
  OFFERED_TOOLS.filter(({ name }) => config.mcp.tools.some((one) => one === name)).map((tool) => ({
    tool,
    disabled: tool.disabled?.(config) ?? null,
  }));
