import { z } from "zod";
import type { Grant } from "../../../shared/store/investigations/grants.ts";
import { canonicalJson } from "../../../shared/schema/json-value.ts";
import { EFFECTS, isMcpTool } from "../../../shared/config/mcp-servers.ts";
import type { McpDefinition } from "../../mcp-client/definition.ts";
import type { McpServers } from "../../mcp-client/open-servers.ts";
import { mcpTool } from "../../tools/mcp-tool.ts";
import type { Tool } from "../../tools/tool.ts";
import { writeStep } from "./record.ts";
import type { InvestigationRecord } from "./record.ts";
import type { StepLog } from "./step-log.ts";

const RULE = "mcp_tools";

type ServerToolParts = {
  readonly record: InvestigationRecord;
  readonly log: Pick<StepLog, "insert">;
  readonly mcp: Pick<McpServers, "describe">;
};

/**
 * The tools of servers that a grant holds. A job asks the servers for their descriptions once and stores them as a step: a
 * server that later describes its tools differently changes nothing in this job, and a repetition needs no server.
 */
export async function serverTools(
  { tools }: Pick<Grant, "tools">,
  { record, log, mcp }: ServerToolParts,
): Promise<readonly Tool[]> {
  const names = tools.filter(isMcpTool);
  if (names.length === 0) return [];
  const known = recordedServerTools(record.steps);
  if (known !== undefined) return Promise.all(known.map(mcpTool));
  const described = await mcp.describe(names);
  await writeStep({ record, log }, "policy", { rule: RULE, tools: described });
  return Promise.all(described.map(mcpTool));
}

const definitionSchema = z.array(
  z.object({
    name: z.string(),
    effect: z.enum(EFFECTS),
    description: z.string(),
    parameters: z.record(z.string(), z.unknown()),
    isEvidence: z.boolean(),
    disabled: z.string().nullable(),
  }),
);

/** The stored descriptions of the tools of servers; undefined if the steps hold none. */
export function recordedServerTools(
  steps: readonly { readonly detail: Readonly<Record<string, unknown>> }[],
): readonly McpDefinition[] | undefined {
  const told = steps.find(({ detail }) => detail["rule"] === RULE);
  return told === undefined ? undefined : definitionSchema.parse(told.detail["tools"]).map(inOrder);
}

/** Sorts the keys, because a row does not preserve their order and prompts show the schema. */
const inOrder = (definition: McpDefinition): McpDefinition => ({
  ...definition,
  parameters: JSON.parse(canonicalJson(definition.parameters)) as McpDefinition["parameters"],
});
