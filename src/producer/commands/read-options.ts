import type { Invocation } from "../../shared/commands/command.ts";

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
export const routeOf = (options: Options): "fast" | "big" | undefined =>
  options["big"] === true ? "big" : options["fast"] === true ? "fast" : undefined;
