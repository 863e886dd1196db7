import { READ_TEXT_FILE } from "./read-text-file.ts";
import type { Tool } from "./tool.ts";

/** Tools by name, in an order that stays. */
export type ToolRegistry = {
  readonly tools: readonly Tool[];
  readonly names: readonly string[];
  find(name: string): Tool | undefined;
};

/** A name that stands in patterns and prompts as it is. */
const NAME = /^[a-z]+(?:_[a-z]+)*$/;

/** @throws RangeError for a name that is no plain one, or that two tools have */
export function registryOf(tools: readonly Tool[]): ToolRegistry {
  const byName = new Map(tools.map((tool) => [tool.name, tool]));
  const wrong = tools.find((tool) => !NAME.test(tool.name) || byName.get(tool.name) !== tool);
  if (wrong !== undefined) throw new RangeError(`"${wrong.name}" can't be the name of a tool`);
  return { tools, names: [...byName.keys()], find: (name) => byName.get(name) };
}

/** The tools that ship with Nightdesk. */
export const TOOLS = registryOf([READ_TEXT_FILE]);
