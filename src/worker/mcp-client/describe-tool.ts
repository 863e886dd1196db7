import { canonicalJson, isRecord } from "../../shared/schema/json-value.ts";
import { configuredMcpTool, nameOfMcpTool, TOOL_NAME } from "../../shared/config/mcp-servers.ts";
import type { McpServerConfig } from "../../shared/config/mcp-servers.ts";
import { findSchemaProblem } from "../../shared/schema/check-schema.ts";
import { cleanText, firstCodePoints } from "../text/clean-text.ts";
import { neutraliseText } from "../text/neutralise-text.ts";
import type { McpDefinition } from "./definition.ts";
import type { DescribedTool } from "./session.ts";

const MOST_DESCRIPTION_CHARS = 500;
/** The schema stands in each prompt. */
const MOST_PARAMETERS_CHARS = 8_000;
/** The keywords of a schema with text for people, which a model reads. */
const WORDS = new Set(["description", "title", "$comment"]);

/**
 * The definition of a server's tool; none if the configuration does not name the tool. The server's words are neutralised
 * and cut, because a model reads them. A schema that is not accepted disables the tool.
 */
export function definitionOf(
  server: McpServerConfig,
  { name: tool, description = "", inputSchema }: DescribedTool,
): readonly McpDefinition[] {
  if (!TOOL_NAME.test(tool)) return [];
  const name = nameOfMcpTool({ server: server.name, tool });
  const configured = configuredMcpTool(name, [server]);
  if (configured.kind === "none") return [];
  const parameters = parametersOf(inputSchema);
  if (typeof parameters === "string") return [disabledTool(server, tool, parameters)];
  return [
    {
      name,
      effect: configured.effect,
      description: wordsOf(description, MOST_DESCRIPTION_CHARS),
      parameters,
      isEvidence: server.evidence === true,
      disabled: null,
    },
  ];
}

/** @param why as a clause */
export function disabledTool(server: McpServerConfig, tool: string, why: string): McpDefinition {
  const name = nameOfMcpTool({ server: server.name, tool });
  const configured = configuredMcpTool(name, [server]);
  return {
    name,
    effect: configured.kind === "tool" ? configured.effect : server.effect,
    description: "",
    parameters: { type: "object", properties: {} },
    isEvidence: server.evidence === true,
    disabled: why,
  };
}

const wordsOf = (text: string, mostChars: number): string =>
  firstCodePoints(neutraliseText(cleanText(text)).replace(/\s+/g, " ").trim(), mostChars);

/** The schema with sorted keys, so that a row returns the same text; or its problem, as a clause. */
function parametersOf(
  given: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> | string {
  const named = Object.entries(given).filter(([key]) => key !== "$schema");
  const schema = { properties: {}, ...Object.fromEntries(named) };
  const problem = findSchemaProblem(schema);
  if (problem !== undefined)
    return `the schema of its arguments is not taken: ${wordsOf(problem, 200)}`;
  const text = canonicalJson(withPlainWords(schema, "schema"));
  return text.length > MOST_PARAMETERS_CHARS
    ? `the schema of its arguments has more than ${MOST_PARAMETERS_CHARS} characters`
    : (JSON.parse(text) as Readonly<Record<string, unknown>>);
}

/** Cleans the keywords with text. Keys below `properties` are names: a property may be called "description". */
function withPlainWords(value: unknown, of: "schema" | "names"): unknown {
  if (Array.isArray(value)) return value.map((part) => withPlainWords(part, "schema"));
  if (!isRecord(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, part]) => {
      if (of === "schema" && WORDS.has(key) && typeof part === "string") {
        return [key, wordsOf(part, MOST_DESCRIPTION_CHARS)];
      }
      const below =
        of === "schema" && (key === "properties" || key === "$defs") ? "names" : "schema";
      return [key, withPlainWords(part, below)];
    }),
  );
}
