import { z } from "zod";
import { canonicalJson, isRecord } from "../../shared/schema/json-value.ts";
import { schemaCompiler } from "../json-schema.ts";
import type { McpDefinition } from "../mcp-client/definition.ts";
import { Failure } from "../../shared/failure.ts";
import type { Tool, ToolEvidence } from "./tool.ts";

const CALLS_PER_RUN = 50;
/** Characters of a result that a prompt shows. */
const MOST_PRINT_CHARS = 20_000;

/**
 * A tool of a server by its stored definition. It needs approval unless its effect is "none". Its result is data, and
 * evidence if the configuration says so.
 */
export async function mcpTool(definition: McpDefinition): Promise<Tool> {
  const { name, effect, description, parameters, isEvidence, disabled } = definition;
  const faultsOf = disabled === null ? await schemaCompiler()(parameters) : () => [];
  const properties = parameters["properties"];
  return {
    name,
    description,
    args: z.record(z.string(), z.unknown()).superRefine((args, context) => {
      const [fault] = faultsOf(args);
      if (fault === undefined) return;
      context.addIssue({ code: "custom", path: [fault.path], message: fault.message });
    }),
    argNames: isRecord(properties) ? Object.keys(properties) : [],
    parameters,
    effect,
    move: "other",
    isEvidence,
    limits: { callsPerRun: CALLS_PER_RUN },
    disabled: () => disabled,
    async approval(args, { mcp }) {
      if (effect === "none") return null;
      return {
        executor: mcp.executorOf(definition),
        risks: [effect],
        why: `${name} may have an effect`,
        preview: `Call ${name}, a tool of a server of the configuration, with\n${canonicalJson(args)}`,
      };
    },
    async run(args, { mcp }) {
      const answer = await mcp.call(name, { ...args });
      if (answer.kind === "refused") return answer;
      const { text, chars, sha256, isError } = answer;
      if (isError) throw new Failure("TOOL_ERROR", text === "" ? "it gives no reason" : text);
      const call = `${name} ${canonicalJson(args)}`;
      const shown = text.slice(0, MOST_PRINT_CHARS);
      const evidence: readonly ToolEvidence[] =
        isEvidence && text.trim() !== ""
          ? [
              {
                kind: "output",
                output: { call, sha256, charsFull: chars, text: shown.toWellFormed() },
              },
            ]
          : [];
      return {
        kind: "output",
        text: evidence.length > 0 ? `${chars} characters.` : text,
        facts: { answer_chars: chars, answer_sha256: sha256, answer_cut: text.length < chars },
        evidence,
      };
    },
  };
}
