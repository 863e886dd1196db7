import { z } from "zod";
import { Failure } from "../../shared/failure.ts";
import type { Refusal } from "../../shared/failure.ts";
import type { Config } from "../../shared/config/schema.ts";
import type { Database } from "../../shared/store/connection/database.ts";
import type { ToolAccess } from "../tools/tool.ts";

/** The context of tools for outside clients. */
export type McpContext = {
  readonly config: Pick<Config, "mcp" | "tools" | "model" | "roots" | "security">;
  /** Holds the keys of services. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly database: () => Promise<Database>;
  /** Files and index within the grant of `mcp.roots`. */
  readonly reach: (signal: AbortSignal) => Promise<ToolAccess>;
};

/** Sizes, ids and texts; the key of a text from a document or a model begins with `untrusted_`. */
export type McpResult = Readonly<Record<string, unknown>>;

/** A tool for outside clients. */
export type McpTool<Args extends object = object> = {
  readonly name: string;
  readonly description: string;
  readonly args: z.ZodType<Args>;
  readonly argNames: readonly string[];
  /** The schema of its result that clients see; a result may hold more keys. */
  readonly result: z.ZodType;
  readonly changes: "nothing" | "queues a job";
  /** Why the configuration disables it; null if it is enabled. */
  disabled?(config: McpContext["config"]): string | null;
  run(args: Args, context: McpContext, signal: AbortSignal): Promise<McpResult | Refusal>;
};

type Definition<Shape extends z.ZodRawShape> = Omit<
  McpTool<z.infer<z.ZodObject<Shape>>>,
  "args" | "argNames"
> & { readonly args: z.ZodObject<Shape> };

export const defineMcpTool = <Shape extends z.ZodRawShape>(
  definition: Definition<Shape>,
): McpTool<z.infer<z.ZodObject<Shape>>> => ({
  ...definition,
  argNames: Object.keys(definition.args.shape),
});

/** An object in a result; it may hold more keys than the shape. */
export const rowShape = (shape: z.ZodRawShape): z.ZodType => z.looseObject(shape);

/** A whole result. */
export const resultShape = (shape: z.ZodRawShape): z.ZodType =>
  z.looseObject({ ok: z.literal(true), ...shape });

export const limitOf = (most: number): z.ZodOptional<z.ZodInt> =>
  z.int().min(1).max(most).optional().describe(`How many; at most ${most}.`);

/** @throws Failure NOT_FOUND */
export function notFound(what: string, named: string, remedy: string): never {
  throw new Failure("NOT_FOUND", `There is no ${what} ${JSON.stringify(named)}. ${remedy}`);
}
