import { refuse } from "../../shared/failure.ts";
import type { Refusal } from "../../shared/failure.ts";
import type { ToolEffect } from "../../shared/config/mcp-servers.ts";

/** A tool of a server. A job stores it at its first run: a later description by the server does not change the job. */
export type McpDefinition = {
  /** `mcp.<server>.<tool>` */
  readonly name: string;
  readonly effect: ToolEffect;
  /** The server's description, neutralised and cut. */
  readonly description: string;
  /** The JSON schema of its arguments: an object with `properties`. */
  readonly parameters: Readonly<Record<string, unknown>>;
  /** Whether its results may serve as evidence for an answer. */
  readonly isEvidence: boolean;
  /** Why it can't be used; null if it can. */
  readonly disabled: string | null;
};

/** A server's result: untrusted data. */
export type McpAnswer = {
  readonly kind: "answer";
  /** Its texts, one after the other; for other content only its kind. */
  readonly text: string;
  /** Code points of the whole result; `text` is its beginning. */
  readonly chars: number;
  /** SHA-256 of the whole result in UTF-8, 64 hex digits. */
  readonly sha256: string;
  /** Whether the server calls it an error. */
  readonly isError: boolean;
};

/** An investigation's access to the configured servers. */
export type McpAccess = {
  /** @throws Failure TOOL_ERROR if the server fails or takes too long. Refusals: TOOL_UNAVAILABLE, TOOL_DENIED. */
  call(name: string, args: Readonly<Record<string, unknown>>): Promise<McpAnswer | Refusal>;
  /** Identifies what would execute a call; an approval covers it. Another program, environment or schema is another executor. */
  executorOf(tool: McpDefinition): string;
};

/** For replays, and for clients of our own server: it connects to no server. */
export const NO_MCP: McpAccess = {
  call: async () => refuse("TOOL_UNAVAILABLE", "No server is reached here."),
  executorOf: () => "mcp",
};
