import { parseMcpTool } from "../../shared/config/mcp-servers.ts";
import { READ_WHOLE_FILE } from "./read-text-file.ts";
import type { Tool } from "./tool.ts";

/** Tools by name, in a fixed order. */
export type ToolRegistry = {
  readonly tools: readonly Tool[];
  readonly names: readonly string[];
  find(name: string): Tool | undefined;
};

/** A name that needs no escaping in prompts and patterns. */
const NAME = /^[a-z]+(?:_[a-z]+)*$/;

/** @throws RangeError for a name that is not plain, or that two tools have */
export function registryOf(tools: readonly Tool[]): ToolRegistry {
  const byName = new Map(tools.map((tool) => [tool.name, tool]));
  const isPlain = (name: string): boolean => NAME.test(name) || parseMcpTool(name) !== undefined;
  const wrong = tools.find((tool) => !isPlain(tool.name) || byName.get(tool.name) !== tool);
  if (wrong !== undefined) throw new RangeError(`"${wrong.name}" can't be the name of a tool`);
  return { tools, names: [...byName.keys()], find: (name) => byName.get(name) };
}

/** The tools that a question offers its model. */
export const READER = registryOf([READ_WHOLE_FILE]);
