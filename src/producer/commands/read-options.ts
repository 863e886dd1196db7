import type { Invocation } from "../../shared/commands/command.ts";
import type { Config } from "../../shared/config/schema.ts";
import { Failure } from "../../shared/failure.ts";

type Options = Invocation["options"];

/** The first argument, which the command line requires. */
export function argumentOf({ args, command }: Invocation): string {
  const [first] = args;
  if (first === undefined) throw new Error(`${command.name} was called without its argument`);
  return first;
}

export const textOf = (options: Options, name: string): string | undefined => {
  const value = options[name];
  return typeof value === "string" ? value : undefined;
};

export const countOfOption = (options: Options, name: string): number | undefined => {
  const value = options[name];
  return typeof value === "number" ? value : undefined;
};

/** Leaves out what was not said, so that the stored input holds only what was. */
export function said<T extends object>(values: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>;
  };
}

/** `--fast` or `--big`; both are one too many. */
export function routeOf(options: Options): "fast" | "big" | undefined {
  const { big, fast } = options;
  if (big === true && fast === true) {
    throw new Failure("USAGE_ERROR", "--fast and --big exclude each other; give one of them.");
  }
  return big === true ? "big" : fast === true ? "fast" : undefined;
}

/** A source by its name. @throws Failure NOT_FOUND naming those of the configuration */
export function sourceOf(options: Options, { index }: Config): string | undefined {
  const name = textOf(options, "source");
  if (name === undefined || index.sources.some((source) => source.name === name)) return name;
  const known = index.sources.map((source) => source.name).join(", ");
  throw new Failure(
    "NOT_FOUND",
    `There is no source ${JSON.stringify(name)}. Configured under index.sources: ${known}.`,
  );
}
