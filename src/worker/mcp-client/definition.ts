import { refuse } from "../../shared/failure.ts";
import type { Refusal } from "../../shared/failure.ts";
import type { ToolEffect } from "../../shared/config/mcp-servers.ts";

/** A tool of a server, as the record of a job keeps it from its first run on: what the server says of it later changes nothing. */
export type McpDefinition = {
  /** `mcp.<server>.<tool>` */
  readonly name: string;
  readonly effect: ToolEffect;
  /** Words of the server, neutralised and cut. */
  readonly description: string;
  /** The JSON schema of its arguments, one of an object with `properties`. */
  readonly parameters: Readonly<Record<string, unknown>>;
  /** Whether an answer may rest on what it gives. */
  readonly isEvidence: boolean;
  /** Why it can't be used; null: it can. */
  readonly disabled: string | null;
};

/** What a server gave, as data that nobody vouches for. */
export type McpAnswer = {
  readonly kind: "answer";
  /** Its texts, one after the other; of what is no text, only what it is and how long. */
  readonly text: string;
  /** Code points of all of it; `text` is its beginning. */
  readonly chars: number;
  /** Of all of it in UTF-8, 64 hex. */
  readonly sha256: string;
  /** Whether the server calls it an error. */
  readonly isError: boolean;
};

/** The servers of the configuration, as the tools of an investigation reach them. */
export type McpReach = {
  /** @throws Failure TOOL_ERROR where the server breaks or takes too long. Refusals: TOOL_UNAVAILABLE, TOOL_DENIED. */
  call(name: string, args: Readonly<Record<string, unknown>>): Promise<McpAnswer | Refusal>;
  /** What would carry a call out, as part of what a person decides about: another program, environment or schema is another one. */
  executorOf(tool: McpDefinition): string;
};

/** For what repeats a record, and for clients of our own server: no server is reached. */
export const NO_MCP: McpReach = {
  call: async () => refuse("TOOL_UNAVAILABLE", "No server is reached here."),
  executorOf: () => "mcp",
};
